//! Containers of a pod's spec, and their statuses.

use serde::Serialize;
use serde_json::value::RawValue;

use super::json::{Empty, raw, time};
use super::life::{App, InitContainer};
use super::pod::Pod;
use crate::timestamp::Timestamp;

const PORTS: &str = r#"[{"name":"http","containerPort":8080,"protocol":"TCP"}]"#;
const ENV: &str = r#"[{"name":"REGION","value":"eu-central-1"},{"name":"LOG_LEVEL","value":"info"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}]"#;
const RESOURCES: &str =
    r#"{"limits":{"memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}}"#;
const VOLUME_MOUNTS: &str = r#"[{"name":"config","mountPath":"/etc/app"},{"name":"tmp","mountPath":"/tmp"},{"name":"kube-api-access-7slsg","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]"#;
const PROBE: &str = r#"{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3}"#;

const APP_IMAGE: &str = "registry.example.com/team/app:1.42.0";
const INIT_IMAGE: &str = "registry.example.com/team/init:3.1";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Container {
    name: &'static str,
    image: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ports: Option<&'static RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<&'static RawValue>,
    resources: Option<&'static RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    restart_policy: Option<&'static str>,
    volume_mounts: Option<&'static RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    liveness_probe: Option<&'static RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    readiness_probe: Option<&'static RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    startup_probe: Option<&'static RawValue>,
    termination_message_path: &'static str,
    termination_message_policy: &'static str,
    image_pull_policy: &'static str,
}

impl Container {
    pub(super) fn app(readiness_probe: bool) -> Self {
        let probe = readiness_probe.then(|| raw(PROBE)).flatten();
        Self {
            name: "app",
            image: APP_IMAGE,
            ports: raw(PORTS),
            env: raw(ENV),
            resources: raw(RESOURCES),
            restart_policy: None,
            volume_mounts: raw(VOLUME_MOUNTS),
            liveness_probe: probe,
            readiness_probe: probe,
            startup_probe: None,
            termination_message_path: "/dev/termination-log",
            termination_message_policy: "File",
            image_pull_policy: "IfNotPresent",
        }
    }

    pub(super) fn init(container: &InitContainer) -> Self {
        Self {
            name: container.name,
            image: INIT_IMAGE,
            ports: None,
            env: None,
            restart_policy: container.restartable.then_some("Always"),
            liveness_probe: None,
            readiness_probe: None,
            startup_probe: container.restartable.then(|| raw(PROBE)).flatten(),
            ..Self::app(false)
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContainerStatus {
    name: &'static str,
    state: ContainerState,
    last_state: Empty,
    ready: bool,
    restart_count: u32,
    image: &'static str,
    #[serde(rename = "imageID")]
    image_id: &'static str,
    #[serde(rename = "containerID", skip_serializing_if = "Option::is_none")]
    container_id: Option<String>,
    started: bool,
}

/// One of the three states of a container.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum ContainerState {
    Waiting {
        reason: &'static str,
    },
    Running {
        #[serde(rename = "startedAt")]
        started_at: String,
    },
    Terminated {
        #[serde(rename = "exitCode")]
        exit_code: i32,
        reason: &'static str,
        #[serde(rename = "startedAt")]
        started_at: String,
        #[serde(rename = "finishedAt")]
        finished_at: String,
    },
}

impl ContainerStatus {
    pub(super) fn of_app(pod: &Pod) -> Vec<Self> {
        let Some((report, at)) = pod.report else {
            return Vec::new();
        };
        let since = pod.running_since.unwrap_or(at);
        let state = match report.app {
            App::Waiting(reason) => ContainerState::Waiting { reason },
            App::Running { .. } => running(since),
            App::Completed => terminated(0, since, at),
            App::Failed => terminated(42, since, at),
        };
        vec![Self {
            ready: report.app == App::Running { ready: true },
            restart_count: report.restarts,
            started: report.is_running(),
            ..Self::new("app", APP_IMAGE, state, pod)
        }]
    }

    pub(super) fn of_init_containers(pod: &Pod) -> Vec<Self> {
        let Some((report, at)) = pod.report else {
            return Vec::new();
        };
        let since = pod.started.unwrap_or(at);
        let status = |(index, container): (usize, &InitContainer)| {
            let done = index < report.init_done;
            let state = match (done, container.restartable) {
                (true, true) => running(since),
                (true, false) => terminated(0, since, at),
                (false, _) if index == report.init_done && report.sandbox => running(since),
                (false, _) => ContainerState::Waiting {
                    reason: "PodInitializing",
                },
            };
            Self {
                ready: done,
                started: done && container.restartable,
                ..Self::new(container.name, INIT_IMAGE, state, pod)
            }
        };
        (pod.manifest.init_containers.iter())
            .enumerate()
            .map(status)
            .collect()
    }

    fn new(name: &'static str, image: &'static str, state: ContainerState, pod: &Pod) -> Self {
        let pulled = !matches!(state, ContainerState::Waiting { .. });
        let hash = pod.manifest.uid.replace('-', "");
        Self {
            name,
            state,
            last_state: Empty {},
            ready: false,
            restart_count: 0,
            image,
            image_id: if pulled {
                "registry.example.com/team/app@sha256:5f2d1c9c3b6f7f1d0a4b0fbb8e2a61f3a9d3a7d5c0c6de1f52f2f0c3e8a5b7d1"
            } else {
                ""
            },
            container_id: pulled.then(|| format!("containerd://{hash}{hash}")),
            started: false,
        }
    }
}

fn running(since: Timestamp) -> ContainerState {
    ContainerState::Running {
        started_at: time(since),
    }
}

fn terminated(exit_code: i32, since: Timestamp, until: Timestamp) -> ContainerState {
    ContainerState::Terminated {
        exit_code,
        reason: if exit_code == 0 { "Completed" } else { "Error" },
        started_at: time(since),
        finished_at: time(until),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_parts_are_json() {
        for json in [PORTS, ENV, RESOURCES, VOLUME_MOUNTS, PROBE] {
            assert!(raw(json).is_some(), "{json}");
        }
    }
}
