//! What is broken at an instant, and every pod in flight.

use std::sync::Arc;

use super::{PodBreakdown, PodFilter, Problem, ProblemMoment, Problems};
use crate::rollouts::FoundRollouts;
use podinit_core::lifecycle::{NodeFaults, Record, SloRule, Stage};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_problems::{FindingResult, FoundPods};

/// What is broken, and who is affected.
#[derive(Clone, Debug, Default)]
pub struct ProblemSnapshot {
    pub problems: Problems,
    /// Of which instant it is; `None` before anything was found
    pub at: Option<Timestamp>,
    /// All pods; the next finding knows them by these
    pods: Arc<FoundPods>,
    /// The places of the pods of each problem, in the order of these
    affected: Vec<Vec<u32>>,
    /// Those of the pods that start as usual
    rest: Vec<u32>,
    /// The rollouts of that instant
    pub(crate) rollouts: FoundRollouts,
}

/// The pods in flight that an SLO matches, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchedPods {
    pub in_flight: [u64; Stage::ALL.len()],
    /// Those of problems; once for each
    pub affected: [u64; Stage::ALL.len()],
}

impl ProblemSnapshot {
    /// The problems among the pods in flight at `now`, by the newest records, the oldest of them first, and what is
    /// wrong with nodes.
    pub fn from_records(
        in_flight: Vec<Record>,
        newest: &[Record],
        faults: NodeFaults,
        now: Option<Timestamp>,
    ) -> Self {
        now.map_or_else(Self::default, |now| {
            let found = podinit_problems::find(in_flight, newest, &faults, now);
            Self::new(found, faults, now)
        })
    }

    /// What was found at `now`, where this is wrong with nodes.
    pub fn new(found: FindingResult, faults: NodeFaults, now: Timestamp) -> Self {
        let FindingResult { pods, problems, rest, ended, incomplete, parts: _ } = found;
        let (problems, affected): (Vec<_>, Vec<_>) = problems.into_iter().unzip();
        let ended = ended.iter();
        Self {
            problems: Problems {
                time: Some(now),
                age_seconds: None,
                fresh: true,
                freshness: None,
                clocks_ahead: Vec::new(),
                problems: (problems.iter())
                    .map(|problem| Problem::from_found(problem, ProblemMoment { now, ended: None }))
                    .collect(),
                not_compared: incomplete,
                ended: ended
                    .map(|one| {
                        Problem::from_found(
                            &one.problem,
                            ProblemMoment { now, ended: Some(one.at) },
                        )
                    })
                    .collect(),
                crashing: 0,
                clocks: faults.clocks,
                unmatched_slos: Vec::new(),
                lost_budgets: Vec::new(),
                late_deliveries: None,
            },
            at: Some(now),
            pods,
            affected,
            rest,
            rollouts: FoundRollouts::default(),
        }
    }

    /// The problem that the pod with this UID is one of; the worst, if there are several.
    pub fn problem_of(&self, pod: PodUid) -> Option<&Problem> {
        let place = self.pods.place(pod)?;
        let mut with_pods = self.problems.problems.iter().zip(&self.affected);
        with_pods.find(|(_, places)| places.contains(&place)).map(|(problem, _)| problem)
    }

    /// Counts the pods in flight that the SLO matches. It keeps no table of owners: in an outage, each of very many pods
    /// may have its own, and readers ask for many pages at once.
    pub fn matched_by(&self, slo: &SloRule) -> MatchedPods {
        let mut matched = MatchedPods::default();
        let add = |counts: &mut [u64; Stage::ALL.len()], place| {
            let owner = self.pods.workload(place).map(|owner| &**owner);
            let is_matched = || slo.matches_pods_of(self.pods.namespace(place), owner);
            if let Some(waiting) = self.pods.waiting(place).filter(|_| is_matched()) {
                counts[waiting.stage() as usize] += 1;
            }
        };
        (0..).take(self.pods.len()).for_each(|place| add(&mut matched.in_flight, place));
        for (problem, places) in self.problems.problems.iter().zip(&self.affected) {
            // A clock that is off keeps no pod.
            if !problem.is_of_clock() {
                places.iter().for_each(|place| add(&mut matched.affected, *place));
            }
        }
        matched
    }

    /// The pods that are wanted, counted.
    pub fn breakdown(&self, wanted: &PodFilter) -> PodBreakdown {
        let with_pods = self.problems.problems.iter().zip(&self.affected);
        PodBreakdown::from_pods(&self.pods, with_pods, &self.rest, wanted)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use podinit_core::lifecycle::{Cause, Namespaces, Progress, RecordedCause, WaitReason};
    use podinit_core::pod::Workload;
    use podinit_testing::records;

    /// So many pods of an owner, if they have one, that wait for `cause` since second 0.
    fn pods(
        (namespace, kind): (&str, Option<&str>),
        (stage, cause): (Stage, Cause),
        count: usize,
    ) -> Vec<Record> {
        let waiting = WaitReason::new(stage, cause).unwrap();
        let began = Timestamp::from_seconds(0);
        let one = |number| {
            let mut record = records::record(namespace, &format!("{namespace}-{kind:?}-{number}"));
            record.pod.workload =
                kind.map(|kind| Arc::new(Workload { kind: kind.into(), name: "web".into() }));
            record.progress = Progress::InFlight {
                waiting,
                entered: began,
                stuck_at: began.plus_nanos(300_000_000_000),
                is_stuck: true,
                is_never_ready: false,
            };
            record.causes = vec![RecordedCause { waiting, began, container: None }];
            record
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn an_slo_matches_pods_by_namespace_and_kind() {
        let unschedulable = (Stage::Unschedulable, Cause::Resources);
        let scheduling = (Stage::Scheduling, Cause::Queue);
        let in_flight = [
            pods(("batch", Some("Deployment")), unschedulable, 20),
            pods(("shop", Some("Deployment")), scheduling, 1),
            pods(("shop", Some("CronJob")), scheduling, 2),
            pods(("shop", None), scheduling, 2),
        ];
        let now = Some(Timestamp::from_seconds(600));
        let seen =
            ProblemSnapshot::from_records(in_flight.concat(), &[], NodeFaults::default(), now);
        let found = |namespaces, kinds: &[&str]| {
            let owner_kinds = kinds.iter().copied().map(Box::from).collect();
            let matched =
                seen.matched_by(&SloRule { namespaces, owner_kinds, ..SloRule::default() });
            let MatchedPods { in_flight, affected } = matched;
            let [early, late] = [Stage::Scheduling, Stage::Unschedulable].map(|one| one as usize);
            (in_flight[early], in_flight[late], affected[late])
        };
        let shop = || Namespaces::Include(vec!["shop".into()]);
        assert_eq!(found(Namespaces::All, &[]), (5, 20, 20));
        assert_eq!(found(shop(), &[]), (5, 0, 0));
        assert_eq!(found(shop(), &["Deployment"]), (1, 0, 0));
        assert_eq!(found(shop(), &["Deployment", "Job"]), (3, 0, 0));
        let excluded = Namespaces::Exclude(vec!["shop".into()]);
        assert_eq!(found(excluded, &[]), (0, 20, 20));
    }
}
