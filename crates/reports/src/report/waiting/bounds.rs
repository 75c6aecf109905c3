//! What startups could have gained at most ([§8.12](crate::specification#s8-12)): pod by pod the interval is taken out,
//! and then come the quantiles.

use std::collections::BTreeMap;

use super::account::WaitingAccount;
use super::probe_wait;
use super::summary::{SavesAtMost, Saving};
use crate::spans::{known_pulls, length, union};
use podinit_core::label_values;
use podinit_core::lifecycle::{
    Cause, Interval, IntervalResult, Latency, Milestone, Record, Stage, Step, UnobservedReason,
};
use podinit_core::pod::MOST_FOLLOWED;
use podinit_core::quantile::ExactDistribution;

const NANOS_PER_MILLI: u64 = 1_000_000;
/// Stands for what is not known of a startup.
const UNKNOWN: u32 = u32::MAX;

label_values! {
    /// What startups could have been without.
    pub(super) enum AvoidableWait {
        /// All images had been on the node
        Pulls => "images_present",
        /// No pod had waited for a node
        Nodes => "no_wait_for_node",
        /// Init containers ran at once
        InitRuns => "init_at_once",
        /// Readiness were probed every second
        ProbeWait => "probed_every_second",
    }
}

impl AvoidableWait {
    /// How many nanoseconds of the startup it took at most; `None` where that is not known.
    ///
    /// What remains takes as long as before, so that the pod cannot become ready sooner than by this. It may gain less:
    /// stages overlap, and who comes sooner may wait longer in the next queue.
    fn taken_out(
        self,
        record: &Record,
        account: &WaitingAccount,
        knows_probes: bool,
    ) -> Option<u64> {
        match self {
            Self::Pulls => pulls(record, account),
            Self::Nodes => node(record),
            Self::InitRuns => init_runs(record),
            Self::ProbeWait => probe_wait(record, knows_probes),
        }
    }
}

/// The time in which at least one image was pulled, queues included.
///
/// Outside of it the pod waited for something else, which images on the node do not shorten. Two pulls at once delay
/// the pod once, so that their sum would be more than it could gain. Where a pull has failed, the time counts too in
/// which the kubelet tried again or backed off.
fn pulls(record: &Record, account: &WaitingAccount) -> Option<u64> {
    let pulled = known_pulls(record)?.map(|(_, span)| span);
    let has_failed = record.pulls.iter().any(|pull| pull.has_failed);
    let causes: &[Cause] = if has_failed { &[Cause::Image, Cause::Pull] } else { &[] };
    Some(union(pulled.chain(account.spans_of(causes)), account.whole))
}

/// The time in which no node was found. Of a pod that was bound at first sight it is not known whether it fitted on
/// none, so that all its scheduling counts.
fn node(record: &Record) -> Option<u64> {
    let stage = |stage| {
        let mut all = record.intervals.iter();
        all.find(move |one| one.interval == Interval::Stage(stage))
    };
    let nanos = |stage| Some(record.duration(Interval::Stage(stage))?.as_nanos());
    if stage(Stage::Unschedulable).is_some() {
        return nanos(Stage::Unschedulable);
    }
    let scheduled = record.reached(Milestone::Scheduled);
    match scheduled.is_some_and(|scheduled| record.discovered <= scheduled) {
        true => Some(0),
        false => nanos(Stage::Scheduling).or_else(|| {
            // That of an adopted pod was not observed, but both of its ends are known.
            let adopted = IntervalResult::Unobserved { reason: UnobservedReason::Preexisting };
            let scheduling = stage(Stage::Scheduling).filter(|one| one.result == adopted)?;
            Some(length(scheduling.began.zip(scheduling.ended)?))
        }),
    }
}

/// The stage `init` without the pulls inside of it: init containers run one after the other, and while the image of one
/// is pulled, none that has to end runs. Sidecars do not end.
fn init_runs(record: &Record) -> Option<u64> {
    let init = Interval::Stage(Stage::Init);
    let Some(stage) = record.intervals.iter().find(|one| one.interval == init) else {
        return Some(0);
    };
    let is_followed = !record.containers.is_empty() && record.containers.len() < MOST_FOLLOWED;
    let mut of_init = record.containers.iter().filter(|container| container.init);
    if is_followed && of_init.all(|container| container.is_sidecar) {
        return Some(0);
    }
    let whole = record.duration(init)?.as_nanos();
    let span = stage.began.zip(stage.ended);
    let pulls = record.pulls.iter().filter(|pull| pull.init).filter_map(|pull| pull.span());
    Some(whole.saturating_sub(span.map_or(0, |span| union(pulls, span))))
}

/// Of the step `probe` as much as a probe every second could have saved. The probes of sidecars are not known: a pod
/// with one may have waited for those all the time.
fn probe_wait(record: &Record, knows_probes: bool) -> Option<u64> {
    if !knows_probes {
        return None;
    }
    let has_sidecar = record.containers.iter().any(|container| container.is_sidecar);
    let probes = record.pod.probes.as_deref().map(Vec::as_slice);
    if probes.is_none() && !has_sidecar {
        return Some(0);
    }
    let step = record.duration(Interval::Step(Step::Probe))?;
    let at_most = match has_sidecar {
        true => step.as_seconds_f64(),
        false => probe_wait::at_most(probes, step.as_seconds_f64()),
    };
    Some(step.as_nanos().min((at_most * 1e9) as u64))
}

/// A startup that became ready, in milliseconds, and what is taken out of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BoundedStartup {
    took: u32,
    without: [u32; AvoidableWait::ALL.len()],
}

/// The startups that became ready, equal ones counted. So quantiles are exact: those of a histogram may be off by more
/// than what was saved.
#[derive(Default)]
pub(super) struct StartupBounds(BTreeMap<BoundedStartup, u64>);

impl StartupBounds {
    pub(super) fn add(&mut self, record: &Record, account: &WaitingAccount, knows_probes: bool) {
        // Durations that are observed are at most 30 days, which fit.
        let millis = |nanos: u64| u32::try_from(nanos / NANOS_PER_MILLI).unwrap_or(UNKNOWN - 1);
        let took = millis(account.nanos());
        let without = AvoidableWait::ALL.map(|without| {
            let nanos = without.taken_out(record, account, knows_probes);
            // Rounded so that it stays a bound.
            nanos.map_or(UNKNOWN, |nanos| {
                millis(nanos.saturating_add(NANOS_PER_MILLI - 1)).min(took)
            })
        });
        *self.0.entry(BoundedStartup { took, without }).or_default() += 1;
    }

    /// A row for each thing that startups could have been without.
    pub(super) fn summary(&self) -> Vec<Saving> {
        AvoidableWait::ALL.map(|without| self.without(without)).into()
    }

    fn without(&self, without: AvoidableWait) -> Saving {
        let all =
            self.0.iter().map(|(one, count)| (one.took, one.without[without as usize], *count));
        let known = all.filter(|(_, without, _)| *without != UNKNOWN);
        let took = MillisecondQuantiles::new(known.clone().map(|(took, _, count)| (took, count)));
        let rest = known.clone().map(|(took, without, count)| (took - without, count));
        let rest = MillisecondQuantiles::new(rest);
        let saved: u64 = known.map(|(_, without, count)| u64::from(without) * count).sum();
        let less = |took: Option<f64>, rest: Option<f64>| {
            let millis = |seconds: f64| (seconds * 1e3).round();
            Some((millis(took?) - millis(rest?)) / 1e3)
        };
        Saving {
            without: without.as_str(),
            known: took.count,
            of: self.0.values().sum(),
            p50: took.p50,
            p99: took.p99,
            p50_at_least: rest.p50,
            p99_at_least: rest.p99,
            saves_at_most: SavesAtMost {
                p50: less(took.p50, rest.p50),
                p99: less(took.p99, rest.p99),
                pod_hours: saved as f64 / 3.6e6,
            },
        }
    }
}

/// Quantiles of milliseconds, by nearest rank.
struct MillisecondQuantiles {
    count: u64,
    p50: Option<f64>,
    p99: Option<f64>,
}

impl MillisecondQuantiles {
    /// Those of milliseconds, each with how often it is there.
    fn new(counted: impl Iterator<Item = (u32, u64)>) -> Self {
        let nanos = |millis| Latency::from_nanos(u64::from(millis) * NANOS_PER_MILLI);
        let all: ExactDistribution =
            counted.map(|(millis, count)| (nanos(millis), count)).collect();
        Self { count: all.count(), p50: all.at(50), p99: all.p99() }
    }
}
