//! What is broken at an instant, and every pod in flight.

use std::sync::Arc;

use super::{Census, Problem, Problems, Wanted};
use podinit_core::lifecycle::{LateNode, NodeClock, Record};
use podinit_core::pod::PodUid;
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

    /// The pods that are wanted, counted.
    pub fn census(&self, wanted: &Wanted) -> Census {
        let with_pods = self.problems.problems.iter().zip(&self.affected);
        Census::of(&self.pods, with_pods, &self.rest, wanted)
    }
}
