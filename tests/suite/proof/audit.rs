//! Compares what was counted with what must have been counted, pod by pod.

use std::collections::BTreeSet;

use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Interval, NetworkEvidence, Outcome, PullResult, StageOrStep};
use podinit_sim::container::ContainerRef;

use crate::proof::delivery_log::{Delivered, DeliveryLog};
use crate::proof::expected::{self, Expected, Times};
use crate::proof::facts::Nature;
use crate::proof::history::{History, Kind};
use crate::proof::objectives;
use crate::proof::seen::{self, Seen};
use crate::proof::tally::{Counted, Tally};

/// What is wrong with a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Not counted, or not delivered, though it happened and could be seen
    Lost,
    /// Counted more often than it happened
    Double,
    /// Counted as something that it cannot have been
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

    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
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

    fn times(&mut self, pod: u32, what: impl Fn() -> String, counted: u32, times: Times) {
        if counted < times.least {
            self.add(Fault::Lost, Some(pod), what());
        } else if counted > times.most {
            self.add(Fault::Double, Some(pod), format!("{} ({counted})", what()));
        }
    }
}

/// Everything that is wrong, by the server's records and the program's.
pub fn audit(history: &History, logs: &[DeliveryLog], tally: &Tally) -> Findings {
    let mut findings = Findings::default();
    undelivered(history, logs, &mut findings);
    let seen = seen::all(history, logs, &tally.applied);
    unended(history, &seen, &mut findings);
    let nothing = Counted::default();
    for (number, (nature, seen)) in history.pods.iter().zip(&seen).enumerate() {
        let expected = expected::of(history, nature, seen);
        let counted = tally.pods.get(number).unwrap_or(&nothing);
        let pod = number as u32;
        check_counts(pod, &expected, counted, &mut findings);
        intervals(pod, &expected, counted, &mut findings);
        network(pod, &expected, counted, &mut findings);
        if tally.events {
            images(pod, nature, &expected, counted, &mut findings);
        }
        objectives::check(pod, nature, &expected, counted, &mut findings);
    }
    findings
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

/// Pods that are gone and that the program never got the end of.
fn unended(history: &History, seen: &[Seen], findings: &mut Findings) {
    let standing: BTreeSet<u32> = (history.standing(history.number()).into_iter())
        .map(|place| history.version(place).pod)
        .collect();
    for (number, seen) in (0..).zip(seen) {
        if seen.is_known() && seen.gone.is_none() && !standing.contains(&number) {
            findings.add(Fault::Lost, Some(number), "its end was never delivered");
        }
    }
}

fn check_counts(pod: u32, expected: &Expected, counted: &Counted, findings: &mut Findings) {
    let exactly = |times: bool| Times { least: times.into(), most: times.into() };
    let discovered = exactly(expected.discovered);
    findings.times(pod, || "discovered".to_owned(), counted.discovered, discovered);
    for outcome in Outcome::ALL {
        let times = exactly(expected.outcome == Some(outcome));
        let what = || format!("outcome {}", outcome.as_str());
        findings.times(pod, what, counted.outcomes[outcome as usize], times);
    }
    for (milestone, (counted, expected)) in counted.returns.iter().zip(expected.returns).enumerate()
    {
        let times = Times { least: expected, most: expected };
        findings.times(pod, || format!("re-entry {milestone}"), *counted, times);
    }
    if counted.torn_moves > 0 {
        findings.add(Fault::Double, Some(pod), "moved from where it did not stand");
    }
}

/// What gave the time of the network ([§9.2](crate::specification#s9-2)).
fn network(pod: u32, expected: &Expected, counted: &Counted, findings: &mut Findings) {
    for source in NetworkEvidence::ALL {
        let what = || format!("network by {}", source.as_str());
        let (times, index) = (expected.network[source.index()], source.index());
        findings.times(pod, what, counted.network[index], times);
    }
    let least = expected.network.iter().map(|times| times.most).max();
    let least = least.unwrap_or_default();
    let total: u32 = counted.network.iter().sum();
    let times = Times { least, most: least };
    findings.times(pod, || "network became ready".to_owned(), total, times);
}

/// Image pulls ([§9.3](crate::specification#s9-3)) and the startup SLI
/// ([§9.4](crate::specification#s9-4)).
fn images(
    pod: u32,
    nature: &Nature,
    expected: &Expected,
    counted: &Counted,
    findings: &mut Findings,
) {
    let heard = || expected.heard.iter();
    let pulled: BTreeSet<_> = heard().filter_map(|says| says.pulled).collect();
    let failed: BTreeSet<_> = heard().filter_map(|says| says.failed).collect();
    let [there, present, not] = [PullResult::Pulled, PullResult::Present, PullResult::Failed]
        .map(|result| counted.pulls[result.index()]);
    let exactly = |count: usize| {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Times { least: count, most: count }
    };
    let what = || "images pulled or present".to_owned();
    findings.times(pod, what, there + present, exactly(pulled.len()));
    findings.times(pod, || "failed pulls".to_owned(), not, exactly(failed.len()));

    let [observed, excluded] = counted.sli;
    let times = Times {
        least: u32::from(expected.outcome.is_some()),
        most: u32::from(expected.discovered),
    };
    let what = || "the event of the startup SLI".to_owned();
    findings.times(pod, what, observed + excluded, times);
    let regular = pulled.iter();
    let regular = regular.filter(|container| matches!(container, ContainerRef::Regular(_)));
    if observed > 0 && regular.count() < nature.containers {
        let what = "a startup SLI without a Pulled Event of each container";
        findings.add(Fault::Wrong, Some(pod), what);
    }
}

fn intervals(pod: u32, expected: &Expected, counted: &Counted, findings: &mut Findings) {
    for (index, interval) in Interval::ALL[..Interval::WITHOUT_NODES].iter().enumerate() {
        let measured = counted.measured[index];
        let what = || format!("interval {}", interval.as_str());
        findings.times(pod, what, measured, expected.measured[index]);
        let length = expected.lengths[index].and_then(|length| length.seconds);
        if let (Some(seconds), 1) = (length, measured) {
            // Both ends are known to the second, and what is below zero is observed as zero.
            let nanos = i64::try_from(counted.latencies[index]).unwrap_or(i64::MAX);
            let off = nanos - seconds.max(0) * 1_000_000_000;
            if off.abs() > 1_000_000_000 {
                let what = format!("{} is {nanos} ns, by the API {seconds} s", what());
                findings.add(Fault::Wrong, Some(pod), what);
            }
        }
    }
    let parts = StageOrStep::ALL.into_iter();
    for stage in parts.filter(|part| !part.interval().is_of_node()) {
        let index = stage.interval().index();
        let reasons = counted.unobserved[index].iter().zip(expected.unobserved[index]);
        for (reason, (counted, times)) in reasons.enumerate() {
            let what = || format!("stage {} unobserved for reason {reason}", stage.as_str());
            findings.times(pod, what, *counted, times);
        }
        let all = counted.measured[index] + counted.unobserved[index].iter().sum::<u32>();
        let may = expected.measured[index].most
            + expected.unobserved[index].iter().map(|times| times.most).sum::<u32>();
        if may > 0 {
            let what = || format!("stage {} observed or not", stage.as_str());
            findings.times(pod, what, all, Times::ONCE);
        }
    }
}
