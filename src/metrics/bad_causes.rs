//! The bad events of one SLO, by where the pod was and why it waited there
//! ([§10.1](crate::specification#s10-1)).

use crate::instruments::{Counter, FamilyType, Kind, LabelText};
use podinit_core::lifecycle::WaitReason;

/// The value of `stage` and of `cause` for a pod that was not known before.
const NONE: &str = "none";

/// Counters of bad events for each stage and cause that can be, and for pods not known before. Their
/// sum is how many bad events there are: that number is kept nowhere else.
#[derive(Debug)]
pub(super) struct BadCauses([Counter; WaitReason::COUNT + 1]);

impl Default for BadCauses {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Counter::default()))
    }
}

/// The bad events at one moment.
#[derive(Debug)]
pub(super) struct BadCausesSnapshot([u64; WaitReason::COUNT + 1]);

impl Default for BadCausesSnapshot {
    fn default() -> Self {
        Self([0; WaitReason::COUNT + 1])
    }
}

impl BadCausesSnapshot {
    /// How many there are.
    pub(super) fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    /// By stage and cause.
    pub(super) fn iter(&self) -> impl Iterator<Item = ([&'static str; 2], u64)> {
        labels().zip(self.0)
    }
}

/// The label values of the counters, in their order.
fn labels() -> impl Iterator<Item = [&'static str; 2]> {
    let pairs = WaitReason::ALL.into_iter();
    let pairs = pairs.map(|waiting| [waiting.stage().as_str(), waiting.cause().as_str()]);
    pairs.chain([[NONE, NONE]])
}

impl BadCauses {
    /// Counts a bad event.
    pub(super) fn count(&self, waiting: Option<WaitReason>) {
        self.counter(waiting).increment();
    }

    fn counter(&self, waiting: Option<WaitReason>) -> &Counter {
        &self.0[waiting.map_or(WaitReason::COUNT, WaitReason::index)]
    }

    /// What has been counted.
    pub(super) fn snapshot(&self) -> BadCausesSnapshot {
        BadCausesSnapshot(std::array::from_fn(|index| self.0[index].get()))
    }

    /// Adds what was saved of a stage and cause.
    pub(super) fn restore(&self, stage: &str, cause: &str, events: u64) {
        if let Some(waiting) = from_texts(stage, cause) {
            self.counter(waiting).add(events);
        }
    }
}

/// The label values of a bad event; `None` where there is no such pair.
fn from_texts(stage: &str, cause: &str) -> Option<Option<WaitReason>> {
    match (stage, cause) {
        (NONE, NONE) => Some(None),
        _ => WaitReason::from_texts(stage, cause).map(Some),
    }
}

/// The family: the SLO, and where and why its pods waited.
#[derive(Debug)]
pub(super) struct BadCausesBySlo;

impl FamilyType for BadCausesBySlo {
    const KIND: Kind = Kind::Counter;
    const LABELS: usize = 3;
    const SLO_LABELS: bool = true;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [_slo, stage, cause] if from_texts(stage, cause).is_some())
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use podinit_core::lifecycle::{Cause, Stage};

    #[test]
    fn what_is_saved_is_restored_and_the_sum_is_what_was_counted() {
        let causes = BadCauses::default();
        let image = WaitReason::new(Stage::Init, Cause::Image).unwrap();
        for waiting in [Some(image), None, Some(image)] {
            causes.count(waiting);
        }
        let restored = BadCauses::default();
        for ([stage, cause], events) in causes.snapshot().iter() {
            restored.restore(stage, cause, events);
        }
        assert_eq!(restored.snapshot().sum(), 3);
        let counted: Vec<_> = restored.snapshot().iter().filter(|(_, n)| *n > 0).collect();
        assert_eq!(counted, [(["init", "image"], 2), (["none", "none"], 1)]);
    }
}
