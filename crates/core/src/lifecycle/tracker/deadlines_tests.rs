use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::observation::{Observation, PodObservation, PodState};
use crate::lifecycle::tracker::TrackerConfig;
use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
use crate::pod::{ConditionStatus, ConditionType, PodSnapshot, StatusCondition};

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
            PodObservation::Moved { from: PodState::Undiscovered, .. } => self.discovered += 1,
            _ => {}
        }
        let said = self.of_pods.entry(pod.name.to_string()).or_default();
        said.push(format!("{observation:?}"));
    }

    /// Of each pod of the second source, but for which pod is the oldest of all sources.
    fn of_source_one(&self) -> Vec<(&str, Vec<&str>)> {
        let own = self.of_pods.iter().filter(|(name, _)| {
            let number = name.split('-').nth(1).and_then(|number| number.parse().ok());
            number.map(source_of) == Some(SourceId(1))
        });
        let own = own.map(|(name, said)| {
            let said = said.iter().map(String::as_str);
            let lasting = said.filter(|said| !said.starts_with("OldestInFlight"));
            (name.as_str(), lasting.collect())
        });
        own.collect()
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
        Self { tracker, said: Said::default() }
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
        let condition = StatusCondition {
            status: ConditionStatus::True,
            last_transition: Some(at(created.max(second - 1))),
        };
        pod.conditions.insert(kind, condition);
    }
    pod
}

/// The odd pods are of one source, the even ones of another.
const fn source_of(number: u8) -> SourceId {
    SourceId((number % 2) as u16)
}

/// What a step delivers to the source of `number`; `None` where only time passes.
fn event(
    action: u8,
    number: u8,
    second: i64,
    created: &mut [Option<i64>; PODS as usize],
) -> Option<PodEvent> {
    let born = &mut created[usize::from(number)];
    let mut pod = |state| snapshot(number, *born.get_or_insert(second), state, second);
    Some(match action {
        0..2 => return None,
        2..6 => PodEvent::Applied(pod(0)),
        6 => PodEvent::Applied(pod(1)),
        7 => PodEvent::Applied(pod(2)),
        8 => {
            let gone = PodEvent::Deleted(pod(0));
            *born = None;
            gone
        }
        9 | 10 => PodEvent::SyncLost,
        11 => PodEvent::Resumed,
        12 => PodEvent::CaughtUp,
        _ => {
            *born = None;
            let numbered = (0..).zip(*created);
            let own = numbered.filter(|(other, _)| source_of(*other) == source_of(number));
            let listed = own.filter_map(|(number, born)| Some(snapshot(number, born?, 1, second)));
            PodEvent::Listed { pods: listed.collect::<Vec<_>>().into(), began: at(second) }
        }
    })
}

proptest! {
    /// What happens to one source changes nothing of the pods of another.
    #[test]
    fn sources_are_judged_apart(
        steps in prop::collection::vec((0u8..14, 0..PODS, 0i64..7, any::<bool>()), 0..120),
    ) {
        let (mut both, mut alone) = (Subject::new(usize::MAX), Subject::new(usize::MAX));
        let mut created: [Option<i64>; PODS as usize] = Default::default();
        let mut second = 0;
        for (action, number, passed, observed) in steps {
            second += passed;
            let event = event(action, number, second, &mut created);
            let is_list = matches!(event, Some(PodEvent::Listed { .. }));
            let delivered = event.map(|event| Delivery {
                observed: (!is_list && observed).then_some(at(second)),
                ..delivery(source_of(number), second, event)
            });
            match &delivered {
                Some(delivered) => both.apply(delivered),
                None => both.advance(second),
            }
            match delivered.filter(|delivered| delivered.source == SourceId(1)) {
                Some(delivered) => alone.apply(&delivered),
                None => alone.advance(second),
            }
            prop_assert!(both.is_conserved());
            prop_assert_eq!(both.said.of_source_one(), alone.said.of_source_one());
        }
    }

    /// However few deadlines pass at once, and whatever happens before the others do.
    #[test]
    fn steps_change_no_figure(
        at_once in 1usize..4,
        steps in prop::collection::vec((0u8..14, 0..PODS, 0i64..4, 0u8..4), 0..120),
    ) {
        let (mut whole, mut stepped) = (Subject::new(usize::MAX), Subject::new(at_once));
        let mut created: [Option<i64>; PODS as usize] = Default::default();
        let mut second = 0;
        for (action, number, passed, then) in steps {
            second += passed;
            let event = event(action, number, second, &mut created);
            match event {
                None => {
                    whole.advance(second);
                    stepped.advance(second);
                }
                Some(event) => {
                    let is_list = matches!(event, PodEvent::Listed { .. });
                    let delivery = Delivery {
                        observed: (!is_list && then > 0).then_some(at(second)),
                        ..delivery(source_of(number), second, event)
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
        for source in [0, 1] {
            let caught_up = delivery(SourceId(source), second, PodEvent::CaughtUp);
            whole.apply(&caught_up);
            stepped.apply(&caught_up);
        }
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
    assert_eq!((subject.said.events, subject.tracker.is_behind()), ([1, 0], true));
    subject.apply(&delivery(SourceId(0), 6, PodEvent::SyncLost));
    assert_eq!((subject.said.events, subject.tracker.is_behind()), ([4, 0], false));
}

/// The SLO events of a tracker whose second source has lost the sync at second 1, and regained it at second 20.
#[test]
fn a_source_out_of_sync_keeps_no_other_from_being_judged() {
    for (back, judged_at) in [(PodEvent::CaughtUp, 20), (PodEvent::Resumed, 26)] {
        let mut subject = Subject::new(usize::MAX);
        for number in 0..2 {
            let pod = PodEvent::Applied(snapshot(number, 0, 0, 0));
            subject.apply(&delivery(source_of(number), 0, pod));
        }
        subject.apply(&delivery(SourceId(1), 1, PodEvent::SyncLost));
        subject.advance(19);
        assert_eq!(subject.said.events, [1, 1]);
        assert_eq!(subject.said.stuck.values().sum::<i64>(), 1);
        subject.apply(&delivery(SourceId(1), 20, back));
        subject.advance(judged_at - 1);
        let early = [1 + usize::from(judged_at == 20); 2];
        assert_eq!(subject.said.events, early);
        subject.advance(judged_at);
        assert_eq!(subject.said.events, [2, 2]);
        assert_eq!(subject.said.stuck.values().sum::<i64>(), 2);
        assert!(subject.is_conserved());
    }
}

#[test]
fn the_list_of_a_source_is_folded_before_what_was_held_for_it_passes() {
    let mut subject = Subject::new(1);
    for number in 0..4 {
        let pod = PodEvent::Applied(snapshot(number, 0, 0, 0));
        subject.apply(&delivery(source_of(number), 0, pod));
    }
    subject.apply(&delivery(SourceId(1), 1, PodEvent::SyncLost));
    subject.advance(30);
    assert!(subject.tracker.is_behind());
    let ready = [1, 3].map(|number| snapshot(number, 0, 2, 3));
    let list = PodEvent::Listed { pods: ready.to_vec().into(), began: at(30) };
    subject.apply(&delivery(SourceId(1), 30, list));
    while subject.tracker.is_behind() {
        subject.pass_more();
    }
    let bad = |number: u8| {
        let said = &subject.said.of_pods[&format!("pod-{number}-0")];
        said.iter().filter(|said| said.contains("Bad")).count()
    };
    assert_eq!([0, 1, 2, 3].map(bad), [2, 0, 2, 0]);
}

#[test]
fn nobody_says_that_pods_are_stuck_of_a_source_that_is_gone() {
    let mut subject = Subject::new(usize::MAX);
    for number in 0..2 {
        let pod = PodEvent::Applied(snapshot(number, 0, 0, 0));
        subject.apply(&delivery(source_of(number), 0, pod));
    }
    let stuck = |subject: &Subject| subject.said.stuck.values().sum::<i64>();
    subject.advance(20);
    assert_eq!(stuck(&subject), 2);
    subject.apply(&delivery(SourceId(1), 20, PodEvent::SyncLost));
    subject.advance(100);
    assert_eq!(stuck(&subject), 2);
    subject.advance(200);
    assert_eq!(stuck(&subject), 1);
    subject.apply(&delivery(SourceId(1), 300, PodEvent::CaughtUp));
    assert_eq!(stuck(&subject), 2);
}
