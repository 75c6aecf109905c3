//! The row of a pod: what `kubectl get pods` shows.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{Column, age};
use podinit_core::timestamp::Timestamp;

pub(super) const COLUMNS: [Column; 9] = [
    ("Name", "string", 0),
    ("Ready", "string", 0),
    ("Status", "string", 0),
    ("Restarts", "string", 0),
    ("Age", "string", 0),
    ("IP", "string", 1),
    ("Node", "string", 1),
    ("Nominated Node", "string", 1),
    ("Readiness Gates", "string", 1),
];

#[derive(Deserialize, Default)]
#[serde(default)]
struct Pod {
    metadata: Metadata,
    spec: Spec,
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    creation_timestamp: Option<String>,
    deletion_timestamp: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    containers: Vec<ContainerSpec>,
    init_containers: Vec<ContainerSpec>,
    node_name: String,
    readiness_gates: Vec<ReadinessGate>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ContainerSpec {
    name: String,
    restart_policy: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadinessGate {
    condition_type: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    phase: String,
    reason: String,
    conditions: Vec<Condition>,
    container_statuses: Vec<ContainerStatus>,
    init_container_statuses: Vec<ContainerStatus>,
    #[serde(rename = "podIP")]
    pod_ip: String,
    nominated_node_name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    reason: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ContainerStatus {
    name: String,
    ready: bool,
    started: Option<bool>,
    restart_count: u64,
    state: State,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    waiting: Option<Waiting>,
    running: Option<IgnoredAny>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Waiting {
    reason: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    exit_code: i32,
    signal: i32,
    reason: String,
}

/// What the containers of a pod come to.
struct Summary {
    ready: usize,
    restarts: u64,
    status: String,
}

/// The cells of a pod, with its age at `now`.
pub(super) fn cells(json: &str, now: Timestamp) -> Result<Vec<Value>, serde_json::Error> {
    let pod: Pod = serde_json::from_str(json)?;
    let summary = pod.summary();
    let restartable = pod.spec.init_containers.iter();
    let restartable = restartable.filter(|container| container.is_restartable());
    let containers = pod.spec.containers.len() + restartable.count();
    let or_none = |text: &str| match text {
        "" => json!("<none>"),
        text => json!(text),
    };
    let gates = pod.spec.readiness_gates.iter();
    let fulfilled = gates.filter(|gate| pod.has(&gate.condition_type)).count();
    let gates = match pod.spec.readiness_gates.len() {
        0 => json!("<none>"),
        gates => json!(format!("{fulfilled}/{gates}")),
    };
    Ok(vec![
        json!(pod.metadata.name),
        json!(format!("{}/{containers}", summary.ready)),
        json!(summary.status),
        json!(summary.restarts.to_string()),
        json!(age::since(pod.metadata.creation_timestamp.as_deref(), now)),
        or_none(&pod.status.pod_ip),
        or_none(&pod.spec.node_name),
        or_none(&pod.status.nominated_node_name),
        gates,
    ])
}

impl ContainerSpec {
    fn is_restartable(&self) -> bool {
        self.restart_policy == "Always"
    }
}

impl Terminated {
    fn word(&self) -> String {
        match (&*self.reason, self.signal) {
            ("", 0) => format!("ExitCode:{}", self.exit_code),
            ("", signal) => format!("Signal:{signal}"),
            (reason, _) => reason.to_owned(),
        }
    }
}

impl Pod {
    fn has(&self, condition: &str) -> bool {
        let mut conditions = self.status.conditions.iter();
        conditions.any(|one| one.kind == condition && one.status == "True")
    }

    fn summary(&self) -> Summary {
        let Status { phase, reason, .. } = &self.status;
        let mut summary = Summary {
            ready: 0,
            restarts: 0,
            status: (if reason.is_empty() { phase } else { reason }).clone(),
        };
        let gated = |one: &Condition| one.kind == "PodScheduled" && one.reason == "SchedulingGated";
        if self.status.conditions.iter().any(gated) {
            "SchedulingGated".clone_into(&mut summary.status);
        }
        let initializing = self.init_containers(&mut summary);
        if !initializing || self.has("Initialized") {
            self.containers(&mut summary);
        }
        let ended = matches!(phase.as_str(), "Succeeded" | "Failed");
        if self.metadata.deletion_timestamp.is_some() && !ended {
            "Terminating".clone_into(&mut summary.status);
        }
        summary
    }

    /// Whether an init container is still to finish.
    fn init_containers(&self, summary: &mut Summary) -> bool {
        for (index, one) in self.status.init_container_statuses.iter().enumerate() {
            summary.restarts += one.restart_count;
            let mut specs = self.spec.init_containers.iter();
            let spec = specs.find(|spec| spec.name == one.name);
            let restartable = spec.is_some_and(ContainerSpec::is_restartable);
            let word = match (&one.state.terminated, &one.state.waiting) {
                (Some(terminated), _) if terminated.exit_code == 0 => continue,
                _ if restartable && one.started == Some(true) => {
                    summary.ready += usize::from(one.ready);
                    continue;
                }
                (Some(terminated), _) => terminated.word(),
                (None, Some(waiting)) if !matches!(&*waiting.reason, "" | "PodInitializing") => {
                    waiting.reason.clone()
                }
                _ => format!("{index}/{}", self.spec.init_containers.len()),
            };
            summary.status = format!("Init:{word}");
            return true;
        }
        false
    }

    fn containers(&self, summary: &mut Summary) {
        let mut running = false;
        for one in self.status.container_statuses.iter().rev() {
            summary.restarts += one.restart_count;
            let waiting = one.state.waiting.as_ref();
            match (
                waiting.filter(|waiting| !waiting.reason.is_empty()),
                &one.state.terminated,
            ) {
                (Some(waiting), _) => waiting.reason.clone_into(&mut summary.status),
                (None, Some(terminated)) => summary.status = terminated.word(),
                (None, None) if one.ready && one.state.running.is_some() => {
                    running = true;
                    summary.ready += 1;
                }
                (None, None) => {}
            }
        }
        if running && summary.status == "Completed" {
            let status = if self.has("Ready") {
                "Running"
            } else {
                "NotReady"
            };
            status.clone_into(&mut summary.status);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(pod: &Value) -> String {
        let now = Timestamp::from_seconds(1_767_323_045);
        let cells = cells(&pod.to_string(), now).unwrap();
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
            (
                pod("Pending", &init(json!({"running": {}})), &created),
                "0/1 Init:0/1 2",
            ),
            (
                pod(
                    "Pending",
                    &init(json!({"waiting": {"reason": "ImagePullBackOff"}})),
                    &created,
                ),
                "0/1 Init:ImagePullBackOff 2",
            ),
            (
                pod(
                    "Pending",
                    &init(json!({"terminated": {"exitCode": 3}})),
                    &created,
                ),
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
            (
                pod("Running", &done, &app(true, json!({"running": {}}))),
                "1/1 Running 2",
            ),
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
