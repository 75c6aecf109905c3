//! Pods whose lives are plain, so that what must be counted of them is known without the
//! specification's finer points: every startup has all its milestones, or ends without Ready.

use std::collections::BTreeMap;

use podinit_sim::SimulatedCluster;
use podinit_sim::container::{AppState, KubeletReport};
use podinit_sim::life::{PodChange, PodManifest};
use podinit_sim::node::CURRENT;
use podinit_sim::rng::Rng;

use crate::support::scrape::Scrape;

/// How a pod's startup ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Ready,
    Failed,
    Completed,
    Deleted,
}

/// What is still to happen to a pod, the next thing last.
struct Life {
    uid: String,
    end: End,
    to_come: Vec<PodChange>,
}

/// Pods that come, start up, and go.
pub struct Load {
    random: Rng,
    lives: Vec<Life>,
    created: u64,
    ended: BTreeMap<End, u64>,
}

const STARTING: AppState = AppState::Waiting("ContainerCreating");

fn report(app: AppState) -> PodChange {
    PodChange::Report(KubeletReport {
        sandbox: !matches!(app, AppState::Completed | AppState::Failed),
        init_done: 0,
        app,
        restarts: 0,
    })
}

impl Load {
    pub fn seeded(seed: u64) -> Self {
        Self { random: Rng::new(seed), lives: Vec::new(), created: 0, ended: BTreeMap::new() }
    }

    fn pick(&mut self, below: usize) -> usize {
        self.random.within(0..=u32::try_from(below - 1).unwrap()) as usize
    }

    /// Creates a pod.
    pub fn create(&mut self, cluster: &SimulatedCluster) {
        let uid = format!("uid-{}", self.created);
        let manifest = PodManifest {
            namespace: format!("ns-{}", self.created % 7),
            name: format!("pod-{}", self.created),
            uid: uid.clone(),
            ..PodManifest::default()
        };
        self.created += 1;
        assert!(cluster.create(manifest));
        let bind = PodChange::Bind { node: CURRENT, stamped: true };
        let end = [End::Ready, End::Ready, End::Ready, End::Failed, End::Completed, End::Deleted];
        let end = end[self.pick(6)];
        let last = match end {
            End::Ready => vec![report(AppState::Running { ready: true })],
            End::Failed => vec![report(AppState::Failed)],
            End::Completed => vec![report(AppState::Completed)],
            End::Deleted => vec![],
        };
        let mut to_come = vec![bind, report(STARTING)];
        to_come.extend(last);
        to_come.push(PodChange::Remove);
        to_come.reverse();
        self.lives.push(Life { uid, end, to_come });
    }

    /// The next thing happens to one of the pods.
    pub fn step(&mut self, cluster: &SimulatedCluster) {
        if self.lives.is_empty() {
            return;
        }
        let number = self.pick(self.lives.len());
        let life = &mut self.lives[number];
        let Some(change) = life.to_come.pop() else {
            return;
        };
        assert!(cluster.apply(&life.uid, &change), "{} is gone", life.uid);
        let decides = match change {
            PodChange::Remove => life.end == End::Deleted,
            _ => life.to_come.len() == 1 && life.end != End::Deleted,
        };
        if decides {
            *self.ended.entry(life.end).or_default() += 1;
        }
        if life.to_come.is_empty() {
            self.lives.swap_remove(number);
        }
    }

    /// A pod comes now and then, and the others go on.
    pub fn go_on(&mut self, cluster: &SimulatedCluster) {
        if self.lives.len() < 20 || self.random.within(0..=3) == 0 && self.lives.len() < 200 {
            self.create(cluster);
        } else {
            self.step(cluster);
        }
    }

    pub fn created(&self) -> u64 {
        self.created
    }

    fn ended(&self, end: End) -> f64 {
        self.ended.get(&end).copied().unwrap_or(0) as f64
    }

    /// Where the scrape says something else than what has happened.
    pub fn faults(&self, scrape: &Scrape) -> Vec<String> {
        let finished =
            |outcome| scrape.sum_where("podinit_pods_finished_total", "outcome", outcome);
        let ready = self.ended(End::Ready);
        let network = |name| scrape.sum_where(name, "stage", "network");
        let unobserved = |stage| scrape.sum_where("podinit_unobserved_total", "interval", stage);
        let step = |step| scrape.sum_where("podinit_step_duration_seconds_count", "step", step);
        let passed_network = self.passed_network() as f64;
        let all = self.ended.values().sum::<u64>() as f64;
        let claims = [
            ("discovered", scrape.sum("podinit_pods_discovered_total"), self.created as f64),
            ("finished", scrape.sum("podinit_pods_finished_total"), all),
            ("ready", finished("ready"), ready),
            ("failed", finished("failed"), self.ended(End::Failed)),
            ("completed", finished("completed"), self.ended(End::Completed)),
            ("deleted", finished("deleted"), self.ended(End::Deleted)),
            ("in flight", scrape.sum("podinit_inflight_pods"), self.created as f64 - all),
            (
                "scheduled_to_ready",
                scrape.sum("podinit_scheduled_to_ready_duration_seconds_count"),
                ready,
            ),
            (
                "created_to_ready",
                scrape.sum("podinit_created_to_ready_duration_seconds_count"),
                ready,
            ),
            ("network", network("podinit_stage_duration_seconds_count"), passed_network),
            ("reentries", scrape.sum("podinit_reentries_total"), 0.0),
            (
                "unobserved",
                scrape.sum("podinit_unobserved_total"),
                2.0 * self.ended(End::Completed),
            ),
            ("unobserved stage", unobserved("containers"), self.ended(End::Completed)),
            ("unobserved step", unobserved("probe"), self.ended(End::Completed)),
            ("acknowledge", step("acknowledge"), passed_network),
            ("sandbox", step("sandbox"), passed_network),
            ("start", step("start"), ready + self.ended(End::Completed) + self.ended(End::Failed)),
            ("probe", step("probe"), ready),
            ("gap", scrape.sum("podinit_observation_gap_seconds_total"), 0.0),
        ];
        let wrong = claims.into_iter().filter(|(_, said, is)| said != is);
        wrong.map(|(what, said, is)| format!("{what}: {said}, in truth {is}")).collect()
    }

    /// Pods whose sandbox has been seen: all that are past that step.
    fn passed_network(&self) -> u64 {
        let waiting = self.lives.iter().filter(|life| {
            let steps = if life.end == End::Deleted { 1 } else { 2 };
            life.to_come.len() > steps
        });
        self.created - waiting.count() as u64
    }
}
