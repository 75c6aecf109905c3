//! The containers of random pods and what becomes of them ([§9.1](crate::specification#s9-1)):
//! sidecars, restarts, first starts that are forgotten, and absurd times.

use serde_json::{Value, json};

use super::rng::Rng;
use crate::oracle::build::{Pod, time};

/// Reasons to wait: of every cause in [§10.1](crate::specification#s10-1), and others.
const REASONS: [&str; 19] = [
    "ContainerCreating",
    "PodInitializing",
    "",
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
    "ImageVolumeMountFailed",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "PreCreateHookError",
    "PreStartHookError",
    "PostStartHookError",
    "CrashLoopBackOff",
    "ContainerSetupWentAwry",
];

/// Gives a pod its containers.
pub(super) fn declare(rng: &mut Rng, pod: Pod) -> Pod {
    let container = |name: &str| json!({"name": name, "image": format!("example/{name}:1")});
    let regular = match rng.below(40) {
        0 => json!([]),
        1 => Value::Null,
        2..14 => json!([container("main"), container("proxy")]),
        _ => json!([container("main")]),
    };
    let pod = restarts(rng, pod.put("spec", "containers", regular));
    if !rng.percent(35) {
        return pod;
    }
    let mut sidecar = container("mesh");
    sidecar["restartPolicy"] = "Always".into();
    let mut init = match rng.below(5) {
        0 => json!([sidecar]),
        1 => json!([sidecar, container("setup")]),
        2 => json!([container("setup"), container("migrate")]),
        _ => json!([container("setup")]),
    };
    if rng.percent(8) {
        init[0]["restartPolicyRules"] = restart_rules(rng);
    }
    pod.put("spec", "initContainers", init)
}

/// Says which containers run again, by the pod, by what they say themselves, and by rules.
fn restarts(rng: &mut Rng, mut pod: Pod) -> Pod {
    const POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];
    if rng.percent(70) {
        pod = pod.put("spec", "restartPolicy", rng.pick(&POLICIES).into());
    }
    let containers = pod.0["spec"]["containers"].as_array_mut();
    for container in containers.into_iter().flatten() {
        if rng.percent(15) {
            container["restartPolicy"] = rng.pick(&POLICIES).into();
        }
        if rng.percent(12) {
            container["restartPolicyRules"] = restart_rules(rng);
        }
    }
    pod
}

fn restart_rules(rng: &mut Rng) -> Value {
    let rules = (0..1 + rng.below(2)).map(|_| {
        let action = rng.pick(&["Restart", "Restart", "RestartAllContainers"]);
        let values = rng.pick(&[&[0][..], &[1], &[1, 0], &[137, 1], &[]]);
        let operator = rng.pick(&["In", "NotIn"]);
        json!({"action": action, "exitCodes": {"operator": operator, "values": values}})
    });
    rules.collect()
}

/// A new sandbox: no regular container runs, and the init containers begin anew.
pub(super) fn new_sandbox(rng: &mut Rng, mut pod: Pod) -> Pod {
    for (containers, statuses) in
        [("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")]
    {
        let declared = pod.0["spec"][containers].as_array().cloned();
        for container in declared.unwrap_or_default() {
            let held = status(&pod, statuses, &container["name"]);
            let last = match held["state"]["running"].is_object() {
                true => {
                    json!({"terminated": {"exitCode": 255, "startedAt": held["state"]["running"]["startedAt"]}})
                }
                false => held["lastState"].clone(),
            };
            let state = match (statuses, rng.percent(30)) {
                // It had ended, and the status still says so.
                (_, true) => held["state"].clone(),
                ("containerStatuses", false) => json!({"waiting": {"reason": "PodInitializing"}}),
                (_, false) => json!({"waiting": {"reason": rng.pick(&REASONS)}}),
            };
            let next = json!({"name": container["name"], "state": state, "lastState": last});
            pod = with_status(pod, statuses, next);
        }
    }
    pod
}

/// Something happens to one container, at this second of the kubelet.
pub(super) fn step(rng: &mut Rng, pod: Pod, at: f64) -> Pod {
    let (containers, statuses) = match rng.percent(35) {
        true => ("initContainers", "initContainerStatuses"),
        false => ("containers", "containerStatuses"),
    };
    let declared = pod.0["spec"][containers].as_array().cloned();
    let declared = declared.unwrap_or_default();
    let Some(container) = declared.get(rng.below(declared.len())) else {
        return pod;
    };
    let name = match rng.percent(3) {
        true => json!("stranger"),
        false => container["name"].clone(),
    };
    let held = status(&pod, statuses, &name);
    let mut next = next(rng, &name, &held, at);
    if rng.percent(50) {
        // Mostly with its state, as kubelets do.
        let runs = next["state"]["running"].is_object();
        next["started"] = (runs != rng.percent(20)).into();
    }
    with_status(pod, statuses, next)
}

/// Every regular container runs.
pub(super) fn start_all(rng: &mut Rng, mut pod: Pod, at: f64) -> Pod {
    let declared = pod.0["spec"]["containers"].as_array().cloned();
    for container in declared.unwrap_or_default() {
        let earlier = rng.pick(&[0.0, 0.0, 1.0, 2.0, 5.0]);
        let started = started_at(rng, at - earlier);
        let status =
            json!({"name": container["name"], "state": {"running": {"startedAt": started}}});
        pod = with_status(pod, "containerStatuses", status);
    }
    pod
}

/// A container waits in CrashLoopBackOff, mostly with its last run.
pub(super) fn crash_loop(rng: &mut Rng, pod: Pod, at: f64) -> Pod {
    let (containers, statuses) = match rng.percent(25) {
        true => ("initContainers", "initContainerStatuses"),
        false => ("containers", "containerStatuses"),
    };
    let Some(container) = pod.0["spec"][containers].get(0).cloned() else {
        return pod;
    };
    let last = match rng.percent(90) {
        true => json!({"terminated": {"exitCode": 1, "startedAt": started_at(rng, at - 1.0)}}),
        false => Value::Null,
    };
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let status = json!({"name": container["name"], "state": waiting, "lastState": last});
    with_status(pod, statuses, status)
}

fn status(pod: &Pod, statuses: &str, name: &Value) -> Value {
    let held = pod.0["status"][statuses].as_array();
    let own = held.into_iter().flatten().find(|held| held["name"] == *name);
    own.cloned().unwrap_or_default()
}

fn with_status(mut pod: Pod, statuses: &str, status: Value) -> Pod {
    let all = &mut pod.0["status"][statuses];
    if !all.is_array() {
        *all = json!([]);
    }
    if let Some(all) = all.as_array_mut() {
        all.retain(|held| held["name"] != status["name"]);
        all.push(status);
    }
    pod
}

fn next(rng: &mut Rng, name: &Value, held: &Value, at: f64) -> Value {
    let started = started_at(rng, at);
    // What runs, or has ended, is what a restart remembers.
    let running = held.pointer("/state/running/startedAt");
    let ended = held.pointer("/state/terminated/startedAt");
    let before = running.or(ended).cloned();
    let last = match &before {
        Some(before) => {
            json!({"terminated": {"exitCode": 1, "startedAt": before, "finishedAt": started}})
        }
        None => held["lastState"].clone(),
    };
    let state = match rng.below(10) {
        0..4 => json!({"waiting": {"reason": rng.pick(&REASONS)}}),
        4 => json!({}),
        5..8 => json!({"running": {"startedAt": started}}),
        _ => {
            let exit_code = rng.pick(&[Some(0), Some(0), Some(1), Some(137), None]);
            let finished = started_at(rng, at);
            let mut ended = json!({"startedAt": before.unwrap_or(started), "finishedAt": finished});
            if let Some(exit_code) = exit_code {
                ended["exitCode"] = exit_code.into();
            }
            let state = json!({"terminated": ended});
            return json!({"name": name, "state": state, "lastState": held["lastState"]});
        }
    };
    json!({"name": name, "state": state, "lastState": last})
}

/// A start; in one of twenty cases not what it should be.
fn started_at(rng: &mut Rng, at: f64) -> Value {
    match rng.below(80) {
        0 => Value::Null,
        1 => "1970-01-01T00:00:00Z".into(),
        2 => "soon".into(),
        3 => time((at - 40.0 * 86_400.0).floor()),
        _ => time(at.floor()),
    }
}
