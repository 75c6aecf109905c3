//! Whether a checkpoint is about the cluster that is going to be watched. It is recognized by its
//! pods, so podinit needs no rights beyond listing them.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::source_map::SourceMap;
use podinit_checkpoint::content::{CheckpointContent, SavedScope};
use podinit_core::lifecycle::{SavedPod, SourceId, SourceSuccessor};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::watch::probe::ProbeResult;

/// A checkpoint is expected to know a pod that was created at least this long before the checkpoint
/// was last complete: clocks differ, and deliveries take time.
const WELL_BEFORE_NANOS: i64 = 60 * NANOS_PER_SECOND;

/// Fingerprints of the API server's URL and of its certificate authorities. Only a hint: one cluster
/// can have several URLs, and two clusters can share one.
pub(super) fn fingerprints(cluster: &ClusterClient) -> ([u8; 32], [u8; 32]) {
    let server = Sha256::digest(cluster.server.as_bytes());
    let mut authority = Sha256::new();
    for certificate in &cluster.authority {
        authority.update((certificate.len() as u64).to_le_bytes());
        authority.update(certificate);
    }
    (server.into(), authority.finalize().into())
}

/// Why the checkpoint is about another cluster, if it is.
///
/// One listed pod that the checkpoint knows proves that it is not. Otherwise it is foreign if it does
/// not know a pod that it should know: one that existed well before the checkpoint was last complete,
/// in a selection that has not changed. If the pods decide nothing, it is foreign if both the URL and
/// the certificate authorities of the API server differ.
pub(super) fn foreign(
    content: &CheckpointContent,
    pods: &[SavedPod],
    present: &SavedScope,
    sources: &SourceMap,
    probed: &[ProbeResult],
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
            // It does not know pods that were evicted for the cap on pods.
            let evicted = |created: &Timestamp| content.tracker.may_have_evicted(*created);
            // Nor those of other shards.
            let own = probed.pods.iter();
            let own = own.filter(|pod| content.scope.shard.contains(pod.uid));
            let created = own.filter_map(|pod| pod.created);
            let created = created.filter(|created| !evicted(created));
            let mut ages = created.map(|created| complete_at.nanos_since(created));
            ages.any(|age| age > WELL_BEFORE_NANOS)
        })
    }) {
        return Some("it knows none of the pods that it should know");
    }
    let scope = &content.scope;
    let elsewhere = scope.server != present.server && scope.authority != present.authority;
    elsewhere.then_some("it was written for another API server, with other certificates")
}

impl SourceMap {
    /// The source of the checkpoint that this one continues, with the same selection of pods.
    fn predecessor(&self, present: SourceId) -> Option<SourceId> {
        self.saved().find(|saved| self.successor(*saved) == SourceSuccessor::Same(present))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use podinit_checkpoint::content::Watched;
    use podinit_core::lifecycle::{
        LastSeen, LastTrue, SavedFinished, SavedSource, SourceId, SourceProgress,
    };
    use podinit_core::pod::PodSnapshot;

    const COMPLETE: i64 = 1_800_000_000;

    /// A checkpoint that knows the pod "known", and the listed pods, with their ages in seconds when
    /// the checkpoint was last complete.
    struct Case {
        content: CheckpointContent,
        pods: Vec<SavedPod>,
        present: SavedScope,
        probed: ProbeResult,
    }

    impl Case {
        fn from_listed(listed: &[(&str, i64)]) -> Self {
            let scope = SavedScope { watched: vec![Watched::default()], ..SavedScope::default() };
            let mut content =
                CheckpointContent { scope: scope.clone(), ..CheckpointContent::default() };
            let progress = SourceProgress {
                version: None,
                complete_at: Some(Timestamp::from_seconds(COMPLETE)),
            };
            let source = SavedSource { first_list: None, progress };
            content.tracker.sources.insert(SourceId(0), source);
            let last_seen = LastSeen {
                newest_version: 1,
                last_true: LastTrue::default(),
                source: SourceId(0),
                is_static: false,
                created: 1,
                ..LastSeen::default()
            };
            let listed = listed.iter().map(|(name, age)| {
                let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", *name);
                pod.created = Some(Timestamp::from_seconds(COMPLETE - age));
                pod
            });
            Self {
                content,
                pods: vec![SavedPod::Finished(SavedFinished {
                    uid: PodUid::from_text("known"),
                    last_seen,
                    ready: None,
                    followed: None,
                })],
                present: scope,
                probed: ProbeResult { version: None, pods: listed.collect(), sharded: false },
            }
        }

        fn is_foreign(&self) -> bool {
            let saved = &self.content.scope.watched;
            let sources = SourceMap::matched(saved, &self.present.watched);
            let probed = std::slice::from_ref(&self.probed);
            foreign(&self.content, &self.pods, &self.present, &sources, probed).is_some()
        }

        fn elsewhere(mut self) -> Self {
            (self.present.server, self.present.authority) = ([1; 32], [1; 32]);
            self
        }
    }

    #[test]
    fn one_known_pod_proves_the_cluster_whatever_its_url() {
        let listed = [("old", 10_000), ("known", 10_000)];
        assert!(!Case::from_listed(&listed).elsewhere().is_foreign());
    }

    #[test]
    fn an_old_unknown_pod_proves_another_cluster() {
        assert!(Case::from_listed(&[("old", 61)]).is_foreign());
    }

    #[test]
    fn a_pod_that_the_checkpoint_need_not_know_proves_nothing() {
        assert!(!Case::from_listed(&[("young", 60)]).is_foreign());
        let mut reselected = Case::from_listed(&[("old", 61)]);
        reselected.present.watched[0].label = Some("app=web".to_owned());
        assert!(!reselected.is_foreign());
        let mut evicted = Case::from_listed(&[("old", 61)]);
        evicted.content.tracker.watermark = Some(u32::try_from(COMPLETE).unwrap());
        assert!(!evicted.is_foreign());
    }

    #[test]
    fn without_pods_it_is_another_cluster_if_url_and_certificates_differ() {
        assert!(!Case::from_listed(&[]).is_foreign());
        assert!(Case::from_listed(&[]).elsewhere().is_foreign());
        let mut moved = Case::from_listed(&[]);
        moved.present.server = [1; 32];
        assert!(!moved.is_foreign(), "the same certificates");
    }
}
