//! The pods in flight, ordered by when they entered their stage.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::interval::Stage;
use super::observation::PodObservation;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// A stage, and when the pod entered it.
pub(super) type StageEntry = (Stage, Timestamp);

/// For each stage the pods that are in it, in the order in which they entered it.
#[derive(Debug, Default)]
pub(super) struct InFlightOrder([BTreeSet<(Timestamp, PodUid)>; Stage::ALL.len()]);

impl InFlightOrder {
    /// How many pods are in flight.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(BTreeSet::len).sum()
    }

    /// When the pod that has been in `stage` longest entered it.
    pub(super) fn oldest(&self, stage: Stage) -> Option<Timestamp> {
        self.0[stage as usize].first().map(|(entered, _)| *entered)
    }

    /// The pods of a stage after a place in their order, or all.
    pub(super) fn entered_after(
        &self,
        stage: Stage,
        after: Option<(Timestamp, PodUid)>,
    ) -> impl Iterator<Item = (Timestamp, PodUid)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let range = (from, Bound::Unbounded);
        self.0[stage as usize].range(range).copied()
    }

    /// Moves a pod from one stage to another (`None` for no stage), and emits the oldest pods that
    /// have changed.
    pub(super) fn move_pod(
        &mut self,
        uid: PodUid,
        from: Option<StageEntry>,
        to: Option<StageEntry>,
        emit: &mut impl FnMut(PodObservation),
    ) {
        if from == to {
            return;
        }
        if let Some((stage, entered)) = from {
            self.change(stage, emit, |pods| {
                pods.remove(&(entered, uid));
            });
        }
        if let Some((stage, entered)) = to {
            self.change(stage, emit, |pods| {
                pods.insert((entered, uid));
            });
        }
    }

    fn change(
        &mut self,
        stage: Stage,
        emit: &mut impl FnMut(PodObservation),
        change: impl FnOnce(&mut BTreeSet<(Timestamp, PodUid)>),
    ) {
        let before = self.oldest(stage);
        change(&mut self.0[stage as usize]);
        let entered = self.oldest(stage);
        if entered != before {
            emit(PodObservation::OldestInFlight { stage, entered });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_reported_whenever_it_changes_and_only_then() {
        let mut order = InFlightOrder::default();
        let mut reported = Vec::new();
        let mut emit = |observation| reported.push(observation);
        let (first, second) = (PodUid::from_text("1"), PodUid::from_text("2"));
        let since = |second| Some((Stage::Network, Timestamp::from_seconds(second)));
        order.move_pod(first, None, since(10), &mut emit);
        order.move_pod(second, None, since(20), &mut emit);
        order.move_pod(first, since(10), since(10), &mut emit);
        order.move_pod(first, since(10), None, &mut emit);
        order.move_pod(second, since(20), None, &mut emit);
        let oldest = |second: Option<i64>| PodObservation::OldestInFlight {
            stage: Stage::Network,
            entered: second.map(Timestamp::from_seconds),
        };
        assert_eq!(reported, [oldest(Some(10)), oldest(Some(20)), oldest(None)]);
    }

    #[test]
    fn every_pod_is_counted_once_whatever_its_stage() {
        let mut order = InFlightOrder::default();
        let since = |stage| Some((stage, Timestamp::from_seconds(10)));
        let (first, second) = (PodUid::from_text("1"), PodUid::from_text("2"));
        let moves = [
            (first, None, since(Stage::Network), 1),
            (second, None, since(Stage::Init), 2),
            (first, since(Stage::Network), since(Stage::Init), 2),
            (second, since(Stage::Init), None, 1),
        ];
        for (pod, from, to, waiting) in moves {
            order.move_pod(pod, from, to, &mut |_| {});
            assert_eq!(order.len(), waiting);
        }
    }
}
