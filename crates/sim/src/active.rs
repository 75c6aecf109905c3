//! A pod that exists: its state, its life, and its next step.

use super::container::{AppState, KubeletReport};
use super::life::{LifeStep, PodChange, PodLife};
use super::object::ObjectKey;
use super::pod::SimulatedPod;
use super::profile::LifeKind;
use super::sim_clock::SECOND;
use podinit_core::timestamp::Timestamp;

/// One living pod.
#[derive(Debug)]
pub(super) struct ActivePod {
    pub(super) pod: SimulatedPod,
    pub(super) life: PodLife,
    /// The kind of life; `None` where a test moves the pod by hand
    pub(super) kind: Option<LifeKind>,
    next: usize,
    /// How much later than planned everything happens
    delay: i64,
    /// How often its life has been rewritten, which invalidates older timers
    pub(super) rewritten: u32,
    /// How often its next step has been held up
    pub(super) blocked_steps: u32,
}

impl ActivePod {
    /// The pod of `life`, created at `now`.
    pub(super) fn new(life: PodLife, kind: Option<LifeKind>, now: Timestamp) -> Self {
        Self {
            pod: SimulatedPod::new(life.manifest.clone(), now),
            life,
            kind,
            next: 0,
            delay: 0,
            rewritten: 0,
            blocked_steps: 0,
        }
    }

    pub(super) fn key(&self) -> ObjectKey {
        ObjectKey::new(&self.life.manifest.namespace, &self.life.manifest.name)
    }

    /// When the next step is due.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let step = self.life.steps.get(self.next)?;
        Some(self.pod.created.plus_nanos(step.after + self.delay))
    }

    /// Its next step: what happens then.
    pub(super) fn next_step(&self) -> Option<&PodChange> {
        Some(&self.life.steps.get(self.next)?.change)
    }

    /// Takes the next step.
    pub(super) fn take_step(&mut self) -> Option<PodChange> {
        let change = self.next_step()?.clone();
        self.next += 1;
        self.blocked_steps = 0;
        Some(change)
    }

    /// The next step is tried again `retry` nanoseconds later than it was due.
    pub(super) fn hold_up(&mut self, retry: i64) {
        self.delay += retry;
        self.blocked_steps += 1;
    }

    /// Whether it may be removed without notice.
    pub(super) fn is_expendable(&self) -> bool {
        !self.life.permanent && self.pod.deletion.is_none()
    }

    /// Whether it may be deleted to keep the population within bounds: its startup is over. A pod that
    /// cannot start stays, as it does in a cluster.
    pub(super) fn has_started(&self) -> bool {
        let ready = self.pod.condition("Ready");
        self.pod.phase.is_terminal() || ready.is_some_and(|ready| ready.verdict.holds)
    }

    /// Whether it is bound and cannot get ready.
    pub(super) fn is_stuck(&self) -> bool {
        let stuck = [LifeKind::ImagePullStuck, LifeKind::SandboxStuck];
        self.kind.is_some_and(|kind| stuck.contains(&kind)) && self.pod.node.is_some()
    }

    /// Replaces the rest of its life: it is terminated `now` and removed a second later.
    pub(super) fn cut_short(&mut self, now: Timestamp) {
        let end = [(0, PodChange::Terminate { grace_seconds: 30 }), (SECOND, PodChange::Remove)];
        self.end(now, end.to_vec());
    }

    /// Somebody deletes it `now`. Its containers run for `takes` nanoseconds more, if a node has it.
    pub(super) fn delete(&mut self, now: Timestamp, takes: i64) {
        let mut end = vec![(takes + SECOND / 5, PodChange::Remove)];
        if let Some((report, _)) = self.pod.report
            && matches!(report.app, AppState::Running { .. })
        {
            let app = AppState::Completed;
            let ended = KubeletReport { sandbox: false, app, ..report };
            end.insert(0, (takes, PodChange::Report(ended)));
        }
        match self.pod.node {
            Some(_) => end.insert(0, (0, PodChange::Terminate { grace_seconds: 30 })),
            None => end = vec![(0, PodChange::Remove)],
        }
        self.end(now, end);
    }

    /// The rest of its life is this, in nanoseconds from `now` on.
    fn end(&mut self, now: Timestamp, rest: Vec<(i64, PodChange)>) {
        let from = now.nanos_since(self.pod.created) - self.delay;
        let steps = rest.into_iter();
        self.life.steps =
            steps.map(|(after, change)| LifeStep { after: from + after, change }).collect();
        self.life.recreations = 0;
        self.next = 0;
        self.rewritten += 1;
    }

    /// Everything from now on happens this much later than it would.
    pub(super) fn put_off(&mut self, nanos: i64) {
        self.delay += nanos;
    }
}
