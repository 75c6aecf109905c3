//! Short ways to write container statuses and `v1` Events, beside those of [`super::build`].

use serde_json::{Value, json};

use super::build::{Pod, instant, time};
use super::instant::{Nanos, SECOND};

impl Pod {
    /// The state of a regular container.
    pub(crate) fn container(self, name: &str, state: Value) -> Self {
        self.status_of("containerStatuses", name, state, Value::Null)
    }

    /// The state of an init container.
    pub(crate) fn init_container(self, name: &str, state: Value) -> Self {
        self.status_of("initContainerStatuses", name, state, Value::Null)
    }

    /// A regular container that runs again, with the start before.
    pub(crate) fn restarted(self, name: &str, state: Value, before: f64) -> Self {
        let last = json!({"terminated": {"exitCode": 1, "startedAt": time(before)}});
        self.status_of("containerStatuses", name, state, last)
    }

    fn status_of(mut self, statuses: &str, name: &str, state: Value, last: Value) -> Self {
        let all = &mut self.0["status"][statuses];
        if !all.is_array() {
            *all = json!([]);
        }
        if let Some(all) = all.as_array_mut() {
            all.retain(|held| held["name"] != name);
            all.push(json!({"name": name, "state": state, "lastState": last}));
        }
        self
    }

    /// A condition with a reason and a message.
    pub(crate) fn because(
        self,
        kind: &str,
        status: &str,
        seconds: f64,
        reason: &str,
        message: &str,
    ) -> Self {
        let mut pod = self.condition(kind, status, time(seconds));
        let conditions = pod.0["status"]["conditions"].as_array_mut();
        if let Some(condition) = conditions.and_then(|all| all.last_mut()) {
            condition["reason"] = reason.into();
            condition["message"] = message.into();
        }
        pod
    }
}

pub(crate) fn running(seconds: f64) -> Value {
    json!({"running": {"startedAt": time(seconds)}})
}

pub(crate) fn exited(seconds: f64, exit_code: i64) -> Value {
    json!({"terminated": {"startedAt": time(seconds), "exitCode": exit_code}})
}

/// A run that has ended well.
pub(crate) fn ran(from: f64, to: f64) -> Value {
    json!({"terminated": {"startedAt": time(from), "finishedAt": time(to), "exitCode": 0}})
}

pub(crate) fn waiting(reason: &str) -> Value {
    json!({"waiting": {"reason": reason}})
}

/// A kubelet's Event about the container `main` of a pod, first in this second.
pub(crate) fn heard(pod: &Pod, reason: &str, message: &str, seconds: f64) -> Value {
    json!({
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": "a.instant", "namespace": pod.0["metadata"]["namespace"]},
        "involvedObject": {
            "kind": "Pod",
            "namespace": pod.0["metadata"]["namespace"],
            "name": pod.0["metadata"]["name"],
            "uid": pod.0["metadata"]["uid"],
            "fieldPath": "spec.containers{main}",
        },
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet"},
        "reportingComponent": "kubelet",
        "firstTimestamp": time(seconds),
        "lastTimestamp": time(seconds),
        "count": 1,
    })
}

/// The Event of the scheduler that has bound a pod, as its recorder writes it.
pub(crate) fn assigned(pod: &Pod, seconds: f64) -> Value {
    let mut event = heard(pod, "Scheduled", "Successfully assigned shop/a to node-1", 0.0);
    event["eventTime"] = time(seconds);
    event["reportingComponent"] = "default-scheduler".into();
    for absent in ["firstTimestamp", "lastTimestamp", "count"] {
        event[absent] = Value::Null;
    }
    event["source"] = json!({});
    event
}

/// The Event with another value at a path.
pub(crate) fn with(mut event: Value, path: &str, value: Value) -> Value {
    if let Some((parent, field)) = path.rsplit_once('/')
        && let Some(parent) = event.pointer_mut(parent)
    {
        parent[field] = value;
    }
    event
}

/// The Event about another container.
pub(crate) fn about(event: Value, field_path: &str) -> Value {
    with(event, "/involvedObject/fieldPath", field_path.into())
}

/// The Event with an instant in its name.
pub(crate) fn named(event: Value, seconds: f64) -> Value {
    let nanos: Nanos = instant(seconds);
    assert!(nanos > SECOND);
    with(event, "/metadata/name", format!("a.{nanos:x}").into())
}

/// The Event as a watch delivers it.
pub(crate) fn watched(kind: &str, event: Value) -> Value {
    json!({"type": kind, "object": event})
}
