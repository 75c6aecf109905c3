//! Renders a pod as the JSON of the Kubernetes API: the types of `core/v1`, times cut to the second. What
//! all pods have in common is in `pod_template.json`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::api::core::v1::{
    Container as ContainerSpec, ContainerState, ContainerStateRunning, ContainerStateTerminated,
    ContainerStateWaiting, ContainerStatus, HostIP, PersistentVolumeClaimVolumeSource,
    Pod as PodObject, PodCondition as Condition, PodIP, PodReadinessGate, PodSchedulingGate,
    PodSchedulingGroup, PodSpec, PodStatus, Volume,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use serde::Serialize;

use super::component_events::go_duration;
use super::component_fault::{NO_DEVICES, REJECTED};
use super::container::{AppState, ContainerRun, EndedRun, RunState, SimulatedContainer};
use super::log::last_words;
use super::pod::{PodCondition, SimulatedPod};
use super::sim_clock::{SECOND, meta_time};

const IMAGE_DIGEST: &str = "5f2d1c9c3b6f7f1d0a4b0fbb8e2a61f3a9d3a7d5c0c6de1f52f2f0c3e8a5b7d1";

static TEMPLATE: LazyLock<PodObject> = LazyLock::new(|| {
    // A test reads it.
    serde_json::from_str(include_str!("pod_template.json")).unwrap_or_default()
});

#[derive(Serialize)]
struct Object {
    metadata: ObjectMeta,
    spec: PodSpec,
    status: PodStatus,
}

/// The object of `pod` at `resource_version`, without `kind` and `apiVersion`, which a list
/// leaves out and a watch event puts in front.
pub fn render(pod: &SimulatedPod, resource_version: u64) -> Vec<u8> {
    let object =
        Object { metadata: metadata(pod, resource_version), spec: spec(pod), status: status(pod) };
    // Serializing structs of strings and numbers into memory cannot fail; if it ever did, an
    // empty object is what a broken API server would send.
    let json = serde_json::to_string(&object).unwrap_or_else(|_| "{}".to_owned());
    // API servers write this null, which the type leaves out. Within texts the quotes are escaped.
    let transition = "\"lastTransitionTime\":";
    let json = json.replace(transition, &format!("\"lastProbeTime\":null,{transition}"));
    json.into_bytes()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn unless_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

fn metadata(pod: &SimulatedPod, resource_version: u64) -> ObjectMeta {
    let manifest = &pod.manifest;
    let mut template = TEMPLATE.metadata.clone();
    if manifest.mirror {
        // The kubelet stores the hash of the static pod's manifest under all of these.
        let hash = manifest.uid.as_str();
        let annotations = [("hash", hash), ("mirror", hash), ("source", "file")];
        let annotations = annotations
            .map(|(name, value)| (format!("kubernetes.io/config.{name}"), value.to_owned()));
        template.annotations = Some(BTreeMap::from(annotations));
    }
    // The creator's fields, and those of the kubelet once it has written.
    let written = [Some(pod.created), pod.report.map(|(_, at)| at)];
    let managed_fields = template.managed_fields.into_iter().flatten().zip(written);
    ObjectMeta {
        name: text(&manifest.name),
        generate_name: manifest.generate_name.clone(),
        namespace: text(&manifest.namespace),
        uid: text(&manifest.uid),
        resource_version: Some(resource_version.to_string()),
        generation: Some(pod.generation.into()),
        creation_timestamp: Some(meta_time(pod.created)),
        deletion_timestamp: pod.deletion.map(|(at, _)| meta_time(at)),
        deletion_grace_period_seconds: pod.deletion.map(|(_, grace)| grace),
        labels: Some(manifest.labels.iter().cloned().collect()),
        owner_references: manifest.owner.clone().map(|owner| vec![owner]),
        managed_fields: Some(
            managed_fields
                .filter_map(|(fields, at)| {
                    let time = Some(meta_time(at?));
                    Some(ManagedFieldsEntry { time, ..fields })
                })
                .collect(),
        ),
        ..template
    }
}

fn spec(pod: &SimulatedPod) -> PodSpec {
    let manifest = &pod.manifest;
    let mut template = TEMPLATE.spec.clone().unwrap_or_default();
    let container = template.containers.pop().unwrap_or_default();
    let claim = manifest.claim.as_ref().map(|claim_name| Volume {
        name: "data".to_owned(),
        persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
            claim_name: claim_name.clone(),
            ..Default::default()
        }),
        ..Default::default()
    });
    template.volumes.get_or_insert_default().extend(claim);
    let init = manifest.init_containers.iter();
    let regular = manifest.containers.iter().enumerate();
    PodSpec {
        init_containers: unless_empty(init.map(|one| init_container(&container, one)).collect()),
        containers: regular
            .map(|(index, one)| {
                let probed = index == 0 && manifest.readiness_probe;
                regular_container(&container, one, probed)
            })
            .collect(),
        restart_policy: text(if manifest.runs_once { "Never" } else { "Always" }),
        node_name: pod.node.map(|node| node.name.to_owned()),
        host_network: manifest.host_network.then_some(true),
        readiness_gates: unless_empty(
            (manifest.readiness_gates.iter())
                .map(|gate| PodReadinessGate { condition_type: (*gate).to_owned() })
                .collect(),
        ),
        scheduling_gates: unless_empty(
            (pod.gates.iter()).map(|gate| PodSchedulingGate { name: (*gate).to_owned() }).collect(),
        ),
        scheduling_group: (manifest.pod_group.clone())
            .map(|group| PodSchedulingGroup { pod_group_name: Some(group) }),
        ..template
    }
}

/// One of `spec.containers`, with the probe of the template where it is `probed`.
fn regular_container(
    template: &ContainerSpec,
    one: &SimulatedContainer,
    probed: bool,
) -> ContainerSpec {
    let probe = template.liveness_probe.clone().filter(|_| probed);
    ContainerSpec {
        name: one.name.to_owned(),
        image: text(one.image.name),
        readiness_probe: probe.clone(),
        liveness_probe: probe,
        ..template.clone()
    }
}

/// One of `spec.initContainers`.
fn init_container(template: &ContainerSpec, one: &SimulatedContainer) -> ContainerSpec {
    let probe = template.liveness_probe.clone();
    ContainerSpec {
        ports: None,
        env: None,
        restart_policy: one.restartable.then(|| "Always".to_owned()),
        startup_probe: probe.filter(|_| one.restartable),
        ..regular_container(template, one, false)
    }
}

fn status(pod: &SimulatedPod) -> PodStatus {
    let manifest = &pod.manifest;
    let host = pod.node.filter(|_| pod.report.is_some());
    let host_ip = host.map(|node| format!("10.0.0.{}", node.host));
    let has_address = pod.report.is_some_and(|(report, _)| report.sandbox);
    let pod_ip = match manifest.host_network {
        true => host_ip.clone(),
        false => host.filter(|_| has_address).map(|node| {
            let letter = |at: usize| manifest.uid.as_bytes().get(at).copied().unwrap_or(1);
            format!("10.{}.{}.{}", node.host, letter(0), letter(1))
        }),
    };
    PodStatus {
        observed_generation: (pod.report)
            .filter(|_| pod.kubelet.observes_generation())
            .map(|_| pod.generation.into()),
        phase: text(pod.phase.as_str()),
        reason: pod.rejected.then(|| REJECTED.to_owned()),
        message: pod.rejected.then(|| format!("Pod was rejected: {NO_DEVICES}")),
        conditions: unless_empty(pod.conditions.iter().map(condition).collect()),
        host_ips: host_ip.clone().map(|ip| vec![HostIP { ip }]),
        pod_ips: pod_ip.clone().map(|ip| vec![PodIP { ip }]),
        host_ip,
        pod_ip,
        start_time: pod.started.map(meta_time),
        init_container_statuses: unless_empty(init_container_statuses(pod)),
        container_statuses: unless_empty(container_statuses(pod)),
        ..TEMPLATE.status.clone().unwrap_or_default()
    }
}

fn condition(condition: &PodCondition) -> Condition {
    let verdict = &condition.verdict;
    Condition {
        type_: condition.kind.to_owned(),
        observed_generation: condition.observed_generation.map(i64::from),
        status: (if verdict.holds { "True" } else { "False" }).to_owned(),
        last_transition_time: Some(meta_time(condition.since)),
        reason: verdict.reason.map(str::to_owned),
        message: verdict.message.clone(),
        ..Default::default()
    }
}

fn container_statuses(pod: &SimulatedPod) -> Vec<ContainerStatus> {
    let Some((report, _)) = pod.report else {
        return Vec::new();
    };
    let containers = pod.manifest.containers.iter().zip(&pod.runs.regular);
    let status = |(index, (container, run)): (usize, (&SimulatedContainer, &ContainerRun))| {
        let runs = matches!(run.state, RunState::Running(_));
        let is_main = index == 0;
        let waits_for = match report.app {
            AppState::Waiting(reason) if is_main || !pod.had_sandbox => reason,
            _ if pod.manifest.init_containers.is_empty() => "ContainerCreating",
            _ => "PodInitializing",
        };
        ContainerStatus {
            ready: runs && (!is_main || report.app == AppState::Running { ready: true }),
            started: Some(runs),
            ..container_status(container, run, waits_for, pod)
        }
    };
    containers.enumerate().map(status).collect()
}

fn init_container_statuses(pod: &SimulatedPod) -> Vec<ContainerStatus> {
    let Some((report, _)) = pod.report else {
        return Vec::new();
    };
    let containers = pod.manifest.init_containers.iter().zip(&pod.runs.init);
    let status = |(index, (container, run)): (usize, (&SimulatedContainer, &ContainerRun))| {
        let ready = index < report.init_done;
        ContainerStatus {
            ready,
            started: Some(ready && container.restartable),
            ..container_status(container, run, "PodInitializing", pod)
        }
    };
    containers.enumerate().map(status).collect()
}

/// The status but for `ready` and `started`; `waits_for` is the reason where nothing else is known.
fn container_status(
    container: &SimulatedContainer,
    run: &ContainerRun,
    waits_for: &str,
    pod: &SimulatedPod,
) -> ContainerStatus {
    let exists = run.state != RunState::Waiting || run.last.is_some();
    let image = container.image.name;
    let mut state = ContainerState::default();
    match (run.state, &run.waiting) {
        (RunState::Running(since), _) => {
            let started_at = Some(meta_time(since));
            state.running = Some(ContainerStateRunning { started_at });
        }
        (RunState::Ended(ended), _) => state.terminated = Some(terminated(ended)),
        (RunState::Waiting, waiting) => {
            let backs_off = waits_for == "CrashLoopBackOff";
            state.waiting = Some(match waiting {
                Some(waiting) => ContainerStateWaiting {
                    reason: text(waiting.reason),
                    message: Some(waiting.message.clone()),
                },
                None => ContainerStateWaiting {
                    reason: text(waits_for),
                    message: backs_off.then(|| back_off(container, run, pod)),
                },
            });
        }
    }
    ContainerStatus {
        name: container.name.to_owned(),
        state: Some(state),
        last_state: Some(ContainerState {
            terminated: run.last.map(terminated),
            ..ContainerState::default()
        }),
        restart_count: i32::try_from(run.restarts).unwrap_or(i32::MAX),
        image: image.to_owned(),
        image_id: match exists {
            true => format!("{}@sha256:{IMAGE_DIGEST}", repository(image)),
            false => String::new(),
        },
        container_id: exists.then(|| {
            let hash = pod.manifest.uid.replace('-', "");
            format!("containerd://{hash}{hash}")
        }),
        ..ContainerStatus::default()
    }
}

fn terminated(ended: EndedRun) -> ContainerStateTerminated {
    ContainerStateTerminated {
        exit_code: ended.exit_code,
        reason: text(match ended.exit_code {
            0 => "Completed",
            _ => "Error",
        }),
        message: last_words(ended.exit_code).map(str::to_owned),
        started_at: Some(meta_time(ended.since)),
        finished_at: Some(meta_time(ended.until)),
        ..Default::default()
    }
}

/// The kubelet's words for a container that it does not restart yet: ten seconds after the first
/// crash, twice as long after each further one, at most five minutes.
fn back_off(container: &SimulatedContainer, run: &ContainerRun, pod: &SimulatedPod) -> String {
    let seconds = (10_i64 << run.restarts.saturating_sub(1).min(5)).min(300);
    let delay = go_duration(seconds * SECOND);
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
    #![allow(clippy::unwrap_used)]

    use super::super::container::{AppState, KubeletReport};
    use super::super::life::{PodChange, PodManifest};
    use super::super::node::CURRENT;
    use super::*;
    use podinit_core::timestamp::Timestamp;

    fn manifest() -> PodManifest {
        PodManifest {
            namespace: "shop".to_owned(),
            name: "web-1".to_owned(),
            uid: "6d14ca8c-7af5-46a4-8768-3d31c85d0ffb".to_owned(),
            ..PodManifest::default()
        }
    }

    #[test]
    fn the_template_is_a_pod() {
        assert_eq!(TEMPLATE.metadata.managed_fields.as_deref().unwrap().len(), 2);
        assert!(!TEMPLATE.spec.as_ref().unwrap().containers.is_empty());
    }

    #[test]
    fn a_running_pod_is_the_object_that_k8s_openapi_knows() {
        let mut pod = SimulatedPod::new(manifest(), Timestamp::from_seconds(1_795_247_403));
        let at = Timestamp::from_seconds(1_795_247_405);
        let bind = PodChange::Bind { node: CURRENT, stamped: true };
        pod.apply(&bind, at);
        let report = KubeletReport {
            sandbox: true,
            init_done: 0,
            app: AppState::Running { ready: true },
            restarts: 0,
        };
        pod.apply(&PodChange::Report(report), at);
        let json = render(&pod, 42);
        assert!((3_000..8_000).contains(&json.len()), "{}", json.len());
        let parsed: k8s_openapi::api::core::v1::Pod = serde_json::from_slice(&json).unwrap();
        assert_eq!(parsed.metadata.resource_version.as_deref(), Some("42"));
        let types: Vec<String> = (parsed.status.unwrap().conditions.unwrap().into_iter())
            .map(|condition| condition.type_)
            .collect();
        let order = [
            "PodReadyToStartContainers",
            "Initialized",
            "Ready",
            "ContainersReady",
            "PodScheduled",
        ];
        assert_eq!(types, order);
    }
}
