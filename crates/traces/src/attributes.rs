//! The attributes of spans: OpenTelemetry's semantic conventions for Kubernetes and containers where they
//! have a name, and `podinit.` where they have none.
//!
//! They stand on the spans and not on the resource, which is podinit itself: a collector may add to the
//! resource what it knows of podinit's own pod, under the same names.

use opentelemetry::{Array, Key, KeyValue, StringValue, Value};

use podinit_core::lifecycle::{GateKind, Record, RecordedPull, WaitReason};
use podinit_core::pod::{PodInfo, PodUid, Workload};

/// The attributes of every span of a pod. `label_keys` are the keys of the chosen pod labels.
pub(super) fn of_pod(uid: PodUid, pod: &PodInfo, label_keys: &[String]) -> Vec<KeyValue> {
    let mut attributes = vec![
        text("k8s.namespace.name", &pod.namespace),
        text("k8s.pod.name", &pod.name),
        text("k8s.pod.uid", &uid.to_string()),
    ];
    let node = pod.node.as_deref();
    attributes.extend(node.map(|node| text("k8s.node.name", node)));
    let workload = pod.workload.as_deref();
    attributes.extend(workload.into_iter().flat_map(of_workload));
    let labels = label_keys.iter().zip(pod.pod_labels.iter());
    let labels = labels.filter(|(_, value)| !value.is_empty());
    attributes.extend(labels.map(|(key, value)| {
        let key = Key::from(format!("k8s.pod.label.{key}"));
        KeyValue::new(key, value.to_string())
    }));
    attributes
}

/// What the root span says besides: how the startup ended, the SLOs that the pod missed, and what its node was like.
pub(super) fn of_startup(record: &Record, missed: &[&str]) -> Vec<KeyValue> {
    let mut attributes = Vec::new();
    if let Some(outcome) = record.outcome() {
        attributes.push(text("podinit.outcome", outcome.as_str()));
    }
    if !missed.is_empty() {
        let names = missed.iter().map(|name| StringValue::from(name.to_string()));
        let names = Value::Array(Array::String(names.collect()));
        attributes.push(KeyValue::new("podinit.slo.missed", names));
    }
    if let Some(message) = &record.message {
        attributes.push(text("podinit.message", message));
    }
    if let Some(time) = record.network_time {
        attributes.push(text("podinit.network_time", time.as_str()));
    }
    // Without nodes as evidence nothing is known of a node.
    if let Some(capacity) = record.needed.capacity {
        let images = record.needed.images.as_str();
        attributes.push(text("podinit.node.capacity", capacity.as_str()));
        attributes.push(text("podinit.images", images));
    }
    if let Some(labels) = record.node_labels.as_deref() {
        attributes.push(text("podinit.node.pool", &labels.pool));
        if !labels.zone.is_empty() {
            attributes.push(text("cloud.availability_zone", &labels.zone));
        }
    }
    attributes
}

/// What the span of a pull says besides. `image` is how the pod's spec names the image.
pub(super) fn of_pull(pull: &RecordedPull, image: Option<&str>) -> Vec<KeyValue> {
    let is_init = pull.init;
    let mut attributes = vec![
        text("k8s.container.name", &pull.container),
        text("podinit.image.registry", &pull.registry),
        KeyValue::new("podinit.container.init", is_init),
        KeyValue::new("podinit.image.pull_failed", pull.has_failed),
    ];
    attributes.extend(image.into_iter().flat_map(of_image));
    attributes
}

/// An image reference, `NAME[:TAG][@DIGEST]`; the name may begin with a host and port.
fn of_image(reference: &str) -> Vec<KeyValue> {
    let (tagged, digest) = match reference.split_once('@') {
        Some((tagged, digest)) => (tagged, Some(digest)),
        None => (reference, None),
    };
    let (name, tag) = match tagged.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (tagged, None),
    };
    let one = |key, value: String| {
        let values = vec![StringValue::from(value)];
        KeyValue::new(key, Value::Array(Array::String(values)))
    };
    let tag = tag.map(|tag| one("container.image.tags", tag.to_owned()));
    let digest = digest.map(|digest| format!("{name}@{digest}"));
    let digest = digest.map(|digest| one("container.image.repo_digests", digest));
    let name = text("container.image.name", name);
    [Some(name), tag, digest].into_iter().flatten().collect()
}

/// What a pod waits for, on the event of the root span that says since when.
pub(super) fn of_waiting(waiting: WaitReason) -> Vec<KeyValue> {
    vec![
        text("podinit.stage", waiting.stage().as_str()),
        text("podinit.cause", waiting.cause().as_str()),
    ]
}

/// What the span of a gate says besides.
pub(super) fn of_gate(kind: GateKind, gate: &str) -> Vec<KeyValue> {
    vec![text("podinit.gate.kind", kind.as_str()), text("podinit.gate.name", gate)]
}

/// What the event of a milestone of your own says.
pub(super) fn of_milestone(name: &str) -> Vec<KeyValue> {
    vec![text("podinit.milestone", name)]
}

/// The controlling owner. The conventions have a name for each kind of Kubernetes itself.
fn of_workload(workload: &Workload) -> Vec<KeyValue> {
    let key = match &*workload.kind {
        "CronJob" => "k8s.cronjob.name",
        "DaemonSet" => "k8s.daemonset.name",
        "Deployment" => "k8s.deployment.name",
        "Job" => "k8s.job.name",
        "ReplicaSet" => "k8s.replicaset.name",
        "ReplicationController" => "k8s.replicationcontroller.name",
        "StatefulSet" => "k8s.statefulset.name",
        other => {
            return vec![
                text("podinit.workload.kind", other),
                text("podinit.workload.name", &workload.name),
            ];
        }
    };
    vec![text(key, &workload.name)]
}

fn text(key: &'static str, value: &str) -> KeyValue {
    KeyValue::new(key, value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_reference_is_split_as_the_conventions_have_it() {
        for (reference, expected) in [
            ("nginx", "container.image.name=nginx"),
            (
                "localhost:5000/shop/web:1.2",
                "container.image.name=localhost:5000/shop/web container.image.tags=[\"1.2\"]",
            ),
            ("localhost:5000/web", "container.image.name=localhost:5000/web"),
            (
                "ghcr.io/a/b:v1@sha256:ab",
                "container.image.name=ghcr.io/a/b container.image.tags=[\"v1\"] \
                 container.image.repo_digests=[\"ghcr.io/a/b@sha256:ab\"]",
            ),
        ] {
            let attributes = of_image(reference);
            let shown = attributes.iter().map(|one| format!("{}={}", one.key, one.value));
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected);
        }
    }
}
