//! Completed lists ([§5.4](crate::specification#s5-4), [§5.5](crate::specification#s5-5)).

use super::{DeliveryContext, Tracker};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::observation::Reporter;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::sink::Sink;
use crate::pod::PodUid;
use crate::pod::packed::PackedPods;

impl Tracker {
    /// Accounts for a completed list: applies every snapshot in it, then removes the known pods
    /// that are absent. Frees the memory of the list on the way, so that the pods of a large
    /// cluster are not held twice.
    pub(super) fn apply_list(
        &mut self,
        pods: PackedPods,
        delivery: &DeliveryContext,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let mut listed = Vec::with_capacity(pods.len());
        for snapshot in pods {
            listed.push(snapshot.uid);
            self.apply_snapshot(&snapshot, delivery, reporter);
        }
        self.remove_absent(delivery.source, listed, reporter);
    }

    /// Ends the pods of `source` that are not in `listed`, if they are in flight, and forgets them.
    pub(super) fn remove_absent(
        &mut self,
        source: SourceId,
        mut listed: Vec<PodUid>,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        listed.sort_unstable();
        let absent: Vec<PodUid> = self
            .pods
            .iter()
            .filter(|(uid, remembered)| {
                remembered.source() == Some(source) && listed.binary_search(uid).is_err()
            })
            .map(|(uid, _)| uid)
            .collect();
        for uid in absent {
            self.finish(uid, Outcome::Vanished, reporter);
            (self.in_place).end(uid, &mut |observation| reporter.tracker(observation));
            self.pods.remove(uid);
        }
    }
}
