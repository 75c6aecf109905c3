//! Random pods and Events as JSON, mutilated at random.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};

/// `cases` cases that are the same in every run.
pub fn same_in_every_run(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x706f_6469_6e69_7431),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Any JSON, with the words that the decoder knows among its texts.
pub fn any_value() -> impl Strategy<Value = Value> {
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
        "OnFailure",
        "NotIn",
        "RestartAllContainers",
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
        "file",
        "api",
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
        "kubernetes.io/config.source",
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
                let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), value));
                Value::from(entries.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// The places at which a pod is mutilated; the UID is not among them.
const POD_PLACES: [&str; 74] = [
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
    "/spec/priorityClassName",
    "/spec/runtimeClassName",
    "/spec/schedulerName",
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
    "/spec/restartPolicy",
    "/spec/containers/0/restartPolicy",
    "/spec/containers/0/restartPolicyRules",
    "/spec/containers/0/restartPolicyRules/0",
    "/spec/containers/0/restartPolicyRules/0/action",
    "/spec/containers/0/restartPolicyRules/0/exitCodes/operator",
    "/spec/containers/0/restartPolicyRules/0/exitCodes/values",
    "/spec/containers/0/restartPolicyRules/0/exitCodes/values/1",
    "/spec/initContainers/1/restartPolicyRules",
    "/spec/volumes",
    "/spec/volumes/0",
    "/spec/volumes/0/secret",
    "/spec/volumes/2",
    "/spec/volumes/2/ephemeral",
    "/spec/resourceClaims",
    "/spec/resourceClaims/0",
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
            "hostNetwork": true, "schedulingGates": [{"name": "a.io/gate"}], "nodeName": "n",
            "priorityClassName": "high", "runtimeClassName": "gvisor", "schedulerName": "volcano",
            "readinessGates": [{"conditionType": "InPlaceUpdateReady"}, {"conditionType": "Ready"}],
            "restartPolicy": "Never",
            "initContainers": [
                {"name": "mesh", "restartPolicy": "Always"},
                {"name": "app", "restartPolicyRules": [
                    {"action": "Restart", "exitCodes": {"operator": "In", "values": [0]}}]},
                {}],
            "containers": [
                {"name": "web", "image": "web:1", "restartPolicy": "Never", "restartPolicyRules": [
                    {"action": "Restart", "exitCodes": {"operator": "In", "values": [1, 3]}}]},
                {"name": "app"}],
            "volumes": [
                {"name": "keys", "secret": {}}, {"name": "scratch", "emptyDir": {}},
                {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}],
            "resourceClaims": [{"name": "gpu"}],
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
pub fn any_pod() -> impl Strategy<Value = Value> {
    let change = (prop::sample::select(&POD_PLACES[..]), any_value());
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
/// An Event with every field that is read, and those that stand beside them.
pub fn whole_event() -> Value {
    json!({
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {
            "name": "web.v2-7c9d.18a3f0c2b5e4d600",
            "namespace": "shop",
            "uid": "11111111-2222-3333-4444-555555555555",
            "resourceVersion": "4712",
        },
        "involvedObject": {
            "kind": "Pod", "namespace": "shop", "name": "web.v2-7c9d", "apiVersion": "v1",
            "uid": "00000000-0000-0001-0000-000000000002", "resourceVersion": "4700",
            "fieldPath": "spec.containers{web}",
        },
        "reason": "Pulled",
        "message": "Successfully pulled image \"ghcr.io/shop/web:2\" in 1.5s (2s including waiting). Image size: 77 bytes.",
        "source": {"component": "kubelet", "host": "node-1"},
        "firstTimestamp": "2026-01-02T03:04:05Z",
        "lastTimestamp": "2026-01-02T03:05:05Z",
        "count": 2,
        "type": "Normal",
        "eventTime": null,
        "series": null,
        "reportingComponent": "kubelet",
        "reportingInstance": "node-1",
    })
}

/// The places at which an Event is mutilated.
const EVENT_PLACES: [&str; 19] = [
    "/metadata",
    "/metadata/name",
    "/metadata/namespace",
    "/involvedObject",
    "/involvedObject/namespace",
    "/involvedObject/name",
    "/involvedObject/kind",
    "/involvedObject/uid",
    "/involvedObject/fieldPath",
    "/reason",
    "/message",
    "/source",
    "/source/component",
    "/firstTimestamp",
    "/lastTimestamp",
    "/eventTime",
    "/series",
    "/reportingComponent",
    "/count",
];

/// Texts of which some field makes something.
fn word() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "Pulling",
        "Pulled",
        "Created",
        "Started",
        "Failed",
        "FailedMount",
        "FailedCreatePodSandBox",
        "Pod",
        "Node",
        "shop",
        "attacker",
        "kubelet",
        "spec.initContainers{a}",
        "x.17f0000000000000",
        "x.y.zz",
        "2026-01-02T03:04:05Z",
        "Failed to pull image \"a/b\": no",
        "Container image \"quay.io/b\" already present on machine",
        "Successfully pulled image \"a\" in 1h2m3.5s",
        "Failed to create pod sandbox: CNI",
    ]);
    words.prop_map(Value::from)
}

/// An Event in which anything may be anything.
pub fn any_event() -> impl Strategy<Value = Value> {
    let value = prop_oneof![any_value(), word()];
    let change = (prop::sample::select(&EVENT_PLACES[..]), value);
    prop::collection::vec(change, 0..6).prop_map(|changes| {
        let mut event = whole_event();
        for (place, value) in changes {
            if let Some(field) = event.pointer_mut(place) {
                *field = value;
            }
        }
        event
    })
}
