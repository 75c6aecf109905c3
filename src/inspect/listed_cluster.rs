//! One list of the pods of a cluster, accounted for as `serve` does with its first list.

use std::sync::Arc;

use crate::cluster::client::Cluster;
use crate::cluster::clock::Clock;
use crate::watch::one_shot_list::list_pods;
use crate::watch::requests::{Scope, Selectors};
use podinit_core::lifecycle::{
    Delivery, Observation, PodEvent, SourceId, StuckAfter, TimestampMode, Tracker, TrackerConfig,
};
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;

/// Why the pods cannot be listed; one line.
#[derive(Debug, thiserror::Error)]
#[error("cannot list {scope} at {server}: {why}")]
pub struct ListError {
    scope: String,
    server: String,
    why: String,
}

/// A cluster, and which of its pods to look at.
pub struct ListedCluster {
    pub cluster: Cluster,
    /// The cluster's clock
    pub clock: Arc<dyn Clock>,
    /// The namespaces
    pub scopes: Vec<Scope>,
    /// Which of their pods
    pub selectors: Selectors,
    /// After how long a pod counts as stuck
    pub stuck_after: StuckAfter,
}

impl ListedCluster {
    /// Lists the pods. The tracker that is returned accounts for them at the present.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub async fn list(&self) -> Result<Tracker, ListError> {
        // Nothing is counted.
        let mut sink = |_: Timestamp, _: Observation<'_>| {};
        let mut tracker = Tracker::new(TrackerConfig {
            timestamps: TimestampMode::Fused,
            stuck_after: self.stuck_after,
            ..TrackerConfig::default()
        });
        for (scope, source) in self.scopes.iter().zip(0..) {
            let began = self.clock.now();
            let pods = list_pods(&self.cluster, scope, &self.selectors, decode_options()).await;
            let pods = pods.map_err(|error| ListError {
                scope: scope.to_string(),
                server: self.cluster.server.clone(),
                why: error.detail,
            })?;
            let listed = Delivery {
                source: SourceId(source),
                event: PodEvent::Listed {
                    pods: pods.into(),
                    began,
                },
                now: self.clock.now(),
                observed: None,
                version: None,
            };
            tracker.apply(listed, &mut sink);
        }
        // The answers have set the clock right.
        let now = self.clock.now();
        tracker.advance(now, &mut sink);
        Ok(tracker)
    }
}

/// What is shown of pods.
fn decode_options() -> DecodeOptions {
    DecodeOptions {
        node: true,
        workload: true,
        images: true,
        messages: true,
        ..DecodeOptions::default()
    }
}
