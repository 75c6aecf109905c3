//! The row of a pod: what `kubectl get pods` shows.

use serde_json::{Value, json};

use super::{TableColumn, age, elements, text};
use podinit_core::timestamp::Timestamp;

pub(super) const COLUMNS: [TableColumn; 9] = [
    ("Name", 0),
    ("Ready", 0),
    ("Status", 0),
    ("Restarts", 0),
    ("Age", 0),
    ("IP", 1),
    ("Node", 1),
    ("Nominated Node", 1),
    ("Readiness Gates", 1),
];

/// What the containers of a pod come to.
struct ContainersSummary {
    ready: usize,
    restarts: u64,
    status: String,
}

/// The cells of a pod, with its age at `now`.
pub(super) fn cells(pod: &Value, now: Timestamp) -> Value {
    let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
    let summary = summary(pod);
    let init = elements(&spec["initContainers"]).iter();
    let restartable = init.filter(|container| is_restartable(container)).count();
    let containers = elements(&spec["containers"]).len() + restartable;
    let or_none = |value| match text(value) {
        "" => "<none>".to_owned(),
        text => text.to_owned(),
    };
    let gates = elements(&spec["readinessGates"]);
    let fulfilled = gates.iter().filter(|gate| holds(pod, text(&gate["conditionType"])));
    json!([
        text(&metadata["name"]),
        format!("{}/{containers}", summary.ready),
        summary.status,
        summary.restarts.to_string(),
        age(&metadata["creationTimestamp"], now),
        or_none(&status["podIP"]),
        or_none(&spec["nodeName"]),
        or_none(&status["nominatedNodeName"]),
        match gates.len() {
            0 => "<none>".to_owned(),
            gates => format!("{}/{gates}", fulfilled.count()),
        },
    ])
}

fn is_restartable(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

/// Whether the pod has a condition of this type that is True.
fn holds(pod: &Value, condition: &str) -> bool {
    let mut conditions = elements(&pod["status"]["conditions"]).iter();
    conditions.any(|one| one["type"] == condition && one["status"] == "True")
}

/// The word for a container that has ended.
fn ended(terminated: &Value) -> String {
    match (text(&terminated["reason"]), terminated["signal"].as_i64()) {
        ("", None | Some(0)) => {
            format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or(0))
        }
        ("", Some(signal)) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn summary(pod: &Value) -> ContainersSummary {
    let status = &pod["status"];
    let phase = text(&status["phase"]);
    let mut summary = ContainersSummary {
        ready: 0,
        restarts: 0,
        status: match text(&status["reason"]) {
            "" => phase.to_owned(),
            reason => reason.to_owned(),
        },
    };
    let gated = |one: &Value| one["type"] == "PodScheduled" && one["reason"] == "SchedulingGated";
    if elements(&status["conditions"]).iter().any(gated) {
        "SchedulingGated".clone_into(&mut summary.status);
    }
    let initializing = init_containers(pod, &mut summary);
    if !initializing || holds(pod, "Initialized") {
        containers(pod, &mut summary);
    }
    let is_deleted = !pod["metadata"]["deletionTimestamp"].is_null();
    if is_deleted && !["Succeeded", "Failed"].contains(&phase) {
        "Terminating".clone_into(&mut summary.status);
    }
    summary
}

/// Whether an init container is still to finish.
fn init_containers(pod: &Value, summary: &mut ContainersSummary) -> bool {
    let specs = elements(&pod["spec"]["initContainers"]);
    let statuses = elements(&pod["status"]["initContainerStatuses"]);
    for (index, one) in statuses.iter().enumerate() {
        summary.restarts += one["restartCount"].as_u64().unwrap_or(0);
        let spec = specs.iter().find(|spec| spec["name"] == one["name"]);
        let terminated = &one["state"]["terminated"];
        let has_ended = !terminated.is_null();
        if has_ended && terminated["exitCode"].as_i64().unwrap_or(0) == 0 {
            continue;
        }
        if spec.is_some_and(is_restartable) && one["started"] == true {
            summary.ready += usize::from(one["ready"] == true);
            continue;
        }
        let word = match text(&one["state"]["waiting"]["reason"]) {
            _ if has_ended => ended(terminated),
            "" | "PodInitializing" => format!("{index}/{}", specs.len()),
            reason => reason.to_owned(),
        };
        summary.status = format!("Init:{word}");
        return true;
    }
    false
}

fn containers(pod: &Value, summary: &mut ContainersSummary) {
    let mut running = false;
    for one in elements(&pod["status"]["containerStatuses"]).iter().rev() {
        summary.restarts += one["restartCount"].as_u64().unwrap_or(0);
        let state = &one["state"];
        match text(&state["waiting"]["reason"]) {
            "" if !state["terminated"].is_null() => summary.status = ended(&state["terminated"]),
            "" if one["ready"] == true && !state["running"].is_null() => {
                running = true;
                summary.ready += 1;
            }
            "" => {}
            reason => reason.clone_into(&mut summary.status),
        }
    }
    if running && summary.status == "Completed" {
        let is_ready = holds(pod, "Ready");
        (if is_ready { "Running" } else { "NotReady" }).clone_into(&mut summary.status);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(pod: &Value) -> String {
        let now = Timestamp::from_seconds(1_767_323_045);
        let cells = cells(pod, now);
        let text = |index: usize| cells[index].as_str().unwrap().to_owned();
        [text(1), text(2), text(3)].join(" ")
    }

    fn pod(phase: &str, init: &Value, containers: &Value) -> Value {
        json!({
            "metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:00Z"},
            "spec": {"containers": [{"name": "app"}], "initContainers": [{"name": "init"}]},
            "status": {"phase": phase, "initContainerStatuses": init, "containerStatuses": containers},
        })
    }

    #[test]
    fn the_status_is_the_word_of_the_container_that_the_pod_waits_for() {
        let created = json!([{"name": "app", "state": {"waiting": {"reason": "PodInitializing"}}}]);
        let init = |state| json!([{"name": "init", "restartCount": 2, "state": state}]);
        let done = init(json!({"terminated": {"exitCode": 0, "reason": "Completed"}}));
        let app = |ready, state| json!([{"name": "app", "ready": ready, "state": state}]);
        let pods = [
            (pod("Pending", &init(json!({"running": {}})), &created), "0/1 Init:0/1 2"),
            (
                pod("Pending", &init(json!({"waiting": {"reason": "ImagePullBackOff"}})), &created),
                "0/1 Init:ImagePullBackOff 2",
            ),
            (
                pod("Pending", &init(json!({"terminated": {"exitCode": 3}})), &created),
                "0/1 Init:ExitCode:3 2",
            ),
            (
                pod(
                    "Running",
                    &done,
                    &app(false, json!({"waiting": {"reason": "CrashLoopBackOff"}})),
                ),
                "0/1 CrashLoopBackOff 2",
            ),
            (pod("Running", &done, &app(true, json!({"running": {}}))), "1/1 Running 2"),
            (
                pod(
                    "Succeeded",
                    &done,
                    &app(false, json!({"terminated": {"reason": "Completed"}})),
                ),
                "0/1 Completed 2",
            ),
        ];
        for (pod, expected) in pods {
            assert_eq!(shown(&pod), expected, "{pod}");
        }
    }

    #[test]
    fn a_pod_that_is_deleted_or_gated_says_so() {
        let mut gated = pod("Pending", &json!([]), &json!([]));
        gated["status"]["conditions"] =
            json!([{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]);
        assert_eq!(shown(&gated), "0/1 SchedulingGated 0");
        gated["metadata"]["deletionTimestamp"] = json!("2026-01-02T03:04:05Z");
        assert_eq!(shown(&gated), "0/1 Terminating 0");
    }
}
