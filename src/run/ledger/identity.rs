//! Whether a ledger is about the cluster that is going to be watched, without any right beyond
//! listing pods: by the pods themselves.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::sources::Sources;
use crate::ledger::content::{Content, Origin};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::saved::{SavedPod, Successor};
use crate::pod::PodUid;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};
use crate::watch::client::Cluster;
use crate::watch::probe::Probed;

/// How long before the ledger was last complete a pod must have been created, for the ledger to be
/// expected to know it: clocks differ, and deliveries take time.
const WELL_BEFORE_NANOS: i64 = 60 * NANOS_PER_SECOND;

/// Fingerprints of how the API server is reached. A hint and no more: a cluster can be reached in
/// several ways, and two clusters in the same.
pub(super) fn fingerprints(cluster: &Cluster) -> ([u8; 32], [u8; 32]) {
    let server = Sha256::digest(cluster.server.as_bytes());
    let mut authority = Sha256::new();
    for certificate in &cluster.authority {
        authority.update((certificate.len() as u64).to_le_bytes());
        authority.update(certificate);
    }
    (server.into(), authority.finalize().into())
}

/// Why the ledger is about another cluster, if it is.
///
/// A pod that it knows proves that it is not. Without one, it is if a pod should be known to it: one
/// that was there well before the ledger was last complete, in a selection that has not changed.
/// Where the pods decide nothing, it is if the API server is reached at another address and trusted
/// by other certificates.
pub(super) fn foreign(
    content: &Content,
    pods: &[SavedPod],
    present: &Origin,
    sources: &Sources,
    probed: &[Probed],
) -> Option<&'static str> {
    let listed = probed.iter().flat_map(|probed| &probed.pods);
    let listed: HashSet<PodUid> = listed.map(|pod| pod.uid).collect();
    let deleted = content.tracker.deleted.iter().map(|pod| pod.uid);
    let mut known = pods.iter().map(SavedPod::uid).chain(deleted);
    if known.any(|uid| listed.contains(&uid)) {
        return None;
    }
    if (0..).zip(probed).any(|(scope, probed)| {
        let before = sources.predecessor(SourceId(scope));
        let before = before.and_then(|source| content.tracker.sources.get(&source));
        let complete_at = before.and_then(|source| source.progress.complete_at);
        complete_at.is_some_and(|complete_at| {
            // It does not know those that were evicted for the cap on pods.
            let evicted = |created: &Timestamp| content.tracker.may_have_evicted(*created);
            let created = probed.pods.iter().filter_map(|pod| pod.created);
            let created = created.filter(|created| !evicted(created));
            let mut ages = created.map(|created| complete_at.nanos_since(created));
            ages.any(|age| age > WELL_BEFORE_NANOS)
        })
    }) {
        return Some("it knows none of the pods that it would have to know");
    }
    let origin = &content.origin;
    let elsewhere = origin.server != present.server && origin.authority != present.authority;
    elsewhere.then_some("it was written for another API server, with other certificates")
}

impl Sources {
    /// The source of the ledger that this one goes on from, with the same selection of pods.
    fn predecessor(&self, present: SourceId) -> Option<SourceId> {
        self.saved()
            .find(|saved| self.successor(*saved) == Successor::Same(present))
    }
}
