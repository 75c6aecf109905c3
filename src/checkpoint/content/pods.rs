//! Reading the pods: one value after the other, until the section ends.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use super::{ContentError, PODS};
use crate::lifecycle::SavedPod;
use crate::pod::{PodInfo, Workload};

/// Reads the pods of a checkpoint with `slos` SLOs.
pub(super) fn read(mut bytes: &[u8], slos: usize) -> Result<Vec<SavedPod>, ContentError> {
    let mut pods = Vec::new();
    let mut shared = Shared::default();
    while !bytes.is_empty() {
        let (mut pod, rest): (SavedPod, _) =
            postcard::take_from_bytes(bytes).map_err(|error| ContentError::Bytes(PODS, error))?;
        bytes = rest;
        pod.check(slos)
            .map_err(|what| ContentError::Impossible(PODS, what))?;
        if let SavedPod::InFlight(pod) = &mut pod {
            shared.share(&mut pod.info);
            for container in &mut pod.evidence.containers {
                share(&mut shared.texts, &mut container.name);
            }
            let registries = pod.images.iter_mut();
            for registry in registries.filter_map(|image| image.registry.as_mut()) {
                share(&mut shared.texts, registry);
            }
        }
        pods.push(pod);
    }
    Ok(pods)
}

/// What many pods have in common, held once.
#[derive(Default)]
struct Shared {
    texts: HashSet<Arc<str>>,
    workloads: HashSet<Arc<Workload>>,
}

impl Shared {
    fn share(&mut self, info: &mut PodInfo) {
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
