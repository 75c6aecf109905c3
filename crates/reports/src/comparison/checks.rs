//! What fails a pipeline: the rules of `--fail-on`, and unasked that more pods do not start
//! ([§15.5](crate::specification#s15-5)).

use serde::Serialize;

use super::Comparison;
use super::threshold::{Threshold, ThresholdCheck, ThresholdResult};

/// What each rule says, and what follows of all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Checks {
    /// In the order of the rules
    pub rules: Vec<ThresholdCheck>,
    /// Whether a rule that cannot be told fails too
    #[serde(skip)]
    is_strict: bool,
    /// Whether more pods do not start, and no rule says how many may
    #[serde(skip)]
    pub is_failed_unasked: bool,
}

impl Checks {
    /// Checks a comparison by these rules.
    pub(super) fn new(rules: &[Threshold], is_strict: bool, found: &Comparison) -> Self {
        let is_asked = rules.iter().any(Threshold::is_of_starts);
        Self {
            rules: rules.iter().map(|rule| rule.check(found)).collect(),
            is_strict,
            is_failed_unasked: found.is_worse_to_start() && !is_asked,
        }
    }

    /// Whether a rule is exceeded, or more pods do not start.
    pub fn is_failed(&self) -> bool {
        self.is_failed_unasked || self.has(ThresholdResult::Exceeded)
    }

    /// Whether a rule cannot be told where that fails too.
    pub fn is_unclear(&self) -> bool {
        self.is_strict && self.has(ThresholdResult::Unclear)
    }

    fn has(&self, result: ThresholdResult) -> bool {
        self.rules.iter().any(|check| check.result == result)
    }

    /// What each format begins with: a line for each rule that fails, behind what it is.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.rules.iter().filter_map(|check| match check.result {
            ThresholdResult::Exceeded => Some(("Failed", &*check.text)),
            ThresholdResult::Unclear if self.is_strict => Some(("Cannot tell", &*check.text)),
            ThresholdResult::Unclear | ThresholdResult::Kept => None,
        })
    }

    /// What stands behind the answer where more pods do not start unasked.
    pub(super) fn unasked(&self) -> Option<&'static str> {
        self.is_failed_unasked.then_some("The status is 3, because more pods do not start.")
    }
}
