//! What the report says in words. Each sentence is about pods that were observed, and stands only where
//! the figures bear it out.

use super::stages::{by_duration, mean};
use crate::report::formatting::{IntervalNames, cold_sentence, largest_part, seconds};
use crate::report::html::unfinished::{IN_FLIGHT, UnfinishedGroup, UnfinishedPods};
use crate::report::pods::durations;
use crate::report::{DetailedReport, ReportedPod, StartupSummary, Warmth};
use podinit_core::dimension::{Dimension, grouped};
use podinit_core::lifecycle::{Interval, Outcome, Record, Stage};
use podinit_core::node::NO_POOL;
use podinit_core::quantile::ExactDistribution;
use podinit_text::words::{count, percent};

/// A group of pods is called slow with at least so many pods, where its median is so many times that of all
/// the others, and longer by so many seconds.
const LEAST_PODS: usize = 5;
const TIMES_SLOWER: f64 = 2.0;
const SECONDS_SLOWER: f64 = 2.0;

/// What may be slow, and what it is called.
const SLOW_GROUPS: [(&str, Dimension); 4] = [
    ("Pool", Dimension::Nodepool),
    ("Zone", Dimension::Zone),
    ("Node", Dimension::Node),
    ("Image", Dimension::Image),
];

/// So many slow nodes or images are named.
const MOST_NAMED: usize = 3;

/// The findings, the most important first.
pub(super) fn report_findings(report: &DetailedReport) -> Vec<String> {
    let DetailedReport { summary, pods, end, .. } = report;
    let ready = by_duration(pods);
    let mut findings = vec![all(summary.discovered, &durations(pods, Interval::CreatedToReady))];
    findings.extend(longest_stages(&ready, IntervalNames::from_report(summary)));
    let has_cold = |row: &StartupSummary| row.startups == Warmth::Cold;
    findings.extend(cold_sentence(summary).filter(|_| summary.startups.iter().any(has_cold)));
    findings.extend(waiting(&UnfinishedPods::from_pods(pods, *end)));
    findings.extend(failed(pods));
    let slow = |(what, dimension)| slow_groups(pods, what, dimension);
    findings.extend(SLOW_GROUPS.into_iter().flat_map(slow));
    findings.extend(late_network(&ready));
    if !summary.probes.advice.is_empty() {
        let (count, of) = (summary.probes.advice.len(), summary.probes.workloads);
        findings.push(format!(
            "The probes of {count} of {of} workloads with probes cost time or risk restarts; see below what to set."
        ));
    }
    let aside: u64 = summary.set_aside.values().sum();
    if aside > 0 {
        findings.push(format!(
            "{} set aside: {} status no longer says when {} started up.",
            count(aside, "pod is", "pods are"),
            if aside == 1 { "its" } else { "their" },
            if aside == 1 { "it" } else { "they" }
        ));
    }
    findings
}

fn all(discovered: u64, ready: &ExactDistribution) -> String {
    let at = |percent| ready.at(percent).map(seconds);
    let (Some(p50), Some(max)) = (at(50), at(100)) else {
        return match discovered {
            0 => "There are no pods.".to_owned(),
            1 => "The only pod was not seen to become ready.".to_owned(),
            _ => format!("None of {discovered} pods was seen to become ready."),
        };
    };
    let count = ready.seconds().len();
    let of = match discovered {
        1 => "The only pod".to_owned(),
        _ => format!("Of {discovered} pods, {count}"),
    };
    if count == 1 {
        return format!("{of} was seen to become ready: {max} after its creation.");
    }
    let p99 = ready.p99().map(seconds);
    let p99 = p99.map_or_else(String::new, |p99| format!(" 99 % within {p99},"));
    format!(
        "{of} were seen to become ready: half of them within {p50} of their creation,{p99} the slowest after {max}."
    )
}

/// The stage that takes most of the time of all startups, and that of the slowest tenth where it is another.
fn longest_stages(ready: &[&Record], names: IntervalNames) -> Option<String> {
    let (stage, share) = longest_stage(ready)?;
    let text = largest_part("of the time of these startups", names.name(stage.as_str()), share);
    let slowest = &ready[..ready.len().div_ceil(10)];
    Some(match longest_stage(slowest) {
        // Strictly: of stages that take as long, none is said to be the longest.
        Some((other, share)) if share > share_of(slowest, stage) && ready.len() >= 10 => format!(
            "{text} In the slowest tenth it is {}: {}.",
            names.name(other.as_str()),
            percent(share)
        ),
        _ => text,
    })
}

fn longest_stage(records: &[&Record]) -> Option<(Stage, f64)> {
    let stages = Stage::ALL.map(|stage| (stage, share_of(records, stage)));
    let longest = stages.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
    longest.filter(|(_, share)| *share > 0.0)
}

/// The share of a stage in the time of all these startups.
fn share_of(records: &[&Record], stage: Stage) -> f64 {
    let whole = mean(records, Interval::CreatedToReady);
    if whole > 0.0 { mean(records, Interval::Stage(stage)) / whole } else { 0.0 }
}

/// A sentence for each stage and cause in which pods are in flight.
fn waiting(unfinished: &UnfinishedPods) -> Vec<String> {
    let groups = unfinished.groups.iter();
    let in_flight = groups.filter(|group| group.state == IN_FLIGHT);
    let sentences = in_flight.take(MOST_NAMED).map(|group| {
        let UnfinishedGroup { stage, cause, pods, longest, waits, .. } = group;
        let longest = match (*pods, waits.as_str()) {
            (1, "") => format!(": {longest}"),
            (1, waits) => format!(": {longest}, for {waits}"),
            (_, "") => String::new(),
            (_, waits) => format!("; {longest} for {waits}, the longest"),
        };
        let are = count(*pods, "pod is", "pods are");
        format!("{are} still in {stage}, cause {cause}{longest}.")
    });
    sentences.collect()
}

fn failed(pods: &[ReportedPod]) -> Option<String> {
    let with = |outcome| pods.iter().filter(|pod| pod.outcome == Some(outcome)).count();
    let rejected = match with(Outcome::Rejected) {
        1 => (1, "was rejected by the kubelet"),
        count => (count, "were rejected by the kubelet"),
    };
    let parts = [
        (with(Outcome::Failed), "failed"),
        rejected,
        (with(Outcome::Disrupted), "ended by a disruption"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(pods, what)| count(pods, "pod", "pods") + " " + what).collect();
    (!parts.is_empty()).then(|| format!("{} before they were ready.", parts.join(", ")))
}

/// Groups of pods that are much slower than all others.
fn slow_groups(pods: &[ReportedPod], what: &str, dimension: Dimension) -> Vec<String> {
    let took = |pods: &[&ReportedPod]| durations(pods.iter().copied(), Interval::ScheduledToReady);
    let is_measured = |pod: &&ReportedPod| {
        let record = pod.record.as_ref();
        record.is_some_and(|record| record.duration(Interval::ScheduledToReady).is_some())
    };
    let measured: Vec<&ReportedPod> = pods.iter().filter(is_measured).collect();
    // The median of all stands for that of the others, which costs less and is nearly the same unless the
    // group is large; a group of half of all pods is no exception.
    let Some(elsewhere) = took(&measured).at(50) else {
        return Vec::new();
    };
    let groups = grouped(measured.iter().copied(), |pod| pod.has().values(dimension)).into_iter();
    let exceptions = groups.filter(|(name, own)| {
        name != NO_POOL && (LEAST_PODS..=measured.len() / 2).contains(&own.len())
    });
    let slow = exceptions.filter_map(|(name, own)| {
        let median = took(&own).at(50)?;
        let is_slow = median > TIMES_SLOWER * elsewhere && median > elsewhere + SECONDS_SLOWER;
        is_slow.then_some((median, name, own.len()))
    });
    let mut slow: Vec<_> = slow.collect();
    slow.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    let sentences = slow.into_iter().take(MOST_NAMED).map(|(median, name, pods)| {
        format!(
            "{what} {name} is slow: half of its {pods} pods take {} or more from scheduled to ready, half of all pods at most {}.",
            seconds(median),
            seconds(elsewhere)
        )
    });
    sentences.collect()
}

/// How many network times may include the pull of an image.
fn late_network(ready: &[&Record]) -> Option<String> {
    let network = |record: &&&Record| record.duration(Interval::Stage(Stage::Network)).is_some();
    let measured: Vec<_> = ready.iter().filter(network).collect();
    let may_include = measured
        .iter()
        .filter(|record| record.network_time.is_some_and(|time| time.may_include_pulls()));
    let count = may_include.count();
    (count > 0).then(|| {
        format!(
            "For {count} of {} pods the time of network may include image pulls. Kubelets up to 1.35 set the condition late, and no Event says when the network was ready.",
            measured.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_text::table::TextTable;

    #[test]
    fn a_pod_that_waits_alone_is_named() {
        let group = |pods, waits: &str| UnfinishedPods {
            groups: vec![UnfinishedGroup {
                state: IN_FLIGHT,
                stage: "unschedulable",
                cause: "taint",
                pods,
                longest: "shop/web-0".to_owned(),
                waits: waits.to_owned(),
            }],
            pods: TextTable::new(&[], Vec::<Vec<String>>::new()),
            count: pods,
        };
        for (pods, waits, sentence) in [
            (1, "2m0s", "1 pod is still in unschedulable, cause taint: shop/web-0, for 2m0s."),
            (1, "", "1 pod is still in unschedulable, cause taint: shop/web-0."),
            (
                2,
                "2m0s",
                "2 pods are still in unschedulable, cause taint; shop/web-0 for 2m0s, the longest.",
            ),
            (2, "", "2 pods are still in unschedulable, cause taint."),
        ] {
            assert_eq!(waiting(&group(pods, waits)), [sentence]);
        }
    }

    #[test]
    fn nothing_is_said_of_half_of_one_pod() {
        for (discovered, sentence) in [
            (0, "There are no pods."),
            (1, "The only pod was not seen to become ready."),
            (2, "None of 2 pods was seen to become ready."),
        ] {
            assert_eq!(all(discovered, &ExactDistribution::default()), sentence);
        }
    }
}
