//! What the files of a recording share: the present, and what they say of when the recording was made.

use std::sync::Arc;

use parking_lot::Mutex;

use super::clocks_ahead::ClockAhead;
use super::document::RecordingDocument;
use super::present::RecordingPresent;
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_kube::cluster::clock::{DeliveryClock, SystemClock};

/// The state of reading a recording, which may be of several files. Clones share it.
#[derive(Clone)]
pub struct SoFar(Arc<Mutex<SoFarState>>);

struct SoFarState {
    present: RecordingPresent,
    made: RecordingMade,
}

/// What its files say of when a recording was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingMade {
    /// When the last of them was modified
    pub modified: Option<Timestamp>,
    /// Whether standard input is one of them
    pub is_input: bool,
}

impl SoFar {
    /// Before the first document. `clock` tells the present.
    pub fn new(clock: Arc<dyn DeliveryClock>) -> Self {
        Self(Arc::new(Mutex::new(SoFarState {
            present: RecordingPresent::new(clock),
            made: RecordingMade::default(),
        })))
    }

    /// When the files that were begun were made.
    pub fn made(&self) -> RecordingMade {
        self.0.lock().made
    }

    /// The present.
    pub fn now(&self) -> Timestamp {
        self.0.lock().present.now()
    }

    /// Another file begins.
    pub(super) fn begin_file(&self, modified: Option<Timestamp>, is_input: bool) {
        let made = &mut self.0.lock().made;
        made.modified = made.modified.max(modified);
        made.is_input |= is_input;
    }

    /// The clocks that are ahead of every time at which the recording can have been made: the ones furthest ahead
    /// first.
    pub fn clocks_ahead(&self) -> Vec<ClockAhead> {
        self.0.lock().present.clocks_ahead()
    }

    /// Judges the times of the next document of a file that was modified at `modified`. `other_times` are the API times of
    /// its pods and nodes that their snapshots do not hold, and the latest heartbeats of nodes.
    pub(super) fn judge(
        &self,
        document: &mut RecordingDocument,
        modified: Option<Timestamp>,
        other_times: (Vec<(PodUid, Timestamp)>, Vec<Timestamp>),
    ) {
        self.0.lock().present.judge(document, modified, other_times);
    }
}

impl Default for SoFar {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}
