//! What the documents that were read so far say of those to come. The files of a recording share it.

use std::sync::Arc;

use parking_lot::Mutex;

use super::bare_pods::BarePods;
use super::clocks_ahead::ClockAhead;
use super::document::Document;
use super::present::Present;
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_kube::cluster::clock::{Clock, SystemClock};

/// The state of reading a recording, which may be of several files. Clones share it.
#[derive(Clone)]
pub struct SoFar(Arc<Mutex<State>>);

struct State {
    bare_pods: BarePods,
    present: Present,
}

impl SoFar {
    /// Before the first document. `clock` tells the present.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Mutex::new(State {
            bare_pods: BarePods::default(),
            present: Present::new(clock),
        })))
    }

    /// The clocks that are ahead of every time at which the recording can have been made: the ones furthest ahead
    /// first.
    pub fn clocks_ahead(&self) -> Vec<ClockAhead> {
        self.0.lock().present.clocks_ahead()
    }

    /// Reads the next document of a file that was modified at `modified`, and makes of it what it is after those
    /// before. `other_times` are the API times of its pods and nodes that their snapshots do not hold.
    pub(super) fn read(
        &self,
        document: &mut Document,
        modified: Option<Timestamp>,
        other_times: Vec<(PodUid, Timestamp)>,
    ) {
        let mut state = self.0.lock();
        state.present.judge(document, modified, other_times);
        state.bare_pods.place(&mut document.body);
    }
}

impl Default for SoFar {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}
