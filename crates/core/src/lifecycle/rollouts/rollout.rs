//! A rollout in progress: what holds it, and whether its end stands.

use serde::{Deserialize, Serialize};

use super::ObserveRollouts;
use super::ending_pods::EndingPods;
use super::held_time::HeldNanos;
use super::observation::RolloutObservation;
use super::standing::{LivePod, PodStanding, StandingPods};
use super::workload_pods::{RolloutWorkload, WorkloadPods};
use crate::label_values;
use crate::pod::{PodSnapshot, Revision, text};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

label_values! {
    /// What holds a rollout ([§17.3](crate::specification#s17-3)), the first that there is.
    pub enum RolloutHolder {
        /// Pods of the new revision start
        Starting => "starting",
        /// Pods of the new revision were up and are not
        NotReady => "not_ready",
        /// Pods of another revision are ending, and too few others live
        Ending => "ending",
        /// Nothing that pods show
        Controller => "controller",
    }
}

label_values! {
    /// How a rollout ended ([§17.2](crate::specification#s17-2)).
    pub enum RolloutOutcome {
        /// The pods are of the new revision
        Completed => "completed",
        /// The pods are of another revision
        RolledBack => "rolled_back",
        /// Another rollout has begun
        Superseded => "superseded",
        /// No pod was left for 10 minutes
        Removed => "removed",
    }
}

/// So many bytes are kept of what is said of a pod.
const MOST_SAID: usize = 200;
/// At most so many revisions are remembered that lived when a rollout began.
const MOST_REVISIONS: usize = 16;

/// Why a rollout ends if that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum EndKind {
    /// As many pods of one revision as wanted have been up
    Arrived,
    /// Fewer pods than wanted live, and all of them have been up
    Fewer,
    /// No pod lives
    Empty,
}

impl EndKind {
    /// How long it lasts before it counts.
    const fn lasts(self) -> i64 {
        let seconds = match self {
            // Controllers delete first and create then.
            Self::Arrived => 10,
            Self::Fewer => 120,
            Self::Empty => 600,
        };
        seconds * NANOS_PER_SECOND
    }
}

/// What ends a rollout if that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RolloutEnd {
    pub(super) kind: EndKind,
    /// The revision of which all pods are, ending ones aside; `None` if no pod lives
    pub(super) revision: Option<Revision>,
}

/// An end that counts if it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StandingEnd {
    pub(super) end: RolloutEnd,
    pub(super) since: Timestamp,
    /// Whether it came at that time, and not at some time before
    pub(super) is_exact: bool,
}

impl StandingEnd {
    /// When it counts.
    pub(super) const fn counts_at(&self) -> Timestamp {
        self.since.plus_nanos(self.end.kind.lasts())
    }
}

/// Since when all pods are of one revision, ending ones aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OnlyRevision {
    revision: Revision,
    /// How many of its pods have been up of those that lived then or came later
    arrived: u32,
}

/// A rollout in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rollout {
    pub(super) new: Revision,
    pub(super) began: Timestamp,
    #[serde(default)]
    pub(super) begin_is_known: bool,
    /// A first list has shown it in progress ([§17.4](crate::specification#s17-4))
    #[serde(default)]
    pub(super) found: bool,
    pub(super) wanted: u32,
    /// Which revisions lived at its begin
    #[serde(default)]
    lived: Vec<Revision>,
    pub(super) holder: RolloutHolder,
    /// Since when that has held it
    pub(super) held_since: Timestamp,
    /// The nanoseconds for which each has held it
    #[serde(default)]
    pub(super) held: HeldNanos,
    /// As [`Rollout::held`], of the time for which an end stands
    #[serde(default)]
    deferred: HeldNanos,
    /// Until when its time is divided
    pub(super) divided: Timestamp,
    #[serde(default)]
    only: Option<OnlyRevision>,
    #[serde(default)]
    pub(super) end: Option<StandingEnd>,
    /// When a pod of the new revision last became Ready; its begin before the first
    pub(super) last_ready: Timestamp,
    /// When a pod last changed
    pub(super) changed: Timestamp,
    /// Why the pod of the new revision that was last seen down is not Ready, in the words of Kubernetes
    #[serde(default)]
    pub(super) said_of_down: Option<Box<str>>,
    /// The pods of other revisions that began to end
    #[serde(default)]
    pub(super) ending: EndingPods,
}

impl Rollout {
    /// A rollout that begins, with the first snapshot of its first pod delivered at `now`.
    pub(super) fn new(new: Revision, began: Timestamp, wanted: u32, now: Timestamp) -> Self {
        Self {
            new,
            began,
            begin_is_known: true,
            found: false,
            wanted,
            lived: Vec::new(),
            holder: RolloutHolder::Controller,
            held_since: began,
            held: HeldNanos::default(),
            deferred: HeldNanos::default(),
            divided: began,
            only: None,
            end: None,
            last_ready: began,
            changed: now,
            said_of_down: None,
            ending: EndingPods::default(),
        }
    }

    /// The same, where pods of these revisions lived at its begin.
    pub(super) fn with_lived(mut self, revisions: impl Iterator<Item = Revision>) -> Self {
        self.lived = revisions.take(MOST_REVISIONS).collect();
        self
    }

    /// Notes what a snapshot says of why a pod of the new revision is down, and that one of another revision ends.
    pub(super) fn note(&mut self, pod: LivePod, snapshot: &PodSnapshot) {
        if pod.standing == PodStanding::Down && pod.revision == self.new {
            let container = snapshot.crashing_container();
            let said = container.and_then(|container| snapshot.waiting_message(container));
            let said = said.or(snapshot.said_of_ready.as_deref());
            self.said_of_down = said.map(|said| text::cut(said, MOST_SAID).into());
        }
        if pod.standing == PodStanding::Ending && pod.revision != self.new {
            self.ending.note(snapshot);
        }
    }

    /// A pod of `revision` is up for the first time.
    pub(super) fn comes_up(&mut self, revision: Revision) {
        if let Some(only) = self.only.as_mut().filter(|only| only.revision == revision) {
            only.arrived += 1;
        }
    }

    /// Divides the time until `now`. Returns for what it counts, and how many nanoseconds.
    pub(super) fn divide(&mut self, now: Timestamp) -> Option<(RolloutHolder, u64)> {
        let nanos = u64::try_from(now.nanos_since(self.divided)).ok().filter(|nanos| *nanos > 0)?;
        self.divided = now;
        if self.end.is_some() {
            self.deferred.add(self.holder, nanos);
            return None;
        }
        self.held.add(self.holder, nanos);
        Some((self.holder, nanos))
    }

    /// An end stands no longer, if one did: the time for which it stood is of the rollout of `name`.
    pub(super) fn drop_end(&mut self, name: &RolloutWorkload, to: &mut impl ObserveRollouts) {
        self.end = None;
        for (by, nanos) in std::mem::take(&mut self.deferred).iter() {
            self.held.add(by, nanos);
            to.rollout(name, RolloutObservation::HeldFor { by, nanos });
        }
    }
}

impl WorkloadPods {
    /// What holds its rollout to `new`, of which `wanted` pods are wanted.
    pub(super) fn holder(&self, new: Revision, wanted: u32) -> RolloutHolder {
        let (new, others) = (self.of(new), self.of_others(new));
        let holding = StandingPods::holding(new, others);
        if holding.starting > 0 {
            RolloutHolder::Starting
        } else if holding.down > 0 {
            RolloutHolder::NotReady
        } else if others.ending > 0 && (new + others).live() < wanted {
            RolloutHolder::Ending
        } else {
            RolloutHolder::Controller
        }
    }

    /// Whether pods of `revision` hold its rollout while they are not up: those of the new one, where it has pods.
    pub(super) fn holds(&self, revision: Revision) -> bool {
        self.rollout
            .as_ref()
            .is_some_and(|rollout| (revision == rollout.new) == (self.of(rollout.new).live() > 0))
    }

    /// Looks whether the live pods of a workload that rolls out are of one revision.
    pub(super) fn look_for_only_revision(&mut self) {
        let only = self.only_revision().map(|only| OnlyRevision {
            revision: only.revision,
            arrived: only.pods.up + only.pods.down,
        });
        let Some(rollout) = &mut self.rollout else { return };
        let before = rollout.only.map(|only| only.revision);
        if before == only.map(|only| only.revision) {
            return;
        }
        rollout.only = only;
        if rollout.only.is_some() {
            self.begin_generation();
        }
    }

    /// What ends its rollout now, if that lasts.
    pub(super) fn end_now(&self) -> Option<RolloutEnd> {
        let rollout = self.rollout.as_ref()?;
        let total = self.total();
        if total.all() == 0 {
            return Some(RolloutEnd { kind: EndKind::Empty, revision: None });
        }
        let only = rollout.only.filter(|_| self.awaited() == 0)?;
        let others_end = self.of_others(only.revision).ending > 0;
        let kind = if only.arrived >= rollout.wanted {
            EndKind::Arrived
        } else if total.live() < rollout.wanted && !others_end {
            EndKind::Fewer
        } else {
            return None;
        };
        Some(RolloutEnd { kind, revision: Some(only.revision) })
    }

    /// The outcome of its rollout with this end.
    pub(super) fn outcome(&self, rollout: &Rollout, end: RolloutEnd) -> RolloutOutcome {
        match end.revision {
            None => RolloutOutcome::Removed,
            Some(revision) if revision == rollout.new => RolloutOutcome::Completed,
            // Labels of its pods have changed.
            Some(revision) if self.is_third(rollout, revision) => RolloutOutcome::Superseded,
            Some(_) => RolloutOutcome::RolledBack,
        }
    }

    /// Whether `revision` is neither the new nor the own one, nor one that lived at the begin.
    pub(super) fn is_third(&self, rollout: &Rollout, revision: Revision) -> bool {
        revision != self.own && revision != rollout.new && !rollout.lived.contains(&revision)
    }
}
