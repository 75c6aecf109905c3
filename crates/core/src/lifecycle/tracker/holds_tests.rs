//! Each remembered pod that was not deleted has one hold, however it came and whatever becomes of it.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use super::fixtures::{at, delivery};
use super::*;
use crate::lifecycle::observer::{LabelMove, LabelObserver, Observer};
use crate::lifecycle::saved::{SavedPod, read_back};
use crate::lifecycle::sources::SourceSuccessor;
use crate::pod::{ConditionStatus, ConditionType, PodInfo, StatusCondition};

/// Which names have pods, by the numbers of their holds.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    pods: BTreeMap<u32, i64>,
}

impl Observer for Names {
    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        Some(self)
    }
}

impl LabelObserver for Names {
    fn hold(&mut self, _: Timestamp, pod: &PodInfo) -> LabelHold {
        let node = pod.node.as_deref().unwrap_or("-");
        let name = format!("{} {node}", pod.name);
        let known = self.names.iter().position(|known| *known == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        let number = index as u32 + 1;
        *self.pods.entry(number).or_default() += 1;
        LabelHold::new(number)
    }

    fn release(&mut self, _: Timestamp, hold: LabelHold) {
        *self.pods.entry(hold.get()).or_default() -= 1;
    }

    fn is_of_rest(&self, _: LabelHold) -> bool {
        false
    }

    fn next_move(&mut self) -> Option<LabelMove> {
        None
    }
}

impl Names {
    /// Those with pods, and how many.
    fn held(&self) -> Vec<(&str, i64)> {
        let held = self.pods.iter().filter(|(_, pods)| **pods != 0);
        let name = |number: u32| match number.checked_sub(1) {
            None => "unknown",
            Some(index) => &*self.names[index as usize],
        };
        held.map(|(number, pods)| (name(*number), *pods)).collect()
    }
}

fn pod(name: &str, version: u64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
    pod.resource_version = Some(version);
    pod.created = Some(at(1));
    pod
}

fn bound(name: &str, version: u64) -> PodSnapshot {
    let mut pod = pod(name, version);
    pod.info.node = Some("n".into());
    pod
}

fn ready(name: &str, version: u64) -> PodSnapshot {
    let mut pod = bound(name, version);
    let condition = StatusCondition { status: ConditionStatus::True, last_transition: Some(at(2)) };
    pod.conditions.insert(ConditionType::Ready, condition);
    pod
}

fn apply(tracker: &mut Tracker, names: &mut Names, events: Vec<PodEvent>) {
    for event in events {
        tracker.apply(delivery(SourceId(0), 3, event), names);
    }
}

fn tracker(max_pods: usize) -> Tracker {
    let mut tracker = Tracker::new(TrackerConfig { max_pods, ..TrackerConfig::default() });
    tracker.begin_without_list(SourceId(0), None);
    tracker
}

#[test]
fn a_pod_is_held_from_its_first_snapshot_to_its_last() {
    let (mut tracker, mut names) = (tracker(usize::MAX), Names::default());
    let mut after = |event, held: &[(&str, i64)]| {
        apply(&mut tracker, &mut names, vec![event]);
        assert_eq!(names.held(), held);
    };
    after(PodEvent::Applied(pod("a", 1)), &[("a -", 1)]);
    after(PodEvent::Applied(pod("a", 2)), &[("a -", 1)]);
    after(PodEvent::Applied(bound("a", 3)), &[("a n", 1)]);
    after(PodEvent::Applied(ready("a", 4)), &[("a n", 1)]);
    after(PodEvent::Applied(ready("a", 5)), &[("a n", 1)]);
    after(PodEvent::Deleted(ready("a", 6)), &[]);
    after(PodEvent::Applied(ready("a", 4)), &[]);
    let mut fixed = ready("fixed", 1);
    fixed.is_static = true;
    after(PodEvent::Applied(fixed), &[("fixed n", 1)]);
    after(PodEvent::Applied(ready("b", 1)), &[("fixed n", 1), ("b n", 1)]);
    let listed = PodEvent::Listed { pods: vec![ready("b", 1)].into(), began: at(3) };
    after(listed, &[("b n", 1)]);
}

#[test]
fn a_pod_that_is_no_longer_remembered_is_not_held() {
    let (mut tracker, mut names) = (tracker(2), Names::default());
    for (second, name) in [(1, "a"), (2, "b"), (3, "c")] {
        let mut pod = ready(name, 1);
        pod.created = Some(at(second));
        apply(&mut tracker, &mut names, vec![PodEvent::Applied(pod)]);
    }
    assert_eq!(names.held(), [("b n", 1), ("c n", 1)]);
    let two = NonZeroU64::new(2).unwrap();
    let [first, second] = [0, 1].map(|index| Shard::new(index, two).unwrap());
    tracker.reshard(Shard::ALL, first, &mut names);
    tracker.reshard(first, second, &mut names);
    assert_eq!(names.held(), []);
}

#[test]
fn a_restart_holds_pods_in_flight_again_and_finished_ones_as_they_were() {
    let (mut before, mut names) = (tracker(usize::MAX), Names::default());
    let pods = vec![PodEvent::Applied(bound("starting", 1)), PodEvent::Applied(ready("done", 1))];
    apply(&mut before, &mut names, pods);
    let saved = read_back(&before);
    let hold = |pods: &[SavedPod]| pods.iter().find_map(SavedPod::hold);
    assert_eq!(hold(&saved).map(LabelHold::get), Some(2));
    let config = TrackerConfig::default();
    let mut unknown = saved.clone();
    let holds = unknown.iter_mut().filter_map(SavedPod::hold_mut);
    holds.for_each(|hold| *hold = LabelHold::UNKNOWN);
    for (pods, known) in [(saved, true), (unknown, false)] {
        let mut names = Names::default();
        // As the observer has taken it back.
        let held = if known { 2 } else { 0 };
        names.names = vec!["starting n".to_owned(), "done n".to_owned()];
        names.pods.insert(held, 1);
        let mut after = Tracker::restored(
            config.clone(),
            before.saved(),
            pods,
            SourceSuccessor::Same,
            &mut names,
        );
        apply(&mut after, &mut names, vec![PodEvent::Applied(ready("done", 1))]);
        assert_eq!(names.held(), [("starting n", 1), ("done n", 1)]);
    }
}
