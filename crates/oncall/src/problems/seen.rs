//! What is broken at an instant, and every pod in flight.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Census, Problem, Problems, Wanted};
use podinit_core::lifecycle::{LateNode, NodeClock, Record, Stage};
use podinit_core::pod::{PodUid, Workload};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;
use podinit_problems::{Found, FoundPods};

/// What is broken, and who is affected.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub problems: Problems,
    /// Of which instant it is; `None` before anything was found
    pub at: Option<Timestamp>,
    /// All pods; the next finding knows them by these
    pods: Arc<FoundPods>,
    /// The places of the pods of each problem, in the order of these
    affected: Vec<Vec<u32>>,
    /// Those of the pods that start as usual
    rest: Vec<u32>,
}

/// The pods in flight of an owner in a namespace, or of none, by stage.
#[derive(Clone, Debug, Default)]
pub struct PodsOfOwner<'a> {
    pub namespace: &'a str,
    pub owner: Option<&'a Workload>,
    pub in_flight: [u64; Stage::ALL.len()],
    /// Those of problems; once for each
    pub affected: [u64; Stage::ALL.len()],
}

impl Seen {
    /// The problems among the pods in flight at `now`, by the newest records, the oldest of them first, and the nodes
    /// whose clocks are off or that do not become schedulable.
    pub fn of(
        in_flight: Vec<Record>,
        newest: &[Record],
        (clocks, late_nodes): (Vec<NodeClock>, &[LateNode]),
        now: Option<Timestamp>,
    ) -> Self {
        now.map_or_else(Self::default, |now| {
            let found = podinit_problems::find(in_flight, newest, (&clocks, late_nodes), now);
            Self::new(found, clocks, now)
        })
    }

    /// What was found at `now`.
    pub fn new(found: Found, clocks: Vec<NodeClock>, now: Timestamp) -> Self {
        let Found { pods, problems, rest, ended, incomplete } = found;
        let (problems, affected): (Vec<_>, Vec<_>) = problems.into_iter().unzip();
        let ended = ended.iter();
        Self {
            problems: Problems {
                time: Some(rfc3339::format(now)),
                age_seconds: None,
                fresh: true,
                freshness: None,
                clocks_ahead: Vec::new(),
                problems: (problems.iter())
                    .map(|problem| Problem::of(problem, now, None))
                    .collect(),
                not_compared: incomplete,
                ended: ended.map(|one| Problem::of(&one.problem, now, Some(one.at))).collect(),
                crashing: 0,
                clocks,
                unmatched_slos: Vec::new(),
                late_deliveries: None,
            },
            at: Some(now),
            pods,
            affected,
            rest,
        }
    }

    /// The problem that the pod with this UID is one of; the worst, if there are several.
    pub fn problem_of(&self, pod: PodUid) -> Option<&Problem> {
        let place = self.pods.place(pod)?;
        let mut with_pods = self.problems.problems.iter().zip(&self.affected);
        with_pods.find(|(_, places)| places.contains(&place)).map(|(problem, _)| problem)
    }

    /// The pods in flight, by what SLOs select them by.
    pub fn by_owner(&self) -> Vec<PodsOfOwner<'_>> {
        let mut by_owner = HashMap::new();
        let mut add = |place: u32, is_affected: bool| {
            let Some(waiting) = self.pods.waiting(place) else {
                return;
            };
            let numbers = (self.pods.namespace_number(place), self.pods.workload_number(place));
            let found = by_owner.entry(numbers).or_insert_with(|| PodsOfOwner {
                namespace: self.pods.namespace(place),
                owner: self.pods.workload(place).map(|owner| &**owner),
                ..PodsOfOwner::default()
            });
            let counts = if is_affected { &mut found.affected } else { &mut found.in_flight };
            counts[waiting.stage() as usize] += 1;
        };
        (0..).take(self.pods.len()).for_each(|place| add(place, false));
        for (problem, places) in self.problems.problems.iter().zip(&self.affected) {
            // A clock that is off keeps no pod.
            if !problem.is_of_clock() {
                places.iter().for_each(|place| add(*place, true));
            }
        }
        by_owner.into_values().collect()
    }

    /// The pods that are wanted, counted.
    pub fn census(&self, wanted: &Wanted) -> Census {
        let with_pods = self.problems.problems.iter().zip(&self.affected);
        Census::of(&self.pods, with_pods, &self.rest, wanted)
    }
}
