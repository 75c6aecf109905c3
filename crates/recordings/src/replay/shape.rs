//! Which shape a recording has ([§8.4](crate::specification#s8-4)), decided document by document.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::reader::{RecordedNodes, RecordedPods, RecordingDocument};
use podinit_core::pod::PodUid;
use podinit_core::pod::packed::PackedPods;
use podinit_decode::WatchEventKind;

/// What the documents up to here show of pods.
#[derive(Debug, Default)]
enum RecordingShape {
    /// Nothing yet
    #[default]
    Unknown,
    /// Pods by themselves, each once: they are the first list
    BarePods,
    /// One list, or several of different namespaces
    OneMoment,
    /// Lists at different times: they share a namespace, or their times are stated
    Relists,
    /// The first pods of a watch without a list, each with its resourceVersion
    FirstPods(HashMap<PodUid, Option<u64>>),
    /// Something has happened to a pod behind any of these
    Watched,
}

/// Whether the next pod by itself is one of the first list.
#[derive(Debug)]
enum BarePods {
    /// Nothing but pods by themselves so far, these, evidence aside
    FirstList(HashSet<PodUid>),
    /// That list is over
    Watched,
}

impl Default for BarePods {
    fn default() -> Self {
        Self::FirstList(HashSet::new())
    }
}

/// Tells the shape of a recording.
#[derive(Debug, Default)]
pub(super) struct ShapeReader {
    bare: BarePods,
    shape: RecordingShape,
    lists: usize,
    /// A list states when it was observed
    states_times: bool,
    /// The last page of a list has not come yet
    is_incomplete: bool,
    /// The namespaces with pods in the lists before, and in this one
    before: HashSet<Arc<str>>,
    present: HashSet<Arc<str>>,
    /// Something has happened to a node
    has_node_events: bool,
}

impl ShapeReader {
    /// Makes an event of a pod by itself that is not one of the first list. Each document comes here first, even one
    /// that becomes a page of a list.
    pub(super) fn place_bare_pod(&mut self, document: &mut RecordingDocument) {
        let goes_on = match (&mut self.bare, &document.pods) {
            (BarePods::FirstList(pods), Some(RecordedPods::Bare(pod))) => pods.insert(pod.uid),
            (BarePods::FirstList(_), pods) => pods.is_none(),
            (BarePods::Watched, _) => false,
        };
        if goes_on {
            return;
        }
        self.bare = BarePods::Watched;
        document.pods = document.pods.take().map(|pods| match pods {
            RecordedPods::Bare(pod) => RecordedPods::Event(WatchEventKind::Modified(pod)),
            other => other,
        });
    }

    /// Looks at the next document.
    pub(super) fn read(&mut self, document: &RecordingDocument) {
        let states_time = document.observed_at.is_some();
        let nodes = &document.evidence.nodes;
        self.has_node_events |= matches!(nodes, Some(RecordedNodes::Event(_)));
        match &document.pods {
            None => {}
            Some(RecordedPods::List { pods, goes_on }) => self.list(pods, states_time, *goes_on),
            Some(RecordedPods::Event(kind)) => self.event(kind),
            Some(RecordedPods::Bare(pod)) => {
                self.shape = RecordingShape::BarePods;
                self.lists = 1;
                self.states_times |= states_time;
                self.present.insert(Arc::clone(&pod.info.namespace));
            }
        }
    }

    fn list(&mut self, pods: &PackedPods, states_time: bool, goes_on: bool) {
        if !self.is_incomplete {
            self.lists += 1;
            self.before.extend(self.present.drain());
        }
        self.is_incomplete = goes_on;
        self.states_times |= states_time;
        let mut is_later = self.lists > 1 && self.states_times;
        for namespace in pods.namespaces() {
            is_later |= self.before.contains(namespace);
            if !self.present.contains(namespace) {
                self.present.insert(Arc::clone(namespace));
            }
        }
        self.shape = match &self.shape {
            RecordingShape::FirstPods(_) | RecordingShape::Watched => RecordingShape::Watched,
            RecordingShape::Relists => RecordingShape::Relists,
            _ if is_later => RecordingShape::Relists,
            _ => RecordingShape::OneMoment,
        };
    }

    fn event(&mut self, kind: &WatchEventKind) {
        // Pages of an incomplete list in front do not count.
        let is_begin = match self.shape {
            RecordingShape::Unknown => true,
            RecordingShape::OneMoment => self.lists == 1 && self.is_incomplete,
            _ => false,
        };
        let is_one_of_them = match (&mut self.shape, kind) {
            (RecordingShape::FirstPods(pods), WatchEventKind::Added(pod)) => {
                let held = pods.entry(pod.uid).or_insert(pod.resource_version);
                *held == pod.resource_version
            }
            (shape, WatchEventKind::Added(pod)) if is_begin => {
                let pods = HashMap::from([(pod.uid, pod.resource_version)]);
                *shape = RecordingShape::FirstPods(pods);
                true
            }
            _ => false,
        };
        if !is_one_of_them {
            self.shape = RecordingShape::Watched;
        }
    }

    /// Whether nothing is there but the first pods of a watch without a list, and what has come between them.
    pub(super) const fn is_first_pods(&self) -> bool {
        matches!(self.shape, RecordingShape::FirstPods(_))
    }

    /// Whether all of it shows one moment, whatever has happened to nodes: it may be a lone list
    /// ([§13.2](crate::specification#s13-2)).
    pub(super) const fn is_one_moment(&self) -> bool {
        matches!(
            self.shape,
            RecordingShape::Unknown | RecordingShape::BarePods | RecordingShape::OneMoment
        )
    }

    pub(super) const fn has_node_events(&self) -> bool {
        self.has_node_events
    }

    /// Whether it has a list, and the last one is complete.
    pub(super) const fn is_complete(&self) -> bool {
        self.lists > 0 && !self.is_incomplete
    }

    /// How many lists it holds, if nothing else, at different times.
    pub(super) const fn relists(&self) -> Option<usize> {
        match self.shape {
            RecordingShape::Relists if !self.has_node_events => Some(self.lists),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
