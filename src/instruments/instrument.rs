//! What a counter or gauge has to do besides count.

use super::encoder::Encoder;
use super::family::{FamilyDoc, FamilyType};
use super::saved::SavedSeries;

/// A family that has its values in itself, and begins at zero.
pub trait Instrument: FamilyType + Default {
    /// Writes the family.
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder);
}

/// A family whose values can outlive the process.
pub trait Persistent: Instrument {
    /// The present values.
    fn save(&self) -> Vec<SavedSeries>;

    /// Adds what was saved.
    fn restore(&self, saved: &[SavedSeries]);
}
