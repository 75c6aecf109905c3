//! What is read of conditions besides their status and time, and of the fields beside them that say
//! why a pod waits.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::super::DecodeOptions;
use super::super::tests::{pod, pod_with};
use podinit_core::pod::{
    ConditionStatus, DisruptionReason, MOST_GATES, NotScheduledReason, PodSnapshot, ResizeState,
    SandboxNotReady,
};
use podinit_core::rfc3339;

fn with(conditions: Value) -> PodSnapshot {
    pod(json!({
        "metadata": {"uid": "u"},
        "spec": {"readinessGates": [{"conditionType": "lb"}, {"conditionType": "InPlaceUpdateReady"}]},
        "status": {"conditions": conditions},
    }))
}

fn scheduled(status: &str, reason: &str) -> Value {
    json!({"type": "PodScheduled", "status": status, "reason": reason, "message": "0/3 nodes"})
}

#[test]
fn a_pod_that_is_not_scheduled_has_the_reason_and_the_message() {
    let read = |status: &str, reason: &str| {
        let read = *with(json!([scheduled(status, reason)])).not_scheduled?;
        Some((read.is_false, read.reason, read.message.to_string()))
    };
    let message = || "0/3 nodes".to_owned();
    let unschedulable = NotScheduledReason::Unschedulable;
    let error = NotScheduledReason::SchedulerError;
    let gated = NotScheduledReason::SchedulingGated;
    assert_eq!(read("True", ""), None);
    assert_eq!(read("False", "Unschedulable"), Some((true, unschedulable, message())));
    assert_eq!(read("False", "SchedulerError"), Some((true, error, message())));
    assert_eq!(read("False", "SchedulingGated"), Some((true, gated, String::new())));
    assert_eq!(read("Unknown", "new"), Some((false, NotScheduledReason::Other, message())));
}

#[test]
fn the_first_entry_of_a_type_counts() {
    let twice = |one: &str, other: &str| {
        json!([
            {"type": "DisruptionTarget", "status": one, "reason": "EvictionByEvictionAPI"},
            {"type": "DisruptionTarget", "status": other, "reason": "DeletionByPodGC"},
        ])
    };
    let disruption = |one, other| with(twice(one, other)).disruption;
    let evicted = Some(DisruptionReason::EvictionByEvictionApi);
    assert_eq!(disruption("True", "True"), evicted);
    assert_eq!(disruption("False", "True"), None);
    let again = json!([scheduled("True", ""), scheduled("False", "Unschedulable")]);
    assert_eq!(with(again).not_scheduled, None);
}

#[test]
fn the_sandbox_is_not_ready_only_where_the_kubelet_says_so() {
    let read = |kind: &str, status: &str, reason: &str, message: &str| {
        with(json!([{"type": kind, "status": status, "reason": reason, "message": message}]))
            .sandbox_not_ready
    };
    let current = "PodReadyToStartContainers";
    let not_ready = "PodSandboxNotReady";
    let said = |message| read(current, "False", not_ready, message);
    assert_eq!(said("there is no pod sandbox"), Some(SandboxNotReady::NoSandbox));
    assert_eq!(said("the sandbox has no IP yet"), Some(SandboxNotReady::NoIp));
    assert_eq!(said("anything else"), None);
    assert_eq!(read(current, "True", not_ready, "no pod sandbox"), None);
    assert_eq!(read(current, "False", "", "no pod sandbox"), None);
    assert_eq!(read("PodHasNetwork", "False", not_ready, "no pod sandbox"), None);
}

#[test]
fn a_resize_has_one_state_and_the_earlier_time() {
    let condition = |kind: &str, status: &str, reason: &str, second: u8| {
        let time = format!("2026-01-02T03:04:{second:02}Z");
        json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": time})
    };
    let pending = |status, reason| condition("PodResizePending", status, reason, 9);
    let in_progress = |status, reason| condition("PodResizeInProgress", status, reason, 5);
    let state = |conditions: Vec<Value>| {
        let resize = with(conditions.into()).in_place?.resize?;
        Some((resize.state, resize.since))
    };
    let at = |text| rfc3339::parse(text);
    let (fifth, ninth) = (at("2026-01-02T03:04:05Z"), at("2026-01-02T03:04:09Z"));
    use ResizeState::{Deferred, Error, InProgress, Infeasible};
    for (conditions, expected) in [
        (vec![pending("False", "Infeasible")], None),
        (vec![pending("True", "Infeasible")], Some((Infeasible, ninth))),
        (vec![pending("True", "Deferred")], Some((Deferred, ninth))),
        (vec![in_progress("True", "Error")], Some((Error, fifth))),
        (vec![in_progress("True", "")], Some((InProgress, fifth))),
        (vec![in_progress("True", "Error"), pending("True", "Deferred")], Some((Deferred, fifth))),
    ] {
        assert_eq!(state(conditions.clone()), expected, "{conditions:?}");
    }
}

#[test]
fn the_condition_of_openkruise_needs_its_readiness_gate() {
    let condition = json!([{"type": "InPlaceUpdateReady", "status": "False"}]);
    let read = with(condition.clone()).in_place.unwrap().update_ready;
    assert_eq!(read.unwrap().status, ConditionStatus::False);
    let without_gate = pod(json!({
        "metadata": {"uid": "u"},
        "spec": {"readinessGates": [{"conditionType": "lb"}]},
        "status": {"conditions": condition},
    }));
    assert_eq!(without_gate.in_place, None);
    assert!(without_gate.has_readiness_gates);
}

#[test]
fn fields_that_are_set_are_told_from_empty_ones() {
    let read = |object: Value| {
        let pod = pod(object);
        (pod.terminating, pod.has_nominated_node)
    };
    let set = json!({
        "metadata": {"uid": "u", "deletionTimestamp": "2026-01-02T03:04:05Z"},
        "status": {"nominatedNodeName": "n"},
    });
    assert_eq!(read(set), (true, true));
    let unset = json!({
        "metadata": {"uid": "u", "deletionTimestamp": null},
        "status": {"nominatedNodeName": ""},
    });
    assert_eq!(read(unset), (false, false));
}

#[test]
fn gates_have_names_and_the_conditions_that_they_wait_for() {
    let condition = |kind: &str, status: &str, message: &str| {
        let time = "2026-01-02T03:04:05Z";
        json!({"type": kind, "status": status, "message": message, "lastTransitionTime": time})
    };
    let says = "the status of pod readiness gates is not True";
    let pod = pod(json!({
        "metadata": {"uid": "u"},
        "status": {"conditions": [
            condition("example.com/a", "True", ""),
            condition("example.com/b", "False", "Target registration is in progress"),
            condition("example.com/b", "True", "what comes second does not count"),
            {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", "message": says},
        ]},
        "spec": {
            "readinessGates": [
                {"conditionType": "example.com/a"}, {"conditionType": "example.com/b"},
                {"conditionType": "example.com/a"}, {"conditionType": ""}, {"conditionType": "Ready"},
                {"conditionType": "example.com/c"}, "odd",
            ],
            "schedulingGates": (0..12).map(|n| json!({"name": format!("g{n}")})).collect::<Vec<_>>(),
        },
    }));
    let named = pod.named.unwrap();
    let names = named.names().unwrap();
    let readiness: Vec<&str> = names.readiness.iter().collect();
    assert_eq!(readiness, ["example.com/a", "example.com/b", "Ready", "example.com/c"]);
    let statuses: Vec<_> = named.readiness.iter().map(|one| one.map(|one| one.status)).collect();
    let [yes, no] = [ConditionStatus::True, ConditionStatus::False].map(Some);
    assert_eq!(statuses, [yes, no, no, None]);
    assert_eq!(named.readiness(0).unwrap().last_transition, rfc3339::parse("2026-01-02T03:04:05Z"));
    assert_eq!(names.scheduling.len(), MOST_GATES);
    assert!(pod.gated && pod.has_readiness_gates);
    assert_eq!(pod.said_of_ready.as_deref(), Some("Target registration is in progress"));
}

#[test]
fn a_gate_without_a_message_of_its_own_has_that_of_the_kubelet() {
    let says = "corresponding condition of pod readiness gate \"lb\" does not exist.";
    let ready = json!({"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", "message": says});
    let not_ready = with(json!([ready.clone()])).said_of_ready;
    assert_eq!(not_ready.as_deref(), Some(says));
    let silent = json!({"type": "lb", "status": "False", "message": ""});
    assert_eq!(with(json!([silent, ready])).said_of_ready.as_deref(), Some(says));
    let told = json!({"type": "lb", "status": "False", "message": "not registered"});
    assert_eq!(with(json!([told])).said_of_ready, None);
}

#[test]
fn a_pod_without_gates_says_why_it_is_not_ready_once_its_containers_are() {
    let says = |containers: &str, gates: Value| {
        pod_with(
            DecodeOptions::default(),
            json!({
                "metadata": {"uid": "u"},
                "spec": {"readinessGates": gates},
                "status": {"conditions": [
                    {"type": "ContainersReady", "status": containers},
                    {"type": "Ready", "status": "False", "message": "taken out of service"},
                ]},
            }),
        )
        .said_of_ready
    };
    assert_eq!(says("True", json!([])).as_deref(), Some("taken out of service"));
    assert_eq!(says("False", json!([])), None);
    assert_eq!(says("True", json!([{"conditionType": "lb"}])), None);
}

#[test]
fn milestones_of_your_own_are_read_where_they_are_configured() {
    let read = |milestones: &[&str]| {
        let options = DecodeOptions {
            milestones: milestones.iter().map(|kind| (*kind).to_owned()).collect(),
            ..DecodeOptions::default()
        };
        let object = json!({
            "metadata": {"uid": "u"},
            "status": {"conditions": [{"type": "Loaded", "status": "True"}]},
        });
        pod_with(options, object).named
    };
    assert_eq!(read(&[]), None);
    assert_eq!(read(&["Other"]), None);
    let named = read(&["Other", "Loaded"]).unwrap();
    assert!(named.milestone(1).unwrap().is_true());
    assert_eq!((named.milestone(0), named.gates), (None, None));
}
