//! What the report says in words. Each sentence is about pods that were observed, and stands only where
//! the figures bear it out.

use super::distributions::AllDurations;
use super::groups::PodGroups;
use super::stages::{ReadyPods, StageSums};
use super::unfinished::{IN_FLIGHT, UnfinishedGroup, UnfinishedPods};
use crate::report::formatting::{IntervalNames, cold_sentence, largest_part, seconds};
use crate::report::{Report, StartupSummary, Warmth};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Interval, Outcome, Record, Stage};
use podinit_core::node::NO_POOL;
use podinit_core::quantile::ExactDistribution;
use podinit_text::words::{count, percent};

/// A group of pods is called slow with at least so many pods, where its median is so many times that of all
/// the others, and longer by so many seconds.
const LEAST_PODS: u64 = 5;
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
pub(super) fn report_findings(
    summary: &Report,
    (durations, groups): (&AllDurations, &PodGroups),
    (ready, told): (&ReadyPods, &ToldByPods),
    unfinished: &UnfinishedPods,
) -> Vec<String> {
    let mut findings = vec![all(summary.discovered, durations.of(Interval::CreatedToReady))];
    findings.extend(longest_stages(ready, IntervalNames::from_report(summary)));
    let has_cold = |row: &StartupSummary| row.startups == Warmth::Cold;
    findings.extend(cold_sentence(summary).filter(|_| summary.startups.iter().any(has_cold)));
    findings.extend(waiting(unfinished));
    findings.extend(told.failed());
    let scheduled = durations.of(Interval::ScheduledToReady);
    let slow = |(what, dimension)| slow_groups((groups, scheduled), what, dimension);
    findings.extend(SLOW_GROUPS.into_iter().flat_map(slow));
    findings.extend(told.late_network());
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
    let count = ready.count();
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
fn longest_stages(ready: &ReadyPods, names: IntervalNames) -> Option<String> {
    let (stage, share) = longest_stage(ready.all())?;
    let text = largest_part("of the time of these startups", names.name(stage.as_str()), share);
    let slowest = ready.slowest_tenth();
    Some(match longest_stage(slowest) {
        // Strictly: of stages that take as long, none is said to be the longest.
        Some((other, share)) if share > slowest.share_of(stage) && ready.all().pods() >= 10 => {
            format!(
                "{text} In the slowest tenth it is {}: {}.",
                names.name(other.as_str()),
                percent(share)
            )
        }
        _ => text,
    })
}

fn longest_stage(sums: &StageSums) -> Option<(Stage, f64)> {
    let stages = Stage::ALL.map(|stage| (stage, sums.share_of(stage)));
    let longest = stages.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
    longest.filter(|(_, share)| *share > 0.0)
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

/// What pods tell one by one.
#[derive(Default)]
pub(super) struct ToldByPods {
    failed: usize,
    rejected: usize,
    disrupted: usize,
    /// Those that became ready and whose time of network was measured, and those of them where it may include pulls
    network: usize,
    may_include_pulls: usize,
}

impl ToldByPods {
    /// Adds a pod by its outcome and its record.
    pub(super) fn add(&mut self, outcome: Option<Outcome>, record: Option<&Record>) {
        match outcome {
            Some(Outcome::Failed) => self.failed += 1,
            Some(Outcome::Rejected) => self.rejected += 1,
            Some(Outcome::Disrupted) => self.disrupted += 1,
            _ => {}
        }
        let measured = [Interval::CreatedToReady, Interval::Stage(Stage::Network)];
        let has_network = |record: &&Record| {
            measured.into_iter().all(|interval| record.duration(interval).is_some())
        };
        if let Some(record) = record.filter(has_network) {
            self.network += 1;
            let may_include = record.network_time.is_some_and(|time| time.may_include_pulls());
            self.may_include_pulls += usize::from(may_include);
        }
    }

    fn failed(&self) -> Option<String> {
        let rejected = match self.rejected {
            1 => (1, "was rejected by the kubelet"),
            count => (count, "were rejected by the kubelet"),
        };
        let parts = [(self.failed, "failed"), rejected, (self.disrupted, "ended by a disruption")];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> =
            parts.map(|(pods, what)| count(pods, "pod", "pods") + " " + what).collect();
        (!parts.is_empty()).then(|| format!("{} before they were ready.", parts.join(", ")))
    }

    /// How many network times may include the pull of an image.
    fn late_network(&self) -> Option<String> {
        let Self { network, may_include_pulls, .. } = self;
        (*may_include_pulls > 0).then(|| {
            format!(
                "For {may_include_pulls} of {network} pods the time of network may include image pulls. Kubelets up to 1.35 set the condition late, and no Event says when the network was ready."
            )
        })
    }
}

/// Groups of pods that are much slower than all others.
fn slow_groups(
    (groups, all): (&PodGroups, &ExactDistribution),
    what: &str,
    dimension: Dimension,
) -> Vec<String> {
    // The median of all stands for that of the others, which costs less and is nearly the same unless the
    // group is large; a group of half of all pods is no exception.
    let Some(elsewhere) = all.at(50) else {
        return Vec::new();
    };
    let exceptions = groups.by(dimension).filter(|(name, own)| {
        *name != NO_POOL && (LEAST_PODS..=all.count() / 2).contains(&own.scheduled.count())
    });
    let slow = exceptions.filter_map(|(name, own)| {
        let median = own.scheduled.at(50)?;
        let is_slow = median > TIMES_SLOWER * elsewhere && median > elsewhere + SECONDS_SLOWER;
        is_slow.then_some((median, name, own.scheduled.count()))
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
