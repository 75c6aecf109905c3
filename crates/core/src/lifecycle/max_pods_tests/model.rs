//! What the cap is to do, in as few words as possible: everything is looked through every time.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Change, Pod};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    InFlight,
    Finished,
    Deleted { second: i64 },
}

pub(super) struct Model {
    cap: usize,
    second: i64,
    /// By name: the second of creation, and the state
    known: BTreeMap<String, (i64, State)>,
    watermark: Option<i64>,
    pub(super) discovered: BTreeSet<String>,
    pub(super) evicted: [u64; 2],
    pub(super) refused: [u64; 2],
    /// Snapshots of pods that had been discovered before and were refused
    pub(super) came_back: u64,
}

impl Model {
    pub(super) fn new(cap: usize) -> Self {
        Self {
            cap,
            second: 0,
            known: BTreeMap::new(),
            watermark: None,
            discovered: BTreeSet::new(),
            evicted: [0; 2],
            refused: [0; 2],
            came_back: 0,
        }
    }

    pub(super) fn remembered(&self) -> usize {
        self.known.len()
    }

    pub(super) fn in_flight(&self) -> usize {
        let states = self.known.values();
        states.filter(|(_, state)| *state == State::InFlight).count()
    }

    pub(super) fn apply(&mut self, second: i64, change: &Change) {
        self.second = second;
        let remembered = |state: &State| match state {
            State::Deleted { second: deleted } => second - deleted <= 600,
            _ => true,
        };
        self.known.retain(|_, (_, state)| remembered(state));
        match change {
            Change::Nothing => {}
            Change::Applied(pod) => self.see(pod),
            Change::Deleted(pod) => {
                if let Some((_, state)) = self.known.get_mut(&pod.name())
                    && !matches!(state, State::Deleted { .. })
                {
                    *state = State::Deleted { second };
                }
            }
            Change::Listed(pods) => {
                for pod in pods {
                    self.see(pod);
                }
                let names: BTreeSet<String> = pods.iter().map(Pod::name).collect();
                self.known.retain(|name, (_, state)| {
                    names.contains(name) || matches!(state, State::Deleted { .. })
                });
            }
        }
    }

    fn see(&mut self, pod: &Pod) {
        if let Some((_, state)) = self.known.get_mut(&pod.name()) {
            if *state == State::InFlight && pod.ready {
                *state = State::Finished;
            }
            return;
        }
        if let Some(reason) = self.refusal(pod) {
            self.refused[reason] += 1;
            self.came_back += u64::from(self.discovered.contains(&pod.name()));
            return;
        }
        self.discovered.insert(pod.name());
        let state = match pod.ready {
            true => State::Finished,
            false => State::InFlight,
        };
        let created = pod.created.unwrap_or(self.second);
        self.known.insert(pod.name(), (created, state));
    }

    fn may_know(&self, pod: &Pod) -> bool {
        match (self.watermark, pod.created) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(watermark), Some(created)) => created <= watermark,
        }
    }

    /// Why the pod is not let in: 0 for a full house, 1 for one that may be known.
    fn refusal(&mut self, pod: &Pod) -> Option<usize> {
        if self.may_know(pod) {
            return Some(1);
        }
        if self.known.len() < self.cap {
            return None;
        }
        let batch = (self.cap / 16).max(1);
        let at_rest = |state: &State| *state != State::InFlight;
        let mut seconds: Vec<i64> = self
            .known
            .values()
            .filter(|(_, state)| at_rest(state))
            .map(|(created, _)| *created)
            .collect();
        seconds.sort_unstable();
        let Some(last) = seconds.get(batch - 1).copied() else {
            let created = pod.created.unwrap_or(self.second).min(self.second);
            self.watermark = self.watermark.max(Some(created));
            return Some(0);
        };
        for (created, state) in self.known.values() {
            if at_rest(state) && *created <= last {
                self.evicted[usize::from(*state != State::Finished)] += 1;
            }
        }
        self.known.retain(|_, (created, state)| !at_rest(state) || *created > last);
        self.watermark = self.watermark.max(Some(last));
        self.may_know(pod).then_some(1)
    }
}
