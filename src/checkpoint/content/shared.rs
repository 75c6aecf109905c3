//! What many pods and records have in common, held once.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use podinit_core::lifecycle::{EndedStartup, PodInFlight, SloRule};
use podinit_core::node::NodeLabels;
use podinit_core::pod::Workload;

/// What was read before.
#[derive(Default)]
pub(super) struct SharedValues {
    texts: HashSet<Arc<str>>,
    workloads: HashSet<Arc<Workload>>,
    images: HashSet<Arc<Vec<Arc<str>>>>,
    nodes: HashSet<Arc<NodeLabels>>,
    rules: Option<Arc<[SloRule]>>,
}

impl SharedValues {
    /// Replaces parts of the pod by equal ones of pods before it.
    pub(super) fn share(&mut self, pod: &mut PodInFlight) {
        for text in pod.texts_mut() {
            share(&mut self.texts, text);
        }
        for labels in pod.node_labels_mut() {
            share(&mut self.nodes, labels);
        }
        let info = pod.info_mut();
        if let Some(workload) = &mut info.workload {
            share(&mut self.workloads, workload);
        }
        if let Some(images) = &mut info.images {
            if let Some(texts) = Arc::get_mut(images) {
                texts.iter_mut().for_each(|text| share(&mut self.texts, text));
            }
            share(&mut self.images, images);
        }
    }

    /// The same for a startup that has ended: nearly always, the SLOs are those of the one before.
    pub(super) fn share_ended(&mut self, startup: &mut EndedStartup) {
        let (pod, rules) = startup.parts_mut();
        self.share(pod);
        match &self.rules {
            Some(before) if before == rules => *rules = Arc::clone(before),
            _ => self.rules = Some(Arc::clone(rules)),
        }
    }
}

/// Replaces `value` by an equal one in `known`, or adds it there.
fn share<T: ?Sized + Eq + Hash>(known: &mut HashSet<Arc<T>>, value: &mut Arc<T>) {
    match known.get(&**value) {
        Some(first) => *value = Arc::clone(first),
        None => _ = known.insert(Arc::clone(value)),
    }
}
