//! What really happens in the cluster: pods with every hazard of [§1](crate::specification#s1),
//! version by version.

use serde_json::{Value, json};

use super::rng::Rng;
use super::{containers, endings, messages, named};
use crate::oracle::build::{
    CONTAINERS, INITIALIZED, NETWORK, OLD_NETWORK, Pod, READY, SCHEDULED, pod, time,
};

/// One version of one pod, or its removal.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    /// When it came about, in seconds after the origin
    pub(crate) at: f64,
    pub(crate) uid: String,
    pub(crate) pod: Pod,
    pub(crate) is_deletion: bool,
}

/// A change of a pod; the changes that lie close together may end up in one version.
#[derive(Clone, Copy, Debug)]
enum Change {
    Ungate,
    Unschedulable,
    Bind,
    StaysUnscheduled,
    Start,
    Becomes(&'static str, bool),
    Phase(&'static str),
    Touch,
    /// Something happens to a container
    Container,
    /// Every regular container runs
    StartAll,
    /// The sandbox is made anew
    NewSandbox,
    /// The scheduler says why not
    SchedulerSays,
    Nominate,
    /// The kubelet says why there is no sandbox
    NoSandbox,
    Terminate,
    Disrupt,
    Resize,
    /// By OpenKruise
    UpdateInPlace,
    /// The kubelet refuses it
    Reject,
    /// A container waits after a crash
    CrashLoop,
}

/// The versions of some pods in the order in which they came about, with ascending versions that
/// grow by a digit on the way.
pub(crate) fn cluster(rng: &mut Rng) -> Vec<Version> {
    let spread = rng.pick(&[5, 60, 900]);
    let mut versions = Vec::new();
    for _ in 0..1 + rng.below(5) {
        let created = rng.below(spread) as f64 + rng.fraction();
        versions.extend(life(rng, created));
    }
    versions.sort_by(|one, other| one.at.total_cmp(&other.at));
    let first = rng.pick(&[3, 95, 996]);
    number(rng, &mut versions, first);
    versions
}

/// Gives the versions their `resourceVersion`, and a few of them none that is a number.
pub(crate) fn number(rng: &mut Rng, versions: &mut [Version], first: u64) {
    for (place, version) in versions.iter_mut().enumerate() {
        let pod = version.pod.clone().version(first + place as u64);
        version.pod = match rng.below(60) {
            // A final state that is older than what has been seen.
            0..6 if version.is_deletion => pod.version(1),
            0 => pod.put("metadata", "resourceVersion", Value::Null),
            1 => pod.put("metadata", "resourceVersion", "0x1f".into()),
            _ => pod,
        };
    }
}

/// The life of one pod from its creation.
pub(crate) fn life(rng: &mut Rng, created: f64) -> Vec<Version> {
    let uid = rng.uid();
    let mut pod = newborn(rng, created).uid(&uid);
    let network = rng.pick(&[NETWORK, NETWORK, NETWORK, OLD_NETWORK]);
    let is_gated = rng.percent(20);
    if is_gated {
        pod = pod.gated();
    }
    let kubelet_clock =
        rng.pick(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, -2.0, -45.0, 1.0, 2.0, 3.0, 40.0, 7200.0]);
    let mut at = created;
    let mut versions = Vec::new();
    let coalesced = rng.pick(&[10, 40, 90]);
    let version = |at, pod: &Pod, is_deletion| Version {
        at,
        uid: uid.clone(),
        pod: pod.clone(),
        is_deletion,
    };
    if rng.percent(70) {
        versions.push(version(at, &pod, false));
    }
    for change in changes(rng, network, is_gated) {
        at += match rng.percent(2) {
            true => 650.0,
            false => rng.pick(&[0.0, 0.0, 0.2, 0.7, 1.0, 1.6, 3.0, 5.0, 6.0, 12.0, 40.0]),
        };
        pod = changed(rng, pod, change, at, created, kubelet_clock);
        if !rng.percent(coalesced) {
            versions.push(version(at, &pod, false));
        }
    }
    versions.push(version(at, &pod, false));
    if rng.percent(40) {
        at += rng.pick(&[0.1, 1.0, 8.0]);
        if rng.percent(40) {
            let last = rng.pick(&[
                Change::Phase("Succeeded"),
                Change::Phase("Failed"),
                Change::Becomes(READY, true),
                Change::Becomes(READY, false),
            ]);
            pod = changed(rng, pod, last, at, created, kubelet_clock);
        }
        pod = pod.put("metadata", "deletionTimestamp", time((at + 30.0).floor()));
        versions.push(version(at, &pod, true));
    }
    // With a seed of its own, so that everything else of a life stays what it was without.
    let of_names = uid
        .bytes()
        .fold(0x6e61_6d65_u64, |seed, byte| seed.wrapping_mul(257).wrapping_add(u64::from(byte)));
    named::decorate(&mut Rng::new(of_names), &mut versions, created);
    versions
}

/// A pod as it is created: names are taken again, and now and then its own time is absurd.
fn newborn(rng: &mut Rng, created: f64) -> Pod {
    let mut pod = pod(rng.pick(&["web-0", "web-0", "web-1", "job"]))
        .namespace(rng.pick(&["ns", "ns", "ns", "other"]))
        .created(created.floor());
    if rng.percent(4) {
        let absurd =
            rng.pick(&["1970-01-01T00:00:00Z", "", "2025-01-01T00:00:00Z", "2200-01-01T00:00:00Z"]);
        pod = pod.put("metadata", "creationTimestamp", absurd.into());
    }
    if rng.percent(10) {
        // Created with a node, past the scheduler.
        pod = pod.put("spec", "nodeName", "node-1".into());
    }
    pod = containers::declare(rng, pod);
    if rng.percent(20) {
        pod = pod.readiness_gates();
    }
    if rng.percent(10) {
        let gates = json!([{"conditionType": "InPlaceUpdateReady"}]);
        pod = pod.put("spec", "readinessGates", gates);
    }
    if rng.percent(30) {
        let volumes = [
            json!({"name": "a", "secret": {"secretName": "x"}}),
            json!({"name": "b", "projected": {"sources": []}}),
            json!({"name": "c", "emptyDir": {}}),
            json!({"name": "d", "persistentVolumeClaim": {"claimName": "x"}}),
            json!({"name": "e", "hostPath": {"path": "/x"}}),
        ];
        let volumes = &volumes[..rng.pick(&[1, 2, 3, 3, 3, 4, 5])];
        pod = pod.put("spec", "volumes", volumes.into());
    }
    if rng.percent(5) {
        pod = pod.mirror();
    }
    if rng.percent(10) {
        pod = pod.put("spec", "hostNetwork", true.into());
    }
    if rng.percent(30) {
        pod = pod.put(
            "metadata",
            "ownerReferences",
            json!([{
                "kind": rng.pick(&["ReplicaSet", "StatefulSet", "StatefulSet"]),
                "name": "web",
                "controller": !rng.percent(10),
            }]),
        );
    }
    pod
}

fn changes(rng: &mut Rng, network: &'static str, is_gated: bool) -> Vec<Change> {
    let mut changes = vec![Change::Start];
    changes.push(match rng.percent(5) {
        true => Change::StaysUnscheduled,
        false => Change::Bind,
    });
    changes.swap(0, 1);
    let mut kubelet = vec![Change::Becomes(INITIALIZED, true), Change::Becomes(CONTAINERS, true)];
    if !rng.percent(10) {
        let place = rng.below(2);
        kubelet.insert(place, Change::Becomes(network, true));
    }
    kubelet.push(Change::Becomes(READY, true));
    if rng.percent(10) {
        let left_out = rng.below(kubelet.len());
        kubelet.remove(left_out);
    }
    changes.extend(kubelet);
    if rng.percent(15) {
        rng.shuffle(&mut changes);
    }
    if rng.percent(25) {
        changes.insert(0, Change::Unschedulable);
    }
    if is_gated && !rng.percent(15) {
        let place = if rng.percent(85) { 0 } else { rng.below(changes.len()) };
        changes.insert(place, Change::Ungate);
    }
    if rng.percent(30) {
        // Stuck on the way.
        changes.truncate(1 + rng.below(changes.len()));
    }
    if rng.percent(10) {
        // Nothing has room for it.
        changes = vec![Change::SchedulerSays; 1 + rng.below(3)];
        if rng.percent(40) {
            changes.push(Change::Nominate);
        }
    }
    if is_gated && rng.percent(20) {
        // Its gates are never lifted.
        changes = vec![Change::Touch];
    }
    if rng.percent(12) {
        let place = rng.below(changes.len() + 1);
        changes.insert(place, Change::Phase(rng.pick(&["Succeeded", "Failed"])));
    }
    for _ in 0..rng.pick(&[0, 0, 0, 1, 3]) {
        // Sandbox re-creation, a node's reboot, readiness flaps.
        let kind = rng.pick(&[network, INITIALIZED, CONTAINERS, READY, READY, SCHEDULED]);
        let place = rng.below(changes.len() + 1);
        changes.insert(place, Change::Becomes(kind, false));
        let again = place + 1 + rng.below(changes.len() - place);
        changes.insert(again, Change::Becomes(kind, true));
    }
    if rng.percent(10) {
        // A kubelet upgraded in place reports the condition under its new name.
        changes.push(Change::Becomes(NETWORK, rng.percent(80)));
        changes.push(Change::Becomes(OLD_NETWORK, rng.percent(50)));
    }
    if rng.percent(30) {
        let place = rng.below(changes.len() + 1);
        changes.insert(place, Change::Touch);
    }
    add_steps_and_causes(rng, &mut changes);
    if rng.percent(8) {
        changes.truncate(rng.below(4));
        if rng.percent(90) {
            changes.insert(0, Change::Bind);
        }
        changes.push(Change::Reject);
    }
    if rng.percent(15) {
        let place = changes.len() - rng.below(2).min(changes.len());
        changes.insert(place, Change::CrashLoop);
        if rng.percent(30) {
            changes.extend([Change::StartAll, Change::CrashLoop]);
        }
    }
    changes
}

/// What [§9](crate::specification#s9) and [§10](crate::specification#s10) add to a life.
fn add_steps_and_causes(rng: &mut Rng, changes: &mut Vec<Change>) {
    let mut insert = |rng: &mut Rng, change| {
        let place = rng.below(changes.len() + 1);
        changes.insert(place, change);
    };
    for _ in 0..rng.pick(&[0, 1, 3, 8]) {
        insert(rng, Change::Container);
    }
    if rng.percent(60) {
        insert(rng, Change::StartAll);
    }
    for (percent, change) in [
        (20, Change::Nominate),
        (15, Change::NoSandbox),
        (20, Change::NewSandbox),
        (6, Change::Terminate),
        (12, Change::Disrupt),
    ] {
        if rng.percent(percent) {
            insert(rng, change);
        }
    }
    let says = rng.pick(&[0, 0, 0, 1, 2]);
    for _ in 0..says {
        let place = rng.below(2).min(changes.len());
        changes.insert(place, Change::SchedulerSays);
    }
    for change in [Change::Resize, Change::UpdateInPlace] {
        for _ in 0..rng.pick(&[0, 0, 0, 2, 5]) {
            let place = match rng.percent(75) {
                true => changes.len(),
                false => rng.below(changes.len() + 1),
            };
            changes.insert(place, change);
        }
    }
}

fn changed(
    rng: &mut Rng,
    pod: Pod,
    change: Change,
    at: f64,
    created: f64,
    kubelet_clock: f64,
) -> Pod {
    let kubelet = (at + kubelet_clock).floor();
    match change {
        Change::Ungate => pod.put("spec", "schedulingGates", json!([])),
        Change::Unschedulable => pod.unschedulable(at.floor()),
        Change::Bind => {
            let pod = pod.put("spec", "nodeName", "node-1".into());
            let transition = transition(rng, at.floor(), created);
            pod.condition(SCHEDULED, "True", transition)
        }
        Change::StaysUnscheduled => {
            pod.put("spec", "nodeName", "node-1".into()).no(SCHEDULED, at.floor())
        }
        Change::Start => {
            let unready = kubelet + rng.pick(&[0.0, 0.0, 0.0, 1.0, 5.0, 6.0]);
            let pod = match rng.percent(5) {
                true => pod.put("status", "startTime", Value::Null),
                false => pod.started(kubelet),
            };
            match rng.percent(8) {
                true => pod,
                false => pod.no(CONTAINERS, unready).no(READY, unready),
            }
        }
        Change::Becomes(kind, holds) => {
            let clock = if kind == SCHEDULED { at.floor() } else { kubelet };
            let status = match (holds, rng.percent(2)) {
                (true, _) => "True",
                (false, true) => "Unknown",
                (false, false) => "False",
            };
            let transition = transition(rng, clock, created);
            pod.condition(kind, status, transition)
        }
        Change::Phase(phase) => {
            let pod = endings::ended(pod.phase(phase));
            match rng.percent(70) {
                true => pod.no(CONTAINERS, kubelet).no(READY, kubelet),
                false => pod,
            }
        }
        Change::Touch => pod.put("metadata", "labels", json!({"touched": "yes"})),
        Change::Container => containers::step(rng, pod, kubelet),
        Change::StartAll => containers::start_all(rng, pod, kubelet),
        Change::NewSandbox => containers::new_sandbox(rng, pod),
        Change::SchedulerSays => {
            let reasons =
                ["Unschedulable", "Unschedulable", "SchedulerError", "SchedulingGated", ""];
            let (reason, message) = (rng.pick(&reasons), messages::scheduler(rng));
            because(pod.no(SCHEDULED, at.floor()), SCHEDULED, reason, &message)
        }
        Change::Nominate => pod.put(
            "status",
            "nominatedNodeName",
            rng.pick(&["node-1", "node-1", "node-1", ""]).into(),
        ),
        Change::NoSandbox => {
            let reason = rng.pick(&["PodSandboxNotReady", "PodSandboxNotReady", "else"]);
            let message = rng.pick(&["no pod sandbox found", "no IP for the pod", "No IP", ""]);
            because(pod.no(NETWORK, kubelet), NETWORK, reason, message)
        }
        Change::Terminate => pod.put("metadata", "deletionTimestamp", time(at.floor() + 30.0)),
        Change::Disrupt => disrupted(rng, pod, at),
        Change::Reject => rejected(rng, pod, kubelet),
        Change::CrashLoop => containers::crash_loop(rng, pod, kubelet),
        Change::Resize => resized(rng, pod, kubelet),
        Change::UpdateInPlace => {
            let status = rng.pick(&["True", "False", "False"]);
            let transition = transition(rng, at.floor(), created);
            pod.condition("InPlaceUpdateReady", status, transition)
        }
    }
}

/// The condition with a reason and a message.
fn because(mut pod: Pod, kind: &str, reason: &str, message: &str) -> Pod {
    let conditions = pod.0["status"]["conditions"].as_array_mut();
    let mut conditions = conditions.into_iter().flatten();
    if let Some(condition) = conditions.find(|condition| condition["type"] == kind) {
        condition["reason"] = reason.into();
        condition["message"] = message.into();
    }
    pod
}

/// What a kubelet writes of a pod that it refuses: mostly none of the conditions stays.
fn rejected(rng: &mut Rng, mut pod: Pod, kubelet: f64) -> Pod {
    if rng.percent(70) {
        let kept = pod.0["status"]["containerStatuses"].clone();
        pod.0["status"] = json!({});
        if rng.percent(20) && kept.is_array() {
            pod.0["status"]["containerStatuses"] = kept;
        }
    }
    let pod = match rng.percent(80) {
        true => pod.started(kubelet),
        false => pod,
    };
    pod.phase("Failed").put("status", "reason", "UnexpectedAdmissionError".into())
}

fn disrupted(rng: &mut Rng, pod: Pod, at: f64) -> Pod {
    const TARGET: &str = "DisruptionTarget";
    let reason = rng.pick(&[
        "PreemptionByScheduler",
        "DeletionByTaintManager",
        "DeletionByDeviceTaintManager",
        "EvictionByEvictionAPI",
        "DeletionByPodGC",
        "TerminationByKubelet",
        "Whim",
    ]);
    let status = rng.pick(&["True", "True", "True", "False"]);
    let pod = pod.condition(TARGET, status, time(at.floor()));
    because(pod, TARGET, reason, "")
}

/// One of the conditions of a native resize comes, changes or goes.
fn resized(rng: &mut Rng, mut pod: Pod, kubelet: f64) -> Pod {
    const PENDING: &str = "PodResizePending";
    const IN_PROGRESS: &str = "PodResizeInProgress";
    if rng.percent(40) {
        if let Some(conditions) = pod.0["status"]["conditions"].as_array_mut() {
            conditions.retain(|held| held["type"] != PENDING && held["type"] != IN_PROGRESS);
        }
        return pod;
    }
    let (kind, reasons) =
        rng.pick(&[(PENDING, ["Deferred", "Infeasible"]), (IN_PROGRESS, ["", "Error"])]);
    let status = rng.pick(&["True", "True", "True", "False"]);
    let earlier = rng.pick(&[0.0, 0.0, 1.0, 4.0]);
    let reason = rng.pick(&reasons);
    because(pod.condition(kind, status, time(kubelet - earlier)), kind, reason, "")
}

/// A `lastTransitionTime`; in one of fourteen cases not what it should be.
pub(super) fn transition(rng: &mut Rng, at: f64, created: f64) -> Value {
    const DAY: f64 = 86_400.0;
    match rng.below(14 * 12) {
        0 => Value::Null,
        1 => "".into(),
        2 => "soon".into(),
        3 => "1970-01-01T00:00:00Z".into(),
        4 => "0001-01-01T00:00:00Z".into(),
        5 => json!(17),
        6 => time(created.floor() + 30.0 * DAY),
        7 => time(created.floor() + 30.0 * DAY + 1.0),
        8 => "2200-06-01T00:00:00Z".into(),
        9 => time(created.floor() - 1.0),
        10 => time(created.floor() - 2.0),
        11 => time(at - 40.0 * DAY),
        _ => time(at),
    }
}
