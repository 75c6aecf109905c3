//! What the API server's objects say of each pod, read from their JSON with nothing of podinit's.

use std::collections::BTreeMap;

use podinit_core::timestamp::Timestamp;
use serde_json::Value;

/// The conditions whose return is counted, and the milestone that each stands for.
const RETURNING: [(&str, &str); 5] = [
    ("PodReadyToStartContainers", "PodReadyToStartContainers"),
    ("PodHasNetwork", "PodReadyToStartContainers"),
    ("Initialized", "Initialized"),
    ("ContainersReady", "ContainersReady"),
    ("Ready", "Ready"),
];

/// What a pod is, which the cluster's books do not say.
#[derive(Debug, Default)]
pub struct Facts {
    pub has_init: bool,
    pub gated: bool,
    pub readiness_gated: bool,
    pub mirror: bool,
    pub unschedulable: bool,
    /// When a condition about the network was first shown, True or not, if that was no later than
    /// Ready
    pub network_shown: Option<Timestamp>,
    /// The earliest start of a container or init container, in seconds since the epoch, that the first
    /// version with a True condition about the network states
    pub started_with_network: Option<i64>,
    /// A version has shown a True condition about the network
    network_held: bool,
    /// The starts of that version were read
    starts_seen: bool,
    /// How often a condition was True again, by milestone
    pub returns: BTreeMap<&'static str, u64>,
    /// An earlier version has shown Ready
    was_ready: bool,
    /// The last `lastTransitionTime` of each condition while it was True
    held: BTreeMap<&'static str, String>,
}

impl Facts {
    /// Takes in one version of the pod, shown at `at`.
    pub fn see(&mut self, pod: &Value, at: Timestamp) {
        let spec = &pod["spec"];
        let any = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
        self.has_init = any(&spec["initContainers"]);
        self.readiness_gated = any(&spec["readinessGates"]);
        self.gated |= any(&spec["schedulingGates"]);
        self.mirror = pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_string();
        let conditions = pod["status"]["conditions"].as_array();
        for condition in conditions.into_iter().flatten() {
            self.see_condition(condition, at);
        }
        if self.network_held && !std::mem::replace(&mut self.starts_seen, true) {
            self.started_with_network = earliest_start(&pod["status"]);
        }
        let ready =
            |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
        self.was_ready |= conditions.is_some_and(|all| all.iter().any(ready));
    }

    fn see_condition(&mut self, condition: &Value, at: Timestamp) {
        let (kind, holds) = (&condition["type"], condition["status"] == "True");
        let network = ["PodReadyToStartContainers", "PodHasNetwork"];
        if network.iter().any(|name| kind == name) && !self.was_ready {
            self.network_shown.get_or_insert(at);
        }
        self.network_held |= holds && network.iter().any(|name| kind == name);
        self.unschedulable |=
            kind == "PodScheduled" && !holds && condition["reason"] == "Unschedulable";
        let Some((kind, milestone)) = RETURNING.into_iter().find(|(name, _)| kind == name) else {
            return;
        };
        // As text they sort as times do: all are RFC 3339 in UTC, to the second.
        let since = condition["lastTransitionTime"].as_str().unwrap();
        if holds && let Some(last) = self.held.insert(kind, since.to_owned()) {
            *self.returns.entry(milestone).or_default() += u64::from(*since > *last);
        }
    }
}

/// The earliest start that a status states of any container ([§9.1](crate::specification#s9-1)), in seconds
/// since the epoch.
fn earliest_start(status: &Value) -> Option<i64> {
    let statuses = ["containerStatuses", "initContainerStatuses"];
    let statuses = statuses.iter().filter_map(|name| status[name].as_array());
    let starts = statuses.flatten().flat_map(|status| {
        [
            &status["state"]["running"]["startedAt"],
            &status["state"]["terminated"]["startedAt"],
            &status["lastState"]["terminated"]["startedAt"],
        ]
    });
    let seconds = starts.filter_map(|start| {
        let start: jiff::Timestamp = start.as_str()?.parse().ok()?;
        Some(start.as_second())
    });
    seconds.min()
}
