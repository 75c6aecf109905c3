//! A watch without a list ([§8.4](crate::specification#s8-4)): `kubectl get pods -w --output-watch-events` brings the pods
//! that exist as ADDED events first, and marks no end of them.

use std::collections::HashSet;

use crate::reader::RecordingDocument;
use podinit_core::pod::PodUid;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_text::words::count;

/// A pod was there before the recording if it was created more than this before it began
/// ([§5.3](crate::specification#s5-3)).
const OLD: i64 = 30 * NANOS_PER_SECOND;

/// How a watch without a list begins.
pub(super) struct FirstPods {
    /// When the first of its pods came
    pub(super) observed: Option<Timestamp>,
    /// When the recording began: with that, or else at the latest time that these pods state
    pub(super) began: Option<Timestamp>,
    /// That there were pods before it, in one line
    pub(super) warning: Option<String>,
}

impl FirstPods {
    /// That with these documents; `None` without any.
    pub(super) fn from_held(held: &[(RecordingDocument, Timestamp)]) -> Option<Self> {
        let observed = held.first()?.0.observed_at;
        let pods = || held.iter().flat_map(|(document, _)| document.snapshots());
        let began = observed.or(pods().filter_map(|pod| pod.latest_api_time).max());
        let uids: HashSet<PodUid> = pods().map(|pod| pod.uid).collect();
        let old = pods().filter(|pod| {
            let created = pod.created.filter(|_| !pod.is_static);
            created.zip(began).is_some_and(|(created, began)| began.nanos_since(created) > OLD)
        });
        let old: HashSet<PodUid> = old.map(|pod| pod.uid).collect();
        let old = old.len();
        let warning = (old > 0).then(|| {
            let were = if old == 1 { "was" } else { "were" };
            format!(
                "the recording is a watch without a list: {old} of its first {} {were} there before, so that what had \
                 happened is not measured; put a list in front of it",
                count(uids.len(), "pod", "pods")
            )
        });
        Some(Self { observed, began, warning })
    }
}
