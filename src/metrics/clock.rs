//! The families of the clock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::exposition::encoder::{Encoder, Head, Number};
use super::families::{CLOCK_CORRECTION, CLOCK_STEPS};
use super::source::FamilySource;
use crate::cluster::clock::Clock;

/// Exposes what has been put right of a clock.
pub struct ClockFamilies {
    clock: Arc<dyn Clock>,
    /// Steps that were counted before the process began
    before: AtomicU64,
}

impl ClockFamilies {
    /// Those of `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let before = AtomicU64::new(0);
        Self { clock, before }
    }

    /// How many steps have been counted.
    pub fn steps(&self) -> u64 {
        self.before.load(Relaxed) + self.clock.corrections().steps
    }

    /// Adds the steps that were counted before.
    pub fn restore(&self, steps: u64) {
        self.before.fetch_add(steps, Relaxed);
    }
}

impl FamilySource for ClockFamilies {
    fn collect(&self, out: &mut dyn Encoder) {
        out.family(Head::from(&CLOCK_STEPS));
        out.number(&[], Number::Integer(self.steps()));
        out.family(Head::from(&CLOCK_CORRECTION));
        out.number(&[], Number::Float(self.clock.corrections().seconds));
    }
}

impl fmt::Debug for ClockFamilies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClockFamilies").finish_non_exhaustive()
    }
}
