//! Deployments and ReplicaSets as the API shows them, and the Events about them.

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use super::replica_set::{CreationFailure, ReplicaSet};
use super::rollout::Deployment;
use super::spec::{DeploymentSpec, PodTemplate};
use crate::life::APP;
use crate::manifest::{application_labels, name_hash};
use crate::rng::Rng;
use crate::sim_clock::{meta_time, time};
use podinit_core::timestamp::Timestamp;

const REVISION: &str = "deployment.kubernetes.io/revision";

/// The Deployment without `kind`, `apiVersion` and resourceVersion.
pub(super) fn deployment(deployment: &Deployment) -> Value {
    let Deployment { spec, status, .. } = deployment;
    let labels = labels(&spec.name, None);
    let strategy = json!({
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": spec.max_surge, "maxUnavailable": spec.max_unavailable},
    });
    let mut metadata = json!({
        "name": spec.name, "namespace": spec.namespace, "uid": deployment.uid,
        "generation": deployment.generation, "creationTimestamp": time(deployment.created),
        "labels": labels,
    });
    if status.revision > 0 {
        let revision = status.revision.to_string();
        metadata["annotations"] = json!({REVISION: revision});
    }
    let conditions = status.conditions.iter().map(|condition| {
        json!({
            "type": condition.kind, "status": condition.status, "reason": condition.reason,
            "message": condition.message, "lastUpdateTime": time(condition.updated),
            "lastTransitionTime": time(condition.since),
        })
    });
    let conditions: Vec<Value> = conditions.collect();
    json!({
        "metadata": metadata,
        "spec": {
            "replicas": spec.replicas, "selector": {"matchLabels": labels},
            "template": template(&spec.template, &labels), "strategy": strategy,
            "progressDeadlineSeconds": spec.progress_deadline_seconds,
        },
        "status": given(json!({
            "observedGeneration": some(status.observed_generation), "replicas": some(status.replicas),
            "updatedReplicas": some(status.updated), "readyReplicas": some(status.ready),
            "availableReplicas": some(status.ready), "conditions": conditions,
        })),
    })
}

/// The same of one of its ReplicaSets.
pub(super) fn replica_set(deployment: &Deployment, set: &ReplicaSet) -> Value {
    let (spec, status) = (&deployment.spec, &set.status);
    let labels = labels(&spec.name, Some(&set.hash));
    let failure = set.failure.as_ref().map(|failure| {
        json!([{
            "type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
            "message": failure.message, "lastTransitionTime": time(failure.first),
        }])
    });
    json!({
        "metadata": {
            "name": set.name, "namespace": spec.namespace, "uid": set.uid,
            "generation": set.generation, "creationTimestamp": time(set.created), "labels": labels,
            "annotations": {REVISION: set.revision.to_string()},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "Deployment", "name": spec.name,
                "uid": deployment.uid, "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "replicas": set.replicas, "selector": {"matchLabels": labels},
            "template": template(&set.template, &labels),
        },
        "status": given(json!({
            "replicas": status.replicas, "readyReplicas": some(status.ready),
            "availableReplicas": some(status.ready),
            "observedGeneration": some(status.observed_generation), "conditions": failure,
        })),
    })
}

fn labels(name: &str, hash: Option<&str>) -> Value {
    application_labels(name, hash).into_iter().map(|(name, value)| (name, json!(value))).collect()
}

fn template(template: &PodTemplate, labels: &Value) -> Value {
    json!({
        "metadata": {"labels": labels},
        "spec": {
            "containers": [{"name": APP.name, "image": template.image.name, "resources": {}}],
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
        },
    })
}

/// A number, which the API leaves out where it is 0.
fn some(number: impl Into<i64>) -> Value {
    let number = number.into();
    if number == 0 { Value::Null } else { json!(number) }
}

/// The object of the fields that have a value.
fn given(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// The controller has scaled a ReplicaSet.
pub(super) fn scaled(deployment: &Deployment, message: String, now: Timestamp) -> Event {
    let DeploymentSpec { namespace, name, .. } = &deployment.spec;
    let about = [namespace, "Deployment", name, &deployment.uid];
    event(about, ("ScalingReplicaSet", "deployment-controller"), message, (now, now, 1))
}

/// A ReplicaSet could not create a pod.
pub(super) fn failed(set: &ReplicaSet, namespace: &str, failure: &CreationFailure) -> Event {
    let message = format!("Error creating: {}", failure.message);
    let times = (failure.first, failure.last, failure.count);
    let reason = ("FailedCreate", "replicaset-controller");
    let about = [namespace, "ReplicaSet", &set.name, &set.uid];
    Event { type_: Some("Warning".to_owned()), ..event(about, reason, message, times) }
}

/// An Event about an object. Its name is that of the object, and a number that is of the first instant and the message.
fn event(
    [namespace, kind, name, uid]: [&str; 4],
    (reason, component): (&str, &str),
    message: String,
    (first, last, count): (Timestamp, Timestamp, u32),
) -> Event {
    let text = |text: &str| Some(text.to_owned());
    let number = name_hash(&message).wrapping_add(first.as_nanos().unsigned_abs());
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{number:x}")),
            namespace: text(namespace),
            uid: Some(Rng::new(number).uuid()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: text("apps/v1"),
            kind: text(kind),
            namespace: text(namespace),
            name: text(name),
            uid: text(uid),
            ..ObjectReference::default()
        },
        reason: text(reason),
        message: Some(message),
        first_timestamp: Some(meta_time(first)),
        last_timestamp: Some(meta_time(last)),
        count: i32::try_from(count).ok(),
        type_: text("Normal"),
        source: Some(EventSource { component: text(component), host: None }),
        ..Event::default()
    }
}
