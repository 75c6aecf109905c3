//! `v1` Events about the pods of a recording ([§9.5](crate::specification#s9-5)): of all kinds, with
//! wrong UIDs, reporters and field paths, twice, out of order, before the pod and after its end.

use serde_json::{Value, json};

use super::messages;
use super::rng::Rng;
use crate::oracle::build::{ORIGIN, instant, time};
use crate::oracle::figures::seconds;
use crate::oracle::instant::{Nanos, parse};

/// Puts Events between the documents of a recording.
pub(super) fn scatter(rng: &mut Rng, documents: Vec<Value>) -> Vec<Value> {
    let pods = pods(&documents);
    let mut scattered = documents;
    if pods.is_empty() {
        return scattered;
    }
    let per_pod = rng.pick(&[0, 3, 8, 14]);
    for pod in &pods {
        for _ in 0..rng.below(per_pod + 1) {
            let event = event(rng, pod);
            insert(rng, &mut scattered, pod, event);
        }
        if per_pod > 0 && rng.percent(30) {
            pull_all(rng, &mut scattered, pod);
        }
    }
    if rng.percent(20) {
        let uid = rng.uid();
        let mut stranger = pods[rng.below(pods.len())].clone();
        stranger["metadata"]["uid"] = uid.into();
        let event = event(rng, &stranger);
        insert(rng, &mut scattered, &pods[0], event);
    }
    scattered
}

/// Every regular container has its image.
fn pull_all(rng: &mut Rng, documents: &mut Vec<Value>, pod: &Value) {
    let containers = pod["spec"]["containers"].as_array();
    for container in containers.into_iter().flatten() {
        let mut pulled = event(rng, pod);
        let name = container["name"].as_str().unwrap_or_default();
        pulled["involvedObject"]["fieldPath"] = format!("spec.containers{{{name}}}").into();
        pulled["reportingComponent"] = "kubelet".into();
        pulled["reason"] = "Pulled".into();
        pulled["message"] = messages::pulled(rng).into();
        insert(rng, documents, pod, pulled);
    }
}

/// One snapshot of every pod: the last one, with what is known of its times.
pub(super) fn pods(documents: &[Value]) -> Vec<Value> {
    let mut pods: Vec<Value> = Vec::new();
    for pod in documents.iter().flat_map(pods_of) {
        pods.retain(|held| held["metadata"]["uid"] != pod["metadata"]["uid"]);
        pods.push(pod.clone());
    }
    pods
}

fn pods_of(document: &Value) -> Vec<&Value> {
    let items = document["items"].as_array().into_iter().flatten();
    let object = document.get("object").unwrap_or(document);
    let alone = Some(object).filter(|object| object["kind"] == "Pod" && object["spec"].is_object());
    items.chain(alone).collect()
}

/// Near a document about the pod, or anywhere; as a document of its own or among others.
pub(super) fn insert(rng: &mut Rng, documents: &mut Vec<Value>, pod: &Value, event: Value) {
    let uid = &pod["metadata"]["uid"];
    let is_about = |document: &Value| {
        let pods = pods_of(document);
        pods.iter().any(|pod| pod["metadata"]["uid"] == *uid)
    };
    let about: Vec<usize> = (0..documents.len()).filter(|at| is_about(&documents[*at])).collect();
    let place = match about.get(rng.below(about.len())) {
        Some(place) if !rng.percent(15) => place + rng.below(2),
        _ => rng.below(documents.len() + 1),
    };
    let copies = if rng.percent(10) { 2 } else { 1 };
    for _ in 0..copies {
        let document = wrapped(rng, event.clone());
        documents.insert(place.min(documents.len()), document);
    }
}

fn wrapped(rng: &mut Rng, event: Value) -> Value {
    let mut document = match rng.below(12) {
        0..3 => event,
        3 => json!({"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": [event]}),
        4 => json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": [event]}),
        5 => json!({"type": "DELETED", "object": event}),
        6..8 => json!({"type": "MODIFIED", "object": event}),
        _ => json!({"type": "ADDED", "object": event}),
    };
    if rng.percent(30) {
        document["observedAt"] = time(rng.pick(&[0.0, 5.0, 60.0, 1e6]));
    }
    document
}

pub(super) fn event(rng: &mut Rng, pod: &Value) -> Value {
    let (reason, message) = said(rng);
    // Without a time it shows no network, so that a pull begins before the network is there.
    let first = match reason == "Pulling" && rng.percent(30) {
        true => Value::Null,
        false => first(rng, pod),
    };
    let at = first.as_str().and_then(parse).unwrap_or(ORIGIN);
    let name = match rng.below(10) {
        0 => "no-instant".to_owned(),
        1 => format!("web.{:x}", at + 1_000_000_000),
        2 => format!("web.{:x}", at - 1),
        3 => "web.17xyz".to_owned(),
        _ => format!("web.{:x}", at + rng.below(1_000) as Nanos * 1_000_000),
    };
    let (reporting, source) = rng.pick(&[
        ("kubelet", "kubelet"),
        ("kubelet", "kubelet"),
        ("kubelet", "kubelet"),
        ("kubelet", ""),
        ("", "kubelet"),
        ("", "kubelet"),
        ("kubelet", "else"),
        ("default-scheduler", "kubelet"),
        ("", ""),
    ]);
    let mut involved = json!({
        "kind": "Pod",
        "namespace": pod["metadata"]["namespace"],
        "name": pod["metadata"]["name"],
        "uid": pod["metadata"]["uid"],
    });
    if let Some(path) = field_path(rng, pod) {
        involved["fieldPath"] = path.into();
    }
    if rng.percent(3) {
        involved["kind"] = "Node".into();
    }
    let mut namespace = pod["metadata"]["namespace"].clone();
    if rng.percent(2) {
        involved["name"] = "another".into();
    }
    if rng.percent(2) {
        namespace = "attacker".into();
    }
    if rng.percent(2) {
        involved["namespace"] = namespace.clone();
    }
    json!({
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "source": {"component": source},
        "reportingComponent": reporting,
        "firstTimestamp": first,
        "lastTimestamp": time(3_600.0),
        "count": rng.pick(&[1, 1, 7]),
        "type": "Normal",
    })
}

fn said(rng: &mut Rng) -> (&'static str, String) {
    match rng.below(20) {
        0..4 => ("Pulling", format!("Pulling image \"{}\"", messages::image(rng))),
        4..9 => ("Pulled", messages::pulled(rng)),
        9 => ("Created", "Created container main".to_owned()),
        10..12 => ("Started", "Started container main".to_owned()),
        12..14 => ("Failed", messages::failed(rng)),
        14..16 => ("FailedCreatePodSandBox", messages::sandbox(rng).to_owned()),
        16..18 => {
            let reason = rng.pick(&[
                "FailedPrepareDynamicResources",
                "FailedMount",
                "FailedAttachVolume",
                "FailedAttachVolume",
                "FailedMapVolume",
                "NetworkNotReady",
                "FailedCreatePodContainer",
                "VolumePermissionChangeInProgress",
                "FailedSync",
            ]);
            (reason, "it does not work".to_owned())
        }
        18 if rng.percent(60) => {
            ("SuccessfulAttachVolume", "AttachVolume.Attach succeeded for volume \"a\"".to_owned())
        }
        18 => ("Scheduled", "Successfully assigned ns/web to node-1".to_owned()),
        _ => ("BackOff", "Back-off pulling image".to_owned()),
    }
}

/// Near a time that the pod states; in one of forty cases absurd.
fn first(rng: &mut Rng, pod: &Value) -> Value {
    match rng.below(120) {
        0 => return Value::Null,
        1 => return "soon".into(),
        2 => return "1970-01-01T00:00:00Z".into(),
        _ => {}
    }
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let mut stated: Vec<f64> = conditions
        .filter_map(|condition| condition["lastTransitionTime"].as_str())
        .filter_map(parse)
        .map(|instant| seconds(instant - ORIGIN))
        .filter(|at| (-100.0..1e5).contains(at))
        .collect();
    stated.push(5.0);
    let offset = rng.pick(&[-6.0, -2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 30.0]);
    let at = stated[rng.below(stated.len())] + offset;
    crate::oracle::instant::rfc3339(instant(at.floor())).into()
}

fn field_path(rng: &mut Rng, pod: &Value) -> Option<String> {
    let of = |list: &str| -> Vec<String> {
        let containers = pod["spec"][list].as_array().into_iter().flatten();
        containers.filter_map(|container| container["name"].as_str().map(str::to_owned)).collect()
    };
    let name = |rng: &mut Rng, names: &[String]| names.get(rng.below(names.len())).cloned();
    match rng.below(20) {
        0 => None,
        1 => Some("spec.containers{stranger}".to_owned()),
        2 => Some("spec.ephemeralContainers{main}".to_owned()),
        3 => Some("spec.initContainers{main}".to_owned()),
        4 => Some("spec.containers{main".to_owned()),
        5..9 => {
            name(rng, &of("initContainers")).map(|name| format!("spec.initContainers{{{name}}}"))
        }
        _ => name(rng, &of("containers")).map(|name| format!("spec.containers{{{name}}}")),
    }
}
