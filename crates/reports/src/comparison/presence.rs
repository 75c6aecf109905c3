//! Stages that only one side has ([§15.2](crate::specification#s15-2)): they came or went, or the other side does not show
//! them.

use serde::Serialize;

use super::side::ComparisonSide;
use super::timed::PodDuration;
use podinit_core::label_values;
use podinit_core::lifecycle::{Interval, Stage};
use podinit_text::words::{capitalized, listed};

label_values! {
    /// A side of a comparison.
    pub enum SideName {
        Before => "before",
        After => "after",
    }
}

/// Of at least this share of the pods a stage has to be known.
pub(super) const MOST_KNOWN: f64 = 0.9;

/// What one side does not show although the other has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unknown {
    pub(super) side: SideName,
    /// Stages, and `image pulls`
    pub(super) what: Vec<&'static str>,
    /// The side is one list, which does not tell what a pod waited for before it was bound
    #[serde(skip)]
    pub(super) is_lone_list: bool,
}

impl Unknown {
    /// ` The stage network is not known before.`
    pub(super) fn in_words(&self) -> String {
        let names: Vec<String> = self.what.iter().map(|name| (*name).to_owned()).collect();
        let verb = if names.len() > 1 || self.what == [IMAGE_PULLS] { "are" } else { "is" };
        let why = if self.is_lone_list { ", since that is one list" } else { "" };
        let side = self.side.as_str();
        let words = capitalized(&listed(&names));
        format!(" {words} {verb} not known {side}{why}.")
    }
}

/// How the time is named in which images were pulled.
pub(super) const IMAGE_PULLS: &str = "image pulls";

/// The side without a stage that pods lack by their spec or their life, where the other side has it: so many pods of which
/// the interval `whole` was observed.
pub(super) fn lacking(
    sides: [&ComparisonSide; 2],
    stage: Stage,
    whole: Interval,
) -> Option<SideName> {
    let side = only_on_one(sides, &Interval::Stage(stage).into())?;
    let own = sides[side as usize];
    let pods = || own.pods().iter().filter(|pod| pod.duration(whole).is_some());
    let known = pods().filter(|pod| !pod.is_unobserved(stage)).count();
    let is_known = known as f64 >= MOST_KNOWN * pods().count() as f64;
    (stage.is_conditional() && is_known).then_some(side)
}

/// The side with too few pods for a row, where the other side has enough.
fn only_on_one(sides: [&ComparisonSide; 2], timed: &PodDuration) -> Option<SideName> {
    match sides.map(|side| side.has_enough(timed)) {
        [false, true] => Some(SideName::Before),
        [true, false] => Some(SideName::After),
        _ => None,
    }
}

/// What one side does not show. `shown` are the sides as they are compared, `given` as they were read: where only one is a lone
/// list, the other is compared as such a list tells.
pub(super) fn unknown(
    given: [&ComparisonSide; 2],
    shown: [&ComparisonSide; 2],
    whole: Interval,
) -> Vec<Unknown> {
    let mut found = Vec::new();
    for side in SideName::ALL {
        let is_of = |sides: [&ComparisonSide; 2], timed: PodDuration| {
            only_on_one(sides, &timed) == Some(side)
        };
        let is_lone_list = given[side as usize].is_lone_list();
        let of_list = [Stage::Gated, Stage::Unschedulable].into_iter();
        let of_list =
            of_list.filter(|stage| is_lone_list && is_of(given, Interval::Stage(*stage).into()));
        let stages = Stage::ALL.into_iter().filter(|stage| {
            is_of(shown, Interval::Stage(*stage).into())
                && lacking(shown, *stage, whole).is_none()
                && shown[side as usize].pods().iter().any(|pod| pod.is_unobserved(*stage))
        });
        let pulls = is_of(shown, PodDuration::Pulls { from: None }).then_some(IMAGE_PULLS);
        let (of_list, stages): (Vec<_>, Vec<_>) =
            (of_list.map(Stage::as_str).collect(), stages.map(Stage::as_str).collect());
        for (what, is_lone_list) in
            [(of_list, true), ([stages, pulls.into_iter().collect()].concat(), false)]
        {
            if !what.is_empty() {
                found.push(Unknown { side, what, is_lone_list });
            }
        }
    }
    found
}
