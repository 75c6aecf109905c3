//! What is found of rollouts at one instant.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Rollout, RolloutStanding, wording};
use crate::explain::{described, next_command_of_problem};
use podinit_core::lifecycle::{
    EndedRollout, Record, RolloutHolder, RolloutProgress, RolloutWorkload,
};
use podinit_core::pod::{PodInfo, Workload};
use podinit_core::timestamp::Timestamp;
use podinit_problems::{FoundParts, FoundProblem, PartNumber, ProblemFinding};

/// A rollout is stuck once no pod of its new revision has become Ready for so long ...
const NO_PROGRESS_FOR: Duration = Duration::from_secs(600);
/// ... and a pod that was up is not for so long.
const DOWN_FOR: Duration = Duration::from_secs(60);
/// One that its controller has held for so long is told after the others.
const IDLE_AFTER: Duration = Duration::from_secs(86_400);

/// The parts of a finding that are the pods of one workload each.
#[derive(Debug, Default)]
pub(crate) struct RolloutParts(HashMap<RolloutWorkload, PartNumber>);

/// The rollouts in progress, and those that ended before.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundRollouts {
    /// Of which instant they are; `None` before anything was found
    pub at: Option<Timestamp>,
    /// The worst first
    pub in_progress: Vec<Rollout>,
    /// The newest first
    pub ended: Vec<Arc<EndedRollout>>,
}

impl RolloutParts {
    /// Adds the pod of `record` to a finding, as one of the part of its workload if it `holds` the rollout of that.
    pub(crate) fn add(&mut self, finding: &mut ProblemFinding, record: &Record, holds: bool) {
        match holds.then(|| self.part_of(&record.pod)).flatten() {
            Some(part) => finding.add_of_part(record, part),
            None => finding.add(record),
        }
    }

    /// The part of the pod, which holds the rollout of its workload.
    fn part_of(&mut self, pod: &PodInfo) -> Option<PartNumber> {
        let workload = RolloutWorkload {
            namespace: Arc::clone(&pod.namespace),
            workload: Arc::clone(pod.workload.as_ref()?),
        };
        let next = PartNumber::try_from(self.0.len()).ok()?;
        Some(*self.0.entry(workload).or_insert(next))
    }

    /// What is found of the pods of a workload.
    fn of<'a>(&self, workload: &RolloutWorkload, found: &'a FoundParts) -> &'a [FoundProblem] {
        let part = self.0.get(workload);
        part.and_then(|part| found.get(part)).map_or(&[], |problems| problems)
    }
}

impl FoundRollouts {
    /// Those in progress at `now`, where the pods of `parts` have what was `found`, and those that ended, the newest first.
    pub(crate) fn new(
        progress: Vec<RolloutProgress>,
        (parts, found): (&RolloutParts, &FoundParts),
        ended: Vec<Arc<EndedRollout>>,
        now: Timestamp,
    ) -> Self {
        let rollouts = progress.iter();
        let rollouts = rollouts.map(|one| in_progress(one, parts.of(&one.workload, found), now));
        let mut in_progress: Vec<Rollout> = rollouts.collect();
        in_progress.sort_by_cached_key(|one| order(one, now));
        Self { at: Some(now), in_progress, ended }
    }

    /// The workloads whose rollouts are stuck, each with its namespace.
    pub(crate) fn stuck(&self) -> impl Iterator<Item = (&str, &Workload)> {
        let stuck = self.in_progress.iter().filter(|one| one.is_stuck());
        stuck.map(|one| (&*one.namespace, &*one.workload))
    }
}

impl Rollout {
    /// Whether pods hold it that cannot start or are down, and none gets ready.
    pub(crate) fn is_stuck(&self) -> bool {
        self.in_progress.as_ref().is_some_and(|standing| standing.stuck)
    }
}

/// One in progress, where these problems have pods that hold it.
fn in_progress(progress: &RolloutProgress, problems: &[FoundProblem], now: Timestamp) -> Rollout {
    let RolloutWorkload { namespace, workload } = &progress.workload;
    let worst = problems.first();
    let is_held = match progress.held_by {
        RolloutHolder::Starting => !problems.is_empty(),
        RolloutHolder::NotReady => progress.held_since.plus(DOWN_FOR) <= now,
        RolloutHolder::Ending | RolloutHolder::Controller => false,
    };
    let said = worst.map_or(progress.said_of_down.as_deref(), |worst| worst.message.as_deref());
    let of_pods = worst.map(next_command_of_problem).filter(|command| !command.is_empty());
    Rollout {
        namespace: Arc::clone(namespace),
        workload: Arc::clone(workload),
        began: progress.began,
        found_in_progress: progress.found,
        wanted: progress.wanted,
        held_seconds: progress.held.into(),
        in_progress: Some(RolloutStanding {
            new: progress.new,
            others: progress.others,
            held_by: progress.held_by,
            held_since: progress.held_since,
            last_ready: progress.last_ready,
            changed: progress.changed,
            stuck: is_held && progress.last_ready.plus(NO_PROGRESS_FOR) <= now,
            cause: worst.map(|worst| worst.cause.as_str().to_owned()),
            message: said.map(str::to_owned),
            next_command: of_pods
                .unwrap_or_else(|| described(namespace, &workload.kind, &workload.name)),
        }),
        end: None,
        sentence: wording::in_progress(progress, problems, now),
    }
}

/// Those first that are stuck, and then those that pods hold; of them the one that has stood still longest. Those that have
/// ended come after all in progress, the newest first.
pub(super) fn order(rollout: &Rollout, now: Timestamp) -> impl Ord + use<> {
    let name = (Arc::clone(&rollout.namespace), rollout.workload.to_string());
    let standing = rollout.in_progress.as_ref().map(|standing| {
        let is_idle = standing.held_by == RolloutHolder::Controller
            && standing.held_since.plus(IDLE_AFTER) < now;
        (is_idle, Reverse(standing.stuck), standing.held_by, standing.last_ready)
    });
    (rollout.end.as_ref().map(|end| Reverse(end.at)), standing, name)
}
