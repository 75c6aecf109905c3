use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::observation::{Observation, PodObservation, PodState};
use crate::lifecycle::tracker::TrackerConfig;
use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
use crate::pod::{Condition, ConditionStatus, ConditionType, PodSnapshot};

const SLOS: u16 = 2;
const PODS: u8 = 8;

/// What a tracker has said.
#[derive(Default)]
struct Said {
    /// Of each pod, in this order
    of_pods: BTreeMap<String, Vec<String>>,
    /// How many pods are stuck, by why they wait
    stuck: BTreeMap<String, i64>,
    discovered: usize,
    events: [usize; SLOS as usize],
}

impl Said {
    fn observe(&mut self, observation: Observation<'_>) {
        let Observation::Pod(pod, observation) = observation else {
            return;
        };
        match observation {
            PodObservation::Stuck { from, to } => {
                for (waiting, change) in [(from, -1), (to, 1)] {
                    if let Some(waiting) = waiting {
                        *self.stuck.entry(format!("{waiting:?}")).or_default() += change;
                    }
                }
                return;
            }
            PodObservation::Slo { slo, .. } => self.events[usize::from(slo.0)] += 1,
            PodObservation::Moved {
                from: PodState::Undiscovered,
                ..
            } => self.discovered += 1,
            _ => {}
        }
        let said = self.of_pods.entry(pod.name.to_string()).or_default();
        said.push(format!("{observation:?}"));
    }

    fn stuck(&self) -> BTreeMap<&str, i64> {
        let some = self.stuck.iter().filter(|(_, count)| **count != 0);
        some.map(|(waiting, count)| (&**waiting, *count)).collect()
    }
}

struct Subject {
    tracker: Tracker,
    said: Said,
}

impl Subject {
    fn new(deadlines_at_once: usize) -> Self {
        let tracker = Tracker::new(TrackerConfig {
            slos: [rule("fast", 5), rule("slow", 12)].into(),
            stuck_after: StuckAfter::of_each(|_| Duration::from_secs(7)),
            deadlines_at_once,
            ..TrackerConfig::default()
        });
        Self {
            tracker,
            said: Said::default(),
        }
    }

    fn apply(&mut self, delivery: &Delivery) {
        let Self { tracker, said } = self;
        tracker.apply(delivery.clone(), &mut |_, observation: Observation<'_>| {
            said.observe(observation);
        });
    }

    fn advance(&mut self, second: i64) {
        let Self { tracker, said } = self;
        tracker.advance(at(second), &mut |_, observation: Observation<'_>| {
            said.observe(observation);
        });
    }

    fn pass_more(&mut self) {
        let Self { tracker, said } = self;
        tracker.pass_more(&mut |_, observation: Observation<'_>| said.observe(observation));
    }

    /// As a scrape sees it ([§6.5](crate::specification#s6-5)).
    fn is_conserved(&self) -> bool {
        (0..SLOS).all(|slo| {
            let had = self.said.events[usize::from(slo)];
            had + self.tracker.undecided(SloId(slo)) == self.said.discovered
        })
    }
}

/// The pod as it is in this second: `state` says what it has reached.
fn snapshot(number: u8, created: i64, state: u8, second: i64) -> PodSnapshot {
    let name = format!("pod-{number}-{created}");
    let mut pod = PodSnapshot::bare(PodUid::from_text(&name), "ns", &*name);
    pod.created = Some(at(created));
    let kinds = [ConditionType::PodScheduled, ConditionType::Ready];
    for kind in kinds.into_iter().take(state.into()) {
        let condition = Condition {
            status: ConditionStatus::True,
            last_transition: Some(at(created.max(second - 1))),
        };
        pod.conditions.insert(kind, condition);
    }
    pod
}

proptest! {
    /// However few deadlines pass at once, and whatever happens before the others do.
    #[test]
    fn steps_change_no_figure(
        at_once in 1usize..4,
        steps in prop::collection::vec((0u8..12, 0..PODS, 0i64..4, 0u8..4), 0..120),
    ) {
        let (mut whole, mut stepped) = (Subject::new(usize::MAX), Subject::new(at_once));
        let mut created: [Option<i64>; PODS as usize] = Default::default();
        let mut second = 0;
        for (action, number, passed, then) in steps {
            second += passed;
            let born = &mut created[usize::from(number)];
            let mut pod = |state| snapshot(number, *born.get_or_insert(second), state, second);
            let event = match action {
                0..2 => None,
                2..6 => Some(PodEvent::Applied(pod(0))),
                6 => Some(PodEvent::Applied(pod(1))),
                7 => Some(PodEvent::Applied(pod(2))),
                8 => {
                    let gone = PodEvent::Deleted(pod(0));
                    *born = None;
                    Some(gone)
                }
                9 => Some(PodEvent::SyncLost),
                10 => Some(PodEvent::Resumed),
                _ => {
                    *born = None;
                    let listed = (0..).zip(created).filter_map(|(number, born)| {
                        Some(snapshot(number, born?, 1, second))
                    });
                    let pods = listed.collect::<Vec<_>>().into();
                    Some(PodEvent::Listed { pods, began: at(second) })
                }
            };
            match event {
                None => {
                    whole.advance(second);
                    stepped.advance(second);
                }
                Some(event) => {
                    let is_list = matches!(event, PodEvent::Listed { .. });
                    let delivery = Delivery {
                        observed: (!is_list && then > 0).then_some(at(second)),
                        ..delivery(SourceId(0), second, event)
                    };
                    whole.apply(&delivery);
                    stepped.apply(&delivery);
                }
            }
            prop_assert!(stepped.is_conserved());
            match then {
                0 => _ = stepped.tracker.begin_saving(),
                1 => _ = stepped.tracker.save_chunk(|_| {}, |_| {}),
                2 => stepped.pass_more(),
                _ => {}
            }
            prop_assert!(stepped.is_conserved());
        }
        while stepped.tracker.save_chunk(|_| {}, |_| {}) {}
        second += 100;
        whole.advance(second);
        stepped.advance(second);
        while stepped.tracker.is_behind() {
            stepped.pass_more();
        }
        prop_assert_eq!(&whole.said.of_pods, &stepped.said.of_pods);
        prop_assert_eq!(whole.said.stuck(), stepped.said.stuck());
        prop_assert!(whole.is_conserved());
    }
}

#[test]
fn what_has_passed_is_reported_before_sync_is_lost() {
    let mut subject = Subject::new(1);
    for number in 0..4 {
        let pod = PodEvent::Applied(snapshot(number, 0, 0, 0));
        subject.apply(&delivery(SourceId(0), 0, pod));
    }
    subject.advance(6);
    assert_eq!(
        (subject.said.events, subject.tracker.is_behind()),
        ([1, 0], true)
    );
    subject.apply(&delivery(SourceId(0), 6, PodEvent::SyncLost));
    assert_eq!(
        (subject.said.events, subject.tracker.is_behind()),
        ([4, 0], false)
    );
}
