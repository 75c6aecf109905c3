//! What the simulated API server has: every version of every pod, in the order of their
//! resourceVersions.

use std::collections::BTreeMap;

use bytes::Bytes;
use podinit_sim::life::PodManifest;

use crate::proof::shard;

/// What a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Added,
    Modified,
    Deleted,
    /// A removal without a watch event
    Unseen,
}

/// One version of one pod.
#[derive(Clone, Debug)]
pub struct Version {
    pub number: u64,
    pub pod: u32,
    pub kind: Kind,
    pub json: Bytes,
    /// A startup ends with it, as ready or with a last phase
    pub is_end: bool,
}

/// What of a pod never changes.
#[derive(Clone, Debug)]
pub struct Nature {
    pub namespace: String,
    pub name: String,
    /// The hash of its UID
    pub hash: u64,
}

impl Nature {
    pub fn of(manifest: &PodManifest) -> Self {
        Self {
            namespace: manifest.namespace.clone(),
            name: manifest.name.clone(),
            hash: shard::hash(&manifest.uid),
        }
    }
}

/// A version by its place in [`History::log`].
pub type Place = u32;

/// Everything that was ever written, and which of it counts.
#[derive(Debug, Default)]
pub struct History {
    pub pods: Vec<Nature>,
    pub log: Vec<Version>,
    /// What counts, by version. A server that was restored from a backup forgets the rest.
    current: Vec<Place>,
    number: u64,
    /// No watch can begin before this version
    pub horizon: u64,
}

impl History {
    pub fn new() -> Self {
        let number = 1_000;
        Self { number, horizon: number, ..Self::default() }
    }

    /// The newest version.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The version that the next write is going to have.
    pub fn next_number(&self) -> u64 {
        self.number + 1
    }

    pub fn write(&mut self, pod: u32, kind: Kind, json: Vec<u8>, is_end: bool) {
        self.number += 1;
        self.current.push(self.log.len() as Place);
        self.log.push(Version { number: self.number, pod, kind, json: json.into(), is_end });
    }

    pub fn version(&self, place: Place) -> &Version {
        &self.log[place as usize]
    }

    pub fn nature(&self, place: Place) -> &Nature {
        &self.pods[self.version(place).pod as usize]
    }

    /// Versions after `number`, oldest first.
    pub fn after(&self, number: u64) -> &[Place] {
        let first = self.current.partition_point(|place| self.version(*place).number <= number);
        &self.current[first..]
    }

    /// What stands at version `number`, by namespace and name.
    pub fn standing(&self, number: u64) -> Vec<Place> {
        let mut standing: BTreeMap<(&str, &str), Place> = BTreeMap::new();
        for place in &self.current {
            let version = self.version(*place);
            if version.number > number {
                break;
            }
            let nature = &self.pods[version.pod as usize];
            let key = (nature.namespace.as_str(), nature.name.as_str());
            match version.kind {
                Kind::Added | Kind::Modified => standing.insert(key, *place),
                Kind::Deleted | Kind::Unseen => standing.remove(&key),
            };
        }
        standing.into_values().collect()
    }

    /// The past is forgotten: a watch can only begin here.
    pub fn compact(&mut self) {
        self.horizon = self.number;
    }

    /// The server is restored from a backup of version `number`.
    pub fn roll_back(&mut self, number: u64) {
        let kept = self.current.len() - self.after(number).len();
        self.current.truncate(kept);
        self.number = number;
        self.horizon = number;
    }
}
