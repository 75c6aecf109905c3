//! Short ways to write pods, lists and watch events as the Kubernetes JSON that they are.
//!
//! Times are seconds after [`ORIGIN`]; a condition's time may be any JSON.

use serde_json::{Value, json};

use super::instant::{Nanos, SECOND, rfc3339};

/// 2026-03-01T00:00:00Z
pub(crate) const ORIGIN: Nanos = 1_772_323_200 * SECOND;

pub(crate) const SCHEDULED: &str = "PodScheduled";
pub(crate) const NETWORK: &str = "PodReadyToStartContainers";
pub(crate) const OLD_NETWORK: &str = "PodHasNetwork";
pub(crate) const INITIALIZED: &str = "Initialized";
pub(crate) const CONTAINERS: &str = "ContainersReady";
pub(crate) const READY: &str = "Ready";

/// The instant so many seconds after the origin.
pub(crate) fn instant(seconds: f64) -> Nanos {
    let whole = seconds.floor();
    ORIGIN + whole as Nanos * SECOND + ((seconds - whole) * 1e6).round() as Nanos * 1_000
}

/// The same as text.
pub(crate) fn time(seconds: f64) -> Value {
    Value::from(rfc3339(instant(seconds)))
}

/// A pod's JSON, to be added to.
#[derive(Clone, Debug)]
pub(crate) struct Pod(pub(crate) Value);

/// A pod of that name in namespace `ns`, with a UID made from the name, created at the origin.
pub(crate) fn pod(name: &str) -> Pod {
    let uid = name.bytes().fold(0_u64, |hash, byte| (hash * 257 + u64::from(byte)) % (1 << 48));
    Pod(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": format!("00000000-0000-4000-8000-{uid:012x}"),
            "creationTimestamp": time(0.0),
        },
        "spec": {"containers": [{"name": "main", "image": "example/main:1"}]},
        "status": {"phase": "Pending", "conditions": []},
    }))
}

impl Pod {
    /// Puts a value at `/metadata/…`, `/spec/…` or `/status/…`.
    pub(crate) fn put(mut self, section: &str, field: &str, value: Value) -> Self {
        self.0[section][field] = value;
        self
    }

    pub(crate) fn uid(self, uid: &str) -> Self {
        self.put("metadata", "uid", uid.into())
    }

    pub(crate) fn namespace(self, namespace: &str) -> Self {
        self.put("metadata", "namespace", namespace.into())
    }

    pub(crate) fn version(self, version: u64) -> Self {
        self.put("metadata", "resourceVersion", version.to_string().into())
    }

    pub(crate) fn created(self, seconds: f64) -> Self {
        self.put("metadata", "creationTimestamp", time(seconds))
    }

    pub(crate) fn started(self, seconds: f64) -> Self {
        self.put("status", "startTime", time(seconds))
    }

    pub(crate) fn phase(self, phase: &str) -> Self {
        self.put("status", "phase", phase.into())
    }

    pub(crate) fn gated(self) -> Self {
        self.put("spec", "schedulingGates", json!([{"name": "example.com/quota"}]))
    }

    pub(crate) fn init_containers(self) -> Self {
        self.put("spec", "initContainers", json!([{"name": "setup", "image": "example/setup:1"}]))
    }

    pub(crate) fn readiness_gates(self) -> Self {
        self.put("spec", "readinessGates", json!([{"conditionType": "example.com/registered"}]))
    }

    pub(crate) fn mirror(self) -> Self {
        self.put("metadata", "annotations", json!({"kubernetes.io/config.mirror": "5a1e"}))
    }

    /// A condition; one of the same type that stands already is replaced.
    pub(crate) fn condition(mut self, kind: &str, status: &str, transition: Value) -> Self {
        let condition = json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": transition});
        if let Some(conditions) = self.0["status"]["conditions"].as_array_mut() {
            conditions.retain(|held| held["type"] != kind);
            conditions.push(condition);
        }
        self
    }

    pub(crate) fn yes(self, kind: &str, seconds: f64) -> Self {
        self.condition(kind, "True", time(seconds))
    }

    pub(crate) fn no(self, kind: &str, seconds: f64) -> Self {
        self.condition(kind, "False", time(seconds))
    }

    pub(crate) fn unschedulable(self, seconds: f64) -> Self {
        let mut pod = self.no(SCHEDULED, seconds);
        if let Some(condition) =
            pod.0["status"]["conditions"].as_array_mut().and_then(|all| all.last_mut())
        {
            condition["reason"] = "Unschedulable".into();
        }
        pod
    }

    /// Scheduled, NetworkReady, Initialized, ContainersReady and Ready, at these seconds.
    pub(crate) fn all(self, seconds: [f64; 5]) -> Self {
        let [scheduled, network, initialized, containers, ready] = seconds;
        self.yes(SCHEDULED, scheduled)
            .yes(NETWORK, network)
            .yes(INITIALIZED, initialized)
            .yes(CONTAINERS, containers)
            .yes(READY, ready)
            .phase("Running")
    }
}

pub(crate) fn event(kind: &str, pod: &Pod) -> Value {
    json!({"type": kind, "object": pod.0})
}

pub(crate) fn added(pod: &Pod) -> Value {
    event("ADDED", pod)
}

pub(crate) fn modified(pod: &Pod) -> Value {
    event("MODIFIED", pod)
}

pub(crate) fn deleted(pod: &Pod) -> Value {
    event("DELETED", pod)
}

pub(crate) fn list(pods: &[Pod]) -> Value {
    let items: Vec<&Value> = pods.iter().map(|pod| &pod.0).collect();
    json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1000"}, "items": items})
}

/// A page that another one follows.
pub(crate) fn page(pods: &[Pod]) -> Value {
    let mut page = list(pods);
    page["metadata"]["continue"] = "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ".into();
    page
}

pub(crate) fn bookmark(ends_streamed_list: bool) -> Value {
    let mut object = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "2000", "creationTimestamp": null}});
    if ends_streamed_list {
        object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    json!({"type": "BOOKMARK", "object": object})
}

pub(crate) fn expired() -> Value {
    json!({"type": "ERROR", "object": {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version: 17 (2000)", "reason": "Expired", "code": 410,
    }})
}

/// The document with an `observedAt`.
pub(crate) fn at(seconds: f64, mut document: Value) -> Value {
    document["observedAt"] = time(seconds);
    document
}
