//! Which containers run again once they have ended with exit code 0 ([§6.12](crate::specification#s6-12)).

use serde::de::{MapAccess, SeqAccess};

use super::lenient::{LenientField, LenientNumber, LenientSeed, LenientText, skip};
use podinit_core::pod::ContainerSpec;

/// A `restartPolicy`, as far as it tells of a container that has ended with exit code 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestartPolicy {
    /// It runs again
    Always,
    /// `OnFailure` or `Never`: it does not
    EndsForGood,
}

impl RestartPolicy {
    /// The policy of this name; `None` for what Kubernetes does not define, where the kubelet asks the next one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "Always" => Some(Self::Always),
            "OnFailure" | "Never" => Some(Self::EndsForGood),
            _ => None,
        }
    }
}

/// What a `spec` says of containers that have ended with exit code 0.
#[derive(Debug, Default)]
pub(crate) struct RestartPolicies {
    /// The pod's `restartPolicy`
    pub pod: Option<RestartPolicy>,
    /// Whether regular containers run again that say so themselves, with their positions
    pub own: Vec<(usize, bool)>,
    /// A rule of any container may run all of them again
    pub all: bool,
}

impl RestartPolicies {
    /// Sets which of the regular `containers` end for good.
    pub(crate) fn apply(&self, containers: &mut [ContainerSpec]) {
        if self.all {
            return;
        }
        for container in &mut *containers {
            container.ends_for_good = self.pod == Some(RestartPolicy::EndsForGood);
        }
        for (position, runs_again) in &self.own {
            if let Some(container) = containers.get_mut(*position) {
                container.ends_for_good = !runs_again;
            }
        }
    }
}

/// What `restartPolicyRules` say.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestartPolicyRules {
    /// One matches exit code 0. Each of their actions runs the container again
    pub(super) match_success: bool,
    /// One has the action `RestartAllContainers`, for whatever exit code
    pub may_restart_all: bool,
}

/// Reads [`RestartPolicyRules`].
pub(super) struct RulesReader;

impl<'de> LenientField<'de> for RulesReader {
    type Value = RestartPolicyRules;

    fn absent(self) -> RestartPolicyRules {
        RestartPolicyRules::default()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RestartPolicyRules, A::Error> {
        let mut rules = RestartPolicyRules::default();
        while let Some(rule) = seq.next_element_seed(LenientSeed(RuleReader))? {
            rules.match_success |= rule.match_success;
            rules.may_restart_all |= rule.may_restart_all;
        }
        Ok(rules)
    }
}

/// Reads one rule.
struct RuleReader;

impl<'de> LenientField<'de> for RuleReader {
    type Value = RestartPolicyRules;

    fn absent(self) -> RestartPolicyRules {
        RestartPolicyRules::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<RestartPolicyRules, A::Error> {
        let mut rule = RestartPolicyRules::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("action") => {
                    let action = map.next_value_seed(LenientSeed(LenientText))?;
                    rule.may_restart_all = action.as_deref() == Some("RestartAllContainers");
                }
                Some("exitCodes") => {
                    rule.match_success = map.next_value_seed(LenientSeed(ExitCodesReader))?;
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(rule)
    }
}

/// Reads whether `exitCodes` contain 0, in the sense of their operator.
struct ExitCodesReader;

impl<'de> LenientField<'de> for ExitCodesReader {
    type Value = bool;

    fn absent(self) -> bool {
        false
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let (mut is_listed, mut means_listed) = (false, None);
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("operator") => {
                    let operator = map.next_value_seed(LenientSeed(LenientText))?;
                    means_listed = match operator.as_deref() {
                        Some("In") => Some(true),
                        Some("NotIn") => Some(false),
                        _ => None,
                    };
                }
                Some("values") => is_listed = map.next_value_seed(LenientSeed(ListsZero))?,
                _ => skip(&mut map)?,
            }
        }
        Ok(means_listed == Some(is_listed))
    }
}

/// Reads whether 0 is one of some numbers.
struct ListsZero;

impl<'de> LenientField<'de> for ListsZero {
    type Value = bool;

    fn absent(self) -> bool {
        false
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(number) = seq.next_element_seed(LenientSeed(LenientNumber))? {
            found |= number == Some(0);
        }
        Ok(found)
    }
}
