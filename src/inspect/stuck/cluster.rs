//! The stuck pods of a cluster: one list of its pods, accounted for as `serve` does with its first list.

use std::sync::Arc;

use super::{StuckPod, StuckPods};
use crate::cluster::client::Cluster;
use crate::cluster::clock::Clock;
use crate::inspect::api::startup_of;
use crate::watch::one_shot_list::list_pods;
use crate::watch::requests::{Scope, Selectors};
use podinit_core::lifecycle::{
    Delivery, Observation, PodEvent, SourceId, StuckAfter, TimestampMode, Tracker, TrackerConfig,
};
use podinit_core::timestamp::Timestamp;
use podinit_decode::{DecodeOptions, rfc3339};

/// Why the pods cannot be listed; one line.
#[derive(Debug, thiserror::Error)]
#[error("cannot list {scope} at {server}: {why}")]
pub struct ListError {
    scope: String,
    server: String,
    why: String,
}

/// A cluster, and which of its pods to look at.
pub struct StuckInCluster {
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

impl StuckInCluster {
    /// Lists the pods, and returns at most `limit` stuck ones.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub async fn list(&self, limit: usize) -> Result<StuckPods, ListError> {
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
        Ok(stuck_pods(&tracker, limit))
    }
}

/// What a table of stuck pods shows of them.
fn decode_options() -> DecodeOptions {
    DecodeOptions {
        node: true,
        workload: true,
        images: true,
        messages: true,
        ..DecodeOptions::default()
    }
}

fn stuck_pods(tracker: &Tracker, limit: usize) -> StuckPods {
    let now = tracker.accounted_time();
    let in_flight = tracker.in_flight_after(None).map(|(_, pod)| pod);
    let mut stuck = in_flight.filter(|pod| pod.is_stuck());
    let shown = stuck.by_ref().take(limit);
    let pods = shown.filter_map(|pod| StuckPod::of(&startup_of(&pod.record(), &[]), now?));
    StuckPods {
        time: now.map(rfc3339::format),
        pods: pods.collect(),
        complete: stuck.next().is_none(),
    }
}
