//! Since when a pod has had its causes ([§13.2](crate::specification#s13-2)).

use super::{Progress, Record, RecordedCause};
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

impl Record {
    /// The causes, the oldest first. The one with which a pod in flight was first seen, in the stage in which it still is,
    /// began when the pod entered that.
    pub fn causes_since_entry(&self) -> Vec<RecordedCause> {
        let mut causes = self.causes.clone();
        // Causes are logged to the millisecond.
        let millis = |at: Timestamp| at.as_nanos().div_euclid(NANOS_PER_MILLI);
        if let Progress::InFlight { waiting, entered, .. } = self.progress
            && (causes.iter()).all(|one| one.waiting.stage() == waiting.stage())
            && let Some(first) = causes.first_mut()
            && millis(first.began) == millis(self.discovered)
        {
            first.began = entered;
        }
        causes
    }
}
