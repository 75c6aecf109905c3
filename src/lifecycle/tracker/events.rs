//! Events about pods ([§9.5](crate::specification#s9-5)).

use super::Tracker;
use super::record::Record;
use crate::kube_event::KubeEvent;
use crate::lifecycle::observation::{Reporter, Sink};

impl Tracker {
    /// Accounts for an Event. One of a pod that is not in flight changes nothing.
    pub(super) fn apply_event(
        &mut self,
        event: &KubeEvent,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let Some(uid) = event.pod else { return };
        if let Some(Record::InFlight(pod)) = self.pods.get_mut(uid) {
            pod.take_event(event, &mut self.shared, reporter);
        }
    }
}
