//! Which pods in flight are affected, by what and since when ([§13.2](crate::specification#s13-2)). The module `ended`
//! has the others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::values::DimensionValues;
use podinit_core::lifecycle::{
    Cause, CauseClass, GateKind, Interval, Milestone, Record, RecordedCause, Stage, WaitReason,
};
use podinit_core::quantile::nearest_rank;
use podinit_core::timestamp::Timestamp;

/// How long a failing cause affects a pod that has another one by now: a kubelet backs off for 5 minutes.
const FAILING_LASTS: Duration = Duration::from_secs(6 * 60);
/// How old a failing cause must be to count.
const FAILING_AFTER: Duration = Duration::from_secs(15);
/// How long a pod must be in its stage for a waiting cause to count.
const WAITING_AFTER: Duration = Duration::from_secs(60);
/// A pod is old once it has had its cause for this long.
const OLD_AFTER: Duration = Duration::from_secs(1_800);
/// The lowest limit of a working cause.
const LEAST_LIMIT: Duration = Duration::from_secs(30);
/// The limit of a working cause where too few startups are known.
const UNKNOWN_LIMIT: Duration = Duration::from_secs(120);
/// How long gates may hold a pod where too few startups are known.
const UNKNOWN_GATE_LIMIT: Duration = Duration::from_secs(1_800);
/// How many records of a workload are enough for a limit.
const ENOUGH_OF_WORKLOAD: usize = 5;
/// How many records of all pods are enough for a limit.
const ENOUGH_OF_ALL: usize = 20;

/// A pod that a cause affects.
#[derive(Clone, Copy, Debug)]
pub(super) struct AffectedPod {
    /// Its place among the pods of the finding
    pub place: u32,
    pub cause: Cause,
    /// When it first had the cause in its present stage
    pub since: Timestamp,
    /// When the last period with the cause began
    pub last: Timestamp,
    /// The number of the image of the container that gave the cause
    pub image: u32,
    /// The number of the container that gave the cause
    pub container: u32,
    /// The number of the labels of its node
    pub labels: u32,
    /// The number of the first gate that holds it, where that is the cause
    pub gate: u32,
    /// The number of the message about the cause; a record has the message of the present cause only
    pub message: u32,
    /// Its value in each dimension, of those that are considered
    pub values: DimensionValues,
}

/// Whether what began at `since` is old ([§13.5](crate::specification#s13-5)).
pub(super) fn is_old(since: Timestamp, now: Timestamp) -> bool {
    since.plus(OLD_AFTER) <= now
}

/// Where the startup of a pod in flight is.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlightPlace {
    pub waiting: WaitReason,
    /// When it entered the stage
    pub entered: Timestamp,
}

/// How a pod in flight counts.
pub(super) enum PodVerdict {
    Affected(PodCause),
    /// No cause affects it: affected pods are compared with it
    StartsWell,
    /// Neither: gates have held it only for a short time, or it is being deleted
    Ignored,
}

/// The cause that affects a pod.
#[derive(Clone, Debug)]
pub(super) struct PodCause {
    pub cause: Cause,
    pub since: Timestamp,
    pub last: Timestamp,
    /// The position of the container that gave it
    pub container: Option<u8>,
    pub message: Option<Arc<str>>,
}

/// Decides how the pod in flight of `record` counts at `now`.
pub(super) fn verdict(
    record: &Record,
    place: InFlightPlace,
    limits: &StageLimits,
    now: Timestamp,
) -> PodVerdict {
    let InFlightPlace { waiting, entered } = place;
    let class = CauseClass::from_cause(waiting.cause());
    let is_held_long =
        || waiting.cause() == Cause::Gate && now > entered.plus(limits.of_gates(record));
    if class == CauseClass::Intended && !is_held_long() {
        return PodVerdict::Ignored;
    }
    let history = record.causes_in_stage(waiting.stage());
    let is_no_fault = record.progress.is_never_ready() && class.is_idle_wait();
    let present = || {
        let last = *history.last()?;
        let is_affected = match class {
            _ if is_no_fault => false,
            CauseClass::Waiting => entered.plus(WAITING_AFTER) <= now,
            CauseClass::Working => now > entered.plus(limits.of_stage(record, waiting.stage())),
            CauseClass::Intended => true,
            CauseClass::Failing => false,
        };
        is_affected.then_some(last)
    };
    let Some(had) = last_failing(&history, now).or_else(present) else {
        return PodVerdict::StartsWell;
    };
    let mut same = history.iter().filter(|one| one.waiting == had.waiting);
    PodVerdict::Affected(PodCause {
        cause: had.waiting.cause(),
        since: same.next().map_or(had.began, |first| first.began),
        last: had.began,
        container: had.container,
        message: (record.message.clone()).filter(|_| waiting.cause() == had.waiting.cause()),
    })
}

/// The failing cause that counts, if there is one: the one that the pod had last.
fn last_failing(history: &[RecordedCause], now: Timestamp) -> Option<RecordedCause> {
    let is_recent = |position: usize| {
        let end = history.get(position + 1);
        end.is_none_or(|next| next.began.plus(FAILING_LASTS) > now)
    };
    let is_old_enough = |one: &RecordedCause| {
        let mut same = history.iter().filter(|other| other.waiting == one.waiting);
        same.next().is_some_and(|first| first.began.plus(FAILING_AFTER) <= now)
    };
    let mut newest_first = history.iter().enumerate().rev();
    let found = newest_first.find(|(position, one)| {
        let is_failing = CauseClass::from_cause(one.waiting.cause()) == CauseClass::Failing;
        is_failing && is_recent(*position) && is_old_enough(one)
    });
    found.map(|(_, one)| *one)
}

/// The 90th percentile of how long scheduling gates took, in nanoseconds, each of enough pods.
pub(super) type GatePercentiles = HashMap<Arc<str>, u64>;

/// How long pods may be in each stage, by the startups that became ready.
#[derive(Debug)]
pub(super) struct StageLimits {
    /// By stage, all and by workload, in order
    stages: [StageTimes; Stage::ALL.len()],
    /// How long each scheduling gate took: the 90th percentile in nanoseconds
    gates: GatePercentiles,
}

#[derive(Debug, Default)]
struct StageTimes {
    all: Vec<u64>,
    by_workload: HashMap<String, Vec<u64>>,
}

impl StageTimes {
    /// Those of the workload of the pod of `record`, where they are enough.
    fn of_workload(&self, record: &Record) -> Option<&Vec<u64>> {
        let own = self.by_workload.get(&workload(record)?);
        own.filter(|times| times.len() >= ENOUGH_OF_WORKLOAD)
    }
}

impl StageLimits {
    /// The limits by records of startups that became ready.
    pub(super) fn from_ready(ready: &[&Record]) -> Self {
        let mut stages: [StageTimes; Stage::ALL.len()] = Default::default();
        let mut gates: HashMap<Arc<str>, Vec<u64>> = HashMap::new();
        for record in ready {
            for (gate, took) in gates_passed(record) {
                gates.entry(Arc::clone(gate)).or_default().push(took);
            }
            let workload = workload(record);
            for stage in Stage::ALL {
                let Some(took) = record.duration(Interval::Stage(stage)) else {
                    continue;
                };
                let took = took.as_nanos();
                let times = &mut stages[stage as usize];
                times.all.push(took);
                if let Some(workload) = &workload {
                    times.by_workload.entry(workload.clone()).or_default().push(took);
                }
            }
        }
        for times in &mut stages {
            times.all.sort_unstable();
            times.by_workload.values_mut().for_each(|times| times.sort_unstable());
        }
        let gates = gates.into_iter().filter(|(_, times)| times.len() >= ENOUGH_OF_WORKLOAD);
        let gates = gates.filter_map(|(gate, mut times)| {
            times.sort_unstable();
            Some((gate, nearest_rank(&times, 90)?))
        });
        Self { stages, gates: gates.collect() }
    }

    /// The 90th percentiles of the gates with enough records.
    pub(super) const fn gates(&self) -> &GatePercentiles {
        &self.gates
    }

    /// Adds gates of `earlier` that have too few records now.
    pub(super) fn learn_gates(&mut self, earlier: &GatePercentiles) {
        for (gate, p90) in earlier {
            self.gates.entry(Arc::clone(gate)).or_insert(*p90);
        }
    }

    /// How long scheduling gates may hold the pod of `record`.
    fn of_gates(&self, record: &Record) -> Duration {
        let own = self.stages[Stage::Gated as usize].of_workload(record);
        let own = own.and_then(|times| nearest_rank(times, 90));
        let of_gate = || self.gates.get(&record.gate_of(Cause::Gate)?.gate).copied();
        own.or_else(of_gate).map_or(UNKNOWN_GATE_LIMIT, three_times)
    }

    /// How long the pod of `record` may be in `stage`.
    fn of_stage(&self, record: &Record, stage: Stage) -> Duration {
        let times = &self.stages[stage as usize];
        let enough = times
            .of_workload(record)
            .or_else(|| (times.all.len() >= ENOUGH_OF_ALL).then_some(&times.all));
        let Some(p90) = enough.and_then(|times| nearest_rank(times, 90)) else {
            return UNKNOWN_LIMIT;
        };
        three_times(p90)
    }
}

/// The workload as NAMESPACE/KIND/NAME; `None` of a pod without a controller.
fn workload(record: &Record) -> Option<String> {
    Some(record.pod.workload.as_ref()?.in_namespace(&record.pod.namespace))
}

/// Three times a 90th percentile in nanoseconds, or the least limit.
fn three_times(p90: u64) -> Duration {
    LEAST_LIMIT.max(Duration::from_nanos(p90.saturating_mul(3)))
}

/// The scheduling gates that the pod of `record` has passed, and how long that took in nanoseconds.
fn gates_passed(record: &Record) -> impl Iterator<Item = (&Arc<str>, u64)> {
    let created = record.reached(Milestone::Created);
    let gates = record.gates.iter().filter(|gate| gate.kind == GateKind::Scheduling);
    gates.filter_map(move |gate| {
        let took = gate.passed?.nanos_since(created?);
        Some((&gate.gate, u64::try_from(took).ok()?))
    })
}
