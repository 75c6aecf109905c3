//! A watch without a list ([§8.4](crate::specification#s8-4)): `kubectl get pods -w --output-watch-events` brings the pods
//! that exist as ADDED events first, and marks no end of them.

use std::collections::{HashMap, HashSet};

use crate::reader::{DocumentBody, RecordingDocument};
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::WatchEventKind;
use podinit_text::words::count;

/// A pod was there before the recording if it was created more than this before it began
/// ([§5.3](crate::specification#s5-3)).
const OLD: i64 = 30 * NANOS_PER_SECOND;

/// The ADDED events with which a recording begins, and what is between them, until their end shows when it began.
#[derive(Default)]
pub(super) struct FirstPods {
    /// With the resourceVersion of each
    pods: HashMap<PodUid, Option<u64>>,
    /// With the time at which each was read
    pub(super) held: Vec<(RecordingDocument, Timestamp)>,
}

impl FirstPods {
    /// Whether the next document is held, too: it is an ADDED event of another pod or a duplicate of one that is held, or
    /// says nothing of pods behind one.
    pub(super) fn holds(&mut self, document: &RecordingDocument) -> bool {
        match &document.body {
            DocumentBody::Event(WatchEventKind::Added(pod)) => {
                let held = self.pods.entry(pod.uid).or_insert(pod.resource_version);
                *held == pod.resource_version
            }
            DocumentBody::Events(_) | DocumentBody::Nodes { .. } | DocumentBody::NodeEvent(_) => {
                self.any()
            }
            _ => false,
        }
    }

    /// Whether there is one.
    pub(super) fn any(&self) -> bool {
        !self.pods.is_empty()
    }

    /// When the recording began: with the first of them, or else at the latest time that these pods state.
    pub(super) fn began(&self) -> Option<Timestamp> {
        let (first, _) = self.held.first()?;
        first.observed_at.or(self.added().filter_map(|pod| pod.latest_api_time).max())
    }

    /// That there were pods before it, in one line.
    pub(super) fn warning(&self) -> Option<String> {
        let began = self.began()?;
        let is_old = |pod: &&PodSnapshot| {
            let created = pod.created.filter(|_| !pod.is_static);
            created.is_some_and(|created| began.nanos_since(created) > OLD)
        };
        let old: HashSet<PodUid> = self.added().filter(is_old).map(|pod| pod.uid).collect();
        let old = old.len();
        (old > 0).then(|| {
            let were = if old == 1 { "was" } else { "were" };
            format!(
                "the recording is a watch without a list: {old} of its first {} {were} there before, so that what had \
                 happened is not measured; put a list in front of it",
                count(self.pods.len(), "pod", "pods")
            )
        })
    }

    fn added(&self) -> impl Iterator<Item = &PodSnapshot> {
        self.held.iter().filter_map(|(document, _)| match &document.body {
            DocumentBody::Event(WatchEventKind::Added(pod)) => Some(pod),
            _ => None,
        })
    }
}
