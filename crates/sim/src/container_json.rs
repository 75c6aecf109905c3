//! Containers of a pod's spec, and their statuses.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::container::{self, Run, RunState};
use super::json::{raw, time};
use super::pod::Pod;
use super::report::App;

const PORTS: &str = r#"[{"name":"http","containerPort":8080,"protocol":"TCP"}]"#;
const ENV: &str = r#"[{"name":"REGION","value":"eu-central-1"},{"name":"LOG_LEVEL","value":"info"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}]"#;
const RESOURCES: &str =
    r#"{"limits":{"memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}}"#;
const VOLUME_MOUNTS: &str = r#"[{"name":"config","mountPath":"/etc/app"},{"name":"tmp","mountPath":"/tmp"},{"name":"kube-api-access-7slsg","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]"#;
const PROBE: &str = r#"{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3}"#;

const IMAGE_DIGEST: &str = "5f2d1c9c3b6f7f1d0a4b0fbb8e2a61f3a9d3a7d5c0c6de1f52f2f0c3e8a5b7d1";

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
    /// One of `spec.containers`.
    pub(super) fn regular(container: &container::Container, readiness_probe: bool) -> Self {
        let probe = readiness_probe.then(|| raw(PROBE)).flatten();
        Self {
            name: container.name,
            image: container.image.name,
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

    /// One of `spec.initContainers`.
    pub(super) fn init(container: &container::Container) -> Self {
        Self {
            ports: None,
            env: None,
            restart_policy: container.restartable.then_some("Always"),
            startup_probe: container.restartable.then(|| raw(PROBE)).flatten(),
            ..Self::regular(container, false)
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContainerStatus<'a> {
    name: &'static str,
    state: State<'a>,
    last_state: LastState,
    ready: bool,
    restart_count: u32,
    image: &'static str,
    #[serde(rename = "imageID")]
    image_id: String,
    #[serde(rename = "containerID", skip_serializing_if = "Option::is_none")]
    container_id: Option<String>,
    started: bool,
}

/// One of the three states of a container.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum State<'a> {
    Waiting {
        reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Cow<'a, str>>,
    },
    Running {
        #[serde(rename = "startedAt")]
        started_at: String,
    },
    Terminated(Terminated),
}

#[derive(Serialize)]
struct LastState {
    #[serde(skip_serializing_if = "Option::is_none")]
    terminated: Option<Terminated>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Terminated {
    exit_code: i32,
    reason: &'static str,
    started_at: String,
    finished_at: String,
}

impl From<container::Ended> for Terminated {
    fn from(ended: container::Ended) -> Self {
        Self {
            exit_code: ended.exit_code,
            reason: if ended.exit_code == 0 {
                "Completed"
            } else {
                "Error"
            },
            started_at: time(ended.since),
            finished_at: time(ended.until),
        }
    }
}

impl<'a> ContainerStatus<'a> {
    /// `status.containerStatuses`
    pub(super) fn of_containers(pod: &'a Pod) -> Vec<Self> {
        let Some((report, _)) = pod.report else {
            return Vec::new();
        };
        let status = |(index, (container, run)): (usize, (&container::Container, &'a Run))| {
            let runs = matches!(run.state, RunState::Running(_));
            let is_main = index == 0;
            let waits_for = match report.app {
                App::Waiting(reason) if is_main || !pod.had_sandbox => reason,
                _ => default_reason(pod),
            };
            Self {
                ready: runs && (!is_main || report.app == App::Running { ready: true }),
                started: runs,
                ..Self::new(container, run, waits_for, pod)
            }
        };
        (pod.manifest.containers.iter().zip(&pod.runs.regular))
            .enumerate()
            .map(status)
            .collect()
    }

    /// `status.initContainerStatuses`
    pub(super) fn of_init_containers(pod: &'a Pod) -> Vec<Self> {
        let Some((report, _)) = pod.report else {
            return Vec::new();
        };
        let status = |(index, (container, run)): (usize, (&container::Container, &'a Run))| {
            let done = index < report.init_done;
            Self {
                ready: done,
                started: done && container.restartable,
                ..Self::new(container, run, "PodInitializing", pod)
            }
        };
        (pod.manifest.init_containers.iter().zip(&pod.runs.init))
            .enumerate()
            .map(status)
            .collect()
    }

    fn new(
        container: &container::Container,
        run: &'a Run,
        waits_for: &'static str,
        pod: &Pod,
    ) -> Self {
        let exists = run.state != RunState::Waiting || run.last.is_some();
        let state = match (run.state, &run.waiting) {
            (RunState::Running(since), _) => State::Running {
                started_at: time(since),
            },
            (RunState::Ended(ended), _) => State::Terminated(ended.into()),
            (RunState::Waiting, Some(waiting)) => State::Waiting {
                reason: waiting.reason,
                message: Some(Cow::Borrowed(&waiting.message)),
            },
            (RunState::Waiting, None) => State::Waiting {
                reason: waits_for,
                message: (waits_for == "CrashLoopBackOff")
                    .then(|| Cow::Owned(back_off(container, run, pod))),
            },
        };
        let hash = || pod.manifest.uid.replace('-', "");
        Self {
            name: container.name,
            state,
            last_state: LastState {
                terminated: run.last.map(Terminated::from),
            },
            ready: false,
            restart_count: run.restarts,
            image: container.image.name,
            image_id: match exists {
                true => format!("{}@sha256:{IMAGE_DIGEST}", repository(container.image.name)),
                false => String::new(),
            },
            container_id: exists.then(|| format!("containerd://{0}{0}", hash())),
            started: false,
        }
    }
}

/// What a container waits for while it is created.
fn default_reason(pod: &Pod) -> &'static str {
    match pod.manifest.init_containers.is_empty() {
        true => "ContainerCreating",
        false => "PodInitializing",
    }
}

/// The kubelet's words for a container that it does not restart yet: ten seconds after the first
/// crash, twice as long after each further one, at most five minutes.
fn back_off(container: &container::Container, run: &Run, pod: &Pod) -> String {
    let seconds = (10_u32 << run.restarts.saturating_sub(1).min(5)).min(300);
    let delay = match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    };
    let manifest = &pod.manifest;
    format!(
        "back-off {delay} restarting failed container={} pod={}_{}({})",
        container.name, manifest.name, manifest.namespace, manifest.uid
    )
}

/// The image without its tag.
fn repository(image: &str) -> &str {
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
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
