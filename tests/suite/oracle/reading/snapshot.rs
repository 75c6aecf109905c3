//! One version of one pod, as its JSON states it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::container::{self, Container};
use crate::oracle::instant::{self, Nanos};

/// What the specification speaks of, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) uid: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// `spec.nodeName`
    pub(crate) node_name: String,
    /// Its place in the list that states it
    pub(crate) item: usize,
    /// `metadata.resourceVersion` "as a decimal integer" ([§5.1](crate::specification#s5-1))
    pub(crate) version: Option<u64>,
    pub(crate) created: Option<Nanos>,
    pub(crate) started: Option<Nanos>,
    pub(crate) phase: String,
    /// `status.reason`
    pub(crate) reason: String,
    /// `status.message`
    pub(crate) message: String,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) gated: bool,
    pub(crate) has_init_containers: bool,
    pub(crate) has_readiness_gates: bool,
    /// `spec.schedulingGates`, each by its `name`
    pub(crate) scheduling_gates: Vec<String>,
    /// `spec.readinessGates`, each by its `conditionType`
    pub(crate) readiness_gates: Vec<String>,
    pub(crate) is_static: bool,
    /// The kind of the owner that controls it; empty for none
    pub(crate) controller_kind: String,
    /// Its name
    pub(crate) controller_name: String,
    /// `metadata.labels`
    pub(crate) labels: BTreeMap<String, String>,
    /// Of which workload, and what names its revision; empty for none
    pub(crate) revision: String,
    /// `spec.restartPolicy`
    pub(crate) restart_policy: String,
    /// Init containers first
    pub(crate) containers: Vec<Container>,
    /// [§9.4](crate::specification#s9-4): "a volume other than secret, configMap, downwardAPI,
    /// emptyDir, projected"
    pub(crate) is_stateful: bool,
    /// `metadata.deletionTimestamp` stands
    pub(crate) is_terminating: bool,
    /// `metadata.deletionTimestamp`
    pub(crate) deletion: Option<Nanos>,
    /// `metadata.deletionGracePeriodSeconds`
    pub(crate) grace: i64,
    /// `status.nominatedNodeName` stands
    pub(crate) is_nominated: bool,
    /// The readiness gate `InPlaceUpdateReady` of OpenKruise
    pub(crate) has_in_place_gate: bool,
    /// [§8.7](crate::specification#s8-7): the latest API time that tells the time
    pub(crate) tells_until: Nanos,
}

/// One entry of `status.conditions`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) last_transition: Option<Nanos>,
}

impl Snapshot {
    pub(crate) fn read(pod: &Value) -> Self {
        let text = |path: &str| pod.pointer(path).and_then(Value::as_str).unwrap_or("").to_owned();
        let not_empty = |path: &str| {
            pod.pointer(path).and_then(Value::as_array).is_some_and(|list| !list.is_empty())
        };
        let stands =
            |path: &str| pod.pointer(path).is_some_and(|value| !value.is_null() && value != "");
        let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
        Self {
            uid: text("/metadata/uid"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            node_name: text("/spec/nodeName"),
            item: 0,
            version: text("/metadata/resourceVersion").parse().ok(),
            created: api_time(pod.pointer("/metadata/creationTimestamp")),
            started: api_time(pod.pointer("/status/startTime")),
            phase: text("/status/phase"),
            reason: text("/status/reason"),
            message: text("/status/message"),
            conditions: conditions.into_iter().flatten().map(Condition::read).collect(),
            gated: not_empty("/spec/schedulingGates"),
            has_init_containers: not_empty("/spec/initContainers"),
            has_readiness_gates: not_empty("/spec/readinessGates"),
            scheduling_gates: gates(&pod["spec"]["schedulingGates"], "name"),
            readiness_gates: gates(&pod["spec"]["readinessGates"], "conditionType"),
            is_static: is_static(pod),
            controller_kind: of_controller(pod, "kind"),
            controller_name: of_controller(pod, "name"),
            labels: labels(pod),
            revision: revision(pod),
            restart_policy: text("/spec/restartPolicy"),
            containers: container::all(pod),
            is_stateful: is_stateful(pod),
            is_terminating: stands("/metadata/deletionTimestamp"),
            deletion: api_time(pod.pointer("/metadata/deletionTimestamp")),
            grace: pod["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0),
            is_nominated: stands("/status/nominatedNodeName"),
            has_in_place_gate: has_in_place_gate(pod),
            tells_until: Nanos::MAX,
        }
    }

    /// The condition of a type; the first where it stands twice.
    pub(crate) fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// [§3](crate::specification#s3): `PodScheduled=False, reason=Unschedulable`.
    pub(crate) fn is_unschedulable(&self) -> bool {
        self.condition("PodScheduled").is_some_and(|condition| {
            condition.status == "False" && condition.reason == "Unschedulable"
        })
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(Condition::is_true)
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.phase == "Succeeded" || self.phase == "Failed"
    }

    /// [§4](crate::specification#s4): "API times are creationTimestamp, startTime and the LTTs (not
    /// deletionTimestamp, which lies ahead)." Of those that tell the time.
    pub(crate) fn greatest_api_time(&self) -> Option<Nanos> {
        let transitions = self.conditions.iter().filter_map(|condition| condition.last_transition);
        [self.created, self.started]
            .into_iter()
            .flatten()
            .chain(transitions)
            .filter(|time| *time <= self.tells_until)
            .max()
    }
}

impl Condition {
    fn read(condition: &Value) -> Self {
        let text =
            |name: &str| condition.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
        Self {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            last_transition: api_time(condition.get("lastTransitionTime")),
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        self.status == "True"
    }
}

/// The names of gates; empty where one has none.
fn gates(stated: &Value, field: &str) -> Vec<String> {
    let stated = stated.as_array().into_iter().flatten();
    stated.map(|gate| gate[field].as_str().unwrap_or_default().to_owned()).collect()
}

/// [§1.14](crate::specification#s1-14)
fn is_static(pod: &Value) -> bool {
    let annotation = |name| pod["metadata"]["annotations"][name].as_str();
    annotation("kubernetes.io/config.mirror").is_some()
        || matches!(annotation("kubernetes.io/config.source"), Some("file" | "http"))
}

fn controller(pod: &Value) -> Option<&Value> {
    let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().find(|owner| owner["controller"] == true)
}

fn of_controller(pod: &Value, field: &str) -> String {
    let stated = controller(pod).and_then(|owner| owner[field].as_str());
    stated.unwrap_or_default().to_owned()
}

fn labels(pod: &Value) -> BTreeMap<String, String> {
    let labels = pod["metadata"]["labels"].as_object().into_iter().flatten();
    let texts =
        labels.filter_map(|(label, value)| Some((label.clone(), value.as_str()?.to_owned())));
    texts.collect()
}

/// [§10.1](crate::specification#s10-1): "the first of these labels that it has". A ReplicaSet of a Deployment is of one
/// revision, so that its own name does.
fn revision(pod: &Value) -> String {
    const LABELS: [&str; 3] =
        ["rollouts-pod-template-hash", "pod-template-hash", "controller-revision-hash"];
    let labels = &pod["metadata"]["labels"];
    let value = LABELS.iter().find_map(|label| labels[*label].as_str());
    let value = value.filter(|value| !value.is_empty());
    let Some((owner, value)) = controller(pod).zip(value) else {
        return String::new();
    };
    format!("{} {} {} {value}", pod["metadata"]["namespace"], owner["kind"], owner["name"])
}

fn is_stateful(pod: &Value) -> bool {
    const STATELESS: [&str; 5] = ["secret", "configMap", "downwardAPI", "emptyDir", "projected"];
    let volumes = pod.pointer("/spec/volumes").and_then(Value::as_array);
    let is_stateless = |volume: &Value| STATELESS.iter().any(|kind| volume.get(kind).is_some());
    !volumes.into_iter().flatten().all(is_stateless)
}

fn has_in_place_gate(pod: &Value) -> bool {
    let gates = pod.pointer("/spec/readinessGates").and_then(Value::as_array);
    let mut gates = gates.into_iter().flatten();
    gates.any(|gate| gate["conditionType"] == "InPlaceUpdateReady")
}

/// [§4](crate::specification#s4): a time is missing, or absurd when it is "unparsable, 1970 or
/// before".
pub(super) fn api_time(value: Option<&Value>) -> Option<Nanos> {
    let instant = instant::parse(value?.as_str()?)?;
    let is_absurd = instant < instant::parse("1971-01-01T00:00:00Z")?;
    (!is_absurd).then_some(instant)
}
