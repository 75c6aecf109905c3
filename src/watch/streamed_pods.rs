//! The pods of a streamed list while it is under way. A hash map of pods would double all of them when it
//! grows, so they stand in a vector, and a hash index points at them.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::pod::{PodSnapshot, PodUid};

/// Pods by UID.
#[derive(Debug, Default)]
pub(super) struct StreamedPods {
    pods: Vec<PodSnapshot>,
    /// Positions in `pods`
    index: HashTable<usize>,
    hasher: DefaultHashBuilder,
}

impl StreamedPods {
    /// Adds a pod, in place of an older snapshot of it.
    pub(super) fn insert(&mut self, pod: PodSnapshot) {
        let Self {
            pods,
            index,
            hasher,
        } = self;
        let hash = hasher.hash_one(pod.uid);
        match index.find(hash, |position| pods[*position].uid == pod.uid) {
            Some(position) => pods[*position] = pod,
            None => {
                let rehash = |position: &usize| hasher.hash_one(pods[*position].uid);
                index.insert_unique(hash, pods.len(), rehash);
                pods.push(pod);
            }
        }
    }

    /// Removes a pod, if it is there.
    pub(super) fn remove(&mut self, uid: PodUid) {
        let Self {
            pods,
            index,
            hasher,
        } = self;
        let hash = hasher.hash_one(uid);
        let found = index.find_entry(hash, |position| pods[*position].uid == uid);
        let Ok(entry) = found else { return };
        let (position, _) = entry.remove();
        let last = pods.len() - 1;
        // The last pod takes the place of the one that goes.
        let moved = hasher.hash_one(pods[last].uid);
        if let Some(moved) = index.find_mut(moved, |found| *found == last) {
            *moved = position;
        }
        pods.swap_remove(position);
    }

    /// The pods, in no order.
    pub(super) fn into_pods(self) -> Vec<PodSnapshot> {
        self.pods
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use std::collections::HashMap;

    use super::*;
    use crate::decode::{DecodeOptions, PodDecoder, WatchEventKind};

    fn pod(uid: u8, version: u64) -> PodSnapshot {
        let line = format!(
            r#"{{"type":"ADDED","object":{{"metadata":{{"uid":"{uid}","resourceVersion":"{version}"}}}}}}"#
        );
        let event = PodDecoder::new(DecodeOptions::default()).watch_event(line.as_bytes());
        match event.map(|event| event.kind) {
            Ok(WatchEventKind::Added(pod)) => pod,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_pod_is_there_once_as_it_was_last_seen() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let (mut streamed, mut model) = (StreamedPods::default(), HashMap::new());
            for version in 0..random.u64(0..60) {
                let pod = pod(random.u8(0..12), version);
                if random.u8(0..3) == 0 {
                    streamed.remove(pod.uid);
                    model.remove(&pod.uid);
                } else {
                    model.insert(pod.uid, pod.resource_version);
                    streamed.insert(pod);
                }
            }
            let pods = streamed.into_pods();
            assert_eq!(pods.len(), model.len());
            for pod in pods {
                assert_eq!(model.get(&pod.uid), Some(&pod.resource_version));
            }
        }
    }
}
