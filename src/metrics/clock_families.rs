//! The metrics of the corrected clock.

use std::fmt;
use std::sync::Arc;

use crate::cluster::clock::Clock;
use crate::computed_families;
use crate::instruments::{
    Counter, Encoder, FamilySource, Gauge, Number, Persistent, SavedFamilies, SavedSeries,
};

computed_families! {
    /// What podinit corrects of the machine's clock.
    pub(super) const CLOCK {
        CLOCK_STEPS: Counter =
            "podinit_clock_steps_total", [], experimental, saved,
            "Times that the machine's clock and the API server's came apart, or together again.";
        CLOCK_CORRECTION: Gauge =
            "podinit_clock_correction_seconds", [], experimental, not_saved,
            "What podinit adds to the machine's clock to tell the time; about 0 while that clock is right.";
    }
}

/// Exposes the corrections of a clock.
pub struct ClockFamilies {
    clock: Arc<dyn Clock>,
    /// Steps that were counted before the process began
    before: Counter,
}

impl ClockFamilies {
    /// Those of `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let before = Counter::default();
        Self { clock, before }
    }

    fn steps(&self) -> u64 {
        self.before.get() + self.clock.corrections().steps
    }
}

impl FamilySource for ClockFamilies {
    fn collect(&self, out: &mut dyn Encoder) {
        CLOCK_STEPS.write(out, Number::Integer(self.steps()));
        CLOCK_CORRECTION.write(out, Number::Float(self.clock.corrections().seconds));
    }

    fn save(&self, saved: &mut SavedFamilies) {
        let labels = Vec::new();
        let value = self.steps();
        saved.put(&CLOCK_STEPS, vec![SavedSeries { labels, value }]);
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.before.restore(saved.series(&CLOCK_STEPS));
    }
}

impl fmt::Debug for ClockFamilies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClockFamilies").finish_non_exhaustive()
    }
}
