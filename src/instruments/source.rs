//! Who exposes families.

use std::sync::Arc;

use super::encoder::Encoder;
use super::saved::SavedFamilies;

/// Exposes families, each whole and always in the same order, and keeps their values beyond the end
/// of the process. None of this may make anybody wait who counts.
pub trait FamilySource: Send + Sync {
    /// Writes the families with their present values.
    fn collect(&self, out: &mut dyn Encoder);

    /// Adds the present values of those families that are saved.
    fn save(&self, saved: &mut SavedFamilies);

    /// Continues from what an earlier process has saved, by adding it. Series that do not exist any
    /// more are ignored.
    fn restore(&self, saved: &SavedFamilies);
}

impl<S: FamilySource> FamilySource for Arc<S> {
    fn collect(&self, out: &mut dyn Encoder) {
        self.as_ref().collect(out);
    }

    fn save(&self, saved: &mut SavedFamilies) {
        self.as_ref().save(saved);
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.as_ref().restore(saved);
    }
}
