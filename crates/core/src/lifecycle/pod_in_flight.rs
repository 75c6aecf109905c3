//! A pod whose startup is under way: folds snapshots into its [`Startup`] and reports what follows.

mod kube_events;
mod message;
mod saving;

pub use self::saving::SharedParts;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bound_revisions::BoundRevisions;
use super::capacity::PodCapacity;
use super::cause::{BadReason, CauseClass, CauseLog, WaitEvidence, WaitReason};
use super::clocks::NodeClocks;
use super::delivery::SourceId;
use super::followed::names_open;
use super::gate::GatesEvent;
use super::image_pulls::ImagePulls;
use super::in_flight_order::{InFlightOrder, StageEntry};
use super::interval::{Interval, Stage, StageOrStep};
use super::judgement::DurationJudgement;
use super::judgement::{AnomalyKind, UnobservedReason};
use super::lag::{A_MINUTE, ServerStamp, SourceLags};
use super::last_seen::LastSeen;
use super::messages::{MessageBudget, NewMessage, said_by_pod};
use super::milestone::Milestone;
use super::named::{CustomMilestones, NamedFold, NamedObservation};
use super::nodes::KnownNodes;
use super::observation::{ObservePod, PodObservation, PodState, TimedObserver};
use super::outcome::Outcome;
use super::pod_node::{PodNode, StartupImages};
use super::reached::Reached;
use super::record::RecordedCause;
use super::slo::{
    SloInput, SloMatches, SloProgress, SloRule, SloTimers, StartupKind, shows_no_network_condition,
};
use super::slo_verdict::{ExclusionReason, SloId};
use super::snapshot_context::SnapshotContext;
use super::startup::{ShownAfter, Startup};
use super::startup_sli::SliProgress;
use super::stuck::StuckBefore;
use super::texts::Texts;
use crate::kube_event::CapacityState;
use crate::node::NodeLabels;
use crate::pod::{ConditionType, DisruptionReason, PodInfo, PodPhase, PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// What all pods in flight share.
#[derive(Debug, Default)]
pub(super) struct SharedState {
    /// The pods of each stage, in the order in which they entered it
    pub order: InFlightOrder,
    /// The deadlines that have not passed yet
    pub timers: SloTimers,
    /// The SLOs in force
    pub rules: Arc<[SloRule]>,
    /// Which pods the SLOs have matched
    pub matches: SloMatches,
    /// Whether Events are a source of evidence
    pub events: bool,
    /// The nodes, if they are a source of evidence
    pub nodes: Option<KnownNodes>,
    /// Which pods are stuck
    pub stuck: StuckBefore,
    /// The milestones of your own
    pub milestones: CustomMilestones,
    /// The bytes that messages of pods in flight take
    pub messages: MessageBudget,
    /// The clocks of the nodes
    pub clocks: NodeClocks,
    /// How late the deliveries of each source are
    pub lags: SourceLags,
    /// The revisions of which a pod is or was bound
    pub revisions: BoundRevisions,
}

impl SharedState {
    /// Whether Events or nodes are a source of evidence.
    const fn has_evidence(&self) -> bool {
        self.events || self.nodes.is_some()
    }

    /// How the images of a pod came to its node; `Unknown` without enough Events.
    fn images_of(&self, images: &ImagePulls, evidence: &WaitEvidence) -> StartupImages {
        match self.events {
            true => StartupImages::from_pulls(images, evidence.containers.len()),
            false => StartupImages::Unknown,
        }
    }

    /// Takes in how long after what they state a snapshot of a pod on `node` was shown.
    fn compare_clocks(
        &mut self,
        shown: ShownAfter,
        node: Option<&Arc<str>>,
        seen: &SnapshotContext,
    ) {
        if let Some(after) = shown.binding {
            self.note_lag(ServerStamp::Binding, after, seen);
        }
        if let (Some(nanos), Some(node), true) = (shown.kubelet, node, seen.in_sync)
            && !self.lags.is_late(seen.source)
        {
            self.clocks.add(node, nanos, seen.now);
        }
    }

    /// A watch event has shown a stamp of the API server so many nanoseconds later.
    pub(super) fn note_lag(&mut self, stamp: ServerStamp, after: i64, seen: &SnapshotContext) {
        let Some(observed) = seen.observed else {
            return;
        };
        if self.lags.add(seen.source, stamp, (observed, after), seen.now) {
            self.found_late(seen.now);
        }
    }

    /// Advances the lags to `now`.
    pub(super) fn advance_lags(&mut self, now: Timestamp) {
        if self.lags.advance(now) {
            self.found_late(now);
        }
    }

    /// Forgets the clock differences of the last minute: the late deliveries of a source may have caused them.
    fn found_late(&mut self, now: Timestamp) {
        self.clocks.forget_last(A_MINUTE, now);
    }

    /// Sets the labels of the pod's node ([§14.2](crate::specification#s14-2)), or waits for the node while it is
    /// unknown.
    pub(super) fn learn_node(&mut self, uid: PodUid, info: &mut PodInfo) {
        if let (Some(nodes), Some(name)) = (&mut self.nodes, &info.node) {
            info.node_labels = nodes.labels(name).cloned();
            if info.node_labels.is_none() {
                nodes.wait(name, uid);
            }
        }
    }

    /// The newest labels of the pod's node; `None` while the node is unknown.
    pub(super) fn newest_labels(&self, info: &PodInfo) -> Option<&Arc<NodeLabels>> {
        let (nodes, name) = (self.nodes.as_ref()?, info.node.as_deref()?);
        nodes.labels(name)
    }

    fn has_exact_network(&self, info: &PodInfo) -> bool {
        let labels = self.newest_labels(info);
        labels.is_some_and(|labels| labels.has_exact_network_times())
    }

    /// The node of a pod whose Scheduled was just latched; `None` unless nodes are a source of evidence.
    fn node_of_scheduled(
        &self,
        info: &PodInfo,
        created: Option<Timestamp>,
        adopted: bool,
    ) -> Option<Box<PodNode>> {
        let nodes = self.nodes.as_ref()?;
        Some(Box::new(match adopted {
            true => PodNode::default(),
            false => nodes.seen_by_pod(info.node.as_deref(), created),
        }))
    }
}

/// A pod whose startup is under way. What is not saved follows from the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodInFlight {
    pub(super) uid: PodUid,
    /// What a later snapshot is compared with
    pub(super) last_seen: LastSeen,
    pub(super) info: PodInfo,
    pub(super) startup: Startup,
    pub(super) discovered: Timestamp,
    pub(super) slos: SloProgress,
    /// Why it waits, as its newest snapshot and its Events say
    pub(super) evidence: WaitEvidence,
    /// How its images came to its node
    pub(super) images: ImagePulls,
    pub(super) sli: SliProgress,
    /// Its newest status shows that the cluster has no network condition
    pub(super) lacks_network_condition: bool,
    /// The stage and cause that were reported last
    pub(super) waiting: WaitReason,
    /// The position of the container that gives it this cause, where one does
    #[serde(skip)]
    pub(super) container: Option<u8>,
    /// Its last causes, the present one included; empty as long as it has had one only
    pub(super) causes: CauseLog,
    /// The messages of Kubernetes about it; boxed, because few pods have one
    pub(super) texts: Option<Box<Texts>>,
    /// Whether a node is on its way for it
    pub(super) capacity: PodCapacity,
    /// Its place in the order of its stage; `None` until its first snapshot is folded
    #[serde(skip)]
    pub(super) entered: Option<Timestamp>,
    /// The stage that it entered then
    #[serde(skip)]
    pub(super) entered_stage: Stage,
    /// The stage and cause with which it was reported as stuck, if it was
    #[serde(skip)]
    pub(super) stuck: Option<WaitReason>,
}

impl Default for PodInFlight {
    /// A pod of which nothing is known.
    fn default() -> Self {
        Self {
            uid: PodUid::default(),
            last_seen: LastSeen::default(),
            info: PodInfo::default(),
            startup: Startup::default(),
            discovered: Timestamp::default(),
            slos: SloProgress::default(),
            evidence: WaitEvidence::default(),
            images: ImagePulls::default(),
            sli: SliProgress::default(),
            lacks_network_condition: false,
            waiting: WaitReason::otherwise(Stage::Gated),
            container: None,
            causes: CauseLog::default(),
            texts: None,
            capacity: PodCapacity::default(),
            entered: None,
            entered_stage: Stage::Gated,
            stuck: None,
        }
    }
}

impl PodInFlight {
    /// Discovers a pod and reports that it is in flight. The caller folds its first snapshot.
    pub(super) fn discover(
        snapshot: &PodSnapshot,
        source: SourceId,
        now: Timestamp,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) -> Self {
        let startup = Startup::new(snapshot);
        let mut evidence = WaitEvidence::default();
        evidence.update(snapshot, shared.revisions.has_other(snapshot));
        let waiting = evidence.waiting(startup.standing());
        let mut info = snapshot.info.clone();
        shared.learn_node(snapshot.uid, &mut info);
        let to = PodState::InFlight(waiting, CapacityState::Unknown);
        let from = PodState::Undiscovered;
        reporter.pod(&info, PodObservation::Moved { from, to });
        let stages = startup.conditional_stages().map(PodObservation::Applies);
        stages.for_each(|applies| reporter.pod(&info, applies));
        startup.report_gates(GatesEvent::Met, |gates| reporter.gates(&info, gates));
        Self {
            last_seen: LastSeen::new(snapshot, source, now),
            uid: snapshot.uid,
            info,
            startup,
            slos: SloProgress::from_pod(&shared.rules, &snapshot.info),
            evidence,
            waiting,
            container: None,
            causes: CauseLog::default(),
            texts: None,
            capacity: PodCapacity::default(),
            images: ImagePulls::default(),
            sli: SliProgress { is_stateful: snapshot.is_stateful, decided: false },
            lacks_network_condition: false,
            discovered: now,
            entered: None,
            entered_stage: Stage::Gated,
            stuck: None,
        }
    }

    /// Its stage and when it entered it; `None` until its first snapshot is folded.
    pub(super) fn entry(&self) -> Option<StageEntry> {
        Some((self.entered_stage, self.entered?))
    }

    /// Whether its node is known, and whether the labels of that are.
    pub(super) const fn knows_labels(&self) -> (bool, bool) {
        (self.info.node.is_some(), self.info.node_labels.is_some())
    }

    /// Folds a snapshot, unless it is older than the newest one, and reports what follows from it.
    /// Returns the outcome if it ends the startup; then the caller calls [`PodInFlight::finish`].
    pub(super) fn fold(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) -> Option<Outcome> {
        let before = self.entered.map(|_| self.waiting);
        let Self {
            info,
            startup,
            last_seen,
            slos,
            evidence,
            images,
            sli,
            lacks_network_condition,
            ..
        } = self;
        if !last_seen.accept(snapshot, seen.baseline, &mut |again| reporter.pod(info, again)) {
            return None;
        }
        let newly_bound = info.node.is_none() && snapshot.info.node.is_some();
        if newly_bound {
            info.node.clone_from(&snapshot.info.node);
            shared.learn_node(snapshot.uid, info);
        }
        let mut emit = |observation| reporter.pod(info, observation);
        if newly_bound {
            emit(PodObservation::Bound);
            startup.conditional_stages().map(PodObservation::Applies).for_each(&mut emit);
        }
        let was_scheduled = startup.reached(Milestone::Scheduled).is_reached();
        let unbound = before.is_some() && (newly_bound || info.node.is_none());
        let seen =
            &SnapshotContext { exact_network: shared.has_exact_network(info), unbound, ..*seen };
        evidence.update(snapshot, shared.revisions.has_other(snapshot));
        if !startup.reached(Milestone::ContainersStarted).is_reached() {
            let nanos = snapshot.init_runs.as_nanos();
            evidence.init_runs = u64::try_from(nanos).unwrap_or(u64::MAX);
        }
        startup.has_run |= snapshot.has_run;
        let outcome = outcome(startup, snapshot).map(|outcome| match outcome {
            Outcome::Failed if snapshot.is_bound && !startup.has_run => Outcome::Rejected,
            other => other,
        });
        let outcome = outcome.map(|outcome| disrupted(outcome, evidence.disruption));
        let is_rejected = outcome == Some(Outcome::Rejected);
        let was_unschedulable = startup.seen_unschedulable;
        let shown = startup.latch(snapshot, is_rejected, seen, &mut emit);
        if startup.seen_unschedulable && !was_unschedulable {
            emit(PodObservation::Applies(Stage::Unschedulable));
        }
        startup.fold_named(NamedFold {
            snapshot,
            seen,
            is_first: before.is_none(),
            milestones: &shared.milestones,
            emit: |observation: NamedObservation<'_>| match observation {
                NamedObservation::Gate(gate) => reporter.gate(info, gate),
                NamedObservation::Pod(observation) => reporter.pod(info, observation),
            },
        });
        let mut emit = |observation| reporter.pod(info, observation);
        shared.compare_clocks(shown, info.node.as_ref(), seen);
        if !was_scheduled && startup.reached(Milestone::Scheduled).is_reached() {
            startup.node = shared.node_of_scheduled(info, snapshot.created, seen.adopted);
        }
        if seen.adopted {
            skip_ended(startup, &mut emit);
        }
        let (node_age, has_evidence) = (startup.node_age(), shared.has_evidence());
        judge(startup, &mut |observation| {
            emit(observation);
            if let PodObservation::Measured { interval: Interval::CreatedToReady, latency } =
                observation
                && has_evidence
            {
                let images = shared.images_of(images, evidence);
                emit(PodObservation::Startup { node_age, images, latency });
            }
        });
        if seen.adopted {
            sli.adopt(shared.events, &mut emit);
        }
        if shared.events {
            sli.judge(startup, evidence, images, &mut emit);
        }
        *lacks_network_condition = shows_no_network_condition(snapshot);
        let input = SloInput {
            uid: snapshot.uid,
            snapshot: Some(snapshot),
            events: shared.events,
            kind: StartupKind::from_startup(startup, shared.images_of(images, evidence)),
            now: seen.now,
            adopted: seen.adopted,
            outcome,
            before,
        };
        slos.update(startup, input, &shared.rules, &mut shared.timers, &mut emit);
        if outcome.is_none() {
            self.update_wait(shared, reporter);
            let said = said_by_pod(snapshot, self.waiting);
            let meant = said.and_then(|said| self.evidence.said_of_meant_nodes(said.text));
            let said = said.map(|said| {
                let text = meant.as_deref().unwrap_or(said.text);
                NewMessage { text, ..said }
            });
            self.set_message(said, shared);
        }
        outcome
    }

    /// Reports the pod's stage and cause if one of them has changed, and moves the pod in the order of
    /// the stages.
    pub(super) fn update_wait(
        &mut self,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let standing = self.startup.standing();
        let stage = standing.stage;
        let waiting = self.evidence.waiting(standing);
        if waiting != self.waiting {
            let (from, to) = (self.state_in(self.waiting), self.state_in(waiting));
            reporter.pod(&self.info, PodObservation::Moved { from, to });
            // Before its first snapshot is folded, the pod has only what a pod begins with.
            if self.entered.is_some() {
                self.log_cause(waiting, reporter.now());
            }
            self.waiting = waiting;
        }
        if shared.events && stage == Stage::Unschedulable {
            self.capacity.follow();
        }
        self.container = self.container_with_cause();
        let entered = self.startup.entered(stage).unwrap_or(self.discovered);
        self.wait(Some((stage, entered)), shared, reporter);
    }

    /// The state in which it is counted while it waits for `waiting`.
    fn state_in(&self, waiting: WaitReason) -> PodState {
        waiting_state(waiting, self.capacity.state())
    }

    /// When it became ready, of a startup that ended as ready at `ended`: a Ready without a time counts from the end.
    pub(super) fn ready_at(&self, ended: Timestamp) -> Timestamp {
        self.startup.reached(Milestone::Ready).usable().unwrap_or(ended)
    }

    /// The namespace and the name of the pod.
    pub(super) fn names(&self) -> (&str, &str) {
        (&self.info.namespace, &self.info.name)
    }

    /// The position of the container that gives the pod its present cause, where one does.
    pub(super) fn container_with_cause(&self) -> Option<u8> {
        let (cause, standing) = (self.waiting.cause(), self.startup.standing());
        let position = self.evidence.container_with(cause, standing)?;
        u8::try_from(position).ok()
    }

    /// Forgets every cause but the present one. It began at `began`, but not before the stage and not after `now`, or else
    /// with the stage: the pod is taken for discovered then, so that what it is first seen with is not taken for older
    /// than it is.
    pub(super) fn know_present_cause(&mut self, began: Option<Timestamp>, now: Timestamp) {
        let entered = self.startup.entered(self.waiting.stage());
        self.discovered = entered.unwrap_or(self.discovered);
        let after_entry = |began: Timestamp| entered.map_or(began, |entered| began.max(entered));
        let began = began.map(|began| after_entry(began).min(now));
        self.causes = CauseLog::default();
        self.causes.push(RecordedCause {
            waiting: self.waiting,
            began: began.unwrap_or(self.discovered),
            container: None,
        });
    }

    /// What an autoscaler says of an unschedulable pod holds since `since`, but not before the pod entered its stage, and
    /// not after `now`.
    pub(super) fn hold_capacity_since(&mut self, since: Timestamp, now: Timestamp) {
        if self.waiting.stage() == Stage::Unschedulable {
            let entered = self.startup.entered(Stage::Unschedulable);
            let since = entered.map_or(since, |entered| since.max(entered));
            self.capacity.hold_since(since.min(now));
        }
    }

    /// Notes that the pod waits for another cause from `now` on.
    fn log_cause(&mut self, waiting: WaitReason, now: Timestamp) {
        if self.causes.is_empty() {
            self.causes.push(RecordedCause {
                waiting: self.waiting,
                began: self.discovered,
                container: None,
            });
        }
        self.causes.set_container(self.container);
        self.causes.push(RecordedCause { waiting, began: now, container: None });
    }

    /// Ends the startup. Returns how it ended.
    pub(super) fn finish(
        &mut self,
        outcome: Outcome,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) -> Outcome {
        let Self { info, startup, slos, evidence, images, sli, lacks_network_condition, .. } = self;
        let outcome = disrupted(outcome, evidence.disruption);
        // Only pods in flight need it.
        startup.has_run = false;
        let mut emit = |observation| reporter.pod(info, observation);
        if matches!(outcome, Outcome::Ready | Outcome::Completed) {
            report_unobserved(startup, &mut emit);
        }
        if outcome == Outcome::Completed {
            startup.report_custom_unobserved(&shared.milestones, &mut emit);
        }
        // One that is ready is followed until they come.
        let open = startup.followed_milestones(outcome, &shared.milestones);
        let stay = |rule: &SloRule| names_open(rule, &shared.milestones, open);
        let kind = StartupKind::from_startup(startup, shared.images_of(images, evidence));
        slos.exclude_unselected(kind, &shared.rules, stay, &mut emit);
        if shared.events {
            sli.end(outcome, startup, &mut emit);
            if *lacks_network_condition {
                slos.exclude_without_network(startup, &shared.rules, &mut emit);
            }
        }
        slos.end(ExclusionReason::from_outcome(outcome), &shared.rules, stay, &mut emit);
        if let (Outcome::Disrupted, Some(reason)) = (outcome, evidence.disruption) {
            emit(PodObservation::Disrupted(reason));
        }
        let from = waiting_state(self.waiting, self.capacity.state());
        let to = PodState::Finished(outcome);
        emit(PodObservation::Moved { from, to });
        self.startup.release_gates(|gate| reporter.gate(&self.info, gate));
        (self.startup).report_gates(GatesEvent::Left, |gates| reporter.gates(&self.info, gates));
        self.leave_node(outcome, shared, reporter);
        self.wait(None, shared, reporter);
        self.settle_texts(shared);
        self.capacity.release(&mut shared.messages);
        outcome
    }

    /// Reports to the node that the startup ended: its first Ready pod ends a step of the node's startup
    /// ([§14.7](crate::specification#s14-7)).
    fn leave_node(
        &mut self,
        outcome: Outcome,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let newest = shared.newest_labels(&self.info).cloned();
        let (Some(nodes), Some(name)) = (&mut shared.nodes, &self.info.node) else {
            return;
        };
        if newest.is_none() {
            nodes.stop_waiting(name, self.uid);
        } else {
            self.startup.node.get_or_insert_default().labels = newest;
        }
        let workload = self.info.workload.as_deref();
        let is_of_daemon_set = workload.is_some_and(|workload| &*workload.kind == "DaemonSet");
        if outcome == Outcome::Ready && !is_of_daemon_set {
            let ready = self.startup.reached(Milestone::Ready).usable();
            nodes.pod_became_ready(name, ready, &mut |observation| reporter.node(observation));
        }
    }

    /// Takes the labels of the pod's node, which have become known.
    pub(super) fn node_became_known(
        &mut self,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        shared.learn_node(self.uid, &mut self.info);
        reporter.pod(&self.info, PodObservation::NodeKnown);
        let stages = self.conditional_stages().map(PodObservation::Applies);
        stages.for_each(|applies| reporter.pod(&self.info, applies));
    }

    /// Passes the deadline of an SLO, or all of them, at `now` (see [`SloProgress::pass_deadlines`]).
    pub(super) fn pass_deadlines(
        &mut self,
        missed: Option<SloId>,
        now: Timestamp,
        shared: &SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let Self { info, startup, slos, waiting, evidence, images, .. } = self;
        let kind = StartupKind::from_startup(startup, shared.images_of(images, evidence));
        let mut emit = |observation| reporter.pod(info, observation);
        let (startup, rules) = ((&*startup, kind), &shared.rules);
        let why = BadReason::Waiting(*waiting);
        slos.pass_deadlines(missed, now, startup, why, rules, &mut emit);
    }

    /// Puts other SLOs in force (see [`SloProgress::replace`]).
    pub(super) fn replace_slos(&mut self, successors: &[Option<SloId>], shared: &mut SharedState) {
        let SharedState { rules, timers, .. } = shared;
        self.slos.replace(successors, rules, self.uid, &self.startup, timers);
    }

    /// The SLOs that still wait for their event of this pod.
    pub(super) fn undecided(&self) -> impl Iterator<Item = SloId> {
        self.slos.undecided()
    }

    fn wait(
        &mut self,
        to: Option<StageEntry>,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let from = self.entry();
        let Self { uid, info, .. } = self;
        let mut emit = |observation| reporter.pod(info, observation);
        shared.order.move_pod(*uid, from, to, &mut emit);
        self.entered = to.map(|(_, entered)| entered);
        self.entered_stage = to.map_or(self.entered_stage, |(stage, _)| stage);
        self.report_stuck(&shared.stuck, reporter);
    }

    /// Reports that the pod is not known to be stuck any more.
    pub(super) fn hush_stuck(&mut self, reporter: &mut TimedObserver<'_, impl ObservePod>) {
        if let Some(from) = self.stuck.take() {
            let (from, to) = (Some(from), None);
            reporter.pod(&self.info, PodObservation::Stuck { from, to });
        }
    }

    /// Reports if the pod has become stuck, is stuck for another cause, or is stuck no longer.
    pub(super) fn report_stuck(
        &mut self,
        stuck: &StuckBefore,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let entry = self.entry();
        let is_late = entry.is_some_and(|(stage, entered)| stuck.is_stuck(stage, entered));
        let is_idle = CauseClass::from_cause(self.waiting.cause()).is_idle_wait();
        let is_stuck = is_late && !(self.startup.traits.is_never_ready() && is_idle);
        let to = is_stuck.then_some(self.waiting);
        let from = std::mem::replace(&mut self.stuck, to);
        if from != to {
            reporter.pod(&self.info, PodObservation::Stuck { from, to });
        }
    }
}

/// The state of a pod that waits for `waiting`: its capacity counts in the stage `unschedulable` only.
fn waiting_state(waiting: WaitReason, capacity: CapacityState) -> PodState {
    PodState::InFlight(
        waiting,
        match waiting.stage() {
            Stage::Unschedulable => capacity,
            _ => CapacityState::Unknown,
        },
    )
}

/// Judges every interval of which both ends are reached, each by itself and once
/// ([§3.1](crate::specification#s3-1)).
fn judge(startup: &mut Startup, emit: &mut impl FnMut(PodObservation)) {
    for interval in Interval::ALL {
        if startup.is_decided(interval) || !startup.applies(interval) {
            continue;
        }
        let (Reached::At(from), Reached::At(to)) = (startup.start(interval), startup.end(interval))
        else {
            continue;
        };
        startup.decide(interval);
        match DurationJudgement::from_times(from, to) {
            DurationJudgement::Usable { latency, rounded } => {
                emit(PodObservation::Measured { interval, latency });
                if rounded {
                    emit(PodObservation::Anomaly(AnomalyKind::Rounded));
                }
            }
            DurationJudgement::Unusable(kind) => {
                emit(PodObservation::Anomaly(kind));
                if let Some(stage) = interval.stage_or_step() {
                    let reason = UnobservedReason::Time;
                    emit(PodObservation::Unobserved { stage, reason });
                }
            }
        }
    }
}

/// Reports the stages and steps that had ended when an adopted pod was first seen as unobserved
/// ([§5.2](crate::specification#s5-2)).
fn skip_ended(startup: &mut Startup, emit: &mut impl FnMut(PodObservation)) {
    for stage in StageOrStep::ALL {
        let interval = stage.interval();
        if startup.applies(interval) && startup.end(interval).is_reached() {
            startup.skip(interval);
            emit(PodObservation::Unobserved { stage, reason: UnobservedReason::Preexisting });
        }
    }
}

/// Reports the stages and steps that the ended startup leaves unobserved ([§5.8](crate::specification#s5-8)).
fn report_unobserved(startup: &mut Startup, emit: &mut impl FnMut(PodObservation)) {
    for stage in StageOrStep::ALL {
        let interval = stage.interval();
        if startup.applies(interval) && !startup.is_decided(interval) {
            startup.decide(interval);
            let reason = startup.unobserved(interval);
            emit(PodObservation::Unobserved { stage, reason });
        }
    }
}

/// What `outcome` is for a pod whose last snapshot shows that disruption: a pod that Kubernetes itself had marked for it
/// did not fail or go by itself ([§10.2](crate::specification#s10-2)).
pub(super) const fn disrupted(outcome: Outcome, by: Option<DisruptionReason>) -> Outcome {
    match outcome {
        Outcome::Failed | Outcome::Rejected | Outcome::Deleted | Outcome::Vanished
            if by.is_some() =>
        {
            Outcome::Disrupted
        }
        other => other,
    }
}

/// How `snapshot`, which need not be latched, ends the startup, if it does. Ready takes precedence over a terminal
/// phase in the same snapshot.
fn outcome(startup: &Startup, snapshot: &PodSnapshot) -> Option<Outcome> {
    let shows_ready = (snapshot.conditions).holding(ConditionType::Ready);
    if startup.reached(Milestone::Ready).is_reached() || shows_ready.is_some() {
        return Some(Outcome::Ready);
    }
    terminal(snapshot)
}

/// What a terminal phase says of how a pod is over ([§5.9](crate::specification#s5-9)).
pub(super) const fn terminal(snapshot: &PodSnapshot) -> Option<Outcome> {
    match snapshot.phase {
        PodPhase::Active => None,
        _ if snapshot.ended_by_deletion => Some(Outcome::Deleted),
        PodPhase::Succeeded => Some(Outcome::Completed),
        PodPhase::Failed => Some(Outcome::Failed),
    }
}
