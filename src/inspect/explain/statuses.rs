//! What the statuses of pods say that records do not have: whether a pod had lost when it started up by the
//! time at which it was first seen, and how it ended.

use std::collections::HashMap;

use super::target::Target;
use crate::reports::reader::{Body, Document};
use podinit_core::lifecycle::LostStartup;
use podinit_core::pod::{Ending, Phase, PodSnapshot, PodUid};
use podinit_decode::WatchEventKind;

/// The statuses of the pods of a recording, by UID ([§2.3](crate::specification#s2-3)).
#[derive(Default)]
pub(super) struct Statuses {
    first: HashMap<PodUid, FirstSight>,
    /// How the pods of the target ended
    endings: HashMap<PodUid, Ending>,
}

/// What the first snapshot of a pod shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FirstSight {
    /// Why its status no longer says when it started up
    pub lost: Option<LostStartup>,
    /// It had ended
    pub has_ended: bool,
}

impl Statuses {
    /// Reads those of a document.
    pub(super) fn read(&mut self, document: &Document, target: &Target) {
        match &document.body {
            Body::List { pods, .. } => pods.iter().for_each(|pod| self.add(pod, target)),
            Body::Pod(pod)
            | Body::Event(
                WatchEventKind::Added(pod)
                | WatchEventKind::Modified(pod)
                | WatchEventKind::Deleted(pod),
            ) => self.add(pod, target),
            Body::Event(_) | Body::Events(_) | Body::Nodes { .. } | Body::NodeEvent(_) => {}
        }
    }

    /// Reads that of a pod.
    pub(super) fn add(&mut self, pod: &PodSnapshot, target: &Target) {
        self.first.entry(pod.uid).or_insert_with(|| FirstSight {
            lost: LostStartup::of(pod),
            has_ended: pod.phase != Phase::Active,
        });
        if let Some(ending) = pod.ending.as_deref()
            && target.fits(&pod.info)
        {
            self.endings.insert(pod.uid, ending.clone());
        }
    }

    /// What was first seen of a pod.
    pub(super) fn first(&self, uid: PodUid) -> FirstSight {
        self.first.get(&uid).copied().unwrap_or_default()
    }

    /// How a pod of the target ended, as far as its status says.
    pub(super) fn ending(&self, uid: PodUid) -> Option<Ending> {
        self.endings.get(&uid).cloned()
    }
}
