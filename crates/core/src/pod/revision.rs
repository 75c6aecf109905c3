//! The revision of its workload that a pod is of.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::LastingName;
use super::uid::fnv1a_64;

/// Which pods have the same workload and were made from the same template: a hash of 32 bits of both that is the same in
/// every run. Of 20,000 revisions, one in 200,000 has the hash of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub struct Revision(NonZeroU32);

impl From<u32> for Revision {
    fn from(number: u32) -> Self {
        Self(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
    }
}

impl From<Revision> for u32 {
    fn from(revision: Revision) -> Self {
        revision.0.get()
    }
}

impl Revision {
    /// The labels that name the revision of a pod, besides those of [`HashedBy`](super::HashedBy): that of DaemonSets and
    /// StatefulSets.
    pub const LABEL: &'static str = "controller-revision-hash";

    /// The revision that a label of the pods of a workload calls `value`.
    pub fn new(namespace: &str, workload: &LastingName<'_>, value: &str) -> Self {
        let parts = [namespace, workload.kind, &*workload.name, value];
        let bytes = parts.iter().flat_map(|part| part.bytes().chain([b'/']));
        Self::of_bits(fnv1a_64(bytes))
    }

    fn of_bits(hash: u64) -> Self {
        Self::from((hash >> 32) as u32 ^ hash as u32)
    }

    /// As a number; 0 stands for no revision.
    pub(in crate::pod) fn to_number(revision: Option<Self>) -> u32 {
        revision.map_or(0, u32::from)
    }

    /// What [`Revision::to_number`] gave.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_of_one_workload_and_has_one_value() {
        let of = |namespace: &str, kind, name, value: &str| {
            Revision::new(namespace, &LastingName::new(kind, name, &[]), value)
        };
        let revision = of("shop", "StatefulSet", "db", "7c9d");
        assert_eq!(revision, of("shop", "StatefulSet", "db", "7c9d"));
        for other in [
            of("shop", "StatefulSet", "db", "7c9e"),
            of("shop", "StatefulSet", "db-", "7c9d"),
            of("shop", "DaemonSet", "db", "7c9d"),
            of("shops", "StatefulSet", "db", "7c9d"),
        ] {
            assert_ne!(revision, other);
        }
        for revision in [Some(revision), None] {
            assert_eq!(Revision::of_number(Revision::to_number(revision)), revision);
        }
        assert_eq!(Revision::to_number(Some(Revision::of_bits(1 << 32 | 1))), 1);
    }
}
