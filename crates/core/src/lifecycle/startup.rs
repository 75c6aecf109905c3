//! The state of one startup: the milestones that were latched, and what follows from them.
//!
//! The milestones are a set and not a chain of states, because no milestone implies another
//! ([§3.2](crate::specification#s3-2)): real pods are Initialized before their network is ready, and kubelets were recorded with
//! Ready=True while Initialized was still False. The stage that a pod is in is derived.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cause::PodStage;
use super::enum_set::EnumSet;
use super::estimate::TimeEstimate;
use super::interval::{AppliesTo, Interval, IntervalEnd, IntervalStart, NodePoint, Stage};
use super::judgement::{AnomalyKind, Latency, UnobservedReason};
use super::milestone::Milestone;
use super::named::Named;
use super::network_evidence::{NetworkEvidence, NetworkTime, all_started, earliest};
use super::observation::PodObservation;
use super::pod_node::{NodeAge, PodNode};
use super::reached::Reached;
use super::snapshot_context::SnapshotContext;
use super::traits::Traits;
use crate::pod::{ConditionType, PodSnapshot};
use crate::saved::{read_by_name, write_by_name};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// What begins an interval of a pod.
enum IntervalBeginning {
    At(Milestone),
    /// The later of two milestones
    Later(Milestone, Milestone),
    Node(NodePoint),
}

/// How long after what a snapshot latches a live watch event has shown it, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShownAfter {
    /// The least of what a kubelet's conditions state ([§4.7](crate::specification#s4-7))
    pub(super) kubelet: Option<i64>,
    /// Of a binding ([§4.10](crate::specification#s4-10))
    pub(super) binding: Option<i64>,
}

/// One pod's startup so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Startup {
    /// By milestone: when it was reached, where that is known. Before Scheduled is reached, its place has what the
    /// first Event of a scheduler tells ([§4.8](crate::specification#s4-8))
    #[serde(with = "times")]
    pub(super) times: [Option<Timestamp>; Milestone::ALL.len()],
    pub(super) reached: EnumSet<Milestone>,
    /// The condition types that were ever in the pod's status, with any value
    pub(super) types_seen: EnumSet<ConditionType>,
    /// The intervals that were judged, or are never going to be
    pub(super) decided: EnumSet<Interval>,
    /// The intervals that had ended when the pod was adopted
    pub(super) preexisting: EnumSet<Interval>,
    /// What gave the time of NetworkReady, once that is latched
    pub(super) network_evidence: NetworkEvidence,
    /// How far that time can be from the truth, where that is known
    pub(super) network_time: Option<NetworkTime>,
    /// The node that the pod was scheduled to, once Scheduled is latched and while nodes are a source
    pub(super) node: Option<Box<PodNode>>,
    pub(super) traits: Traits,
    /// What few pods have: gates, and milestones of your own
    pub(super) named: Option<Box<Named>>,
    /// The time of an Event, in one place because a pod in flight has little room. Before Scheduled is latched, it is
    /// when the network was ready ([§9.2](crate::specification#s9-2)). Then it is when the scheduler bound the pod,
    /// where an Event sharpens that ([§4.8](crate::specification#s4-8))
    pub(super) kept_evidence: Option<Timestamp>,
    pub(super) has_init_containers: bool,
    pub(super) has_readiness_gates: bool,
    pub(super) seen_gated: bool,
    pub(super) seen_unschedulable: bool,
    /// A snapshot has shown a container of the pod with a start, or as terminated
    pub(super) has_run: bool,
}

/// The times of milestones, by their names.
mod times {
    use super::{Deserializer, Milestone, Serializer, Timestamp, read_by_name, write_by_name};

    type Times = [Option<Timestamp>; Milestone::ALL.len()];

    pub(super) fn serialize<S: Serializer>(times: &Times, to: S) -> Result<S::Ok, S::Error> {
        write_by_name("Times", |milestone: Milestone| times[milestone as usize], to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Times, D::Error> {
        let mut times = Times::default();
        read_by_name("Times", from, |milestone: Milestone, at| times[milestone as usize] = at)?;
        Ok(times)
    }
}

impl PodSnapshot {
    /// The [conditional](Stage::is_conditional) stages that apply to the pod, as this snapshot shows it.
    pub fn conditional_stages(&self) -> impl Iterator<Item = Stage> + use<> {
        let startup = Startup::new(self);
        Stage::ALL.into_iter().filter(move |stage| startup.has_conditional(*stage))
    }
}

impl Startup {
    /// A startup with nothing latched. Which stages apply follows from parts of the pod's spec that are
    /// immutable, except for the scheduling gates.
    pub(super) fn new(snapshot: &PodSnapshot) -> Self {
        Self {
            times: [None; Milestone::ALL.len()],
            reached: EnumSet::default(),
            types_seen: EnumSet::default(),
            decided: EnumSet::default(),
            preexisting: EnumSet::default(),
            network_evidence: NetworkEvidence::default(),
            network_time: None,
            node: None,
            traits: Traits::new(snapshot.claims),
            named: Named::from_snapshot(snapshot),
            kept_evidence: None,
            has_init_containers: snapshot.has_init_containers,
            has_readiness_gates: snapshot.has_readiness_gates,
            seen_gated: snapshot.gated,
            seen_unschedulable: snapshot.unschedulable,
            has_run: false,
        }
    }

    /// Whether and when `milestone` was reached.
    pub(super) fn reached(&self, milestone: Milestone) -> Reached {
        if !self.reached.contains(milestone) {
            return Reached::No;
        }
        Reached::At(self.times[milestone as usize])
    }

    pub(super) fn reach(&mut self, milestone: Milestone, at: Option<Timestamp>) {
        self.reached.insert(milestone);
        self.times[milestone as usize] = at;
    }

    /// Latches `milestone` at the time of an estimate.
    fn reach_at(&mut self, milestone: Milestone, estimate: TimeEstimate) {
        self.reach(milestone, estimate.at);
    }

    /// Latches every milestone that `snapshot` is the first to show, and emits what its times
    /// say about clocks and deliveries. A pod that the kubelet rejected with it was scheduled
    /// ([§6.11](crate::specification#s6-11)). Returns how long after the times that it latches a live watch event has
    /// shown them.
    pub(super) fn latch(
        &mut self,
        snapshot: &PodSnapshot,
        is_rejected: bool,
        seen: &SnapshotContext,
        emit: &mut impl FnMut(PodObservation),
    ) -> ShownAfter {
        let mut shown = ShownAfter::default();
        for kind in ConditionType::ALL {
            if snapshot.conditions.get(kind).is_some() {
                self.types_seen.insert(kind);
            }
        }
        let was_scheduled = self.reached(Milestone::Scheduled).is_reached();
        let kept = self.kept_evidence.take_if(|_| !was_scheduled);
        self.seen_gated |= snapshot.gated;
        self.traits.set_claims(snapshot.claims);
        if snapshot.can_never_be_ready() {
            self.traits.set_never_ready(true);
        }
        if !was_scheduled {
            self.seen_unschedulable |= snapshot.unschedulable;
        }
        if !self.reached(Milestone::Created).is_reached() {
            let estimate = seen.mode.estimate(snapshot.created, seen.observed);
            tell(estimate, emit);
            self.reach_at(Milestone::Created, estimate);
        }
        for milestone in Milestone::BY_CONDITION {
            if let (Milestone::NetworkReady, Some(at)) = (milestone, kept) {
                self.latch_kept_evidence(at, snapshot, is_rejected, emit);
            }
            let condition = milestone.condition(&snapshot.conditions);
            if let Some(held) = condition.filter(|condition| condition.is_true())
                && !self.reached(milestone).is_reached()
            {
                let (stated, observed) = (held.last_transition, seen.observed);
                let estimate = match milestone {
                    Milestone::Ready => seen.mode.estimate_or_observed(stated, observed),
                    _ => seen.mode.estimate(stated, observed),
                };
                tell(estimate, emit);
                if let Some(after) = seen.shown_after(stated) {
                    match milestone {
                        Milestone::Scheduled => {
                            shown.binding = Some(after).filter(|_| seen.unbound)
                        }
                        _ => {
                            shown.kubelet =
                                Some(shown.kubelet.map_or(after, |least| least.min(after)))
                        }
                    }
                }
                match milestone {
                    Milestone::NetworkReady => {
                        let time = NetworkTime::from_condition(stated, &snapshot.containers);
                        let is_late = time == Some(NetworkTime::Late);
                        let time = match seen.exact_network && is_late {
                            true => Some(NetworkTime::Exact),
                            false => time,
                        };
                        self.latch_network((estimate, time), snapshot, seen, emit);
                    }
                    Milestone::Scheduled => self.latch_scheduled(estimate),
                    _ => self.reach_at(milestone, estimate),
                }
            }
        }
        self.latch_acknowledged(snapshot, seen);
        self.latch_containers_started(snapshot, seen);
        self.latch_ungated(snapshot, seen);
        self.latch_implied_scheduled(is_rejected);
        if let Some(delay) = shown.binding.and_then(|after| u64::try_from(after).ok()) {
            emit(PodObservation::Delivered(Latency::from_nanos(delay)));
        }
        shown
    }

    /// Latches NetworkReady in a snapshot whose condition is True since `condition`, which makes its time
    /// one of the class `time` ([§9.2](crate::specification#s9-2)).
    fn latch_network(
        &mut self,
        (condition, time): (TimeEstimate, Option<NetworkTime>),
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        emit: &mut impl FnMut(PodObservation),
    ) {
        let (at, evidence) = earliest(condition.at, &snapshot.containers, seen.mode);
        self.network_evidence = evidence;
        self.network_time = time;
        self.reach(Milestone::NetworkReady, at.map(|at| self.raised_to_scheduled(at)));
        if !seen.adopted {
            emit(PodObservation::NetworkReady { evidence, time });
        }
    }

    /// Takes the evidence of an Event that happened at `at`. Returns whether it latched NetworkReady: it
    /// is kept until Scheduled is latched.
    pub(super) fn latch_event(
        &mut self,
        at: Timestamp,
        emit: &mut impl FnMut(PodObservation),
    ) -> bool {
        if self.reached(Milestone::NetworkReady).is_reached() {
            return false;
        }
        let scheduled = self.reached(Milestone::Scheduled).is_reached();
        if scheduled {
            let at = Some(self.raised_to_scheduled(at));
            self.reach(Milestone::NetworkReady, at);
            self.network_evidence = NetworkEvidence::Event;
            self.network_time = Some(NetworkTime::Exact);
            emit(PodObservation::NetworkReady {
                evidence: NetworkEvidence::Event,
                time: Some(NetworkTime::Exact),
            });
        } else {
            self.kept_evidence.get_or_insert(at);
        }
        scheduled
    }

    /// Latches NetworkReady by the evidence of `at` that was kept, in the snapshot that latches Scheduled: by
    /// its condition, which is latched already, or by a later one, which implies it.
    fn latch_kept_evidence(
        &mut self,
        at: Timestamp,
        snapshot: &PodSnapshot,
        is_rejected: bool,
        emit: &mut impl FnMut(PodObservation),
    ) {
        let mut later = Milestone::REENTERABLE.into_iter();
        let implied = is_rejected
            || later.any(|later| {
                let condition = later.condition(&snapshot.conditions);
                condition.is_some_and(|condition| condition.is_true())
            });
        if implied && !self.reached(Milestone::Scheduled).is_reached() {
            self.reach(Milestone::Scheduled, None);
        }
        self.latch_event(at, emit);
    }

    /// `at`, raised to the time of Scheduled where that is known and at most a second later. Further away, a clock is
    /// wrong, and no time would be right ([§9.2](crate::specification#s9-2)).
    fn raised_to_scheduled(&self, at: Timestamp) -> Timestamp {
        let is_near =
            |scheduled: &Timestamp| (0..=NANOS_PER_SECOND).contains(&scheduled.nanos_since(at));
        self.bound().usable().filter(is_near).unwrap_or(at)
    }

    fn latch_acknowledged(&mut self, snapshot: &PodSnapshot, seen: &SnapshotContext) {
        if snapshot.started.is_some() && !self.reached(Milestone::Acknowledged).is_reached() {
            let estimate = seen.mode.estimate(snapshot.started, seen.observed);
            self.reach_at(Milestone::Acknowledged, estimate);
        }
    }

    fn latch_containers_started(&mut self, snapshot: &PodSnapshot, seen: &SnapshotContext) {
        if !self.reached(Milestone::ContainersStarted).is_reached()
            && let Some(latest) = all_started(&snapshot.containers)
        {
            let estimate = seen.mode.estimate(Some(latest), seen.observed);
            self.reach_at(Milestone::ContainersStarted, estimate);
        }
    }

    fn latch_ungated(&mut self, snapshot: &PodSnapshot, seen: &SnapshotContext) {
        let ungated = self.seen_gated && !snapshot.gated;
        if !ungated || self.reached(Milestone::Ungated).is_reached() {
            return;
        }
        let shows_scheduled = snapshot.conditions.holding(ConditionType::PodScheduled).is_some();
        let scheduled = self.reached(Milestone::Scheduled).usable().filter(|_| shows_scheduled);
        let at = seen.mode.estimate_ungated(seen.observed, scheduled);
        self.reach(Milestone::Ungated, at);
    }

    /// `PodScheduled` may stay False on a bound pod (k/k#139602): a later milestone proves that
    /// the pod was scheduled, but not when. So does a kubelet that rejected it.
    fn latch_implied_scheduled(&mut self, is_rejected: bool) {
        const LATER: [Milestone; 4] = Milestone::REENTERABLE;
        let implied =
            is_rejected || LATER.into_iter().any(|later| self.reached(later).is_reached());
        if implied && !self.reached(Milestone::Scheduled).is_reached() {
            self.reach(Milestone::Scheduled, None);
        }
    }

    /// Whether `interval` is observed for this pod at all.
    pub(super) fn applies(&self, interval: Interval) -> bool {
        match interval.definition().applies_to {
            AppliesTo::AllPods => true,
            AppliesTo::Gated => self.seen_gated,
            AppliesTo::NeverUnschedulable => !self.seen_unschedulable,
            AppliesTo::Unschedulable => self.seen_unschedulable,
            AppliesTo::WithInitContainers => self.has_init_containers,
            AppliesTo::WithReadinessGates => self.has_readiness_gates,
            AppliesTo::WithNewNode => self.seen_unschedulable && self.node_age() == NodeAge::New,
        }
    }

    /// The [conditional](Stage::is_conditional) stages that apply to the pod.
    pub(super) fn conditional_stages(&self) -> impl Iterator<Item = Stage> {
        Stage::ALL.into_iter().filter(|stage| self.has_conditional(*stage))
    }

    fn has_conditional(&self, stage: Stage) -> bool {
        stage.is_conditional() && self.applies(Interval::Stage(stage))
    }

    /// Whether `interval` applies to the pod, or may still come to.
    pub(super) fn can_enter(&self, interval: Interval) -> bool {
        let may_become_unschedulable = !self.reached(Milestone::Scheduled).is_reached();
        self.applies(interval)
            || interval.definition().applies_to == AppliesTo::Unschedulable
                && may_become_unschedulable
    }

    /// The milestones that begin `interval` for this pod: the later of them does.
    fn beginnings(&self, interval: Interval) -> IntervalBeginning {
        let milestone = match interval.definition().from {
            IntervalStart::At(milestone) => milestone,
            IntervalStart::CreatedOrUngated if self.seen_gated => Milestone::Ungated,
            IntervalStart::CreatedOrUngated => Milestone::Created,
            IntervalStart::NetworkReadyAndInitialized if self.has_init_containers => {
                return IntervalBeginning::Later(Milestone::NetworkReady, Milestone::Initialized);
            }
            IntervalStart::NetworkReadyAndInitialized => Milestone::NetworkReady,
            IntervalStart::Node(point) => return IntervalBeginning::Node(point),
        };
        IntervalBeginning::At(milestone)
    }

    /// When `interval` began.
    pub(super) fn start(&self, interval: Interval) -> Reached {
        match self.beginnings(interval) {
            // Judged when Scheduled is latched, whatever is reached then.
            IntervalBeginning::At(milestone) if interval.is_of_node() && self.node.is_some() => {
                Reached::At(self.reached(milestone).usable())
            }
            IntervalBeginning::At(Milestone::Scheduled) => self.bound(),
            IntervalBeginning::At(milestone) => self.reached(milestone),
            IntervalBeginning::Later(one, other) => self.reached(one).later(self.reached(other)),
            IntervalBeginning::Node(point) => self.node_reached(point),
        }
    }

    /// When `interval` ended.
    pub(super) fn end(&self, interval: Interval) -> Reached {
        match interval.definition().to {
            IntervalEnd::At(milestone) => self.reached(milestone),
            IntervalEnd::Node(point) => self.node_reached(point),
        }
    }

    /// Whether `interval` ends with a milestone that the pod can never reach any more.
    pub(super) fn never_ends(&self, interval: Interval) -> bool {
        use Milestone::{ContainersReady, Ready};
        self.traits.is_never_ready()
            && matches!(interval.definition().to, IntervalEnd::At(ContainersReady | Ready))
    }

    /// Whether the pod's node is younger than the pod; unknown before Scheduled is latched.
    pub(super) fn node_age(&self) -> NodeAge {
        let node = self.node.as_deref();
        node.map_or(NodeAge::Unknown, |node| node.age)
    }

    fn node_reached(&self, point: NodePoint) -> Reached {
        let node = self.node.as_deref();
        node.map_or(Reached::No, |node| node.reached(point))
    }

    /// Whether `interval` was judged, or is never going to be.
    pub(super) fn is_decided(&self, interval: Interval) -> bool {
        self.decided.contains(interval)
    }

    /// Marks `interval` as judged, or as never going to be.
    pub(super) fn decide(&mut self, interval: Interval) {
        self.decided.insert(interval);
    }

    /// Marks `interval`, which had ended when the pod was adopted, as never going to be judged.
    pub(super) fn skip(&mut self, interval: Interval) {
        self.decide(interval);
        self.preexisting.insert(interval);
    }

    /// Why `interval` is not observed, when the startup ends and it was not judged.
    pub(super) fn unobserved(&self, interval: Interval) -> UnobservedReason {
        if self.has_seen_types(interval) {
            UnobservedReason::NotSeen
        } else {
            UnobservedReason::ConditionAbsent
        }
    }

    /// The milestones at the ends of `interval` that are shown by a condition.
    pub(super) fn needed_conditions(&self, interval: Interval) -> impl Iterator<Item = Milestone> {
        let (one, other) = match self.beginnings(interval) {
            IntervalBeginning::At(milestone) => (Some(milestone), None),
            IntervalBeginning::Later(one, other) => (Some(one), Some(other)),
            IntervalBeginning::Node(_) => (None, None),
        };
        let to = match interval.definition().to {
            IntervalEnd::At(milestone) => Some(milestone),
            IntervalEnd::Node(_) => None,
        };
        let ends = [one, other, to].into_iter().flatten();
        ends.filter(|milestone| Milestone::BY_CONDITION.contains(milestone))
    }

    /// Whether every condition type that `interval` needs was ever in the pod's status.
    pub(super) fn has_seen_types(&self, interval: Interval) -> bool {
        self.needed_conditions(interval).all(|milestone| {
            let mut types = ConditionType::ALL.into_iter();
            types.any(|kind| {
                Milestone::from_condition(kind) == milestone && self.types_seen.contains(kind)
            })
        })
    }

    /// The stage of the pod, and the stage that it would be in with its network ready.
    pub(super) fn standing(&self) -> PodStage {
        let reached = |milestone| self.reached(milestone).is_reached();
        PodStage {
            stage: self.stage(),
            beyond_network: if self.has_init_containers && !reached(Milestone::Initialized) {
                Stage::Init
            } else if reached(Milestone::ContainersReady) {
                Stage::Readiness
            } else {
                Stage::Containers
            },
            has_readiness_gates: self.has_readiness_gates,
        }
    }

    /// The stage the pod is in: the first one that applies to it and has not ended.
    pub(super) fn stage(&self) -> Stage {
        let is_open = |stage: &Stage| {
            let interval = Interval::Stage(*stage);
            self.applies(interval) && !self.end(interval).is_reached()
        };
        let open = Stage::ALL.into_iter().find(is_open);
        open.unwrap_or(Stage::Readiness)
    }

    /// When the pod entered `stage`, or, where that is unknown, the nearest earlier point of its
    /// startup that is known.
    pub(super) fn entered(&self, stage: Stage) -> Option<Timestamp> {
        let backwards = Stage::ALL[..=stage as usize].iter().rev();
        let mut starts = backwards.map(|stage| self.start(Interval::Stage(*stage)).usable());
        starts.find_map(|start| start)
    }
}

/// Emits the anomaly of an estimate, if it has one.
fn tell(estimate: TimeEstimate, emit: &mut impl FnMut(PodObservation)) {
    if estimate.skewed {
        emit(PodObservation::Anomaly(AnomalyKind::Skew));
    }
}
