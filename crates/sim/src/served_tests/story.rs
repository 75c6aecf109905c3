//! The story of one simulated pod: every version that a watch tells of it, and the truth.

use std::time::Duration;

use crate::plan;
use crate::profile::{LifeKind, LifeSpeed};
use crate::rng::Rng;
use crate::truth::PodTruth;
use crate::{ClusterConfig, SimulatedCluster};
use serde_json::Value;

use super::client::Http;

/// The versions of one pod, as a watch tells them.
pub(super) struct Story {
    pub(super) events: Vec<Value>,
    pub(super) truth: PodTruth,
}

impl Story {
    /// Lives a whole life of `kind`, with draws from `seed`.
    pub(super) async fn of(kind: LifeKind, pace: LifeSpeed, seed: u64) -> Self {
        let config = ClusterConfig { history: 100_000, ..ClusterConfig::manual() };
        let cluster = SimulatedCluster::start(config).await.unwrap();
        assert!(cluster.begin(plan::life(kind, pace, &mut Rng::new(seed))));
        cluster.step(Duration::from_secs(7_200));
        let truth = cluster.truth().pods()[0].clone();
        let newest = cluster.store().version().to_string();
        let http = Http::to(&cluster);
        let mut watch = http.watch("resourceVersion=1000").await;
        let mut events = Vec::new();
        loop {
            let event = watch.next_event().await;
            let metadata = &event["object"]["metadata"];
            let last = metadata["resourceVersion"].as_str() == Some(newest.as_str());
            if metadata["uid"] == truth.uid {
                events.push(event);
            }
            if last {
                cluster.shutdown().await;
                return Self { events, truth };
            }
        }
    }

    pub(super) async fn brisk(kind: LifeKind) -> Self {
        Self::of(kind, LifeSpeed::Brisk, 1).await
    }

    pub(super) fn object(&self, at: usize) -> &Value {
        &self.events[at]["object"]
    }

    pub(super) fn last(&self) -> &Value {
        self.object(self.events.len() - 1)
    }

    /// The condition of that type in each version in which it stands.
    pub(super) fn conditions(&self, kind: &str) -> Vec<&Value> {
        (self.events.iter())
            .flat_map(|event| {
                event["object"]["status"]["conditions"].as_array().into_iter().flatten()
            })
            .filter(|condition| condition["type"] == kind)
            .collect()
    }

    /// The statuses of the condition, without repetitions.
    pub(super) fn turns(&self, kind: &str) -> Vec<String> {
        let mut turns: Vec<String> = (self.conditions(kind).iter())
            .map(|condition| condition["status"].as_str().unwrap().to_owned())
            .collect();
        turns.dedup();
        turns
    }

    pub(super) fn ever(&self, holds: impl Fn(&Value) -> bool) -> bool {
        self.events.iter().any(|event| holds(&event["object"]))
    }

    pub(super) fn reasons(&self, kind: &str) -> Vec<String> {
        let mut reasons: Vec<String> = (self.conditions(kind).iter())
            .filter_map(|condition| condition["reason"].as_str().map(str::to_owned))
            .collect();
        reasons.dedup();
        reasons
    }
}

pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind)
}

pub(super) fn holds(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition["status"] == "True")
}
