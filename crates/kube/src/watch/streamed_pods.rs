//! The pods of a streamed list while it is under way: packed, with a hash index of their places beside them.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use podinit_core::pod::packed::{PackedPlace, PackedPods};
use podinit_core::pod::{PodSnapshot, PodUid};

/// Pods by UID.
#[derive(Debug, Default)]
pub(super) struct StreamedPods {
    pods: PackedPods,
    index: HashTable<PackedPlace>,
    hasher: DefaultHashBuilder,
}

impl StreamedPods {
    /// Adds a pod, in place of an older snapshot of it.
    pub(super) fn insert(&mut self, pod: PodSnapshot) {
        let uid = pod.uid;
        self.remove(uid);
        // Without a place, past 4 GiB of packed pods, a pod cannot be removed any more.
        if let Some(place) = self.pods.push(pod) {
            let Self { pods, index, hasher } = self;
            let rehash = |place: &PackedPlace| hasher.hash_one(pods.uid_at(*place));
            index.insert_unique(hasher.hash_one(Some(uid)), place, rehash);
        }
    }

    /// Removes a pod, if it is there.
    pub(super) fn remove(&mut self, uid: PodUid) {
        let Self { pods, index, hasher } = self;
        let hash = hasher.hash_one(Some(uid));
        let found = index.find_entry(hash, |place| pods.uid_at(*place) == Some(uid));
        if let Ok(entry) = found {
            let (place, _) = entry.remove();
            pods.remove(place);
        }
    }

    /// The pods, in the order in which they were added last.
    pub(super) fn into_packed(self) -> PackedPods {
        self.pods
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use std::collections::HashMap;

    use super::*;
    use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};

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
            let pods = streamed.into_packed();
            assert_eq!(pods.len(), model.len());
            for pod in pods {
                assert_eq!(model.get(&pod.uid), Some(&pod.resource_version));
            }
        }
    }
}
