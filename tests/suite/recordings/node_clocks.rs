//! Clocks of nodes ([§4.7](crate::specification#s4-7)) in recordings: against a second reading of the rule, and
//! where people are told of them.

use std::collections::BTreeMap;
use std::io::Cursor;

use podinit_core::lifecycle::ClockFault;
use podinit_decode::DecodeOptions;
use podinit_oncall::pods::{PodQuestion, SourcePods};
use podinit_oncall::problems::Problems;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::ReplayConfig;
use serde_json::{Value, json};

use crate::oracle::build::*;
use crate::oracle::history::{Rng, text};
use crate::oracle::instant::{Nanos, SECOND, parse};
use crate::oracle::seeds;
use crate::support::process::run_with;

/// By node: whether its clock is ahead, and by how many seconds it is off at least.
type Off = BTreeMap<String, (bool, i128)>;

/// The conditions of the kubelet, each with its milestone.
const KUBELETS: [(&str, usize); 5] =
    [(NETWORK, 0), (OLD_NETWORK, 0), (INITIALIZED, 1), (CONTAINERS, 2), (READY, 3)];

/// What is known of a pod.
#[derive(Default)]
struct Known {
    reached: [bool; 4],
    is_bound: bool,
    is_scheduled: bool,
    /// It is Ready, or was when it was first seen
    is_over: bool,
}

/// How late deliveries are ([§4.10](crate::specification#s4-10)): when something was shown, and how long after what it
/// states, less 0.5 s.
#[derive(Default)]
struct Lateness {
    since: Option<Nanos>,
    bindings: Vec<(Nanos, Nanos)>,
    creations: Vec<(Nanos, Nanos)>,
    is_late: bool,
}

impl Lateness {
    /// Whether deliveries are found late at `now`.
    fn is_found(&mut self, now: Nanos) -> bool {
        let last = |all: &[(Nanos, Nanos)], most: usize, age: Nanos| -> Vec<Nanos> {
            let young = all.iter().rev().take(most).filter(|(at, _)| now - at <= age * SECOND);
            young.map(|(_, late)| *late).collect()
        };
        let told = [
            (last(&self.bindings, 16, 60), 4),
            (last(&self.bindings, 4, 300), 2),
            (last(&self.creations, 16, 60), 4),
        ];
        let telling = told.into_iter().find(|(last, enough)| last.len() >= *enough);
        let median = |of: &[Nanos]| {
            let mut sorted = of.to_vec();
            sorted.sort_unstable();
            sorted[(sorted.len() - 1) / 2]
        };
        let was_late = self.is_late;
        self.is_late = telling.is_some_and(|(telling, _)| {
            let newest = median(&telling[..telling.len().min(4)]);
            2 * newest >= 5 * SECOND && (was_late || median(&telling) > 5 * SECOND)
        });
        self.is_late && !was_late
    }
}

/// A reading of the rule that keeps the last 16 differences, each with its time. Those of the last hour count.
#[derive(Default)]
struct Reading {
    pods: BTreeMap<String, Known>,
    differences: BTreeMap<String, Vec<(Nanos, Nanos)>>,
    lateness: Lateness,
    /// The greatest API time so far, of those that tell the time
    stated: Nanos,
    now: Nanos,
    began: Option<Nanos>,
    has_begun: bool,
    out_of_sync: bool,
}

impl Reading {
    fn read(&mut self, document: &Value) {
        let o = document["observedAt"].as_str().and_then(parse);
        self.stated = self.stated.max(tells(document, o));
        self.now = self.now.max(o.unwrap_or(self.stated));
        match document["type"].as_str() {
            None => {
                let is_first = !std::mem::replace(&mut self.has_begun, true);
                if is_first {
                    self.began = o;
                }
                self.out_of_sync = false;
                self.lateness.since.get_or_insert(self.now);
                for pod in document["items"].as_array().unwrap() {
                    self.fold(pod, None, is_first);
                }
            }
            Some("ERROR") => {
                self.out_of_sync = true;
                self.lateness = Lateness::default();
            }
            Some(kind) => {
                self.has_begun = true;
                if !self.out_of_sync {
                    self.lateness.since.get_or_insert(self.now);
                }
                let pod = &document["object"];
                let uid = pod["metadata"]["uid"].as_str().unwrap();
                if kind == "DELETED" && !self.pods.contains_key(uid) {
                    return;
                }
                let created = pod["metadata"]["creationTimestamp"].as_str();
                let created = created.and_then(parse).unwrap();
                let is_old = self.began.is_some_and(|began| created < began - 30 * SECOND);
                self.fold(pod, o.filter(|_| !self.out_of_sync), is_old);
                if kind == "DELETED" {
                    self.pods.entry(uid.to_owned()).or_default().is_over = true;
                }
            }
        }
    }

    fn fold(&mut self, pod: &Value, o: Option<Nanos>, was_there: bool) {
        let uid = pod["metadata"]["uid"].as_str().unwrap();
        let is_new = !self.pods.contains_key(uid);
        self.judge();
        let known = self.pods.entry(uid.to_owned()).or_default();
        if known.is_over {
            return;
        }
        let node = pod["spec"]["nodeName"].as_str();
        let scheduled = pod["status"]["conditions"].as_array().unwrap().iter();
        let scheduled = scheduled.filter(|held| held["type"] == SCHEDULED).find_map(stated);
        let is_binding = !is_new && !known.is_bound && !known.is_scheduled;
        let binding = scheduled.filter(|_| is_binding);
        known.is_bound |= node.is_some();
        known.is_scheduled |= scheduled.is_some();
        let created = pod["metadata"]["creationTimestamp"].as_str().and_then(parse);
        let created = created.filter(|_| is_new && !was_there && node.is_none());
        let Lateness { since, bindings, creations, .. } = &mut self.lateness;
        for (stamp, all) in [(binding, bindings), (created, creations)] {
            if let (Some(o), Some(t)) = (o, stamp)
                && since.is_some_and(|since| t >= since)
            {
                all.push((o, o - t - SECOND / 2));
            }
        }
        self.judge();
        let known = self.pods.entry(uid.to_owned()).or_default();
        let mut least: Option<Nanos> = None;
        let before = known.reached;
        for condition in pod["status"]["conditions"].as_array().unwrap() {
            let kind = condition["type"].as_str().unwrap();
            let Some((_, milestone)) = KUBELETS.iter().find(|(of, _)| *of == kind) else {
                continue;
            };
            if condition["status"] != "True" || before[*milestone] {
                continue;
            }
            known.reached[*milestone] = true;
            let stated = condition["lastTransitionTime"].as_str().and_then(parse);
            if let (Some(o), Some(t), false) = (o, stated, is_new && was_there) {
                least = Some(least.map_or(o - t, |least| least.min(o - t)));
            }
        }
        known.is_over = known.reached[3];
        if let (Some(least), Some(node)) = (least, pod["spec"]["nodeName"].as_str()) {
            let all = self.differences.entry(node.to_owned()).or_default();
            if !self.lateness.is_late {
                all.push((self.now, least));
                all.drain(..all.len().saturating_sub(16));
            }
        }
    }

    /// Where deliveries are found late, the differences of the minute before do not count.
    fn judge(&mut self) {
        let now = self.now;
        if self.lateness.is_found(now) {
            for all in self.differences.values_mut() {
                all.retain(|(at, _)| now / SECOND - at / SECOND > 60);
            }
        }
    }

    fn off(&self) -> Off {
        let least = |all: &Vec<(Nanos, Nanos)>| {
            let young = all.iter().filter(|(at, _)| self.now / SECOND - at / SECOND <= 3600);
            let counting: Vec<Nanos> = young.map(|(_, difference)| *difference).collect();
            counting.iter().copied().min().filter(|_| counting.len() >= 4)
        };
        let judged: Vec<(&String, Nanos)> =
            (self.differences.iter()).filter_map(|(node, all)| Some((node, least(all)?))).collect();
        let behind = judged.iter().filter(|(_, least)| *least > 30 * SECOND);
        let are_late = 2 * behind.count() > judged.len();
        let off = judged.into_iter().filter_map(|(node, least)| {
            let seconds = least.abs() / SECOND;
            match least {
                _ if least < -30 * SECOND => Some((node.clone(), (true, seconds))),
                _ if least > 30 * SECOND && !are_late => Some((node.clone(), (false, seconds))),
                _ => None,
            }
        });
        off.collect()
    }
}

/// What a condition states that is True.
fn stated(condition: &Value) -> Option<Nanos> {
    let since = condition["lastTransitionTime"].as_str().and_then(parse)?;
    (condition["status"] == "True").then_some(since)
}

/// The greatest API time of a document that tells the time ([§8.7](crate::specification#s8-7)): with an `observedAt`,
/// none that is more than 5 s later. The present is later than all of them.
fn tells(document: &Value, o: Option<Nanos>) -> Nanos {
    let listed = document["items"].as_array().into_iter().flatten();
    let times = listed.chain(document.get("object")).flat_map(|pod| {
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let transitions = conditions.filter_map(|held| held["lastTransitionTime"].as_str());
        transitions.chain(pod["metadata"]["creationTimestamp"].as_str())
    });
    let told = times.filter_map(parse).filter(|time| o.is_none_or(|o| *time <= o + 5 * SECOND));
    told.max().unwrap_or(0)
}

fn expected(documents: &[Value]) -> Off {
    let mut reading = Reading::default();
    documents.iter().for_each(|document| reading.read(document));
    reading.off()
}

fn problems(documents: &[Value]) -> Problems {
    let options = DecodeOptions { node: true, workload: true, ..DecodeOptions::default() };
    let recording = Recording::from_reader("history", Cursor::new(text(documents)), options);
    let pods = SourcePods::of_recording(recording, ReplayConfig::default(), &PodQuestion::Problems);
    pods.unwrap().problems().unwrap()
}

fn found(documents: &[Value]) -> Off {
    let clocks = problems(documents).clocks.into_iter();
    let off = clocks.map(|clock| {
        let is_ahead = clock.fault == ClockFault::Ahead;
        (clock.node.to_string(), (is_ahead, clock.seconds.into()))
    });
    off.collect()
}

/// A pod that comes about step by step on a node whose clock is `clock` ahead, each step shown `late` seconds later.
fn life(rng: &mut Rng, name: &str, created: f64, (node, clock): (&str, f64)) -> Vec<(f64, Pod)> {
    let mut shown = pod(name).created(created.floor());
    let mut at = created;
    let mut versions = vec![(at, shown.clone())];
    shown = shown.put("spec", "nodeName", node.into()).yes(SCHEDULED, at.floor());
    versions.push((at, shown.clone()));
    let network = rng.pick(&[NETWORK, OLD_NETWORK]);
    let mut steps = vec![network, INITIALIZED, CONTAINERS, READY];
    if rng.percent(20) {
        steps.swap(0, 1);
    }
    if rng.percent(25) {
        steps.truncate(rng.below(4));
    }
    for step in steps {
        at += rng.pick(&[0.0, 0.3, 1.0, 4.0, 20.0]);
        shown = match rng.percent(5) {
            true => shown.condition(step, "True", Value::Null),
            false => shown.yes(step, (at + clock).floor()),
        };
        if step == READY || !rng.percent(30) {
            versions.push((at, shown.clone()));
        }
    }
    versions
}

fn history(seed: u64) -> Vec<Value> {
    let mut rng = Rng::new(seed);
    let nodes: Vec<(String, f64)> = (0..1 + rng.below(5))
        .map(|number| {
            let clock = rng.pick(&[0.0, 0.0, 0.0, -1.0, 30.0, 31.0, 40.0, 7200.0, -31.0, -45.0]);
            (format!("node-{number}"), clock)
        })
        .collect();
    let late = rng.pick(&[0.0, 0.0, 0.0, 29.5, 60.0]);
    let mut versions = Vec::new();
    for number in 0..rng.pick(&[6, 30, 80]) {
        let (node, clock) = &nodes[rng.below(nodes.len())];
        let created = 100.0 + rng.below(600) as f64 + rng.fraction();
        versions.extend(life(&mut rng, &format!("pod-{number}"), created, (node, *clock)));
    }
    versions.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut documents = Vec::new();
    let begins = match rng.percent(70) {
        true => rng.below(versions.len() / 2),
        false => 0,
    };
    let standing = |versions: &[(f64, Pod)]| -> Vec<Pod> {
        let mut newest: BTreeMap<String, Pod> = BTreeMap::new();
        for (_, pod) in versions {
            newest.insert(pod.0["metadata"]["uid"].to_string(), pod.clone());
        }
        newest.into_values().collect()
    };
    let mut now = versions[begins].0;
    if begins > 0 || rng.percent(50) {
        documents.push(at(now, list(&standing(&versions[..begins]))));
    }
    for place in begins..versions.len() {
        let (happened, pod) = versions[place].clone();
        let delay = late + rng.pick(&[0.0, 0.1, 0.4, 0.9, 3.0]);
        now = f64::max(now, happened + delay);
        let uid = &pod.0["metadata"]["uid"];
        let is_last =
            (versions[place + 1..].iter()).all(|(_, other)| other.0["metadata"]["uid"] != *uid);
        let document = match is_last && rng.percent(20) {
            true => deleted(&pod),
            false => modified(&pod),
        };
        // Where deliveries are late, all say when they came.
        documents.push(match late > 0.0 || rng.percent(92) {
            true => at(now, document),
            false => document,
        });
        if rng.percent(4) {
            documents.push(at(now, expired()));
            if rng.percent(60) {
                documents.push(at(now, list(&standing(&versions[..=place]))));
            }
        }
    }
    documents
}

#[test]
fn random_recordings_have_the_clocks_of_a_second_reading() {
    let differ = |seed| {
        let documents = history(seed);
        expected(&documents) != found(&documents)
    };
    let histories = seeds::histories().max(200);
    let failing = seeds::first(histories, differ);
    if let Some(seed) = failing {
        let documents = history(seed);
        let (expected, found) = (expected(&documents), found(&documents));
        panic!("seed {seed}: {found:?}, not {expected:?}\n{}", text(&documents));
    }
    // There is something to find.
    let off = (0..histories).filter(|seed| !expected(&history(*seed)).is_empty());
    assert!(off.count() > 40);
}

/// A pod that is Ready eight seconds after its creation, on a node whose clock is so far ahead, as it is shown.
fn startup(name: &str, created: f64, node: &str, clock: f64) -> Vec<Value> {
    let born = pod(name).created(created);
    let bound = (born.clone()).put("spec", "nodeName", node.into()).yes(SCHEDULED, created);
    let network = bound.clone().yes(NETWORK, created + 2.0 + clock);
    let ready = (network.clone())
        .yes(INITIALIZED, created + 2.0 + clock)
        .yes(CONTAINERS, created + 8.0 + clock)
        .yes(READY, created + 8.0 + clock)
        .phase("Running");
    vec![
        at(created + 0.3, added(&born)),
        at(created + 0.4, modified(&bound)),
        at(created + 2.3, modified(&network)),
        at(created + 8.3, modified(&ready)),
    ]
}

/// Pods on three nodes, of which one has such a clock, and at last one that is still starting there.
fn recorded(clock: f64) -> Vec<Value> {
    let mut documents = vec![at(0.0, list(&[]))];
    for number in 0..6 {
        let second = 10.0 + 20.0 * f64::from(number);
        for (node, clock) in [("node-1", clock), ("node-2", 0.0), ("node-3", 1.0)] {
            let name = format!("{node}-{number}");
            documents.extend(startup(&name, second, node, clock));
        }
    }
    let waiting = startup("waiting", 200.0, "node-1", clock);
    documents.extend(waiting.into_iter().take(3));
    documents
}

fn output(args: &[&str], documents: &[Value]) -> (String, Option<i32>) {
    // Standard error tells of times in the future ([§8.7](crate::specification#s8-7)).
    let output = run_with(args, text(documents));
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_clock_that_is_off_is_a_problem_while_a_pod_starts_on_its_node() {
    for (clock, says) in [
        (7200.0, "at least 1h59m ahead"),
        (40.0, "at least 39s ahead"),
        (-45.0, "at least 45s behind"),
    ] {
        let (found, status) = output(&["problems", "--file", "-"], &recorded(clock));
        let sentence = format!(
            "The clock of node-1 is {says}. 1 pod is starting on it. Since 00:00, 1 node, 1 namespace.\n"
        );
        assert!(found.starts_with(&sentence), "{found}");
        assert_eq!(status, Some(3));
        let (explained, _) = output(&["explain", "--file", "-", "waiting"], &recorded(clock));
        let doubt = format!("the clock of node-1 is {says}");
        assert!(explained.contains(&doubt), "{explained}");
        let (explained, _) = output(&["explain", "--file", "-", "node-2-5"], &recorded(clock));
        let doubt = "times that its kubelet states are wrong";
        assert!(!explained.contains(doubt), "{explained}");
    }
    let found = problems(&recorded(7200.0));
    let (clock, problem) = (&found.clocks[0], &found.problems[0]);
    assert_eq!((&*problem.cause, problem.stuck), ("clock", 0));
    assert_eq!(problem.since, clock.since);
    let command = "kubectl -n kube-node-lease get lease node-1 -o jsonpath='{.spec.renewTime}{\"\\n\"}' && date -u +%FT%TZ";
    assert_eq!(problem.next_command, command);
    assert_eq!(problem.runbook, "deploy/runbooks.md#cause-clock");
}

#[test]
fn without_a_pod_in_flight_there_is_no_problem_and_the_clock_is_still_known() {
    let mut documents = recorded(7200.0);
    documents.truncate(documents.len() - 3);
    let found = problems(&documents);
    assert_eq!((found.problems.len(), found.clocks.len()), (0, 1));
    let (text, status) = output(&["problems", "--file", "-"], &documents);
    let expected = "No problem among the pods that are starting up.\n\
                    The clock of node-1 is at least 1h59m ahead.\n\nAs of 20";
    assert!(text.starts_with(expected) && status == Some(0), "{text}");
    for document in &mut documents {
        document.as_object_mut().unwrap().remove("observedAt");
    }
    assert_eq!(problems(&documents).clocks, []);
}

#[test]
fn a_clock_that_is_ahead_makes_no_startup_longer() {
    let lines = |clock: f64| {
        let args = ["replay", "--timestamps", "fused", "-"];
        let (text, _) = output(&args, &recorded(clock));
        let of_durations = text.lines().filter(|line| {
            line.starts_with("podinit_created_to_ready_duration_seconds_sum")
                || line.starts_with("podinit_created_to_ready_duration_seconds_count")
        });
        of_durations.map(str::to_owned).collect::<Vec<_>>()
    };
    let right = lines(0.0);
    assert_eq!((right.len(), lines(7200.0)), (2, right));
}

/// Providers of virtual nodes make up times, or leave them out.
#[test]
fn pods_that_are_ready_without_a_time_are_ready_when_they_are_shown() {
    let mut documents = vec![at(0.0, list(&[]))];
    for number in 0..3 {
        let created = f64::from(number);
        let bound = pod(&format!("burst-{number}"))
            .created(created)
            .put("spec", "nodeName", "vk-1".into())
            .yes(SCHEDULED, created);
        documents.push(at(created + 0.25, added(&bound)));
        let ready = bound.condition(READY, "True", Value::Null).phase("Running");
        documents.push(at(created + 20.25, modified(&ready)));
    }
    documents.sort_by_key(|document| document["observedAt"].as_str().and_then(parse));
    let (json, _) = output(&["report", "--timestamps", "fused", "-o", "json", "-"], &documents);
    let report: Value = serde_json::from_str(&json).unwrap();
    let expected = json!({"ready": 3, "missing": 0});
    let found = json!({
        "ready": report["finished"]["ready"],
        "missing": report["clock_anomalies"]["missing"],
    });
    assert_eq!(found, expected, "{report:#}");
    let (text, _) =
        output(&["explain", "--timestamps", "fused", "--file", "-", "burst-0"], &documents);
    assert!(text.starts_with("ns/burst-0"), "{text}");
    assert!(text.contains("Ready after 20s"), "{text}");
    assert!(!text.contains("at an unknown time"), "{text}");
    assert_eq!(problems(&documents).clocks, []);
}
