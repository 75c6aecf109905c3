//! The bad events of one SLO, by where the pod was and why it waited there
//! ([§10.1](crate::specification#s10-1)).

use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{BadReason, Cause, Stage};
use podinit_instruments::{Counter, FamilyType, LabelText, MetricType};

/// The value of `stage` and of `cause` for a pod that was not known before.
const NONE: &str = "none";

/// Counters of bad events for each stage and cause that can be, those of rejected pods and of pods not known before
/// included. Their sum is how many bad events there are: that number is kept nowhere else.
#[derive(Debug)]
pub(super) struct BadCauses([Counter; BadReason::COUNT]);

impl Default for BadCauses {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Counter::default()))
    }
}

/// The bad events at one moment.
#[derive(Debug)]
pub(super) struct BadCausesSnapshot([u64; BadReason::COUNT]);

impl Default for BadCausesSnapshot {
    fn default() -> Self {
        Self([0; BadReason::COUNT])
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
    BadReason::all().map(|reason| {
        let stage = reason.stage().map_or(NONE, Stage::as_str);
        [stage, reason.cause().map_or(NONE, Cause::as_str)]
    })
}

impl BadCauses {
    /// Counts a bad event.
    pub(super) fn count(&self, reason: BadReason) {
        self.counter(reason).increment();
    }

    fn counter(&self, reason: BadReason) -> &Counter {
        &self.0[reason.index()]
    }

    /// What has been counted.
    pub(super) fn snapshot(&self) -> BadCausesSnapshot {
        BadCausesSnapshot(std::array::from_fn(|index| self.0[index].get()))
    }

    /// Adds what was saved of a stage and cause.
    pub(super) fn restore(&self, stage: &str, cause: &str, events: u64) {
        if let Some(reason) = from_texts(stage, cause) {
            self.counter(reason).add(events);
        }
    }
}

/// The label values of a bad event; `None` where there is no such pair.
fn from_texts(stage: &str, cause: &str) -> Option<BadReason> {
    match (stage, cause) {
        (NONE, NONE) => Some(BadReason::NotKnown),
        _ => BadReason::new(Stage::from_text(stage)?, Cause::from_text(cause)?),
    }
}

/// The family: the SLO, and where and why its pods waited.
#[derive(Debug)]
pub(super) struct BadCausesBySlo;

impl FamilyType for BadCausesBySlo {
    const KIND: MetricType = MetricType::Counter;
    const LABELS: usize = 3;
    const SLO_LABELS: bool = true;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [_slo, stage, cause] if from_texts(stage, cause).is_some())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use podinit_core::lifecycle::WaitReason;

    #[test]
    fn what_is_saved_is_restored_and_the_sum_is_what_was_counted() {
        let causes = BadCauses::default();
        let image = WaitReason::new(Stage::Init, Cause::Image).unwrap();
        let (image, rejected) = (BadReason::Waiting(image), BadReason::Rejected(Stage::Network));
        for reason in [image, BadReason::NotKnown, rejected, image] {
            causes.count(reason);
        }
        let restored = BadCauses::default();
        for ([stage, cause], events) in causes.snapshot().iter() {
            restored.restore(stage, cause, events);
        }
        assert_eq!(restored.snapshot().sum(), 4);
        let counted: Vec<_> = restored.snapshot().iter().filter(|(_, n)| *n > 0).collect();
        let expected =
            [(["init", "image"], 2), (["network", "rejected"], 1), (["none", "none"], 1)];
        assert_eq!(counted, expected);
    }
}
