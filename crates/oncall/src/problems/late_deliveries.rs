//! What is said of deliveries that are late ([§4.10](crate::specification#s4-10)).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::freshness::Freshness;
use podinit_core::timestamp::NANOS_PER_SECOND;
use podinit_text::human_time::at_least;

/// What checks the clock by which something is late. If nothing does, it may be that clock that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockCheck {
    /// The dates of the API server's answers
    ByDate,
    /// Nothing: its answers have no date
    Nothing,
    /// The clock is that of whoever has recorded it
    OfRecorder,
}

/// That what is known of pods is late.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "late_deliveries")]
pub(crate) struct LateDeliveries {
    /// By how many seconds
    pub seconds: u32,
    /// The same for people; it says too if the clock may be wrong instead
    pub says: String,
}

impl LateDeliveries {
    /// Those that are so many seconds late, by a clock that is checked so.
    pub(crate) fn new(seconds: u32, check: ClockCheck) -> Self {
        let instead = match check {
            ClockCheck::ByDate => "",
            ClockCheck::Nothing => ", or this machine's clock is ahead",
            ClockCheck::OfRecorder => ", or the clock of the recorder was ahead",
        };
        Self { seconds, says: format!("deliveries are {} late{instead}", at_least(seconds)) }
    }

    pub(super) fn of_nanos(nanos: i64, check: ClockCheck) -> Self {
        let seconds = (nanos + NANOS_PER_SECOND / 2) / NANOS_PER_SECOND;
        Self::new(u32::try_from(seconds).unwrap_or(u32::MAX), check)
    }

    /// The same of an exporter that can be trusted so far.
    pub(crate) fn seen_by(self, freshness: &Freshness) -> Self {
        match freshness.clock_unchecked {
            true => Self::new(self.seconds, ClockCheck::Nothing),
            false => self,
        }
    }

    /// A sentence for people.
    pub(crate) fn sentence(&self) -> String {
        format!("What is known of pods is old: {}. Deadlines pass later.", self.says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_is_said_and_what_may_be_wrong_instead() {
        let of = |check| LateDeliveries::of_nanos(39_600_000_000, check).says;
        assert_eq!(of(ClockCheck::ByDate), "deliveries are 40s late");
        let expected = "deliveries are 40s late, or this machine's clock is ahead";
        assert_eq!(of(ClockCheck::Nothing), expected);
        let seen = LateDeliveries::new(40, ClockCheck::ByDate);
        let unchecked = Freshness { clock_unchecked: true, ..Freshness::default() };
        assert_eq!(seen.clone().seen_by(&unchecked).says, expected);
        assert_eq!(seen.clone().seen_by(&Freshness::default()), seen);
        let expected =
            "What is known of pods is old: deliveries are 40s late. Deadlines pass later.";
        assert_eq!(seen.sentence(), expected);
    }
}
