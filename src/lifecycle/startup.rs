//! What is known of one startup: the milestones that were latched, and what follows from them.
//!
//! The milestones are a set and not a chain of states, because no milestone implies another (§3):
//! real pods are Initialized before their network is ready, and kubelets were recorded with
//! Ready=True while Initialized was still False. The stage that a pod is in is derived.

use super::clock::TimestampMode;
use super::milestone::Milestone;
use super::observation::{AnomalyKind, Latency, PodObservation};
use super::saved::SavedStartup;
use super::stage::{Interval, Stage};
use crate::pod::{ConditionType, Conditions, PodSnapshot};
use crate::timestamp::Timestamp;

/// Whether a milestone was reached, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reached {
    /// Not yet
    #[default]
    No,
    /// Yes; `None` when the time is unknown, missing or absurd
    At(Option<Timestamp>),
}

impl Reached {
    /// Whether the milestone was reached at all.
    pub fn is_reached(self) -> bool {
        self != Self::No
    }

    fn usable(self) -> Option<Timestamp> {
        match self {
            Self::At(at) => at,
            Self::No => None,
        }
    }

    /// The later of two milestones that must both be reached; unknown when either time is.
    fn later(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.zip(two).map(|(one, two)| one.max(two))),
            _ => Self::No,
        }
    }
}

/// How a snapshot came to be known.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// Which times count
    pub mode: TimestampMode,
    /// The instant at which a watch event showed it (§4 `o`)
    pub observed: Option<Timestamp>,
    /// Whether what it shows for the first time has just happened, so that the delay of its
    /// delivery means something
    pub live: bool,
}

/// The condition types that ever stood in a pod's status, whatever their status.
#[derive(Clone, Copy, Debug, Default)]
struct TypesStood(u8);

impl TypesStood {
    fn add(&mut self, conditions: &Conditions) {
        for kind in ConditionType::ALL {
            if conditions.get(kind).is_some() {
                self.0 |= 1 << kind as u8;
            }
        }
    }

    fn contains(self, milestone: Milestone) -> bool {
        ConditionType::ALL
            .into_iter()
            .any(|kind| Milestone::of(kind) == milestone && self.0 & (1 << kind as u8) != 0)
    }
}

/// One pod's startup as far as it was seen.
#[derive(Clone, Debug)]
pub struct Startup {
    /// By milestone: when it was reached, where that is known
    times: [Option<Timestamp>; Milestone::ALL.len()],
    /// By milestone, a bit: whether it was reached
    reached: u8,
    stood: TypesStood,
    decided: u16,
    has_init_containers: bool,
    has_readiness_gates: bool,
    seen_gated: bool,
    seen_unschedulable: bool,
}

impl From<SavedStartup> for Startup {
    fn from(saved: SavedStartup) -> Self {
        Self {
            times: saved.times,
            reached: saved.reached,
            stood: TypesStood(saved.stood),
            decided: saved.decided,
            has_init_containers: saved.has_init_containers,
            has_readiness_gates: saved.has_readiness_gates,
            seen_gated: saved.seen_gated,
            seen_unschedulable: saved.seen_unschedulable,
        }
    }
}

impl Startup {
    /// What is kept of it.
    pub const fn saved(&self) -> SavedStartup {
        SavedStartup {
            times: self.times,
            reached: self.reached,
            stood: self.stood.0,
            decided: self.decided,
            has_init_containers: self.has_init_containers,
            has_readiness_gates: self.has_readiness_gates,
            seen_gated: self.seen_gated,
            seen_unschedulable: self.seen_unschedulable,
        }
    }

    /// The startup of a pod that nothing was latched for yet. The spec of a pod that decides which
    /// stages apply to it is immutable but for the scheduling gates.
    pub fn new(snapshot: &PodSnapshot) -> Self {
        Self {
            times: [None; Milestone::ALL.len()],
            reached: 0,
            stood: TypesStood::default(),
            decided: 0,
            has_init_containers: snapshot.has_init_containers,
            has_readiness_gates: snapshot.has_readiness_gates,
            seen_gated: snapshot.gated,
            seen_unschedulable: snapshot.unschedulable,
        }
    }

    /// Whether and when `milestone` was reached.
    pub fn reached(&self, milestone: Milestone) -> Reached {
        if self.reached & (1 << milestone as u8) == 0 {
            return Reached::No;
        }
        Reached::At(self.times[milestone as usize])
    }

    fn reach(&mut self, milestone: Milestone, at: Option<Timestamp>) {
        self.reached |= 1 << milestone as u8;
        self.times[milestone as usize] = at;
    }

    /// Latches every milestone that `snapshot` is the first to show, and emits what its times
    /// say about clocks and deliveries.
    pub fn latch(
        &mut self,
        snapshot: &PodSnapshot,
        sighting: Sighting,
        emit: &mut impl FnMut(PodObservation),
    ) {
        self.stood.add(&snapshot.conditions);
        self.seen_gated |= snapshot.gated;
        if !self.reached(Milestone::Scheduled).is_reached() {
            self.seen_unschedulable |= snapshot.unschedulable;
        }
        self.latch_one(Milestone::Created, snapshot.created, sighting, emit);
        for milestone in Milestone::BY_CONDITION {
            let condition = milestone.condition(&snapshot.conditions);
            if let Some(held) = condition.filter(|condition| condition.is_true()) {
                self.latch_one(milestone, held.last_transition, sighting, emit);
            }
        }
        self.latch_ungated(snapshot, sighting);
        self.latch_implied_scheduled();
    }

    fn latch_one(
        &mut self,
        milestone: Milestone,
        stated: Option<Timestamp>,
        sighting: Sighting,
        emit: &mut impl FnMut(PodObservation),
    ) {
        if self.reached(milestone).is_reached() {
            return;
        }
        let estimate = sighting.mode.estimate(stated, sighting.observed);
        self.reach(milestone, estimate.at);
        if estimate.skewed {
            emit(PodObservation::Anomaly(AnomalyKind::Skew));
        }
        if let (true, Some(observed), Some(stated)) = (sighting.live, sighting.observed, stated)
            && let Ok(delay) = u64::try_from(observed.nanos_since(stated))
        {
            emit(PodObservation::Delivered(Latency::from_nanos(delay)));
        }
    }

    fn latch_ungated(&mut self, snapshot: &PodSnapshot, sighting: Sighting) {
        let ungated = self.seen_gated && !snapshot.gated;
        if !ungated || self.reached(Milestone::Ungated).is_reached() {
            return;
        }
        let shows_scheduled = snapshot
            .conditions
            .holding(ConditionType::PodScheduled)
            .is_some();
        let scheduled = self
            .reached(Milestone::Scheduled)
            .usable()
            .filter(|_| shows_scheduled);
        let at = sighting.mode.estimate_ungated(sighting.observed, scheduled);
        self.reach(Milestone::Ungated, at);
    }

    /// `PodScheduled` may stay False on a bound pod (k/k#139602): a later milestone proves that
    /// the pod was scheduled, but not when.
    fn latch_implied_scheduled(&mut self) {
        const LATER: [Milestone; 4] = Milestone::REENTERABLE;
        let implied = LATER
            .into_iter()
            .any(|later| self.reached(later).is_reached());
        if implied && !self.reached(Milestone::Scheduled).is_reached() {
            self.reach(Milestone::Scheduled, None);
        }
    }

    /// Whether `interval` is observed for this pod at all (§3, last column).
    pub fn applies(&self, interval: Interval) -> bool {
        match interval {
            Interval::Stage(Stage::Gated) => self.seen_gated,
            Interval::Stage(Stage::Scheduling) => !self.seen_unschedulable,
            Interval::Stage(Stage::Unschedulable) => self.seen_unschedulable,
            Interval::Stage(Stage::Init) => self.has_init_containers,
            Interval::Stage(Stage::Readiness) => self.has_readiness_gates,
            Interval::Stage(Stage::Network | Stage::Containers)
            | Interval::ScheduledToReady
            | Interval::CreatedToReady => true,
        }
    }

    /// When `interval` began.
    pub fn start(&self, interval: Interval) -> Reached {
        match interval {
            Interval::Stage(Stage::Gated) | Interval::CreatedToReady => {
                self.reached(Milestone::Created)
            }
            Interval::Stage(Stage::Scheduling | Stage::Unschedulable) if self.seen_gated => {
                self.reached(Milestone::Ungated)
            }
            Interval::Stage(Stage::Scheduling | Stage::Unschedulable) => {
                self.reached(Milestone::Created)
            }
            Interval::Stage(Stage::Network) | Interval::ScheduledToReady => {
                self.reached(Milestone::Scheduled)
            }
            Interval::Stage(Stage::Init) => self.reached(Milestone::NetworkReady),
            Interval::Stage(Stage::Containers) if self.has_init_containers => self
                .reached(Milestone::NetworkReady)
                .later(self.reached(Milestone::Initialized)),
            Interval::Stage(Stage::Containers) => self.reached(Milestone::NetworkReady),
            Interval::Stage(Stage::Readiness) => self.reached(Milestone::ContainersReady),
        }
    }

    /// When `interval` ended.
    pub fn end(&self, interval: Interval) -> Reached {
        self.reached(end_of(interval))
    }

    /// Whether `interval` was judged, or is never going to be.
    pub fn is_decided(&self, interval: Interval) -> bool {
        self.decided & (1 << interval.index()) != 0
    }

    /// Marks `interval` as judged, or as never going to be.
    pub fn decide(&mut self, interval: Interval) {
        self.decided |= 1 << interval.index();
    }

    /// Whether the pod is in `interval`, was, or may still come to be.
    pub fn can_enter(&self, interval: Interval) -> bool {
        let may_become_unschedulable = !self.reached(Milestone::Scheduled).is_reached();
        self.applies(interval)
            || interval == Interval::Stage(Stage::Unschedulable) && may_become_unschedulable
    }

    /// The milestones that `interval` waits for and that a condition stands for.
    pub fn needs(&self, interval: Interval) -> &'static [Milestone] {
        use Milestone::{ContainersReady, Initialized, NetworkReady, Ready, Scheduled};
        match interval {
            Interval::Stage(Stage::Gated) => &[],
            Interval::Stage(Stage::Scheduling | Stage::Unschedulable) => &[Scheduled],
            Interval::Stage(Stage::Network) => &[Scheduled, NetworkReady],
            Interval::Stage(Stage::Init) => &[NetworkReady, Initialized],
            Interval::Stage(Stage::Containers) if self.has_init_containers => {
                &[NetworkReady, Initialized, ContainersReady]
            }
            Interval::Stage(Stage::Containers) => &[NetworkReady, ContainersReady],
            Interval::Stage(Stage::Readiness) => &[ContainersReady, Ready],
            Interval::ScheduledToReady => &[Scheduled, Ready],
            Interval::CreatedToReady => &[Ready],
        }
    }

    /// Whether every condition type that `interval` needs has stood in the pod's status.
    pub fn types_stood(&self, interval: Interval) -> bool {
        self.needs(interval)
            .iter()
            .all(|milestone| self.stood.contains(*milestone))
    }

    /// The stage the pod is in: the first one that has not ended.
    pub fn stage(&self) -> Stage {
        let ended = |stage| self.end(Interval::Stage(stage)).is_reached();
        if self.seen_gated && !ended(Stage::Gated) {
            Stage::Gated
        } else if !ended(Stage::Scheduling) {
            if self.seen_unschedulable {
                Stage::Unschedulable
            } else {
                Stage::Scheduling
            }
        } else if !ended(Stage::Network) {
            Stage::Network
        } else if self.has_init_containers && !ended(Stage::Init) {
            Stage::Init
        } else if !ended(Stage::Containers) {
            Stage::Containers
        } else {
            Stage::Readiness
        }
    }

    /// When the pod entered `stage`, or, where that is unknown, the nearest earlier point of its
    /// startup that is known.
    pub fn entered(&self, stage: Stage) -> Option<Timestamp> {
        const BACKWARDS: [Stage; 6] = [
            Stage::Readiness,
            Stage::Containers,
            Stage::Init,
            Stage::Network,
            Stage::Scheduling,
            Stage::Gated,
        ];
        let start = if stage == Stage::Unschedulable {
            Stage::Scheduling
        } else {
            stage
        };
        BACKWARDS
            .into_iter()
            .skip_while(|candidate| *candidate != start)
            .find_map(|candidate| self.start(Interval::Stage(candidate)).usable())
    }
}

/// The milestone that ends `interval` (§3).
pub const fn end_of(interval: Interval) -> Milestone {
    match interval {
        Interval::Stage(Stage::Gated) => Milestone::Ungated,
        Interval::Stage(Stage::Scheduling | Stage::Unschedulable) => Milestone::Scheduled,
        Interval::Stage(Stage::Network) => Milestone::NetworkReady,
        Interval::Stage(Stage::Init) => Milestone::Initialized,
        Interval::Stage(Stage::Containers) => Milestone::ContainersReady,
        Interval::Stage(Stage::Readiness)
        | Interval::ScheduledToReady
        | Interval::CreatedToReady => Milestone::Ready,
    }
}
