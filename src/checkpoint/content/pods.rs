//! Reading the pods: one value after the other, until the section ends.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use super::section::{ContentError, PODS, take};
use podinit_core::lifecycle::{SavedInFlight, SavedPod};
use podinit_core::pod::{PodInfo, Workload};

/// Reads the pods of a checkpoint with `slos` SLOs.
pub(super) fn read(
    mut bytes: &[u8],
    slos: usize,
    texts: &mut SharedTexts,
) -> Result<Vec<SavedPod>, ContentError> {
    let mut pods = Vec::new();
    while !bytes.is_empty() {
        let mut pod: SavedPod = take(&mut bytes, PODS)?;
        pod.check(slos)
            .map_err(|what| ContentError::Impossible(PODS, what))?;
        if let SavedPod::InFlight(pod) = &mut pod {
            texts.share(pod);
        }
        pods.push(pod);
    }
    Ok(pods)
}

/// What many pods have in common, held once.
#[derive(Default)]
pub(super) struct SharedTexts {
    texts: HashSet<Arc<str>>,
    workloads: HashSet<Arc<Workload>>,
}

impl SharedTexts {
    /// Replaces texts of the pod by equal ones of pods before it.
    pub(super) fn share(&mut self, pod: &mut SavedInFlight) {
        self.share_names(&mut pod.info);
        for container in &mut pod.evidence.containers {
            share(&mut self.texts, &mut container.name);
        }
        let registries = pod.images.iter_mut();
        for registry in registries.filter_map(|image| image.registry.as_mut()) {
            share(&mut self.texts, registry);
        }
    }

    /// Replaces texts by equal ones of pods before.
    pub(super) fn share_all(&mut self, texts: &mut [Arc<str>]) {
        texts
            .iter_mut()
            .for_each(|text| share(&mut self.texts, text));
    }

    fn share_names(&mut self, info: &mut PodInfo) {
        share(&mut self.texts, &mut info.namespace);
        if let Some(node) = &mut info.node {
            share(&mut self.texts, node);
        }
        if let Some(workload) = &mut info.workload {
            share(&mut self.workloads, workload);
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

#[cfg(test)]
#[path = "pods_tests.rs"]
mod tests;
