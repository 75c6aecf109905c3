//! The rollouts of a recording ([§17](crate::specification#s17)): how long they took, what held them, and which are in
//! progress at its end.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::durations::IntervalDurations;
use super::formatting::{known, seconds};
use super::summary::IntervalSummary;
use podinit_core::lifecycle::{
    EndedRollout, HeldNanos, Latency, RolloutHolder, RolloutOutcome, RolloutProgress,
    RolloutWorkload,
};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;
use podinit_text::human_time::since;
use podinit_text::table::TextTable;

/// So many workloads are followed by name, the first that roll out. The others are counted together.
const MOST_FOLLOWED: usize = 1_000;
/// So many are in the report, those whose rollouts took most time; and so many rollouts in progress.
const MOST_SHOWN: usize = 20;

/// What became of the rollouts of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct RolloutReport {
    /// The workloads with a rollout that completed, those first whose took most time, then all others together
    workloads: Vec<WorkloadRollouts>,
    /// How many rollouts ended, by outcome, without zeros
    outcomes: BTreeMap<&'static str, u64>,
    /// Those in progress at the end, the oldest first
    in_progress: Vec<RolloutAtEnd>,
    /// How many more are
    more_in_progress: usize,
}

/// The completed rollouts of a workload. Durations are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct WorkloadRollouts {
    /// NAMESPACE/KIND/NAME; `None` of all others together
    workload: Option<String>,
    /// How many completed
    completed: u64,
    /// Of how many of them the duration is known
    count: u64,
    p50: Option<f64>,
    p90: Option<f64>,
    max: Option<f64>,
    /// For how long each held all of them, without zeros
    held_seconds: BTreeMap<&'static str, f64>,
}

/// A rollout in progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct RolloutAtEnd {
    /// NAMESPACE/KIND/NAME
    workload: String,
    /// When it began (RFC 3339)
    began: String,
    /// It was in progress when the recording began, so that is a guess
    found_in_progress: bool,
    /// For how long it has been in progress
    seconds: f64,
    /// How many pods of the new revision are ready, and how many are wanted
    ready: u32,
    wanted: u32,
    held_by: RolloutHolder,
    /// For how long that has held it
    held_by_seconds: f64,
}

/// The completed rollouts of one workload, or of the others together.
#[derive(Default)]
struct CompletedRollouts {
    completed: u64,
    durations: IntervalDurations,
    held: HeldNanos,
}

impl CompletedRollouts {
    fn add(&mut self, rollout: &EndedRollout) {
        self.completed += 1;
        let nanos = u64::try_from(rollout.ended.nanos_since(rollout.began));
        if let Some(nanos) = nanos.ok().filter(|_| rollout.is_exact) {
            self.durations.add(Latency::from_nanos(nanos));
        }
        self.held.merge(rollout.held);
    }

    fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.durations.merge(&other.durations);
        self.held.merge(other.held);
    }

    fn held_nanos(&self) -> u64 {
        self.held.iter().map(|(_, nanos)| nanos).sum()
    }

    fn summary(&self, workload: Option<String>) -> WorkloadRollouts {
        let IntervalSummary { count, p50, p90, max, .. } = self.durations.summary("");
        let held = self.held.iter().map(|(by, nanos)| (by.as_str(), nanos as f64 / 1e9));
        let held_seconds = held.collect();
        WorkloadRollouts { workload, completed: self.completed, count, p50, p90, max, held_seconds }
    }
}

/// The rollouts that ended, as they are collected.
#[derive(Default)]
pub(super) struct RolloutCounts {
    by_workload: BTreeMap<String, CompletedRollouts>,
    others: CompletedRollouts,
    outcomes: BTreeMap<&'static str, u64>,
}

impl RolloutCounts {
    /// Counts one that ended. Of one that was found in progress nothing is known of how long it took.
    pub(super) fn add(&mut self, rollout: &EndedRollout) {
        let arrived =
            matches!(rollout.outcome, RolloutOutcome::Completed | RolloutOutcome::RolledBack);
        if arrived && rollout.found {
            return;
        }
        *self.outcomes.entry(rollout.outcome.as_str()).or_default() += 1;
        if rollout.outcome != RolloutOutcome::Completed {
            return;
        }
        let name = name(&rollout.workload);
        let has_room = self.by_workload.len() < MOST_FOLLOWED;
        match has_room || self.by_workload.contains_key(&name) {
            true => self.by_workload.entry(name).or_default().add(rollout),
            false => self.others.add(rollout),
        }
    }

    /// What became of them by `now`, when these were in progress; `None` of a recording without rollouts.
    pub(super) fn report(
        self,
        progress: impl Iterator<Item = RolloutProgress>,
        now: Timestamp,
    ) -> Option<RolloutReport> {
        let Self { by_workload, mut others, outcomes } = self;
        let mut workloads: Vec<_> = by_workload.into_iter().collect();
        // The sort is stable: what took as long stays in the order of the names.
        workloads.sort_by_key(|(_, completed)| Reverse(completed.held_nanos()));
        for (_, completed) in workloads.drain(MOST_SHOWN.min(workloads.len())..) {
            others.merge(&completed);
        }
        let shown = workloads.iter().map(|(name, one)| one.summary(Some(name.clone())));
        let rest = (others.completed > 0).then(|| others.summary(None));
        let mut in_progress: Vec<_> = progress.collect();
        in_progress.sort_by_cached_key(|one| (one.began, name(&one.workload)));
        let at_end = in_progress.iter().take(MOST_SHOWN).map(|one| RolloutAtEnd::new(one, now));
        let report = RolloutReport {
            workloads: shown.chain(rest).collect(),
            outcomes,
            in_progress: at_end.collect(),
            more_in_progress: in_progress.len().saturating_sub(MOST_SHOWN),
        };
        let is_empty = report.outcomes.is_empty() && report.in_progress.is_empty();
        (!is_empty).then_some(report)
    }
}

/// NAMESPACE/KIND/NAME
fn name(workload: &RolloutWorkload) -> String {
    workload.workload.in_namespace(&workload.namespace)
}

impl RolloutAtEnd {
    fn new(rollout: &RolloutProgress, now: Timestamp) -> Self {
        Self {
            workload: name(&rollout.workload),
            began: rfc3339::format(rollout.began),
            found_in_progress: rollout.found,
            seconds: since(rollout.began, now),
            ready: rollout.new.up,
            wanted: rollout.new.of_wanted(rollout.wanted),
            held_by: rollout.held_by,
            held_by_seconds: since(rollout.held_since, now),
        }
    }
}

/// The section on rollouts.
pub(super) struct RolloutSection {
    pub(super) sentence: String,
    pub(super) completed: Option<TextTable>,
    pub(super) in_progress: Option<TextTable>,
}

/// Its title.
pub(super) const ROLLOUTS: &str = "Rollouts";

const COMPLETED: [&str; 6] = ["workload", "completed", "p50", "p90", "slowest", "held by"];
const IN_PROGRESS: [&str; 5] = ["workload", "in progress since", "ready", "held by", "for"];

impl RolloutSection {
    /// `shown` is how names are written in the format.
    pub(super) fn from_report(report: &RolloutReport, shown: impl Fn(&str) -> String) -> Self {
        let outcomes = report.outcomes.iter();
        let outcomes = outcomes.map(|(what, count)| format!("{count} {}", what.replace('_', " ")));
        let listed = report.in_progress.len();
        let lasting = listed + report.more_in_progress;
        let oldest = match report.more_in_progress {
            0 => String::new(),
            _ => format!(" (the oldest {listed} are listed)"),
        };
        let lasting = (lasting > 0).then(|| format!("{lasting} in progress at the end{oldest}"));
        let sentence: Vec<String> = outcomes.chain(lasting).collect();
        let rows = report.workloads.iter().map(|row| {
            let WorkloadRollouts { workload, completed, p50, p90, max, held_seconds, .. } = row;
            let name = workload.as_deref().map_or_else(|| "all others".to_owned(), &shown);
            let [p50, p90, max] = [p50, p90, max].map(|value| known(*value));
            let mut held: Vec<_> = held_seconds.iter().filter(|(_, held)| **held >= 0.5).collect();
            held.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            let held = held.iter().map(|(by, held)| format!("{by} {}", seconds(held.round())));
            let held = held.collect::<Vec<_>>().join(", ");
            [name, completed.to_string(), p50, p90, max, held]
        });
        let completed = TextTable::new(&COMPLETED, rows).with_numbers(1..5);
        let rows = report.in_progress.iter().map(|row| {
            let guess = if row.found_in_progress { " (a guess)" } else { "" };
            [
                shown(&row.workload),
                format!("{}{guess}", row.began),
                format!("{} of {}", row.ready, row.wanted),
                row.held_by.as_str().to_owned(),
                seconds(row.held_by_seconds.round()),
            ]
        });
        let in_progress = TextTable::new(&IN_PROGRESS, rows);
        Self {
            sentence: sentence.join(", ") + ".",
            completed: (!report.workloads.is_empty())
                .then(|| completed.labelled("Completed rollouts by workload")),
            in_progress: (!report.in_progress.is_empty())
                .then(|| in_progress.labelled("Rollouts in progress")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use super::*;
    use podinit_core::lifecycle::StandingPods;
    use podinit_core::pod::Workload;

    fn workload(name: &str) -> RolloutWorkload {
        let workload = Workload { kind: "Deployment".into(), name: name.into() };
        RolloutWorkload { namespace: "shop".into(), workload: Arc::new(workload) }
    }

    fn ended(name: &str, outcome: RolloutOutcome, seconds: i64) -> EndedRollout {
        let nanos = u64::try_from(seconds).unwrap() * 1_000_000_000;
        EndedRollout {
            workload: workload(name),
            outcome,
            began: Timestamp::from_seconds(100),
            ended: Timestamp::from_seconds(100 + seconds),
            is_exact: true,
            found: false,
            wanted: 3,
            held: HeldNanos { starting: nanos, ..HeldNanos::default() },
        }
    }

    #[test]
    fn those_that_took_most_time_come_first_and_the_others_are_summed() {
        let mut counts = RolloutCounts::default();
        for number in 0..MOST_FOLLOWED as i64 + 5 {
            counts.add(&ended(&format!("web-{number:04}"), RolloutOutcome::Completed, number + 1));
        }
        counts.add(&ended("web-0000", RolloutOutcome::Completed, 9_000));
        counts.add(&ended("web-0000", RolloutOutcome::RolledBack, 9_000));
        let found = EndedRollout { found: true, ..ended("web-0000", RolloutOutcome::Completed, 5) };
        counts.add(&found);
        let now = Timestamp::from_seconds(10_000);
        let report = counts.report(std::iter::empty(), now).unwrap();
        assert_eq!(report.outcomes, [("completed", 1_006), ("rolled_back", 1)].into());
        assert_eq!(report.workloads.len(), MOST_SHOWN + 1);
        let (first, rest) = (&report.workloads[0], report.workloads.last().unwrap());
        assert_eq!(first.workload.as_deref(), Some("shop/Deployment/web-0000"));
        assert_eq!((first.completed, first.p50, first.max), (2, Some(1.0), Some(9_000.0)));
        assert_eq!(first.held_seconds, [("starting", 9_001.0)].into());
        assert_eq!((&rest.workload, rest.completed), (&None, 1_006 - 2 - 19));
    }

    #[test]
    fn what_is_in_progress_is_told_with_what_holds_it() {
        let progress = RolloutProgress {
            workload: workload("web"),
            new: StandingPods { up: 1, starting: 1, ..StandingPods::default() },
            others: StandingPods::default(),
            wanted: 3,
            began: Timestamp::from_seconds(60),
            found: true,
            held_by: RolloutHolder::Starting,
            held_since: Timestamp::from_seconds(90),
            held: HeldNanos::default(),
            last_ready: Timestamp::from_seconds(90),
            changed: Timestamp::from_seconds(90),
            said_of_down: None,
            ending: Vec::new(),
        };
        let now = Timestamp::from_seconds(215);
        let report = RolloutCounts::default().report([progress].into_iter(), now).unwrap();
        let section = RolloutSection::from_report(&report, str::to_owned);
        assert_eq!(section.sentence, "1 in progress at the end.");
        let table = section.in_progress.unwrap().to_text(false);
        let row = table.lines().last().unwrap();
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>().join(" "),
            "shop/Deployment/web 1970-01-01T00:01:00Z (a guess) 1 of 3 starting 2m5s"
        );
        assert!(RolloutCounts::default().report(std::iter::empty(), now).is_none());
    }
}
