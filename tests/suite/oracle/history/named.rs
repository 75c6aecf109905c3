//! Gates and milestones of your own ([§16](crate::specification#s16)): gates that go one by one or together, conditions
//! of gates and of other types that come, fall back, come early or late, and with times that are absurd.
//!
//! All of it is put into lives that are there already, with seeds of its own, so that everything else stays what it was.

use serde_json::{Value, json};

use super::lives::{Version, transition};
use super::rng::Rng;
use crate::oracle::build::Pod;
use crate::oracle::reading::{Own, OwnInterval, SloInterval, Start};

const LOADED: Own = Own { name: "loaded", kind: "example.com/Loaded" };
const WARM: Own = Own { name: "warm_2", kind: "warm" };
/// The condition of a readiness gate as well
const REGISTERED: Own = Own { name: "registered", kind: "example.com/registered" };
/// Types that podinit reads for something else
const TARGET: Own = Own { name: "target", kind: "DisruptionTarget" };
const UPDATED: Own = Own { name: "updated", kind: "InPlaceUpdateReady" };

/// What `--milestone` makes milestones.
pub(super) const MILESTONES: [&[Own]; 8] = [
    &[],
    &[LOADED],
    &[LOADED, REGISTERED],
    &[WARM, LOADED],
    &[REGISTERED],
    &[TARGET, LOADED],
    &[UPDATED, WARM, REGISTERED],
    &[LOADED, WARM, REGISTERED, TARGET, UPDATED],
];

const SCHEDULING: [&str; 12] = [
    "example.com/quota",
    "kueue.x-k8s.io/admission",
    "kueue.x-k8s.io/topology",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
    "",
];

const READINESS: [&str; 16] = [
    "example.com/registered",
    "target-health.elbv2.k8s.aws/tg",
    "cloud.google.com/load-balancer-neg-ready",
    "InPlaceUpdateReady",
    "PodScheduled",
    "PodHasNetwork",
    "PodReadyToStartContainers",
    "Initialized",
    "ContainersReady",
    "Ready",
    "DisruptionTarget",
    "l",
    "m",
    "n",
    "o",
    "",
];

/// Types whose conditions the lives do not have for other reasons.
const FREE: [&str; 9] = [
    "example.com/registered",
    "target-health.elbv2.k8s.aws/tg",
    "cloud.google.com/load-balancer-neg-ready",
    "l",
    "m",
    "n",
    "o",
    "example.com/Loaded",
    "warm",
];

/// SLOs for the durations of the milestones.
pub(super) fn intervals(milestones: &'static [Own]) -> impl Iterator<Item = SloInterval> {
    let of = |own: &Own| Start::ALL.map(|from| OwnInterval { own: *own, from });
    milestones.iter().flat_map(of).map(SloInterval::Own)
}

/// Puts gates and conditions into the versions of one pod.
pub(super) fn decorate(rng: &mut Rng, versions: &mut [Version], created: f64) {
    scheduling_gates(rng, versions);
    readiness_gates(rng, versions);
    conditions(rng, versions, created);
}

/// Some of these names, now and then more than podinit follows, with repetitions.
fn some_of(rng: &mut Rng, names: &[&'static str]) -> Vec<&'static str> {
    let mut names = names.to_vec();
    rng.shuffle(&mut names);
    names.truncate(rng.pick(&[1, 1, 2, 2, 3, 3, 11]));
    if rng.percent(12) {
        let again = rng.pick(&names);
        let place = rng.below(names.len() + 1);
        names.insert(place, again);
    }
    names
}

fn scheduling_gates(rng: &mut Rng, versions: &mut [Version]) {
    let is_gated = |version: &Version| {
        let gates = version.pod.0["spec"]["schedulingGates"].as_array();
        gates.is_some_and(|gates| !gates.is_empty())
    };
    if !versions.iter().any(is_gated) || rng.percent(15) {
        return;
    }
    let all = some_of(rng, &SCHEDULING[..]);
    let mut left = all.clone();
    for version in versions {
        if !is_gated(version) {
            continue;
        }
        let names: Vec<Value> = left.iter().map(|name| json!({"name": name})).collect();
        version.pod.0["spec"]["schedulingGates"] = names.into();
        if rng.percent(5) {
            // Nobody can do that.
            left = all.clone();
        } else if rng.percent(50) && left.len() > 1 {
            let lifted = rng.below(left.len());
            left.remove(lifted);
        }
    }
}

fn readiness_gates(rng: &mut Rng, versions: &mut [Version]) {
    let stated = versions.first().map(|version| version.pod.0["spec"]["readinessGates"].clone());
    let stated = stated.unwrap_or_default();
    if stated.is_null() && !rng.percent(10) || rng.percent(15) {
        return;
    }
    let mut names = match rng.percent(60) {
        true => some_of(rng, &READINESS[..3]),
        false => some_of(rng, &READINESS[..]),
    };
    if stated[0]["conditionType"] == "InPlaceUpdateReady" && !names.contains(&"InPlaceUpdateReady")
    {
        names.push("InPlaceUpdateReady");
    }
    let names: Vec<Value> = names.iter().map(|name| json!({"conditionType": name})).collect();
    for version in versions {
        version.pod.0["spec"]["readinessGates"] = names.clone().into();
    }
}

/// Conditions of gates and milestones, each with a life of its own.
fn conditions(rng: &mut Rng, versions: &mut [Version], created: f64) {
    let gates = versions.first().map(|version| version.pod.0["spec"]["readinessGates"].clone());
    let has_gate = |kind: &str| {
        let gates = gates.as_ref().and_then(Value::as_array);
        gates.into_iter().flatten().any(|gate| gate["conditionType"] == kind)
    };
    for kind in FREE {
        let chance = if has_gate(kind) { 85 } else { 35 };
        if !rng.percent(chance) {
            continue;
        }
        let clock = rng.pick(&[0.0, 0.0, 0.0, 0.0, -1.0, -2.0, 1.0, -45.0, 40.0]);
        let eager = rng.pick(&[5, 15, 40]);
        let mut held: Vec<Value> = Vec::new();
        for version in &mut *versions {
            if rng.percent(eager) || (held.is_empty() && rng.percent(eager)) {
                held = next(rng, kind, (version.at + clock).floor(), created);
            }
            append(&mut version.pod, &held);
        }
    }
}

/// The condition as it is from now on: gone, or True or not; now and then with a second one of its type behind it.
fn next(rng: &mut Rng, kind: &str, at: f64, created: f64) -> Vec<Value> {
    if rng.percent(6) {
        return Vec::new();
    }
    let mut one = || {
        let status = rng.pick(&["True", "True", "True", "False", "False", "Unknown"]);
        let transition = transition(rng, at, created);
        json!({"type": kind, "status": status, "lastTransitionTime": transition})
    };
    let first = one();
    let second = one();
    match rng.percent(5) {
        true => vec![first, second],
        false => vec![first],
    }
}

fn append(pod: &mut Pod, conditions: &[Value]) {
    if conditions.is_empty() {
        return;
    }
    let all = &mut pod.0["status"]["conditions"];
    if !all.is_array() {
        *all = json!([]);
    }
    if let Some(all) = all.as_array_mut() {
        all.extend(conditions.iter().cloned());
    }
}
