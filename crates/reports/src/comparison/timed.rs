//! What a row compares: the intervals that all pods have, durations of milestones of your own and gates
//! ([§16.10](crate::specification#s16-10)), and the pulls of a startup ([§15.2](crate::specification#s15-2)).

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::presence::SideName;
use super::row::LEAST_PODS;
use super::side::ComparisonSide;
use podinit_core::lifecycle::{
    CustomStart, GateKind, Interval, Latency, Record, SloInterval, Stage,
};
use podinit_core::pod::MOST_OWN_MILESTONES;

/// So many durations of milestones have rows, and so many gates, those of most pods.
const MOST_MILESTONES: usize = CustomStart::ALL.len() * MOST_OWN_MILESTONES;
const MOST_GATES: usize = 20;
/// The name of the row of pulls.
pub(super) const PULLS: &str = "pulls";

/// A duration that pods have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PodDuration {
    /// An interval of all pods, or a duration of a milestone of your own
    Interval(SloInterval),
    /// A stage that one side does not have, of the pods with the interval `whole`: 0 of a pod that lacks it
    OrZero { stage: Stage, whole: Interval, not_there: SideName },
    /// How long a gate took
    Gate { kind: GateKind, gate: Arc<str> },
    /// The time in which images were pulled, those of this registry or all
    Pulls { from: Option<Arc<str>> },
}

impl From<Interval> for PodDuration {
    fn from(interval: Interval) -> Self {
        Self::Interval(interval.into())
    }
}

impl PodDuration {
    /// Its name. That of a gate is a stranger's.
    pub(super) fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Interval(interval) => interval.text(),
            Self::OrZero { stage, .. } => stage.as_str().into(),
            Self::Pulls { .. } => PULLS.into(),
            Self::Gate { kind, gate } => format!("{} gate {gate}", kind.as_str()).into(),
        }
    }

    /// Whether few values of a dimension may differ in it although all pods are as before: it is no step.
    pub(super) const fn may_differ_in_few(&self) -> bool {
        !matches!(self, Self::Interval(SloInterval::Standard(Interval::Step(_))))
    }

    /// The side that does not have it, of a stage that came or went.
    pub(super) const fn not_there(&self) -> Option<SideName> {
        match self {
            Self::OrZero { not_there, .. } => Some(*not_there),
            _ => None,
        }
    }

    /// As it was observed alone, without pods that lack it.
    pub(super) fn observed_alone(&self) -> Self {
        match self {
            Self::OrZero { stage, .. } => Interval::Stage(*stage).into(),
            _ => self.clone(),
        }
    }

    /// Those of a startup that have names of their own.
    pub(super) fn of_record(record: &Record) -> Box<[(Self, Latency)]> {
        let milestones = record.custom_milestones.iter().flat_map(|one| {
            CustomStart::ALL
                .into_iter()
                .filter_map(|from| Some((Self::Interval(one.interval(from)?), one.seconds(from)?)))
        });
        let gates = record.gates.iter().filter_map(|gate| {
            let timed = Self::Gate { kind: gate.kind, gate: Arc::clone(&gate.gate) };
            Some((timed, record.gate_seconds(gate)?))
        });
        milestones.chain(gates).collect()
    }

    /// Where it stands among the rows: durations of milestones first, by name.
    fn place(&self) -> (bool, Option<GateKind>, &str, Option<CustomStart>) {
        match self {
            Self::Interval(SloInterval::Custom { milestone, from }) => {
                (false, None, milestone, Some(*from))
            }
            Self::Interval(SloInterval::Standard(interval)) => {
                (false, None, interval.as_str(), None)
            }
            Self::OrZero { stage, .. } => (false, None, stage.as_str(), None),
            Self::Pulls { .. } => (false, None, PULLS, None),
            Self::Gate { kind, gate } => (true, Some(*kind), gate, None),
        }
    }
}

/// The durations with names of their own that enough pods of both sides have.
pub(super) fn common(before: &ComparisonSide, after: &ComparisonSide) -> Vec<PodDuration> {
    let mut counts: HashMap<&PodDuration, [usize; 2]> = HashMap::new();
    for (number, side) in [before, after].into_iter().enumerate() {
        for (timed, _) in side.pods().iter().flat_map(|pod| pod.named()) {
            counts.entry(timed).or_default()[number] += 1;
        }
    }
    counts.retain(|_, pods| pods.iter().all(|pods| *pods >= LEAST_PODS));
    let pods_of = |timed: &&PodDuration| counts[*timed].iter().sum::<usize>();
    let (mut milestones, mut gates): (Vec<&PodDuration>, Vec<&PodDuration>) =
        counts.keys().copied().partition(|timed| matches!(timed, PodDuration::Interval(_)));
    for (all, most) in [(&mut milestones, MOST_MILESTONES), (&mut gates, MOST_GATES)] {
        all.sort_by_key(|timed| (Reverse(pods_of(timed)), timed.place()));
        all.truncate(most);
        all.sort_by_key(|timed| timed.place());
    }
    milestones.into_iter().chain(gates).cloned().collect()
}
