//! Which fields of a pod are read, and what becomes of those that are not what they should be.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use serde_json::{Value, json};

use super::DecodeOptions;
use crate::{PodDecoder, SpecField, WatchEventKind};
use podinit_core::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerProbe, ContainerProbes, ContainerSpec,
    ContainerState, DisruptionReason, LastingName, PodPhase, PodSnapshot, PodUid, Revision,
    StatusCondition, WaitingReason,
};
use podinit_core::rfc3339;

pub(crate) fn all_options() -> DecodeOptions {
    DecodeOptions {
        pod_labels: vec!["app".into(), "team".into()],
        spec_fields: SpecField::ALL.into(),
        node: true,
        workload: true,
        probes: true,
        images: true,
        messages: true,
        endings: true,
        claims: true,
        nodes: None,
        milestones: vec!["example.com/Loaded".into()],
    }
}

pub fn pod(object: Value) -> PodSnapshot {
    pod_with(all_options(), object)
}

pub(super) fn pod_with(options: DecodeOptions, object: Value) -> PodSnapshot {
    let line = json!({"type": "ADDED", "object": object}).to_string();
    match PodDecoder::new(options).watch_event(line.as_bytes()).unwrap().kind {
        WatchEventKind::Added(pod) => pod,
        other => panic!("not a pod: {other:?}"),
    }
}

/// A pod with every field that is read.
pub fn full() -> Value {
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": "web-7c9d8f6b5d-x2x4z",
            "namespace": "shop",
            "uid": "00000000-0000-0001-0000-000000000002",
            "resourceVersion": "4711",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "deletionTimestamp": "2027-01-01T00:00:00Z",
            "labels": {"team": "blue", "pod-template-hash": "7c9d8f6b5d", "app": "web"},
            "annotations": {"kubernetes.io/config.mirror": "0123"},
            "ownerReferences": [
                {"kind": "Node", "name": "n1"},
                {"kind": "ReplicaSet", "name": "web-7c9d8f6b5d", "controller": true},
                {"kind": "Job", "name": "late", "controller": true},
            ],
            "managedFields": [{"fieldsV1": {"f:metadata": {"f:uid": {}}}}],
        },
        "spec": {
            "nodeName": "node-1",
            "hostNetwork": true,
            "runtimeClassName": "gvisor",
            "schedulerName": "default-scheduler",
            "schedulingGates": [{"name": "quota"}],
            "initContainers": [
                {"name": "migrate"},
                {"name": "mesh", "restartPolicy": "Always"},
            ],
            "containers": [{"name": "web"}, {"name": "backup"}, {"name": "late"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            "readinessGates": [{"conditionType": "lb"}],
        },
        "status": {
            "phase": "Succeeded",
            "startTime": "2026-01-02T03:04:06Z",
            "containerStatuses": [
                {"name": "backup", "started": true, "state": {"waiting": {"reason": "ImagePullBackOff"}}},
                {"name": "web", "state": {"running": {"startedAt": "2026-01-02T03:05:00Z"}},
                 "lastState": {"terminated": {
                     "exitCode": 1, "startedAt": "2026-01-02T03:04:31Z"}}},
            ],
            "initContainerStatuses": [
                {"name": "migrate", "state": {"terminated": {
                    "exitCode": 0, "startedAt": "2026-01-02T03:04:30Z",
                    "finishedAt": "2026-01-02T03:04:37Z"}},
                 "lastState": {"terminated": {
                    "startedAt": "2026-01-02T03:04:31Z", "finishedAt": "2026-01-02T03:04:33Z"}}},
                {"name": "mesh", "restartCount": 3, "started": true, "state": {"terminated": {
                    "exitCode": 137, "startedAt": "0001-01-01T00:00:00Z",
                    "finishedAt": "2026-01-02T03:04:39Z"}}},
            ],
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                 "lastTransitionTime": "2026-01-02T03:04:07Z"},
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:08Z"},
                {"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-02T03:04:01Z"},
                {"type": "example.com/lb", "status": "True",
                 "lastTransitionTime": "2026-01-02T03:04:09Z"},
            ],
        },
    })
}

#[test]
fn everything_that_is_read_is_found() {
    let pod = pod(full());
    assert_eq!(pod.uid, PodUid::from_text("00000000-0000-0001-0000-000000000002"));
    assert_eq!(pod.resource_version, Some(4711));
    assert_eq!(&*pod.info.namespace, "shop");
    assert_eq!(&*pod.info.name, "web-7c9d8f6b5d-x2x4z");
    assert_eq!(pod.info.node.as_deref(), Some("node-1"));
    let workload = pod.info.workload.unwrap();
    assert_eq!((&*workload.kind, &*workload.name), ("Deployment", "web"));
    let values = ["web", "blue", "gvisor", "", "default-scheduler"];
    assert_eq!(*pod.info.pod_labels, values.map(Box::from));
    assert!(pod.info.host_network && pod.is_static && pod.unschedulable);
    assert!(pod.gated && pod.has_init_containers && pod.has_readiness_gates);
    assert_eq!(pod.created, rfc3339::parse("2026-01-02T03:04:05Z"));
    assert_eq!(pod.started, rfc3339::parse("2026-01-02T03:04:06Z"));
    assert_eq!(pod.phase, PodPhase::Succeeded);
    assert!(pod.terminating);
    assert!(pod.not_scheduled.is_some_and(|said| said.is_false));
    assert_eq!(
        pod.conditions.get(ConditionType::Ready),
        Some(StatusCondition {
            status: ConditionStatus::True,
            last_transition: rfc3339::parse("2026-01-02T03:04:08Z"),
        })
    );
    assert_eq!(pod.conditions.get(ConditionType::Initialized), None);
    assert_eq!(pod.latest_api_time, rfc3339::parse("2026-01-02T03:04:09Z"));
}

#[test]
fn a_container_has_what_its_status_says_and_its_first_start_that_is_known() {
    let pod = pod(full());
    let container = |name: &str, kind, state, started: Option<&str>| ContainerSpec {
        state,
        started: started.and_then(rfc3339::parse),
        has_started: name == "mesh",
        has_restarted: name == "mesh",
        ..ContainerSpec::new(name.into(), kind)
    };
    use ContainerKind::{Init, Regular, RestartableInit};
    let migrated = Some("2026-01-02T03:04:30Z");
    let web_started = Some("2026-01-02T03:04:31Z");
    let pulling = ContainerState::Waiting(WaitingReason::ImagePullBackOff);
    let expected = [
        container("migrate", Init, ContainerState::Succeeded, migrated),
        container("mesh", RestartableInit, ContainerState::Failed, None),
        container("web", Regular, ContainerState::Running, web_started),
        container("backup", Regular, pulling, None),
        container("late", Regular, ContainerState::NoStatus, None),
    ];
    assert_eq!(*pod.containers, expected);
    assert!(pod.is_stateful);
    // Both runs of `migrate`, and none of a sidecar or without both times.
    assert_eq!(pod.init_runs, Duration::from_secs(9));
    // A start of a container is no API time ([§4.1](crate::specification#s4-1)): the latest is that of a condition.
    assert_eq!(pod.latest_api_time, rfc3339::parse("2026-01-02T03:04:09Z"));
}

/// Which of the containers of a pod end for good, by its own policy and what the containers state.
fn end_for_good(policy: Value, init: Value, containers: &[Value]) -> Vec<bool> {
    let named = containers.iter().map(|stated| {
        let mut container = stated.clone();
        container["name"] = "c".into();
        container
    });
    let pod = pod(json!({"metadata": {"uid": "u"}, "spec": {
        "restartPolicy": policy, "initContainers": [init], "containers": named.collect::<Vec<_>>()}}));
    assert!(!pod.containers[0].ends_for_good, "an init container");
    pod.containers[1..].iter().map(|one| one.ends_for_good).collect()
}

#[test]
fn what_runs_again_after_exit_code_0_is_told_by_the_first_that_says() {
    let none = || json!({});
    let of = |policy: &str| json!({"restartPolicy": policy});
    let rule = |action: &str, operator: &str, values: &[i32]| {
        let codes = json!({"operator": operator, "values": values});
        json!({"restartPolicy": "Never", "restartPolicyRules": [
            {"action": action}, {"action": action, "exitCodes": codes}]})
    };
    for (policy, ends) in [
        (json!("Always"), false),
        (json!("OnFailure"), true),
        (json!("Never"), true),
        (Value::Null, false),
        (json!("Sometimes"), false),
    ] {
        let all = [none(), of("Always"), of("OnFailure"), of("Never"), of("Sometimes")];
        let found = end_for_good(policy, none(), &all);
        assert_eq!(found, [ends, false, true, true, ends]);
    }
    for (operator, values, ends) in [
        ("In", &[0][..], false),
        ("In", &[7, 0, 9], false),
        ("In", &[7, -1], true),
        ("In", &[], true),
        ("NotIn", &[0, 1], true),
        ("NotIn", &[7], false),
        ("NotIn", &[], false),
        ("", &[0], true),
        ("Outside", &[0], true),
    ] {
        let found =
            end_for_good("Never".into(), none(), &[rule("Restart", operator, values), none()]);
        assert_eq!(found, [ends, true], "{operator} {values:?}");
    }
    // Whatever exit code it is for, and whoever has it.
    let all = rule("RestartAllContainers", "In", &[42]);
    assert_eq!(end_for_good("Never".into(), none(), &[all.clone(), none()]), [false; 2]);
    assert_eq!(end_for_good("Never".into(), all, &[of("Never"), none()]), [false; 2]);
    let own = rule("Restart", "NotIn", &[42]);
    assert_eq!(end_for_good("Never".into(), own, &[of("Never"), none()]), [true; 2]);
}

#[test]
fn what_no_label_asks_for_is_not_filled() {
    let pod = pod_with(DecodeOptions::default(), full());
    assert_eq!((pod.info.node, pod.info.workload), (None, None));
    assert!(pod.is_bound);
    assert!(pod.info.pod_labels.is_empty());
}

#[test]
fn fields_of_the_spec_have_values_in_the_order_that_was_asked_for() {
    let read = |spec_fields: &[SpecField], object: Value| {
        let options = DecodeOptions { spec_fields: spec_fields.into(), ..DecodeOptions::default() };
        pod_with(options, object).info.pod_labels.to_vec()
    };
    let asked = [SpecField::Scheduler, SpecField::RuntimeClass];
    assert_eq!(read(&asked, full()), ["default-scheduler", "gvisor"].map(Box::from));
    assert_eq!(read(&[SpecField::PriorityClass], full()), [Box::from("")]);
    assert_eq!(read(&asked, json!({"metadata": {"uid": "u"}})), ["", ""].map(Box::from));
    let long = json!({"metadata": {"uid": "u"}, "spec": {"schedulerName": "s".repeat(300)}});
    assert_eq!(read(&asked[..1], long), ["s".repeat(253).into()]);
}

#[test]
fn a_condition_of_unknown_status_is_kept_and_one_that_cannot_be_read_is_not() {
    let pod = pod(json!({"metadata": {"uid": "u"}, "status": {"conditions": [
        17,
        {"type": "Ready", "status": 3, "lastTransitionTime": 5},
        {"type": "Ready", "status": "True"},
        {"type": "PodScheduled", "status": "True"},
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"},
    ]}}));
    assert_eq!(pod.conditions.get(ConditionType::Ready), Some(StatusCondition::default()));
    assert!(!pod.unschedulable);
}

#[test]
fn versions_are_decimal_and_saturate() {
    let version = |version: Value| {
        pod(json!({"metadata": {"uid": "u", "resourceVersion": version}})).resource_version
    };
    assert_eq!(version(json!("007")), Some(7));
    assert_eq!(version(json!(7)), Some(7));
    assert_eq!(version(json!("99999999999999999999")), Some(u64::MAX));
    assert_eq!(version(json!(1e30)), Some(u64::MAX));
    for none in [json!(""), json!("+7"), json!("0x7"), json!(-7), json!(null)] {
        assert_eq!(version(none), None);
    }
}

#[test]
fn an_owner_is_known_by_the_name_that_lasts() {
    let workload = |owner: Value, labels: Value| {
        let metadata = json!({"uid": "u", "ownerReferences": [owner], "labels": labels});
        let info = pod(json!({"metadata": metadata})).info;
        info.workload.map(|workload| workload.to_string())
    };
    let replica_set = |name| json!({"kind": "ReplicaSet", "name": name, "controller": true});
    let hash = json!({"pod-template-hash": "abc"});
    let found = |owner: Value, labels: &Value| workload(owner, labels.clone());
    assert_eq!(found(replica_set("web-abc"), &hash).unwrap(), "Deployment/web");
    assert_eq!(found(replica_set("web-abd"), &hash).unwrap(), "ReplicaSet/web-abd");
    assert_eq!(found(replica_set("-abc"), &hash).unwrap(), "ReplicaSet/-abc");
    assert_eq!(found(replica_set("web-abc"), &json!({})).unwrap(), "ReplicaSet/web-abc");
    let rollout =
        json!({"app": "web", "x.io/rollouts-pod-template-hash": "abc", "pod-template-hash": "b"});
    assert_eq!(found(replica_set("web-abc"), &rollout).unwrap(), "Rollout/web");
    let job = |name| json!({"kind": "Job", "name": name, "controller": true});
    assert_eq!(found(job("backup-2901-abc"), &hash).unwrap(), "Job/backup-2901-abc");
    assert_eq!(found(job("backup-29919480"), &hash).unwrap(), "CronJob/backup");
    assert_eq!(found(job("backup-x7k2p"), &json!({})).unwrap(), "Job/backup");
    let not_controlling = json!({"kind": "Job", "name": "backup"});
    assert_eq!(found(not_controlling, &hash), None);
}

#[test]
fn a_revision_is_named_by_the_first_of_its_labels() {
    let revision = |owner: Value, labels: Value| {
        let metadata =
            json!({"uid": "u", "namespace": "shop", "ownerReferences": [owner], "labels": labels});
        pod_with(DecodeOptions::default(), json!({"metadata": metadata})).revision
    };
    let replica_set = || json!({"kind": "ReplicaSet", "name": "web-abc", "controller": true});
    let of = |kind, name, value| {
        let workload = LastingName::new(kind, name, &[]);
        Some(Revision::new("shop", &workload, value))
    };
    let hash = "pod-template-hash";
    let (of_rollout, of_set) = ("rollouts-pod-template-hash", "controller-revision-hash");
    for (labels, expected) in [
        (json!({hash: "abc", of_set: "d"}), of("Deployment", "web", "abc")),
        (json!({of_set: "d", hash: "x", of_rollout: "abc"}), of("Rollout", "web", "abc")),
        (json!({of_set: "d", hash: ""}), of("ReplicaSet", "web-abc", "d")),
        (json!({"team": "d"}), None),
    ] {
        assert_eq!(revision(replica_set(), labels.clone()), expected, "{labels}");
    }
    let not_controlling = json!({"kind": "ReplicaSet", "name": "web-abc"});
    assert_eq!(revision(not_controlling, json!({hash: "abc"})), None);
}

#[test]
fn probes_are_read_where_they_are_wanted_and_have_the_defaults_of_kubernetes() {
    let mut object = full();
    object["spec"]["containers"] = json!([
        {"name": "web",
         "readinessProbe": {"initialDelaySeconds": 30, "periodSeconds": 5, "timeoutSeconds": 2,
                            "successThreshold": 2, "failureThreshold": 4, "httpGet": {"path": "/"}},
         "startupProbe": {"periodSeconds": 0, "failureThreshold": "many", "exec": {}},
         "livenessProbe": null},
        {"name": "plain", "readinessProbe": "none"},
        {"name": "backup", "livenessProbe": {"initialDelaySeconds": -1, "periodSeconds": 1e30}},
    ]);
    object["spec"]["initContainers"] =
        json!([{"name": "mesh", "restartPolicy": "Always", "startupProbe": {}}]);
    let without = DecodeOptions::default();
    assert_eq!(pod_with(without, object.clone()).info.probes, None);

    let readiness =
        ContainerProbe { initial_delay: 30, period: 5, success_threshold: 2, failure_threshold: 4 };
    let endless = ContainerProbe { period: u32::MAX, ..ContainerProbe::default() };
    let probes = |container: &str, startup, readiness, liveness| ContainerProbes {
        container: container.into(),
        startup,
        readiness,
        liveness,
    };
    assert_eq!(
        pod(object).info.probes.unwrap().as_slice(),
        [
            probes("web", Some(ContainerProbe::default()), Some(readiness), None),
            probes("backup", None, None, Some(endless)),
        ]
    );
    assert_eq!(pod(full()).info.probes, None);
}

#[test]
fn the_end_of_a_pod_tells_what_ended_it() {
    let read = |deleted: Value, policy: Value, status: Value| {
        pod(json!({
            "metadata": {"uid": "u", "deletionTimestamp": deleted},
            "spec": {"restartPolicy": policy, "nodeName": "n"},
            "status": status,
        }))
    };
    let deleted = || json!("2026-01-02T03:04:05Z");
    let (failed, done) = (json!({"phase": "Failed"}), json!({"phase": "Succeeded"}));
    for (pod, expected) in [
        (read(deleted(), Value::Null, failed.clone()), true),
        (read(deleted(), json!("Never"), failed.clone()), true),
        (read(Value::Null, Value::Null, failed), false),
        (read(deleted(), Value::Null, done.clone()), true),
        (read(deleted(), json!("OnFailure"), done), false),
        (read(deleted(), Value::Null, json!({"phase": "Running"})), false),
        (read(deleted(), Value::Null, json!({"phase": "Failed", "reason": ""})), true),
        (read(deleted(), Value::Null, json!({"phase": "Failed", "reason": "OutOfcpu"})), false),
    ] {
        assert_eq!(pod.ended_by_deletion, expected, "{pod:?}");
    }
    let evicted = |phase: &str, message: &str| {
        let status = json!({"phase": phase, "reason": "Evicted", "message": message});
        let pod = read(Value::Null, Value::Null, status);
        (pod.disruption, pod.has_run)
    };
    let by_kubelet = Some(DisruptionReason::TerminationByKubelet);
    assert_eq!(evicted("Failed", "The node was low on resource: memory."), (by_kubelet, false));
    assert_eq!(evicted("Running", "The node was low on resource: memory."), (None, false));
    assert_eq!(evicted("Failed", "The node had condition: [PIDPressure]."), (None, false));
    assert_eq!(evicted("Failed", "Usage of EmptyDir volume exceeds the limit."), (None, true));
}

#[test]
fn a_pod_that_is_not_ready_names_its_claims() {
    let read = |ready: &str, claims: bool| {
        let pod = json!({
            "metadata": {"uid": "a", "name": "db-0", "namespace": "shop"},
            "spec": {"volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}},
                {"ephemeral": {"volumeClaimTemplate": {}}, "name": "scratch"},
                {"name": "config", "configMap": {}}, {"name": "none", "persistentVolumeClaim": {}}]},
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        });
        let line = json!({"type": "ADDED", "object": pod}).to_string();
        let options = DecodeOptions { claims, ..DecodeOptions::default() };
        let event = PodDecoder::new(options).watch_event(line.as_bytes()).unwrap();
        let WatchEventKind::Added(pod) = event.kind else { unreachable!() };
        pod.claim_names.map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(read("False", true).unwrap(), ["data-db-0", "db-0-scratch"]);
    assert_eq!(read("True", true), None);
    assert_eq!(read("False", false), None);
}
