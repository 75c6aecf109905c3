//! What the metadata says of the deletion of a pod.

use super::lenient::LenientField;
use podinit_core::rfc3339;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// The deletion that was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatedDeletion {
    /// `deletionTimestamp` is set, whatever it says
    pub is_stated: bool,
    /// `deletionTimestamp`, if it is usable: when the grace period is over
    pub(crate) at: Option<Timestamp>,
    /// `deletionGracePeriodSeconds`
    pub(crate) grace_seconds: Option<u64>,
}

impl StatedDeletion {
    /// When it was asked for.
    pub(crate) fn asked(&self) -> Option<Timestamp> {
        let seconds = i64::try_from(self.grace_seconds.unwrap_or(0)).ok()?;
        Some(self.at?.plus_nanos(seconds.saturating_mul(-NANOS_PER_SECOND)))
    }

    /// The same, but for the grace period.
    pub(crate) const fn with_time(self, stated: Self) -> Self {
        Self { grace_seconds: self.grace_seconds, ..stated }
    }
}

/// Reads a `deletionTimestamp`.
pub(super) struct DeletionTime;

impl LenientField<'_> for DeletionTime {
    type Value = StatedDeletion;

    fn absent(self) -> Self::Value {
        StatedDeletion::default()
    }

    fn text(self, text: &str) -> Self::Value {
        let at = rfc3339::parse(text);
        StatedDeletion { is_stated: !text.is_empty(), at, grace_seconds: None }
    }

    fn instant(self, seconds: i64, nanos: u32) -> Self::Value {
        StatedDeletion::of_instant(seconds, nanos)
    }
}

impl StatedDeletion {
    /// One that a message of protobuf states.
    pub(crate) fn of_instant(seconds: i64, nanos: u32) -> Self {
        let at = rfc3339::sensible(seconds).map(|at| at.plus_nanos(nanos.into()));
        Self { is_stated: true, at, grace_seconds: None }
    }
}
