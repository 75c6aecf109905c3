//! Compares what was counted with what the API server has delivered, pod by pod.

use std::collections::BTreeSet;

use podinit_core::timestamp::NANOS_PER_SECOND;
use podinit_sim::life::{READINESS_GATE, SCHEDULING_GATE};

use crate::proof::checkpoint::Given;
use crate::proof::delivery_log::{Delivered, DeliveryLog};
use crate::proof::history::{History, Kind, Nature};
use crate::proof::tally::{Counted, SLOS, Tally};
use crate::support::scrape::Scrape;

/// The SLO that leaves out a namespace, and which.
const LEAVES_OUT: (&str, &str) = ("ready", "kube-system");

/// What every startup that ends as ready or completed enters: it has one duration of each, or one reason why there is
/// none.
const ENTERED: [&[&str]; 7] = [
    &["scheduling", "unschedulable"],
    &["network"],
    &["containers"],
    &["acknowledge"],
    &["sandbox"],
    &["start"],
    &["probe"],
];

/// What some startups enter, once at the most.
const MAY_ENTER: [&str; 5] =
    ["gated", "init", "readiness", "scheduled_to_ready", "created_to_ready"];

/// How far the time of an arrival may be off.
const OFF_NANOS: i64 = NANOS_PER_SECOND;

/// What is wrong with a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Not counted, or not delivered, though it happened and could be seen
    Lost,
    /// Counted more often than it happened
    Double,
    /// Given to the accounting as something that it was not
    Wrong,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub fault: Fault,
    /// `None` is no single pod
    pub pod: Option<u32>,
    pub what: String,
}

/// What a trial has shown.
#[derive(Clone, Debug, Default)]
pub struct Findings(Vec<Finding>);

impl Findings {
    pub fn add(&mut self, fault: Fault, pod: Option<u32>, what: impl Into<String>) {
        let what = what.into();
        self.0.push(Finding { fault, pod, what });
    }

    /// Of how many pods something is wrong in this way.
    pub fn pods(&self, fault: Fault) -> usize {
        let pods = self.0.iter().filter(|finding| finding.fault == fault);
        pods.map(|finding| finding.pod).collect::<BTreeSet<_>>().len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn all(&self) -> &[Finding] {
        &self.0
    }

    /// Something was counted so often, and is to be from `least` to `most` times.
    fn times(&mut self, pod: Option<u32>, what: &str, counted: u32, [least, most]: [u32; 2]) {
        if counted < least {
            self.add(Fault::Lost, pod, format!("{what} ({counted} of {least})"));
        } else if counted > most {
            self.add(Fault::Double, pod, format!("{what} ({counted} of {most})"));
        }
    }
}

/// What has been delivered of one pod.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    known: bool,
    gone: bool,
    /// A version was shown with which a startup ends
    over: bool,
}

/// Everything that is wrong, by the server's records and the program's.
pub fn audit(history: &History, logs: &[DeliveryLog], tally: &Tally, findings: &mut Findings) {
    undelivered(history, logs, findings);
    let standing: BTreeSet<u32> = (history.standing(history.number()).into_iter())
        .map(|place| history.version(place).pod)
        .collect();
    let nothing = Counted::default();
    let seen = seen(history, logs);
    for ((number, nature), mut seen) in (0..).zip(&history.pods).zip(seen) {
        let has_moved = !logs.iter().any(|log| log.covers(nature));
        if seen.known && !seen.gone && !has_moved && !standing.contains(&number) {
            findings.add(Fault::Lost, Some(number), "its end was never delivered");
        }
        seen.over |= seen.known && (seen.gone || has_moved);
        let counted = tally.pods.get(number as usize).unwrap_or(&nothing);
        check(number, nature, seen, counted, findings);
    }
}

/// By pod.
fn seen(history: &History, logs: &[DeliveryLog]) -> Vec<Seen> {
    let mut pods = vec![Seen::default(); history.pods.len()];
    for log in logs {
        for delivered in &log.delivered {
            let (places, is_list) = match delivered {
                Delivered::Event { place, .. } => (std::slice::from_ref(place), false),
                Delivered::List { places, .. } => (places.as_slice(), true),
            };
            if is_list {
                let natures = history.pods.iter().zip(&mut pods);
                let of_list = natures.filter(|(nature, _)| log.covers(nature));
                of_list.for_each(|(_, pod)| pod.gone = pod.known);
            }
            for version in places.iter().map(|place| history.version(*place)) {
                let pod = &mut pods[version.pod as usize];
                pod.gone = version.kind == Kind::Deleted;
                pod.known |= !pod.gone;
                pod.over |= pod.known && version.is_end;
            }
        }
    }
    pods
}

/// Nothing of the pod is lost, and nothing is double.
fn check(pod: u32, nature: &Nature, seen: Seen, counted: &Counted, findings: &mut Findings) {
    let (known, over) = (u32::from(seen.known), u32::from(seen.over));
    let mut times = |what: &str, counted: u32, range: [u32; 2]| {
        findings.times(Some(pod), what, counted, range);
    };
    times("discovered", counted.all("discovered"), [known, known]);
    times("an outcome", counted.all("outcome"), [over, known]);
    for slo in SLOS {
        let matches = u32::from((slo, &*nature.namespace) != LEAVES_OUT);
        let range = [over * matches, known * matches];
        times(&format!("the event of SLO {slo}"), counted.times("SLO", &[slo]), range);
    }
    let started_up = counted.times("outcome", &["ready", "completed"]).min(1);
    for parts in ENTERED {
        times(parts[0], counted.times("interval", parts), [started_up, known]);
    }
    // A duration of the milestone of its own, or one reason why there is none. One that is ready is followed until it comes.
    let completed = counted.times("outcome", &["completed"]).min(1);
    times("the milestone", counted.times("milestone", &["created"]), [completed, known]);
    let since_started = counted.times("milestone", &["containers_started"]);
    times("the milestone since the containers started", since_started, [0, known]);
    for interval in MAY_ENTER {
        times(interval, counted.times("interval", &[interval]), [0, known]);
    }
    if counted.torn_moves > 0 {
        findings.add(Fault::Double, Some(pod), "moved from where it did not stand");
    }
}

/// The gates hold the pods in flight that state them, as far as their last versions tell: a pod that was ready in one of
/// them may be in flight or not.
pub fn gated(history: &History, logs: &[DeliveryLog], scrapes: &[Scrape], findings: &mut Findings) {
    for (kind, gate) in [("scheduling", SCHEDULING_GATE), ("readiness", READINESS_GATE)] {
        let [mut least, mut most] = [0, 0];
        for place in history.standing(history.number()) {
            let version = history.version(place);
            let covered = logs.iter().any(|log| log.covers(history.nature(place)));
            if !covered || !holds(kind, gate, &version.json) {
                continue;
            }
            let mut versions = history.log.iter().filter(|other| other.pod == version.pod);
            most += 1;
            least += u32::from(!versions.any(|version| version.is_end));
        }
        let series = scrapes.iter().flat_map(|scrape| scrape.of_name("podinit_gated_pods"));
        let of_gate = series.filter(|(series, _)| series.contains(&format!("kind=\"{kind}\"")));
        let held: f64 = of_gate.map(|(_, pods)| pods).sum();
        findings.times(None, &format!("pods held by {gate}"), held as u32, [least, most]);
    }
}

/// Whether a version of a pod says that the gate holds it.
fn holds(kind: &str, gate: &str, json: &[u8]) -> bool {
    let pod: serde_json::Value = serde_json::from_slice(json).expect("it is JSON");
    let has = |list: &str, field: &str| {
        let gates = pod["spec"][list].as_array();
        gates.into_iter().flatten().any(|one| one[field] == gate)
    };
    let is_true = |kind: &str| {
        let conditions = pod["status"]["conditions"].as_array();
        conditions.into_iter().flatten().any(|one| one["type"] == kind && one["status"] == "True")
    };
    match kind {
        "scheduling" => has("schedulingGates", "name"),
        _ => {
            let is_waiting = is_true("ContainersReady") && !is_true(gate);
            has("readinessGates", "conditionType") && is_waiting
        }
    }
}

/// The accounting was given what the API server has delivered, each thing once and in its order, and when.
pub fn given(history: &History, log: &DeliveryLog, given: &[Given], findings: &mut Findings) {
    let version = |place: &u32| {
        let version = history.version(*place);
        (version.pod as usize, version.number)
    };
    findings.times(None, "deliveries", given.len() as u32, [log.delivered.len() as u32; 2]);
    for (delivered, given) in log.delivered.iter().zip(given) {
        let (mut pods, at) = match delivered {
            Delivered::Event { place, at } => (vec![version(place)], Some(*at)),
            Delivered::List { places, restored, .. } => {
                if *restored && !given.restored {
                    findings.add(Fault::Lost, None, "that the server was restored");
                }
                (places.iter().map(version).collect(), None)
            }
        };
        pods.sort_unstable();
        if pods != given.pods || at.is_some() != given.observed.is_some() {
            findings.add(Fault::Wrong, None, format!("given {given:?}, delivered {pods:?}"));
        }
        if let Some(off) = at.zip(given.observed).map(|(at, observed)| observed.as_nanos() - at)
            && off.abs() > OFF_NANOS
        {
            findings.add(Fault::Wrong, None, format!("arrived {off} ns off its time: {given:?}"));
        }
    }
}

/// The exposition states the sums of what was counted pod by pod.
pub fn exposed(scrape: &Scrape, counted: &[Counted], findings: &mut Findings) {
    let mut sums = Counted::default();
    counted.iter().for_each(|counted| sums.add(counted));
    for ((kind, about, said), times) in sums.each() {
        let (name, labels) = match (kind, about, said) {
            ("discovered", ..) => ("podinit_pods_discovered_total", vec![]),
            ("outcome", ..) => ("podinit_pods_finished_total", vec![("outcome", about)]),
            ("re-entry", ..) => ("podinit_reentries_total", vec![("milestone", about)]),
            ("SLO", _, "excluded") => continue,
            ("SLO", ..) => ("podinit_slo_events_total", vec![("slo", about), ("result", said)]),
            ("milestone", from, "measured") => {
                ("podinit_milestone_duration_seconds_count", vec![("from", from)])
            }
            ("milestone", _, reason) => {
                ("podinit_milestone_unobserved_total", vec![("reason", reason)])
            }
            (_, "scheduled_to_ready", _) => {
                ("podinit_scheduled_to_ready_duration_seconds_count", vec![])
            }
            (_, "created_to_ready", _) => {
                ("podinit_created_to_ready_duration_seconds_count", vec![])
            }
            (_, "acknowledge" | "sandbox" | "start" | "probe", "measured") => {
                ("podinit_step_duration_seconds_count", vec![("step", about)])
            }
            (_, _, "measured") => ("podinit_stage_duration_seconds_count", vec![("stage", about)]),
            _ => ("podinit_unobserved_total", vec![("interval", about), ("reason", said)]),
        };
        let pairs: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let series = scrape.of_name(name);
        let series = series.filter(|(series, _)| pairs.iter().all(|pair| series.contains(pair)));
        let sum: f64 = series.map(|(_, value)| value).sum();
        findings.times(None, &format!("{name} {labels:?}"), sum as u32, [times; 2]);
    }
}

/// Over all shards: what one process would count once is counted by one shard, also where shards were killed or
/// numbered anew.
///
/// A pod may come to another shard that was Ready, is not, and looks as if it never was
/// ([§5.2](crate::specification#s5-2)): no one who sees it first then can know better.
pub fn sums(history: &History, sums: &[Counted], findings: &mut Findings) {
    for (pod, counted) in (0..).zip(sums) {
        let looks_new_again = || {
            let mut versions = history.log.iter().filter(|version| version.pod == pod);
            versions.any(|version| version.is_end) && versions.any(|version| !version.is_end)
        };
        if counted.times("outcome", &["ready"]) > 1 && looks_new_again() {
            continue;
        }
        let mut once = |what: &str, count: u32| {
            findings.times(Some(pod), &format!("{what}, over all shards"), count, [0, 1]);
        };
        for interval in ENTERED.concat().into_iter().chain(MAY_ENTER) {
            once(interval, counted.said("interval", interval, "measured"));
        }
        for slo in SLOS {
            once(slo, counted.said("SLO", slo, "good") + counted.said("SLO", slo, "bad"));
        }
        // A pod that moves is the same pod at the next shard; one that was over when it came was counted before.
        let others = counted.times("outcome", &["moved", "preexisting", "static"]);
        once("moved", counted.times("outcome", &["moved"]));
        once("an outcome", counted.all("outcome") - others);
        once("discovered", counted.all("discovered").saturating_sub(others));
    }
}

/// Versions that the server had, that no fault kept back, and that were never asked for.
fn undelivered(history: &History, logs: &[DeliveryLog], findings: &mut Findings) {
    for (version, delivered) in history.log.iter().zip(delivered_versions(history, logs)) {
        let pod = &history.pods[version.pod as usize];
        let mut covering = (logs.iter()).filter(|log| log.covered(pod, version.number));
        // What no list-watch covers is for another process.
        let excused =
            covering.clone().count() == 0 || covering.any(|log| log.excuses(version.number));
        if !delivered && !excused && version.kind != Kind::Unseen {
            let what = format!("version {} was never delivered", version.number);
            findings.add(Fault::Lost, Some(version.pod), what);
        }
    }
}

/// How many versions after the first list were never delivered as they were.
pub fn withheld(history: &History, logs: &[DeliveryLog]) -> usize {
    let first_list = |log: &DeliveryLog| log.excused.first().map(|(_, until)| *until);
    let began = logs.iter().filter_map(first_list).max().unwrap_or_default();
    let versions = history.log.iter().zip(delivered_versions(history, logs));
    let undelivered = versions
        .filter(|(version, delivered)| {
            let pod = &history.pods[version.pod as usize];
            let covered = logs.iter().any(|log| log.covered(pod, version.number));
            !delivered && covered && version.number > began
        })
        .count();
    undelivered + logs.iter().map(|log| log.damaged.len()).sum::<usize>()
}

/// By version: whether it was delivered, or damaged on the way.
fn delivered_versions(history: &History, logs: &[DeliveryLog]) -> Vec<bool> {
    let mut versions = vec![false; history.log.len()];
    for log in logs {
        for delivered in &log.delivered {
            match delivered {
                Delivered::Event { place, .. } => versions[*place as usize] = true,
                Delivered::List { places, .. } => {
                    places.iter().for_each(|place| versions[*place as usize] = true);
                }
            }
        }
        log.damaged.iter().for_each(|place| versions[*place as usize] = true);
    }
    versions
}
