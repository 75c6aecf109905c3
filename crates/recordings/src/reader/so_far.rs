//! Nothing lies in the future ([§8.7](crate::specification#s8-7)): API times that no pod can state yet do not tell the
//! time of a recording. The files of a recording share what is known of that.

use std::sync::Arc;

use parking_lot::Mutex;

use super::clocks_ahead::{ClockAhead, ClocksAhead};
use super::document::{RecordedNodes, RecordingDocument};
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::{ConditionType, PodSnapshot, PodUid, StatusConditions};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_kube::cluster::clock::{DeliveryClock, SystemClock};

/// How much later than the present an API time may be: clocks differ a little.
const TOLERANCE: i64 = 5 * NANOS_PER_SECOND;

/// The state of reading a recording, which may be of several files. Clones share it.
#[derive(Clone)]
pub struct SoFar(Arc<Mutex<SoFarState>>);

struct SoFarState {
    clock: Arc<dyn DeliveryClock>,
    ahead: ClocksAhead,
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

impl Default for SoFar {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl SoFar {
    /// Before the first document. `clock` tells the present.
    pub fn new(clock: Arc<dyn DeliveryClock>) -> Self {
        let (ahead, made) = (ClocksAhead::default(), RecordingMade::default());
        Self(Arc::new(Mutex::new(SoFarState { clock, ahead, made })))
    }

    /// When the files that were begun were made.
    pub fn made(&self) -> RecordingMade {
        self.0.lock().made
    }

    /// The present.
    pub fn now(&self) -> Timestamp {
        self.0.lock().clock.now()
    }

    /// The clocks that are ahead of every time at which the recording can have been made: the ones furthest ahead
    /// first.
    pub fn clocks_ahead(&self) -> Vec<ClockAhead> {
        self.0.lock().ahead.found()
    }

    /// Another file begins.
    pub(super) fn begin_file(&self, modified: Option<Timestamp>, is_input: bool) {
        let made = &mut self.0.lock().made;
        made.modified = made.modified.max(modified);
        made.is_input |= is_input;
    }

    /// Lets no time of the next document of a file that was modified at `modified` tell the time that lies after the
    /// present, or after its `observedAt` where it has one. `other_times` are those that the snapshots do not hold,
    /// `heartbeats` the latest of nodes.
    pub(super) fn judge(
        &self,
        document: &mut RecordingDocument,
        modified: Option<Timestamp>,
        (mut other_times, heartbeats): (Vec<(PodUid, Timestamp)>, Vec<Timestamp>),
    ) {
        let state = &mut *self.0.lock();
        let present = match document.observed_at {
            Some(observed) => observed,
            None => state.clock.now().max(modified.unwrap_or(Timestamp::EPOCH)),
        };
        let latest = present.plus_nanos(TOLERANCE);
        let can_be = |time: &Timestamp| *time <= latest;
        let evidence = &mut document.evidence;
        let happened = evidence.events.iter().filter_map(|event| event.occurred.last);
        evidence.latest_event = happened.filter(can_be).max();
        evidence.latest_heartbeat = heartbeats.into_iter().filter(can_be).max();
        let nodes: &mut [NodeSnapshot] = match &mut evidence.nodes {
            Some(RecordedNodes::List { nodes, .. }) => nodes,
            Some(RecordedNodes::Event(_)) | None => &mut [],
        };
        let pods = document.pods.as_mut();
        let pods = pods.filter(|pods| !pods.latest_api_time().iter().all(can_be));
        let nodes = nodes.iter_mut();
        let nodes = nodes.filter(|node| !node.latest_api_time.iter().all(can_be));
        let mut nodes = nodes.peekable();
        if pods.is_none() && nodes.peek().is_none() {
            return;
        }
        other_times.sort_unstable();
        let others_of = |uid: PodUid| {
            let first = other_times.partition_point(|(of, _)| *of < uid);
            let own = other_times[first..].iter();
            own.take_while(move |(of, _)| *of == uid).map(|(_, time)| *time)
        };
        let ahead = &mut state.ahead;
        let mut judge = |pod: &mut PodSnapshot| {
            let Some(stated) = pod.latest_api_time.filter(|stated| !can_be(stated)) else {
                return;
            };
            let by_node = of_control_plane(pod).all(|time| can_be(&time));
            let node = pod.info.node.as_ref().filter(|_| by_node);
            ahead.add(pod.uid, node, stated.nanos_since(present));
            let times = [pod.created, pod.started].into_iter().flatten();
            let times = times.chain(transitions(&pod.conditions));
            pod.latest_api_time = times.chain(others_of(pod.uid)).filter(can_be).max();
        };
        if let Some(pods) = pods {
            pods.change(&mut judge);
        }
        for node in nodes {
            let ready = node.ready.and_then(|ready| ready.last_transition);
            let times = [node.created, ready].into_iter().flatten();
            node.latest_api_time = times.chain(others_of(node.uid)).filter(can_be).max();
        }
    }
}

/// The times that the API server and the scheduler state ([§1.5](crate::specification#s1-5)).
fn of_control_plane(pod: &PodSnapshot) -> impl Iterator<Item = Timestamp> {
    let scheduled = pod.conditions.get(ConditionType::PodScheduled);
    let scheduled = scheduled.and_then(|condition| condition.last_transition);
    pod.created.into_iter().chain(scheduled)
}

fn transitions(conditions: &StatusConditions) -> impl Iterator<Item = Timestamp> {
    let all = ConditionType::ALL.into_iter();
    all.filter_map(|kind| conditions.get(kind)?.last_transition)
}
