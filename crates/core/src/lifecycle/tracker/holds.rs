//! The label values under which remembered pods are counted (`LabelHold`): when they are named, and when they have a
//! pod less.

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::{LabelMove, Observer};
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::pod::{PodSnapshot, PodUid};

impl Tracker {
    /// Takes the label values of a pod again, after more have become known.
    pub(super) fn hold_again(
        pod: &mut PodInFlight,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let hold = reporter.hold(pod.info());
        reporter.release(std::mem::replace(&mut pod.last_seen.hold, hold));
    }

    /// Moves the pods in flight that were counted under the rest to values that have got places.
    pub(super) fn move_labels(&mut self, reporter: &mut TimedObserver<'_, impl Observer>) {
        while let Some(label) = reporter.next_move() {
            let order = &self.shared.order;
            let in_flight =
                Stage::ALL.into_iter().flat_map(|stage| order.entered_after(stage, None));
            for (_, uid) in in_flight {
                let Some(RememberedPod::InFlight(pod)) = self.pods.get(uid) else { continue };
                match &label {
                    LabelMove::Gate(gate) => {
                        pod.startup.move_gate(gate, |moved| reporter.gate(pod.info(), moved));
                    }
                    LabelMove::Held if reporter.is_of_rest(pod.last_seen.hold) => {
                        if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                            Self::hold_again(pod, reporter);
                        }
                    }
                    LabelMove::Held => {}
                }
            }
        }
    }

    /// Takes the label values of a finished pod, which a restart has left unknown.
    pub(super) fn hold_finished(
        &mut self,
        snapshot: &PodSnapshot,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let hold = reporter.hold(&self.with_node(&snapshot.info));
        if let Some(RememberedPod::Finished(finished)) = self.pods.get_mut(snapshot.uid) {
            let mut last_seen = finished.last_seen();
            reporter.release(std::mem::replace(&mut last_seen.hold, hold));
            finished.update(last_seen, finished.ready());
        }
    }

    /// Releases the label values of a pod.
    pub(super) fn release(&mut self, uid: PodUid, reporter: &mut TimedObserver<'_, impl Observer>) {
        if let Some(hold) = self.pods.get(uid).and_then(RememberedPod::hold) {
            reporter.release(hold);
        }
    }

    /// Forgets a pod that is not in flight any more.
    pub(super) fn forget(&mut self, uid: PodUid, reporter: &mut TimedObserver<'_, impl Observer>) {
        self.release(uid, reporter);
        self.drop_pod(uid);
    }

    /// Forgets a pod, except for the creation of the youngest forgotten one.
    pub(super) fn drop_pod(&mut self, uid: PodUid) {
        let dropped = self.pods.remove(uid);
        self.forgotten = self.forgotten.max(dropped.map_or(0, |pod| pod.created()));
    }
}
