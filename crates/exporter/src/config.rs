//! What an exporter is asked to do, apart from where its pods come from.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use crate::ingest::DEADLINES_AT_ONCE;
use crate::slos::ExporterSlos;
use podinit_core::lifecycle::{CustomMilestones, TimestampMode, TrackerConfig};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_decode::node::NodeOptions;
use podinit_expo::metrics::{ExpositionBuilder, LabelConfig, SloDoc};
use podinit_http::{AllowedHost, MetricsPath};
use podinit_slo::file::{AvailableEvidence, EvidenceSources};

/// The configuration of an exporter.
#[derive(Clone, Debug)]
pub struct ExporterConfig {
    /// Where it listens
    pub listen: SocketAddr,
    /// Where metrics are scraped
    pub metrics_path: MetricsPath,
    /// The name of the cluster, for the live page
    pub cluster_name: Option<String>,
    /// Names of hosts under which it answers
    pub allowed_hosts: Vec<AllowedHost>,
    /// Times to measure with
    pub timestamps: TimestampMode,
    /// Evidence beside pods
    pub evidence: EvidenceSources,
    /// How nodes are read
    pub nodes: NodeOptions,
    /// The SLO file
    pub slo: Option<PathBuf>,
    /// How many pods it remembers
    pub max_pods: NonZeroUsize,
    /// Which of the pods; `None` for all
    pub shard: Option<Shard>,
    /// The milestones of your own
    pub milestones: CustomMilestones,
    /// The label set of the duration series
    pub labels: LabelConfig,
}

impl ExporterConfig {
    /// What is exposed of pods, of these SLOs and from `now` on.
    pub(super) fn metrics(&self, slos: &[SloDoc], now: Timestamp) -> ExpositionBuilder {
        ExpositionBuilder::new(self.labels.clone())
            .starts(now)
            .shard(self.shard.unwrap_or_default())
            .events(self.evidence.events)
            .nodes(self.evidence.nodes)
            .milestones(Arc::clone(&self.milestones))
            .slos(slos.to_vec())
    }

    /// What SLOs can name.
    pub(super) fn available(&self) -> AvailableEvidence {
        let milestones = Some(Arc::clone(&self.milestones));
        AvailableEvidence { sources: self.evidence, milestones }
    }

    /// How the tracker accounts, with these SLOs.
    pub(super) fn tracker(&self, slos: &ExporterSlos) -> TrackerConfig {
        TrackerConfig {
            timestamps: self.timestamps,
            slos: slos.rules.clone(),
            stuck_after: slos.stuck_after,
            max_pods: self.max_pods.get(),
            events: self.evidence.events,
            nodes: self.evidence.nodes,
            shard: self.shard,
            milestones: Arc::clone(&self.milestones),
            deadlines_at_once: DEADLINES_AT_ONCE,
            ..TrackerConfig::default()
        }
    }
}

#[cfg(test)]
impl ExporterConfig {
    /// What a start without flags is asked to do, on a free port.
    pub(super) fn for_tests() -> Self {
        Self {
            listen: (std::net::Ipv4Addr::LOCALHOST, 0).into(),
            metrics_path: MetricsPath::default(),
            cluster_name: None,
            allowed_hosts: Vec::new(),
            timestamps: TimestampMode::Fused,
            evidence: EvidenceSources::NONE,
            nodes: NodeOptions::default(),
            slo: None,
            max_pods: NonZeroUsize::MAX,
            shard: None,
            milestones: CustomMilestones::default(),
            labels: LabelConfig::default(),
        }
    }
}
