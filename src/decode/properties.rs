//! Random pods, mutilated at random, against a plain reading of the same fields from a
//! `serde_json::Value`. The generators also serve the tests of recordings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};

use super::*;
use crate::decode::rfc3339;
use crate::label_value::LabelValue;
use crate::pod::{
    Condition, ConditionStatus, ConditionType, Container, ContainerKind, ContainerState,
    DisruptionReason, InPlaceChanges, NotScheduled, NotScheduledReason, Phase, PodUid, Resize,
    ResizeState, SandboxNotReady, WaitingReason,
};

/// `cases` cases that are the same in every run.
pub(crate) fn same_in_every_run(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x706f_6469_6e69_7431),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Any JSON, with the words that the decoder knows among its texts.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "",
        "True",
        "False",
        "Ready",
        "PodScheduled",
        "Unschedulable",
        "PodHasNetwork",
        "Failed",
        "Always",
        "app",
        "CrashLoopBackOff",
        "Succeeded",
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.5+01:00",
        "0001-01-01T00:00:00Z",
        "12",
        "99999999999999999999",
        "no",
        "~",
        "1e3",
        "- x",
        "kubernetes.io/config.mirror",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e6..1e6_f64).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "type",
        "status",
        "reason",
        "lastTransitionTime",
        "name",
        "uid",
        "conditions",
        "x",
        "kubernetes.io/config.mirror",
        "phase",
        "startTime",
        "state",
        "running",
        "terminated",
        "startedAt",
        "finishedAt",
        "exitCode",
        "emptyDir",
    ]);
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4).prop_map(|entries| {
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::from(entries.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// The places at which a pod is mutilated; the UID is not among them.
const PLACES: [&str; 58] = [
    "/metadata/name",
    "/metadata/namespace",
    "/metadata/resourceVersion",
    "/metadata/creationTimestamp",
    "/metadata/annotations",
    "/metadata/labels",
    "/metadata/ownerReferences",
    "/metadata/managedFields",
    "/spec",
    "/spec/hostNetwork",
    "/spec/schedulingGates",
    "/spec/initContainers",
    "/spec/readinessGates",
    "/spec/nodeName",
    "/status",
    "/status/phase",
    "/status/startTime",
    "/status/conditions",
    "/status/conditions/0",
    "/status/conditions/1/type",
    "/status/conditions/1/status",
    "/status/conditions/1/lastTransitionTime",
    "/status/conditions/0/reason",
    "/spec/initContainers/0",
    "/spec/initContainers/0/name",
    "/spec/initContainers/0/restartPolicy",
    "/spec/containers",
    "/spec/containers/0/name",
    "/spec/containers/1",
    "/spec/volumes",
    "/spec/volumes/0",
    "/spec/volumes/0/secret",
    "/status/initContainerStatuses",
    "/status/initContainerStatuses/0/state/terminated",
    "/status/initContainerStatuses/1/started",
    "/status/initContainerStatuses/0/state/terminated/exitCode",
    "/status/initContainerStatuses/0/state/terminated/finishedAt",
    "/status/initContainerStatuses/0/lastState/terminated",
    "/metadata/deletionTimestamp",
    "/spec/readinessGates/0",
    "/spec/readinessGates/0/conditionType",
    "/status/nominatedNodeName",
    "/status/conditions/0/message",
    "/status/conditions/2/message",
    "/status/conditions/3/status",
    "/status/conditions/3/reason",
    "/status/conditions/4",
    "/status/conditions/4/reason",
    "/status/conditions/5/status",
    "/status/containerStatuses",
    "/status/containerStatuses/0",
    "/status/containerStatuses/0/name",
    "/status/containerStatuses/0/state/waiting",
    "/status/containerStatuses/0/state/waiting/reason",
    "/status/containerStatuses/0/lastState",
    "/status/containerStatuses/0/restartCount",
    "/status/containerStatuses/1/state",
    "/status/containerStatuses/1/state/running/startedAt",
];

fn whole_pod() -> Value {
    json!({
        "kind": "Pod",
        "metadata": {
            "uid": "6d14ca8c-7af5-46a4-8768-3d31c85d0ffb", "name": "web", "namespace": "shop",
            "resourceVersion": "7", "creationTimestamp": "2026-01-02T03:04:05Z",
            "deletionTimestamp": "2026-01-02T03:04:35Z",
            "annotations": {"a": "b"}, "labels": {}, "ownerReferences": [], "managedFields": [],
        },
        "spec": {
            "hostNetwork": true, "schedulingGates": [], "nodeName": "n",
            "readinessGates": [{"conditionType": "InPlaceUpdateReady"}],
            "initContainers": [{"name": "mesh", "restartPolicy": "Always"}, {"name": "app"}, {}],
            "containers": [{"name": "web", "image": "web:1"}, {"name": "app"}],
            "volumes": [{"name": "keys", "secret": {}}, {"name": "scratch", "emptyDir": {}}],
        },
        "status": {
            "phase": "Running", "startTime": "2026-01-02T03:04:06Z", "nominatedNodeName": "n",
            "initContainerStatuses": [
                {"name": "app", "state": {"terminated": {
                    "exitCode": 0, "startedAt": "2026-01-02T03:04:07Z",
                    "finishedAt": "2026-01-02T03:04:12Z"}},
                 "lastState": {"terminated": {
                    "startedAt": "2026-01-02T03:04:06Z", "finishedAt": "2026-01-02T03:04:08Z"}}},
                {"name": "mesh", "started": true, "state": {"running": {}}},
            ],
            "containerStatuses": [
                {"name": "web", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                 "lastState": {"terminated": {
                     "exitCode": 1, "startedAt": "2026-01-02T03:04:08Z"}}},
                {"name": "app", "state": {"running": {"startedAt": "2026-01-02T03:04:09Z"}}},
                {"name": "app", "state": {"running": {"startedAt": "2026-01-02T03:04:01Z"}}},
            ],
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                 "message": "0/1 nodes are available", "lastTransitionTime": "2026-01-02T03:04:07Z"},
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:08Z"},
                {"type": "PodReadyToStartContainers", "status": "False",
                 "reason": "PodSandboxNotReady", "message": "there is no pod sandbox"},
                {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"},
                {"type": "PodResizePending", "status": "True", "reason": "Infeasible",
                 "lastTransitionTime": "2026-01-02T03:04:09Z"},
                {"type": "InPlaceUpdateReady", "status": "False"},
            ],
        },
    })
}

/// A pod with a UID in which anything else may be anything.
pub(crate) fn any_pod() -> impl Strategy<Value = Value> {
    let change = (prop::sample::select(&PLACES[..]), any_value());
    prop::collection::vec(change, 0..6).prop_map(|changes| {
        let mut pod = whole_pod();
        for (place, value) in changes {
            if let Some(field) = pod.pointer_mut(place) {
                *field = value;
            }
        }
        pod
    })
}

/// `value` as JSON text, the keys of its objects in an order that `seed` decides.
fn shuffled(value: &Value, seed: &mut u64) -> String {
    match value {
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(|value| shuffled(value, seed)).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| {
                    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let entry = format!("{}: {}", Value::from(key.as_str()), shuffled(value, seed));
                    (*seed >> 32, entry)
                })
                .collect();
            entries.sort();
            let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// The snapshot of `pod`, read field by field from the parsed JSON.
fn plain_reading(pod: &Value) -> PodSnapshot {
    let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
    let time = |value: &Value| value.as_str().and_then(rfc3339::parse);
    let not_empty = |value: &Value| value.as_array().is_some_and(|array| !array.is_empty());
    let uid = PodUid::from_text(metadata["uid"].as_str().unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut snapshot =
        PodSnapshot::bare(uid, text(&metadata["namespace"]), text(&metadata["name"]));
    snapshot.resource_version = match &metadata["resourceVersion"] {
        Value::String(text) if text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty() => {
            Some(text.parse().unwrap_or(u64::MAX))
        }
        Value::Number(number) => number.as_u64(),
        _ => None,
    };
    snapshot.info.host_network = spec["hostNetwork"] == true;
    snapshot.created = time(&metadata["creationTimestamp"]);
    snapshot.started = time(&status["startTime"]);
    snapshot.latest_api_time = snapshot.created.max(snapshot.started);
    snapshot.phase = match status["phase"].as_str() {
        Some("Succeeded") => Phase::Succeeded,
        Some("Failed") => Phase::Failed,
        _ => Phase::Active,
    };
    for condition in status["conditions"].as_array().into_iter().flatten() {
        let last_transition = time(&condition["lastTransitionTime"]);
        snapshot.latest_api_time = snapshot.latest_api_time.max(last_transition);
        let kind = condition["type"]
            .as_str()
            .and_then(ConditionType::from_text);
        let Some(kind) = kind else { continue };
        let status = match condition["status"].as_str() {
            Some("True") => ConditionStatus::True,
            Some("False") => ConditionStatus::False,
            _ => ConditionStatus::Unknown,
        };
        snapshot.conditions.insert(
            kind,
            Condition {
                status,
                last_transition,
            },
        );
    }
    plain_reasons(&mut snapshot, pod);
    snapshot.gated = not_empty(&spec["schedulingGates"]);
    snapshot.has_init_containers = not_empty(&spec["initContainers"]);
    let init = plain_containers(spec, status, "initContainers", "initContainerStatuses");
    let regular = plain_containers(spec, status, "containers", "containerStatuses");
    snapshot.containers = init.into_iter().chain(regular).collect();
    snapshot.init_runs = plain_init_runs(spec, status);
    snapshot.is_stateful = spec["volumes"].as_array().is_some_and(|volumes| {
        let mut objects = volumes.iter().filter_map(Value::as_object);
        let stateless = [
            "secret",
            "configMap",
            "downwardAPI",
            "emptyDir",
            "projected",
        ];
        objects.any(|volume| !stateless.iter().any(|source| volume.contains_key(*source)))
    });
    snapshot.has_readiness_gates = not_empty(&spec["readinessGates"]);
    let annotations = metadata["annotations"].as_object();
    snapshot.is_static =
        annotations.is_some_and(|entries| entries.contains_key("kubernetes.io/config.mirror"));
    snapshot
}

/// Adds what says why a pod waits, and what is changed in place.
fn plain_reasons(snapshot: &mut PodSnapshot, pod: &Value) {
    let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let conditions: Vec<&Value> = conditions.filter(|one| one.is_object()).collect();
    let first = |kind: &str| conditions.iter().find(|one| one["type"] == kind).copied();
    let holding = |kind: &str| first(kind).filter(|one| one["status"] == "True");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    snapshot.terminating = is_text(&metadata["deletionTimestamp"]);
    snapshot.has_nominated_node = is_text(&status["nominatedNodeName"]);
    let scheduled = first("PodScheduled").filter(|one| one["status"] != "True");
    snapshot.not_scheduled = scheduled.map(|said| {
        let reason = NotScheduledReason::from_text(&text(&said["reason"]));
        Box::new(NotScheduled {
            is_false: said["status"] == "False",
            reason: reason.unwrap_or(NotScheduledReason::Other),
            message: text(&said["message"]).into(),
        })
    });
    let said = snapshot.not_scheduled.as_deref();
    snapshot.unschedulable =
        said.is_some_and(|said| said.is_false && said.reason == NotScheduledReason::Unschedulable);
    let sandbox = first("PodReadyToStartContainers");
    let sandbox =
        sandbox.filter(|one| one["status"] == "False" && one["reason"] == "PodSandboxNotReady");
    snapshot.sandbox_not_ready =
        sandbox.and_then(|one| SandboxNotReady::of(&text(&one["message"])));
    snapshot.disruption = holding("DisruptionTarget").map(|one| {
        let reason = DisruptionReason::from_text(&text(&one["reason"]));
        reason.unwrap_or(DisruptionReason::Other)
    });
    let time = |one: &Value| one["lastTransitionTime"].as_str().and_then(rfc3339::parse);
    let resize = holding("PodResizePending").map(|one| Resize {
        state: match one["reason"] == "Infeasible" {
            true => ResizeState::Infeasible,
            false => ResizeState::Deferred,
        },
        since: time(one),
    });
    let gates = spec["readinessGates"].as_array().into_iter().flatten();
    let gated = gates
        .into_iter()
        .any(|gate| gate["conditionType"] == "InPlaceUpdateReady");
    let update_ready = first("InPlaceUpdateReady")
        .filter(|_| gated)
        .map(|one| Condition {
            status: match one["status"].as_str() {
                Some("True") => ConditionStatus::True,
                Some("False") => ConditionStatus::False,
                _ => ConditionStatus::Unknown,
            },
            last_transition: time(one),
        });
    let in_place = InPlaceChanges {
        resize,
        update_ready,
    };
    snapshot.in_place = (in_place != InPlaceChanges::default()).then(|| Box::new(in_place));
}

/// The containers of one list of a `spec`, each with the first status of its name.
fn plain_containers(spec: &Value, status: &Value, list: &str, statuses: &str) -> Vec<Container> {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (declared, statuses) = (array(&spec[list]), array(&status[statuses]));
    let containers = declared.iter().map(|declared| {
        let name = declared["name"].as_str().unwrap_or_default();
        let kind = match (list, declared["restartPolicy"].as_str()) {
            ("containers", _) => ContainerKind::Regular,
            (_, Some("Always")) => ContainerKind::RestartableInit,
            _ => ContainerKind::Init,
        };
        let mut found = statuses.iter();
        let found = found.find(|status| status["name"].as_str() == Some(name));
        Container {
            name: name.into(),
            kind,
            state: found.map_or(ContainerState::NoStatus, plain_state),
            started: found.and_then(plain_start),
            has_started: kind == ContainerKind::RestartableInit
                && found.is_some_and(|status| status["started"] == true),
            has_restarted: found.is_some_and(|status| status["restartCount"].as_u64() > Some(0)),
        }
    });
    containers.collect()
}

/// How long the init containers have run that are not restartable.
fn plain_init_runs(spec: &Value, status: &Value) -> Duration {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let statuses = array(&status["initContainerStatuses"]);
    let mut total = Duration::ZERO;
    for declared in array(&spec["initContainers"]) {
        let name = declared["name"].as_str().unwrap_or_default();
        let own = |status: &&Value| status["name"].as_str() == Some(name);
        let Some(status) = statuses.iter().find(own) else {
            continue;
        };
        for state in ["state", "lastState"] {
            let run = &status[state]["terminated"];
            let at = |time: &str| run[time].as_str().and_then(rfc3339::parse);
            if let Some((from, to)) = at("startedAt").zip(at("finishedAt"))
                && declared["restartPolicy"].as_str() != Some("Always")
            {
                let nanos = u64::try_from(to.nanos_since(from)).unwrap_or_default();
                total += Duration::from_nanos(nanos);
            }
        }
    }
    total
}

fn plain_state(status: &Value) -> ContainerState {
    let state = &status["state"];
    if state["running"].is_object() {
        ContainerState::Running
    } else if state["terminated"].is_object() {
        match state["terminated"]["exitCode"].as_u64() {
            Some(0) => ContainerState::Succeeded,
            _ => ContainerState::Failed,
        }
    } else {
        ContainerState::Waiting(match state["waiting"]["reason"].as_str() {
            None | Some("") => WaitingReason::Unstated,
            Some(reason) => WaitingReason::from_text(reason).unwrap_or(WaitingReason::Other),
        })
    }
}

fn plain_start(status: &Value) -> Option<Timestamp> {
    let places = [
        "/state/running",
        "/state/terminated",
        "/lastState/terminated",
    ];
    let starts = places.into_iter().filter_map(|place| {
        let text = status.pointer(&format!("{place}/startedAt"))?.as_str()?;
        rfc3339::parse(text)
    });
    starts.min()
}

proptest! {
    #![proptest_config(same_in_every_run(512))]

    #[test]
    fn a_pod_with_a_uid_is_read_whatever_else_it_holds(pod in any_pod(), seed in any::<u64>()) {
        let text = shuffled(&json!({"type": "MODIFIED", "object": pod}), &mut seed.clone());
        let event = PodDecoder::new(DecodeOptions::default()).watch_event(text.as_bytes());
        prop_assert_eq!(event.unwrap().kind, WatchEventKind::Modified(plain_reading(&pod)));
    }

    #[test]
    fn what_is_read_in_addition_does_not_change_what_is_counted(pod in any_pod()) {
        let text = json!({"type": "MODIFIED", "object": pod}).to_string();
        let options = DecodeOptions { pod_labels: vec!["x".into()], node: true, workload: true, probes: true, images: true, messages: true, endings: true };
        let event = PodDecoder::new(options).watch_event(text.as_bytes()).unwrap();
        let WatchEventKind::Modified(mut read) = event.kind else { panic!("not MODIFIED") };
        prop_assert_eq!(read.info.pod_labels.len(), 1);
        let plain = plain_reading(&pod);
        read.info = plain.info.clone();
        read.waiting_messages = plain.waiting_messages.clone();
        read.ending = None;
        prop_assert_eq!(read, plain);
    }

    #[test]
    fn no_json_and_no_bytes_make_it_panic(value in any_value(), bytes in any::<Vec<u8>>()) {
        let mut decoder = PodDecoder::new(DecodeOptions::default());
        for text in [
            value.to_string(),
            json!({"type": "ADDED", "object": value}).to_string(),
            json!({"kind": "PodList", "metadata": value, "items": value}).to_string(),
        ] {
            let _ = decoder.watch_event(text.as_bytes());
            let _ = decoder.list_page(text.as_bytes());
        }
        let _ = decoder.watch_event(&bytes);
    }
}
