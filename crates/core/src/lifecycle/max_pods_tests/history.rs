//! What can happen in a cluster, and what a watch delivers of it.

use std::collections::BTreeMap;

use crate::pod::{ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition};
use crate::timestamp::Timestamp;
use proptest::prelude::*;

/// How many pods a cluster can have in all.
pub(super) const PODS: usize = 60;

/// 2026-01-01T00:00:00Z
const START: i64 = 1_767_225_600;

/// How long a deleted pod is remembered, in seconds.
const REMEMBERED: i64 = 600;

/// One thing that happens, to the pod with this number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// It is made, or something about it changes
    Touch(usize),
    /// It becomes ready
    Ready(usize),
    /// It is deleted, and the watch says so
    Delete(usize),
    /// It is deleted while there is no watch
    Vanish(usize),
    /// The watch delivers the last version of it again
    Repeat(usize),
    /// The watch begins anew, with a list
    List,
    /// So many seconds pass
    Wait(i64),
}

/// Any history. Most of it is about pods, some of it about the watch.
pub(super) fn any() -> impl Strategy<Value = Vec<Step>> {
    let pod = || 0..PODS;
    let step = prop_oneof![
        8 => pod().prop_map(Step::Touch),
        8 => pod().prop_map(Step::Ready),
        3 => pod().prop_map(Step::Delete),
        1 => pod().prop_map(Step::Vanish),
        3 => pod().prop_map(Step::Repeat),
        1 => Just(Step::List),
        2 => (1i64..200).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..250)
}

/// The state of a pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pod {
    pub(super) number: usize,
    /// The second of its creation, if the API says it
    pub(super) created: Option<i64>,
    pub(super) ready: bool,
    version: u64,
}

impl Pod {
    pub(super) fn name(&self) -> String {
        format!("pod-{:02}", self.number)
    }

    pub(super) fn snapshot(&self) -> PodSnapshot {
        let uid = PodUid::from_text(&self.name());
        let mut pod = PodSnapshot::bare(uid, "default", self.name());
        pod.resource_version = Some(self.version);
        pod.created = self.created.map(Timestamp::from_seconds);
        pod.started = pod.created;
        if self.ready {
            let held = StatusCondition {
                status: ConditionStatus::True,
                last_transition: Some(Timestamp::from_seconds(START + 100)),
            };
            pod.conditions.insert(ConditionType::Ready, held);
        }
        pod
    }
}

/// What the tracker receives.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Nothing,
    Applied(Pod),
    Deleted(Pod),
    Listed(Vec<Pod>),
}

/// A history that goes on.
#[derive(Default)]
pub(super) struct History {
    second: i64,
    version: u64,
    pods: BTreeMap<usize, Pod>,
    /// Pods that are gone, with when; they never come again
    gone: BTreeMap<usize, (i64, Pod)>,
}

impl History {
    /// What is delivered, second by second.
    pub(super) fn play(steps: &[Step]) -> Vec<(i64, Change)> {
        let mut history = Self { second: START, ..Self::default() };
        steps
            .iter()
            .filter_map(|step| {
                let change = history.step(*step)?;
                Some((history.second, change))
            })
            .collect()
    }

    fn step(&mut self, step: Step) -> Option<Change> {
        self.version += 1;
        match step {
            Step::Touch(number) => self.change(number, |_| {}),
            Step::Ready(number) => self.change(number, |pod| pod.ready = true),
            Step::Delete(number) => self.remove(number).map(Change::Deleted),
            Step::Vanish(number) => {
                self.remove(number);
                None
            }
            Step::Repeat(number) => self.repeat(number),
            Step::List => Some(Change::Listed(self.pods.values().copied().collect())),
            Step::Wait(seconds) => {
                self.second += seconds;
                Some(Change::Nothing)
            }
        }
    }

    fn change(&mut self, number: usize, change: impl FnOnce(&mut Pod)) -> Option<Change> {
        if self.gone.contains_key(&number) {
            return None;
        }
        let created = self.created(number);
        let pod =
            self.pods.entry(number).or_insert(Pod { number, created, ready: false, version: 0 });
        pod.version = self.version;
        change(pod);
        Some(Change::Applied(*pod))
    }

    /// Most pods are delivered when they are made, some late; some have been made in the same
    /// second; of a few the API does not say when.
    fn created(&self, number: usize) -> Option<i64> {
        let late = [0, 0, 0, 1, 40, 500][number % 6];
        (number % 19 != 7).then_some(self.second - late)
    }

    fn remove(&mut self, number: usize) -> Option<Pod> {
        let mut pod = self.pods.remove(&number)?;
        pod.version = self.version;
        self.gone.insert(number, (self.second, pod));
        Some(pod)
    }

    /// A late duplicate, which comes while deleted pods are remembered.
    fn repeat(&self, number: usize) -> Option<Change> {
        let gone = self.gone.get(&number);
        let gone = gone.filter(|(at, _)| self.second - at <= REMEMBERED);
        match (self.pods.get(&number), gone) {
            (Some(pod), _) => Some(Change::Applied(*pod)),
            (None, Some((_, pod))) => Some(Change::Deleted(*pod)),
            (None, None) => None,
        }
    }
}
