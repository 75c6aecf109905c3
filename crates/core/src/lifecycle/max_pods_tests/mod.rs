//! The cap on remembered pods, against a model that is as plain as can be: any history of a
//! cluster, at any cap.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod history;
mod model;

use std::collections::BTreeMap;

use crate::lifecycle::{
    Delivery, EvictedCounts, Observation, Observer, PodEvent, PodObservation, PodState,
    RefusalReason, SourceId, Tracker, TrackerConfig, TrackerObservation,
};
use crate::pod::PodInfo;
use crate::timestamp::Timestamp;
use history::{Change, History};
use model::Model;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// What the tracker has said, pod by pod.
#[derive(Debug, Default, PartialEq)]
struct Said {
    /// How often each pod was discovered, by its name
    discovered: BTreeMap<String, u32>,
    finished: usize,
    in_flight: usize,
    evicted: EvictedCounts,
    refused: [u64; 2],
    remembered: usize,
    /// Everything, in its order
    all: Vec<(String, PodObservation)>,
}

impl Observer for Said {
    fn observe(&mut self, _: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(pod, observation) => self.observe_pod(pod, observation),
            Observation::Tracker(TrackerObservation::Advanced { remembered, .. }) => {
                self.remembered = remembered;
            }
            Observation::Tracker(TrackerObservation::Evicted(pods)) => {
                for (sum, pods) in self.evicted.iter_mut().zip(pods) {
                    *sum += pods;
                }
            }
            Observation::Pull(..)
            | Observation::Gate(..)
            | Observation::Gates(..)
            | Observation::Node(_)
            | Observation::Rollout(..)
            | Observation::Tracker(_) => {}
        }
    }
}

impl Said {
    fn observe_pod(&mut self, pod: &PodInfo, observation: PodObservation) {
        match observation {
            PodObservation::Moved { from, to } => {
                match from {
                    PodState::Undiscovered => {
                        *self.discovered.entry(pod.name.to_string()).or_default() += 1;
                    }
                    PodState::InFlight(..) => self.in_flight -= 1,
                    PodState::Finished(_) => self.finished -= 1,
                }
                match to {
                    PodState::Undiscovered => unreachable!("no pod is undiscovered again"),
                    PodState::InFlight(..) => self.in_flight += 1,
                    PodState::Finished(_) => self.finished += 1,
                }
            }
            PodObservation::Refused(reason) => self.refused[reason as usize] += 1,
            _ => {}
        }
        self.all.push((pod.name.to_string(), observation));
    }
}

/// A tracker with its cap, and what it has said.
struct Capped {
    tracker: Tracker,
    said: Said,
}

impl Capped {
    fn new(max_pods: usize) -> Self {
        let config = TrackerConfig { max_pods, ..TrackerConfig::default() };
        Self { tracker: Tracker::new(config), said: Said::default() }
    }

    fn apply(&mut self, second: i64, change: &Change) {
        let now = Timestamp::from_seconds(second);
        let event = match change {
            Change::Nothing => return self.tracker.advance(now, &mut self.said),
            Change::Applied(pod) => PodEvent::Applied(pod.snapshot()),
            Change::Deleted(pod) => PodEvent::Deleted(pod.snapshot()),
            Change::Listed(pods) => PodEvent::Listed {
                pods: pods.iter().map(history::Pod::snapshot).collect(),
                began: now,
            },
        };
        let observed = matches!(event, PodEvent::Applied(_) | PodEvent::Deleted(_)).then_some(now);
        let delivery = Delivery { source: SourceId(0), event, now, observed, version: None };
        self.tracker.apply(delivery, &mut self.said);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_cap_is_kept_and_nobody_is_counted_twice(
        history in history::any(),
        cap in prop_oneof![1usize..8, 16usize..40],
    ) {
        let mut capped = Capped::new(cap);
        let mut model = Model::new(cap);
        for (second, change) in History::play(&history) {
            capped.apply(second, &change);
            model.apply(second, &change);
            let said = &capped.said;
            prop_assert!(capped.tracker.remembered() <= cap);
            prop_assert!(said.discovered.values().all(|times| *times == 1));
            prop_assert_eq!(said.discovered.len(), said.finished + said.in_flight);
            prop_assert_eq!(said.remembered, capped.tracker.remembered());
            prop_assert_eq!(said.remembered, model.remembered());
            prop_assert_eq!(said.in_flight, model.in_flight());
            prop_assert_eq!(said.evicted, model.evicted);
            prop_assert_eq!(said.refused, model.refused);
            prop_assert!(said.discovered.keys().eq(&model.discovered));
        }
    }

    #[test]
    fn a_cap_that_is_never_reached_changes_nothing(history in history::any()) {
        let (mut capped, mut free) = (Capped::new(history::PODS), Capped::new(usize::MAX));
        for (second, change) in History::play(&history) {
            capped.apply(second, &change);
            free.apply(second, &change);
        }
        prop_assert_eq!(&capped.said, &free.said);
        prop_assert_eq!(capped.said.evicted, EvictedCounts::default());
        prop_assert_eq!(capped.said.refused[RefusalReason::Full as usize], 0);
    }
}

#[test]
fn the_histories_reach_the_cap_in_every_way() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut evicted, mut refused, mut back) = (EvictedCounts::default(), [0; 2], 0);
    for _ in 0..200 {
        let history = history::any().new_tree(&mut runner).unwrap().current();
        let mut model = Model::new(12);
        for (second, change) in History::play(&history) {
            model.apply(second, &change);
        }
        evicted = std::array::from_fn(|state| evicted[state] + model.evicted[state]);
        refused = std::array::from_fn(|reason| refused[reason] + model.refused[reason]);
        back += model.came_back;
    }
    let reached = |count: &u64| *count > 50;
    assert!(evicted.iter().chain(&refused).all(reached), "{evicted:?} {refused:?}");
    assert!(back > 100, "evicted pods that came again: {back}");
}
