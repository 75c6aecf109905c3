//! The fixed parts of the pods that were seen last, so that a version of one of them is read without what has not
//! changed.
//!
//! A fixed part is known again by the hash of all the bytes that it was read from: what the memory gives is what
//! decoding them again would give. The hash has 64 bits and another seed in every process.

use std::mem;

use hashbrown::{DefaultHashBuilder, HashMap};

use super::fixed::FixedPart;
use podinit_core::pod::PodUid;

/// So many pods are in a generation, and two generations are remembered. A pod with three containers takes about 400
/// bytes.
const GENERATION: usize = 4_096;

/// The fewest, where many decoders share that number.
const LEAST: usize = 64;

/// A pod with more containers is not remembered, so that none takes more than a few kilobytes.
const MOST_CONTAINERS: usize = 16;

/// The pods that were seen last.
#[derive(Debug)]
pub(crate) struct PodMemory {
    generation: usize,
    recent: HashMap<PodUid, KnownSnapshot>,
    /// Those that were seen last before the recent ones
    older: HashMap<PodUid, KnownSnapshot>,
    /// Of what the next pod is read that is decoded, if it is to be remembered
    pub next: Option<u64>,
    /// What hashes their bytes
    pub hashes: DefaultHashBuilder,
}

#[derive(Debug)]
struct KnownSnapshot {
    fingerprint: u64,
    fixed: Box<FixedPart>,
}

impl Default for PodMemory {
    fn default() -> Self {
        Self::of_one_in(1)
    }
}

impl PodMemory {
    /// The memory of one of so many decoders, which together remember as many pods as a single one.
    pub(crate) fn of_one_in(decoders: usize) -> Self {
        Self {
            generation: (GENERATION / decoders.max(1)).max(LEAST),
            recent: HashMap::default(),
            older: HashMap::default(),
            next: None,
            hashes: DefaultHashBuilder::default(),
        }
    }

    /// The fixed part of a pod, if it was read of bytes with this hash.
    pub(crate) fn recall(&mut self, uid: PodUid, fingerprint: u64) -> Option<FixedPart> {
        if let Some(known) = self.older.remove(&uid) {
            self.insert(uid, known);
        }
        let known = self.recent.get(&uid)?;
        (known.fingerprint == fingerprint).then(|| FixedPart::clone(&known.fixed))
    }

    /// Remembers a pod, in place of what was known of it, if it is the next to be remembered.
    pub(crate) fn remember(&mut self, fixed: &FixedPart) {
        let next = self.next.take();
        if let Some(fingerprint) = next.filter(|_| fixed.containers.len() <= MOST_CONTAINERS) {
            let fixed = Box::new(fixed.clone());
            self.insert(fixed.uid, KnownSnapshot { fingerprint, fixed });
        }
    }

    /// Forgets a pod that is gone.
    pub(crate) fn forget(&mut self, uid: PodUid) {
        self.recent.remove(&uid);
        self.older.remove(&uid);
    }

    fn insert(&mut self, uid: PodUid, known: KnownSnapshot) {
        if self.recent.len() >= self.generation {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(uid, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::fixed::ReadinessGates;
    use podinit_core::pod::{Claims, ContainerKind, ContainerSpec, PodInfo};

    fn fixed(number: usize) -> FixedPart {
        FixedPart {
            uid: PodUid::from_words([1, number as u64]),
            info: PodInfo::default(),
            revision: None,
            created: None,
            is_static: false,
            is_bound: false,
            gated: false,
            gates: None,
            containers: Box::default(),
            init_containers: 0,
            is_stateful: false,
            volume_images: None,
            claims: Claims::default(),
            claim_names: None,
            readiness_gates: ReadinessGates::default(),
            restarts_always: true,
        }
    }

    fn see(memory: &mut PodMemory, number: usize) -> bool {
        let fixed = fixed(number);
        let known = memory.recall(fixed.uid, 7).is_some();
        memory.next = Some(7);
        memory.remember(&fixed);
        known
    }

    #[test]
    fn those_that_were_seen_last_are_known_and_no_more() {
        let mut memory = PodMemory::of_one_in(1_000);
        for number in 0..5 * LEAST {
            assert!(!see(&mut memory, number));
            assert!(see(&mut memory, 0));
            assert!(memory.recent.len().max(memory.older.len()) <= LEAST);
        }
        let last = fixed(5 * LEAST - 1).uid;
        assert_eq!(memory.recall(last, 8), None);
        assert!(memory.recall(last, 7).is_some());
        assert!(memory.recall(fixed(1).uid, 7).is_none());
        memory.forget(last);
        assert!(memory.recall(last, 7).is_none());
        memory.remember(&fixed(1));
        assert!(memory.recall(fixed(1).uid, 7).is_none());
    }

    #[test]
    fn a_pod_of_very_many_containers_is_not_remembered() {
        let mut memory = PodMemory::default();
        let one = ContainerSpec::new("c".into(), ContainerKind::Regular);
        for (containers, remembered) in [(MOST_CONTAINERS, true), (MOST_CONTAINERS + 1, false)] {
            let mut pod = fixed(containers);
            pod.containers = vec![one.clone(); containers].into();
            memory.next = Some(7);
            memory.remember(&pod);
            assert_eq!(memory.recall(pod.uid, 7).is_some(), remembered);
        }
    }
}
