//! Creates pods at the chosen rate, and takes each through its life.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Event;

use super::active::ActivePod;
use super::autoscaler::{Autoscaler, NodeStartStep};
use super::component_fault::ScaleUp;
use super::config::ClusterConfig;
use super::deployment::releases::{self, Application, LEDGER};
use super::deployment::{DeploymentControllers, DeploymentSpec};
use super::event_recorder::EventRecorders;
use super::image_puller::ImagePullers;
use super::life::{PodChange, PodLife, PodManifest};
use super::node::SimulatedNode;
use super::object::{ObjectKey, SelectableFields};
use super::profile::{LifeKind, LifeSpeed};
use super::rng::Rng;
use super::scene::Scene;
use super::sim_clock::{MILLI, SECOND, TimerQueue};
use super::store::ObjectStore;
use super::truth::GroundTruth;
use super::{past, plan, pod_json};
use podinit_core::timestamp::Timestamp;

/// How long after the start the first deletion is kept from all watches, and how long between
/// further ones.
const FIRST_GAP: i64 = 4 * SECOND;
const GAP_INTERVAL: i64 = 300 * SECOND;
/// How long after a removal its successor is created.
const SUCCESSION: i64 = 400 * MILLI;
/// How long until somebody looks again whether the agent of a slow node runs.
const NODE_RETRY: i64 = 30 * SECOND;
/// How long after a change a controller has seen it.
const CONTROLLER_LATENCY: i64 = 40 * MILLI;
/// How long before the start the applications of a demonstration were deployed.
const DEPLOYED: i64 = 7_200 * SECOND;
/// How long after the start the first release comes, how long until the next one, and until one is taken back.
const FIRST_RELEASE: i64 = 10 * SECOND;
const LEAST_RELEASE_INTERVAL: i64 = 20 * SECOND;
const LONGEST_RELEASE_INTERVAL: i64 = 40 * SECOND;
const TAKEN_BACK: i64 = 8 * SECOND;
/// How long containers take that are asked to end.
const LEAST_SHUTDOWN: i64 = SECOND;
const LONGEST_SHUTDOWN: i64 = 8 * SECOND;
/// The time between two of the lives with which a demonstration begins.
const OPENING_INTERVAL: i64 = 60 * MILLI;

/// What becomes due.
#[derive(Debug)]
pub(super) enum DueAction {
    /// The next pod at the chosen rate
    Arrival,
    /// A pod of this kind is created
    Opening(LifeKind),
    /// This life begins
    Begin(Box<PodLife>),
    /// The next step of a pod, unless its life has been rewritten since
    Step { id: u64, rewritten: u32 },
    /// A deletion without a watch event
    Gap,
    /// From here on something is broken
    Break(Scene),
    /// An Event arrives at the API server
    Event(Box<Event>),
    /// A node that an autoscaler has added starts
    Node(SimulatedNode, NodeStartStep),
    /// A Deployment is created or changed
    Apply(Box<DeploymentSpec>),
    /// The release of this number is deployed
    Release(usize),
    /// It is taken back
    TakeBack(&'static Application),
    /// The controllers of this Deployment look at its pods
    Sync(u64),
}

/// Takes pods through their lives. It advances only when it is given the time.
#[derive(Debug)]
pub(super) struct PodDriver {
    store: Arc<ObjectStore>,
    pub(super) recorders: EventRecorders,
    autoscaler: Autoscaler,
    truth: GroundTruth,
    config: ClusterConfig,
    rng: Rng,
    /// How many versions are skipped: a write more moves no other pod
    versions: Rng,
    /// What is due
    pub(super) timers: TimerQueue<DueAction>,
    pods: BTreeMap<u64, ActivePod>,
    by_uid: HashMap<String, u64>,
    image_pullers: ImagePullers,
    created: u64,
    controllers: DeploymentControllers,
    /// When releases come, and how long the containers of Deployments take to end
    deploys: Rng,
    /// This is broken, and nothing else
    pub(super) broken: Option<Scene>,
}

impl PodDriver {
    pub(super) fn new(
        [store, events, nodes, deployments, replica_sets]: [Arc<ObjectStore>; 5],
        truth: GroundTruth,
        config: ClusterConfig,
        start: Timestamp,
    ) -> Self {
        let mut timers = TimerQueue::new();
        let mut rng = Rng::fork(config.seed, u64::MAX);
        for index in 0..config.preexisting {
            let past = past::draw(index, &mut Rng::fork(config.seed, rng.next_u64()));
            let began = start.plus_nanos(-past.age);
            timers.push(began, DueAction::Begin(Box::new(past.life)));
        }
        if config.opening {
            for (index, kind) in LifeKind::all().enumerate() {
                let at = start.plus_nanos((index as i64 + 1) * OPENING_INTERVAL);
                timers.push(at, DueAction::Opening(kind));
            }
            timers.push(start.plus_nanos(FIRST_GAP), DueAction::Gap);
        }
        let is_bad = |(scene, _)| scene == Scene::BadRollout;
        if config.deploys || config.scene.is_some_and(is_bad) {
            for spec in releases::first() {
                let at = start.plus_nanos(-DEPLOYED);
                timers.push(at, DueAction::Apply(Box::new(spec)));
            }
            timers.push(start.plus_nanos(FIRST_RELEASE), DueAction::Release(0));
        }
        if let Some((scene, after)) = config.scene {
            timers.push(start.plus(after), DueAction::Break(scene));
        }
        if config.rate > 0.0 {
            timers.push(start.plus_nanos(MILLI), DueAction::Arrival);
        }
        Self {
            store,
            recorders: EventRecorders::new(events, config.events, config.seed),
            autoscaler: Autoscaler::new(nodes, config.seed),
            truth,
            versions: Rng::fork(config.seed, u64::MAX - 1),
            controllers: DeploymentControllers::new(
                [deployments, replica_sets],
                Rng::fork(config.seed, u64::MAX - 2),
            ),
            deploys: Rng::fork(config.seed, u64::MAX - 3),
            config,
            rng,
            timers,
            pods: BTreeMap::new(),
            by_uid: HashMap::new(),
            image_pullers: ImagePullers::default(),
            created: 0,
            broken: None,
        }
    }

    /// Does what is due until `now`, at most `limit` actions. Returns whether that is all.
    pub(super) fn advance(&mut self, now: Timestamp, limit: usize) -> bool {
        for _ in 0..limit {
            match self.timers.take_due(now) {
                Some((at, due)) => self.perform(due, at),
                None => return true,
            }
        }
        false
    }

    /// Begins `life` at `now`; false when the pod's name is taken.
    pub(super) fn begin(&mut self, mut life: PodLife, now: Timestamp) -> bool {
        let kind = life.kind;
        if let Some(scene) = self.broken {
            scene.set_clock(&mut life);
        }
        self.start(life, Some(kind), now)
    }

    /// Creates a pod that only [`Self::apply`] moves; false when its name is taken.
    pub(super) fn create(&mut self, manifest: PodManifest, now: Timestamp) -> bool {
        let life = PodLife {
            kind: LifeKind::Plain,
            manifest,
            steps: Vec::new(),
            recreations: 0,
            permanent: true,
        };
        self.start(life, None, now)
    }

    /// `change` happens to the pod `uid` at `now`; false when there is no such pod.
    pub(super) fn apply(&mut self, uid: &str, change: &PodChange, now: Timestamp) -> bool {
        let id = self.by_uid.get(uid).copied();
        id.inspect(|id| self.change(*id, change, now)).is_some()
    }

    /// Removes the pod at `key` without a watch event; false when there is no such pod.
    pub(super) fn remove_unseen(&mut self, key: &ObjectKey, now: Timestamp) -> bool {
        let found = (self.pods.iter()).find(|(_, active)| active.key() == *key);
        let Some(id) = found.map(|(id, _)| *id) else {
            return false;
        };
        self.forget(id);
        self.store.remove_unseen(key);
        self.truth.removed(id, now, true);
        true
    }

    fn perform(&mut self, due: DueAction, at: Timestamp) {
        match due {
            DueAction::Arrival => {
                let mut rng = self.next_rng();
                if self.pods.len() < self.config.most {
                    let chosen = self.broken.and_then(|scene| scene.kind(&mut rng));
                    let kind = chosen.unwrap_or_else(|| LifeKind::choose(&mut rng));
                    let kind = match kind.is_hopeless() && !self.config.hopeless {
                        true => LifeKind::Plain,
                        false => kind,
                    };
                    let life = plan::life(kind, LifeSpeed::Usual, &mut rng);
                    self.begin(life, at);
                }
                let interval = (SECOND as f64 / self.config.rate).clamp(1_000.0, 1e15) as i64;
                let next = self.rng.between(interval / 2, interval + interval / 2);
                self.timers.push(at.plus_nanos(next.max(1)), DueAction::Arrival);
            }
            DueAction::Opening(kind) => {
                let life = plan::life(kind, LifeSpeed::Brisk, &mut self.next_rng());
                self.begin(life, at);
            }
            DueAction::Begin(life) => {
                self.begin(*life, at);
            }
            DueAction::Step { id, rewritten } => self.step(id, rewritten, at),
            DueAction::Gap => self.gap(at),
            DueAction::Break(scene) => {
                self.broken = Some(scene);
                if scene == Scene::BadRollout {
                    self.deploy(releases::bad(), at);
                }
            }
            DueAction::Event(event) => self.recorders.write(*event, at),
            DueAction::Node(node, step) => self.node(node, step, at),
            DueAction::Apply(spec) => self.deploy(*spec, at),
            DueAction::Sync(id) => self.sync(id, at),
            DueAction::Release(number) => self.release(number, at),
            DueAction::TakeBack(application) => {
                if !self.is_held(application) {
                    self.undo(application.namespace, application.name, at);
                }
            }
        }
    }

    fn start(&mut self, mut life: PodLife, kind: Option<LifeKind>, now: Timestamp) -> bool {
        if self.config.images_present {
            life.find_images();
        }
        let active = ActivePod::new(life, kind, now);
        if self.store.get(&active.key()).is_some() {
            return false;
        }
        let id = self.created;
        self.created += 1;
        self.by_uid.insert(active.pod.manifest.uid.clone(), id);
        self.write(id, &active, now);
        self.pods.insert(id, active);
        self.enter_next(id);
        self.keep_within_bounds(now);
        true
    }

    fn step(&mut self, id: u64, rewritten: u32, at: Timestamp) {
        let Some(active) = self.pods.get_mut(&id) else {
            return;
        };
        if active.rewritten != rewritten {
            return;
        }
        let blocked = (self.broken.zip(active.next_step()))
            .and_then(|(scene, step)| scene.blocks(active, step));
        if let Some(blocked) = blocked {
            active.hold_up(blocked.retry);
            for change in blocked.changes {
                self.change(id, &change, at);
            }
        } else if let Some(mut change) = active.take_step() {
            if let (PodChange::Pull { takes, .. }, Some(node)) = (&mut change, active.pod.node) {
                let turn = self.image_pullers.enter(&node, at, *takes);
                active.put_off(turn.wait + turn.takes - *takes);
                *takes = turn.takes;
            }
            self.change(id, &change, at);
        }
        self.enter_next(id);
    }

    fn change(&mut self, id: u64, change: &PodChange, at: Timestamp) {
        if *change == PodChange::Remove {
            self.remove(id, at);
            return;
        }
        let Some(mut active) = self.pods.remove(&id) else {
            return;
        };
        active.pod.apply(change, at);
        self.truth.happened(id, change, &active.pod, at);
        for (sent, event) in self.recorders.record(id, change, &active.pod, at) {
            self.timers.push(sent, DueAction::Event(Box::new(event)));
        }
        if change.is_written() {
            self.write(id, &active, at);
        }
        if matches!(change, PodChange::Autoscale(ScaleUp::Triggered | ScaleUp::Nominated)) {
            self.add_node(&active, at);
        }
        let owner = active.pod.manifest.owner.as_ref().filter(|_| change.is_written());
        let woken = owner.and_then(|owner| self.controllers.wake_owner(&owner.uid));
        self.pods.insert(id, active);
        self.enter_sync(woken, at);
    }

    /// The node comes to which the next step of the pod binds it.
    fn add_node(&mut self, active: &ActivePod, at: Timestamp) {
        let (Some(PodChange::Bind { node, .. }), Some(bound)) = (active.next_step(), active.due())
        else {
            return;
        };
        if !node.is_added() {
            return;
        }
        let is_in_use = (self.pods.values()).any(|other| other.pod.node == Some(*node));
        for (at, step) in self.autoscaler.add(*node, is_in_use, (at, bound)) {
            self.timers.push(at, DueAction::Node(*node, step));
        }
    }

    fn node(&mut self, node: SimulatedNode, step: NodeStartStep, at: Timestamp) {
        match self.broken == Some(Scene::SlowNodes) && step == NodeStartStep::RemoveTaint {
            true => self.timers.push(at.plus_nanos(NODE_RETRY), DueAction::Node(node, step)),
            false => self.autoscaler.take(node, step, at),
        }
    }

    fn remove(&mut self, id: u64, at: Timestamp) {
        let Some(active) = self.forget(id) else {
            return;
        };
        (self.store).remove(&active.key(), |_, version| pod_json::render(&active.pod, version));
        self.truth.removed(id, at, false);
        let owner = active.pod.manifest.owner.as_ref();
        let woken = owner.and_then(|owner| self.controllers.wake_owner(&owner.uid));
        self.enter_sync(woken, at);
        if active.life.recreations > 0 {
            let life = plan::successor(&active.life, &mut self.next_rng());
            let at = at.plus_nanos(SUCCESSION);
            self.timers.push(at, DueAction::Begin(Box::new(life)));
        }
    }

    fn forget(&mut self, id: u64) -> Option<ActivePod> {
        let active = self.pods.remove(&id)?;
        self.by_uid.remove(&active.pod.manifest.uid);
        self.recorders.forget(id);
        Some(active)
    }

    /// Creates the Deployment at `now`, or changes it.
    pub(super) fn deploy(&mut self, spec: DeploymentSpec, now: Timestamp) {
        let id = self.controllers.apply(spec, now);
        let woken = self.controllers.wake(id).then_some(id);
        self.enter_sync(woken, now);
    }

    /// Deploys the release of this number, unless the one before is still rolled out.
    fn release(&mut self, number: usize, now: Timestamp) {
        let application = Application::of_release(number);
        let (namespace, name) = (application.namespace, application.name);
        if self.controllers.is_complete(namespace, name) && !self.is_held(application) {
            self.deploy(application.release(number), now);
            if releases::is_taken_back(number) {
                let at = now.plus_nanos(TAKEN_BACK);
                self.timers.push(at, DueAction::TakeBack(application));
            }
        }
        let interval = self.deploys.between(LEAST_RELEASE_INTERVAL, LONGEST_RELEASE_INTERVAL);
        self.timers.push(now.plus_nanos(interval), DueAction::Release(number + 1));
    }

    /// Whether the application keeps the bad release of a scene.
    fn is_held(&self, application: &Application) -> bool {
        self.broken == Some(Scene::BadRollout) && application.name == LEDGER.name
    }

    /// A Deployment goes back to the revision before. Returns whether there is one.
    pub(super) fn undo(&mut self, namespace: &str, name: &str, now: Timestamp) -> bool {
        let former = self.controllers.undone(namespace, name);
        former.map(|spec| self.deploy(spec, now)).is_some()
    }

    /// Deletes a Deployment and all that belongs to it. Returns whether it was there.
    pub(super) fn undeploy(&mut self, namespace: &str, name: &str, now: Timestamp) -> bool {
        let pods = self.controllers.find(namespace, name).map(|id| self.controllers.remove(id));
        pods.map(|pods| self.delete(pods, now)).is_some()
    }

    /// From now on ReplicaSets in `namespace` cannot create pods, for this reason; or they can.
    pub(super) fn refuse_pods(&mut self, namespace: &str, reason: Option<String>, now: Timestamp) {
        for id in self.controllers.refuse(namespace, reason) {
            let woken = self.controllers.wake(id).then_some(id);
            self.enter_sync(woken, now);
        }
    }

    /// The controllers of a Deployment will see a change that happens at `now`.
    fn enter_sync(&mut self, id: Option<u64>, now: Timestamp) {
        if let Some(id) = id {
            self.timers.push(now.plus_nanos(CONTROLLER_LATENCY), DueAction::Sync(id));
        }
    }

    fn sync(&mut self, id: u64, at: Timestamp) {
        let outcome = self.controllers.sync(id, &self.pods, at);
        for (owner, life) in outcome.created {
            let pod = self.created;
            if self.begin(life, at) {
                self.controllers.adopt(&owner, pod);
            }
        }
        self.delete(outcome.deleted, at);
        let said = outcome.events.into_iter().filter(|_| self.recorders.settings.recorded);
        for event in said {
            self.timers.push(at, DueAction::Event(Box::new(event)));
        }
        let woken = (outcome.changed && self.controllers.wake(id)).then_some(id);
        self.enter_sync(woken, at);
        if let Some(wake) = outcome.wake {
            self.timers.push(wake, DueAction::Sync(id));
        }
    }

    /// A controller deletes these pods.
    fn delete(&mut self, pods: Vec<u64>, at: Timestamp) {
        for id in pods {
            if let Some(active) = self.pods.get_mut(&id) {
                active.delete(at, self.deploys.between(LEAST_SHUTDOWN, LONGEST_SHUTDOWN));
                // The first step is due now, so that nothing counts the pod any more.
                let rewritten = active.rewritten;
                self.step(id, rewritten, at);
            }
        }
    }

    /// The deletion of a pod in flight falls into a gap of the watches.
    fn gap(&mut self, at: Timestamp) {
        let known_since = at.plus_nanos(-SECOND);
        let key = (self.pods.values())
            .find(|active| {
                active.is_stuck() && active.is_expendable() && active.pod.created < known_since
            })
            .map(ActivePod::key);
        let wait = match key {
            Some(key) => {
                self.remove_unseen(&key, at);
                GAP_INTERVAL
            }
            None => SECOND / 2,
        };
        self.timers.push(at.plus_nanos(wait), DueAction::Gap);
    }

    /// Deletes the oldest pods that have started when there are too many: two for each that comes, so
    /// that an excess of starting ones is made up for once they have started.
    fn keep_within_bounds(&mut self, now: Timestamp) {
        if self.pods.len() <= self.config.population {
            return;
        }
        let oldest: Vec<u64> = (self.pods.iter_mut())
            .filter(|(_, active)| active.is_expendable() && active.has_started())
            .take(2)
            .map(|(id, active)| {
                active.cut_short(now);
                *id
            })
            .collect();
        for id in oldest {
            self.enter_next(id);
        }
    }

    fn write(&mut self, id: u64, active: &ActivePod, now: Timestamp) {
        let pod = &active.pod;
        let selectable = SelectableFields {
            labels: pod.manifest.labels.clone().into(),
            fields: vec![
                ("spec.nodeName", pod.node.map_or("", |node| node.name).to_owned()),
                ("status.phase", pod.phase.as_str().to_owned()),
            ],
        };
        (self.store).put(active.key(), selectable, |version| pod_json::render(pod, version));
        self.truth.note(id, active.kind, pod, now);
        if self.config.rate > 0.0 {
            // Leases and nodes share the counter of versions.
            self.store.skip_versions(self.versions.below(3));
        }
    }

    /// Enters the next step of the pod numbered `id`, if it has one.
    fn enter_next(&mut self, id: u64) {
        if let Some(active) = self.pods.get(&id)
            && let Some(at) = active.due()
        {
            let rewritten = active.rewritten;
            self.timers.push(at, DueAction::Step { id, rewritten });
        }
    }

    /// A generator for the next pod.
    fn next_rng(&mut self) -> Rng {
        Rng::fork(self.config.seed, self.rng.next_u64())
    }
}
