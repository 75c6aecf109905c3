//! The families of the clock.

use std::fmt;
use std::sync::Arc;

use super::exposition::encoder::{Encoder, Head, Number};
use super::families::{CLOCK_CORRECTION, CLOCK_STEPS};
use super::source::FamilySource;
use crate::watch::clock::Clock;

/// Exposes what has been put right of a clock.
pub struct ClockFamilies(pub Arc<dyn Clock>);

impl FamilySource for ClockFamilies {
    fn collect(&self, out: &mut dyn Encoder) {
        let corrections = self.0.corrections();
        out.family(Head::from(&CLOCK_STEPS));
        out.number(&[], Number::Integer(corrections.steps));
        out.family(Head::from(&CLOCK_CORRECTION));
        out.number(&[], Number::Float(corrections.seconds));
    }
}

impl fmt::Debug for ClockFamilies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClockFamilies").finish_non_exhaustive()
    }
}
