//! The pods of a trial: lives of the simulator, step by step; each step is a version.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use podinit_core::timestamp::Timestamp;
use podinit_sim::kubelet::SimulatedPhase;
use podinit_sim::life::{PodChange, PodLife};
use podinit_sim::plan;
use podinit_sim::pod::SimulatedPod;
use podinit_sim::pod_json;
use podinit_sim::profile::{LifeKind, LifeSpeed};
use podinit_sim::rng::Rng;

use crate::proof::history::{History, Kind, Nature};

/// The label that numbers the pods, so that observations of one pod can be distinguished from those of
/// another one under its name.
pub const NUMBER: &str = "proof.example.com/number";

const SECOND: i64 = 1_000_000_000;

#[derive(Clone, Debug)]
struct Living {
    pod: SimulatedPod,
    life: PodLife,
    next: usize,
}

/// The pods that live.
#[derive(Clone, Debug)]
pub struct Lives {
    living: BTreeMap<u32, Living>,
    agenda: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// Pods that come after removed ones under their names
    heirs: BTreeMap<(Timestamp, u32), PodLife>,
    names: HashMap<(String, String), u32>,
    rng: Rng,
    /// Nanoseconds between a removal and its successor
    pub succession: i64,
    /// How many of the pods are re-created under their names
    pub recreating: f64,
}

impl Lives {
    pub fn new(seed: u64) -> Self {
        Self {
            living: BTreeMap::new(),
            agenda: BinaryHeap::new(),
            heirs: BTreeMap::new(),
            names: HashMap::new(),
            rng: Rng::fork(seed, 1),
            succession: SECOND * 2 / 5,
            recreating: 0.0,
        }
    }

    pub fn living(&self) -> usize {
        self.living.len()
    }

    /// A pod is created.
    pub fn create(&mut self, history: &mut History, now: Timestamp) {
        let mut rng = Rng::new(self.rng.next_u64());
        let kind = if rng.chance(self.recreating) {
            *rng.pick(&[LifeKind::ReusedName, LifeKind::StatefulSet])
        } else {
            LifeKind::choose(&mut rng)
        };
        self.begin(plan::life(kind, LifeSpeed::Usual, &mut rng), history, now);
    }

    /// When something is due next.
    pub fn next_due(&self) -> Option<Timestamp> {
        let step = self.agenda.peek().map(|Reverse((at, _))| *at);
        let heir = self.heirs.keys().next().map(|(at, _)| *at);
        step.into_iter().chain(heir).min()
    }

    /// Takes up these lives again at `now`, with another future: what is overdue happens soon.
    pub fn resume(&mut self, now: Timestamp, seed: u64) {
        self.rng = Rng::fork(seed, 4);
        let agenda = std::mem::take(&mut self.agenda);
        for Reverse((at, number)) in agenda {
            let at = self.soon(at, now);
            self.agenda.push(Reverse((at, number)));
        }
        // Whoever makes them makes other pods of them.
        for ((at, number), mut life) in std::mem::take(&mut self.heirs) {
            life.manifest.uid = self.rng.uuid();
            let at = self.soon(at, now);
            self.heirs.insert((at, number), life);
        }
    }

    /// When something that was due at `at` happens, if it is `now` already.
    fn soon(&mut self, at: Timestamp, now: Timestamp) -> Timestamp {
        if at > now {
            return at;
        }
        now.plus_nanos(self.rng.between(SECOND, 30 * SECOND))
    }

    /// Does what is due until `now`.
    pub fn advance(&mut self, history: &mut History, now: Timestamp) {
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            if self.heirs.first_key_value().is_some_and(|((heir, _), _)| *heir == due) {
                if let Some((_, life)) = self.heirs.pop_first() {
                    self.begin(life, history, due);
                }
                continue;
            }
            let Some(Reverse((_, pod))) = self.agenda.pop() else {
                return;
            };
            self.step(pod, history, due);
        }
    }

    /// Removes the `nth` living pod and tells nobody.
    pub fn remove_unseen(&mut self, nth: usize, history: &mut History) {
        if let Some(pod) = self.living.keys().nth(nth).copied() {
            self.remove(pod, Kind::Unseen, history);
        }
    }

    /// Deletes every pod whose number is even, so that pods end in every state and others stand.
    pub fn delete_half(&mut self, history: &mut History) {
        let half: Vec<u32> = self.living.keys().copied().filter(|pod| pod % 2 == 0).collect();
        for pod in half {
            self.remove(pod, Kind::Deleted, history);
        }
    }

    fn begin(&mut self, mut life: PodLife, history: &mut History, at: Timestamp) {
        let name = (life.manifest.namespace.clone(), life.manifest.name.clone());
        if self.names.contains_key(&name) {
            return;
        }
        let number = history.pods.len() as u32;
        life.manifest.labels.retain(|(label, _)| label != NUMBER);
        life.manifest.labels.push((NUMBER.to_owned(), number.to_string()));
        history.pods.push(Nature::of(&life.manifest));
        self.names.insert(name, number);
        let living = Living { pod: SimulatedPod::new(life.manifest.clone(), at), life, next: 0 };
        write(number, Kind::Added, &living.pod, history);
        self.enter(number, &living);
        self.living.insert(number, living);
    }

    fn enter(&mut self, number: u32, living: &Living) {
        if let Some(step) = living.life.steps.get(living.next) {
            let at = living.pod.created.plus_nanos(step.after);
            self.agenda.push(Reverse((at, number)));
        }
    }

    fn step(&mut self, number: u32, history: &mut History, at: Timestamp) {
        let Some(mut living) = self.living.remove(&number) else {
            return;
        };
        let change = living.life.steps[living.next].change.clone();
        living.next += 1;
        if change == PodChange::Remove {
            if living.life.recreations > 0 {
                let heir = plan::successor(&living.life, &mut self.rng);
                self.heirs.insert((at.plus_nanos(self.succession), number), heir);
            }
            self.living.insert(number, living);
            self.remove(number, Kind::Deleted, history);
            return;
        }
        living.pod.apply(&change, at);
        if change.is_written() {
            write(number, Kind::Modified, &living.pod, history);
        }
        self.enter(number, &living);
        self.living.insert(number, living);
    }

    fn remove(&mut self, number: u32, kind: Kind, history: &mut History) {
        if let Some(living) = self.living.remove(&number) {
            let manifest = &living.pod.manifest;
            self.names.remove(&(manifest.namespace.clone(), manifest.name.clone()));
            write(number, kind, &living.pod, history);
        }
    }
}

fn write(number: u32, kind: Kind, pod: &SimulatedPod, history: &mut History) {
    let json = pod_json::render(pod, history.next_number());
    let ready = pod.condition("Ready").is_some_and(|ready| ready.verdict.holds);
    let is_end = ready || matches!(pod.phase, SimulatedPhase::Succeeded | SimulatedPhase::Failed);
    history.write(number, kind, json, is_end);
}
