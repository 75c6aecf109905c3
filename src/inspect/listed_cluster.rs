//! Lists of the pods of a cluster, and of their Events.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::api_error::ApiError;
use crate::cluster::client::Cluster;
use crate::cluster::clock::Clock;
use crate::watch::one_shot_list::{list_events, list_pods};
use crate::watch::requests::{Scope, Selectors};
use podinit_core::kube_event::KubeEvent;
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;

/// The Events of a cluster are many, and each list has them all: between two lists of them is so much time.
const EVENTS_EVERY: Duration = Duration::from_secs(30);

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
    /// When Events were listed; `None` where they are to be listed next time
    events_listed: Option<Instant>,
    /// Whether they are listed at all
    lists_events: bool,
}

/// What one look at a cluster shows.
#[derive(Debug)]
pub struct Listed {
    /// The pods of each scope, and when their list was begun
    pub pods: Vec<(Timestamp, Vec<PodSnapshot>)>,
    pub events: Vec<KubeEvent>,
    /// Why there are no Events, where they were asked for
    pub no_events: Option<String>,
    /// The cluster's time after the lists
    pub now: Timestamp,
}

impl ListedCluster {
    /// A cluster whose Events are listed too if `lists_events`.
    pub fn new(
        cluster: Cluster,
        clock: Arc<dyn Clock>,
        scopes: Vec<Scope>,
        selectors: Selectors,
        lists_events: bool,
    ) -> Self {
        Self {
            cluster,
            clock,
            scopes,
            selectors,
            events_listed: None,
            lists_events,
        }
    }

    /// Lists the pods, and the Events now and then.
    ///
    /// # Errors
    /// If the pods cannot be listed.
    pub async fn list(&mut self) -> Result<Listed, ListError> {
        let mut listed = Vec::new();
        for scope in &self.scopes {
            let began = self.clock.now();
            let pods = list_pods(&self.cluster, scope, &self.selectors, decode_options()).await;
            let pods = pods.map_err(|error| ListError {
                scope: scope.to_string(),
                server: self.cluster.server.clone(),
                why: error.detail,
            })?;
            listed.push((began, pods));
        }
        let is_due = |at: Instant| at.elapsed() >= EVENTS_EVERY;
        let events = match self.lists_events && self.events_listed.is_none_or(is_due) {
            true => {
                self.events_listed = Some(Instant::now());
                self.events().await
            }
            false => Ok(Vec::new()),
        };
        let (events, no_events) = match events {
            Ok(events) => (events, None),
            Err(error) => (Vec::new(), Some(error.detail)),
        };
        Ok(Listed {
            pods: listed,
            events,
            no_events,
            // The answers have set the clock right.
            now: self.clock.now(),
        })
    }

    async fn events(&self) -> Result<Vec<KubeEvent>, ApiError> {
        let mut events = Vec::new();
        for scope in &self.scopes {
            events.extend(list_events(&self.cluster, scope, decode_options()).await?);
        }
        Ok(events)
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
