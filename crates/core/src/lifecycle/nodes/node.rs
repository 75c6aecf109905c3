//! One node: its startup ([§14.7](crate::specification#s14-7)).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::late::NodeService;
use crate::label_values;
use crate::lifecycle::estimate::TimestampMode;
use crate::lifecycle::judgement::{AnomalyKind, DurationJudgement, Latency};
use crate::lifecycle::reached::Reached;
use crate::node::{NodeLabels, NodeSnapshot};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A node that was created longer than this before it first appears was there already.
const OLD_NODES_NANOS: i64 = 30 * NANOS_PER_SECOND;

/// How a delivery of nodes is accounted for.
#[derive(Clone, Copy, Debug)]
pub(in crate::lifecycle) struct NodeContext {
    pub mode: TimestampMode,
    pub now: Timestamp,
    /// The instant at which a watch event arrived (`o` in [§4.3](crate::specification#s4-3))
    pub observed: Option<Timestamp>,
}

/// How a version of a node came.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeArrival {
    Event,
    List { began: Timestamp, is_first: bool },
}

label_values! {
    /// What is measured of the startup of a node, from its creation on.
    pub enum NodeStep {
        /// Until its first Ready=True
        Ready => "ready",
        /// Until pods can be bound to it
        Schedulable => "schedulable",
        /// Until its first pod is Ready
        FirstPod => "first_pod",
    }
}

label_values! {
    /// How the startup of a node ended.
    pub enum NodeOutcome {
        /// Pods could be bound to it
        Ready => "ready",
        /// It was deleted before that
        Deleted => "deleted",
        /// It was absent from a list before that
        Vanished => "vanished",
        /// It was there before podinit watched
        Preexisting => "preexisting",
    }
}

/// The state in which a node is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeState {
    /// Not known yet
    Undiscovered,
    /// Pods cannot be bound to it yet
    Starting,
    /// Its startup is over
    Finished(NodeOutcome),
}

/// One event of nodes that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeObservation<'a> {
    /// A node changed its state. `discovered = Σ finished + starting` holds if each move is counted as a
    /// whole.
    Moved { from: NodeState, to: NodeState },
    /// A step of a node's startup ended with a usable duration
    Measured(MeasuredStep<'a>),
    /// A node of this pool is known from now on
    PoolEntered(&'a str),
    /// A node of this pool less is known
    PoolLeft(&'a str),
    /// A time was unusable, or had to be corrected
    Anomaly(AnomalyKind),
    /// So many nodes have been starting for longer than 15 minutes. Reported when it changes.
    Late(u64),
}

/// A step of a node's startup that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredStep<'a> {
    pub step: NodeStep,
    pub latency: Latency,
    /// The pool of the node
    pub pool: &'a str,
    /// No other step of the node was measured before
    pub is_first: bool,
}

/// A node that exists.
#[derive(Debug)]
pub(super) struct KnownNode {
    pub(super) name: Arc<str>,
    /// The newest version, 0 for none
    pub(super) version: u64,
    /// When it was created, as it states
    pub(super) stated: Option<Timestamp>,
    /// When it was created, as estimated
    pub(super) created: Option<Timestamp>,
    /// When it was first Ready
    pub(super) ready: Reached,
    pub(super) labels: Arc<NodeLabels>,
    /// The hash of what the newest version states; `None` before one is folded in this process
    pub(super) content: Option<u64>,
    pub(super) state: NodeState,
    /// The steps that are observed no more, a bit for each, and [`MEASURED`] bits above those that were measured
    pub(super) decided: u8,
    pub(super) service: NodeService,
    /// What its newest version says of why it is not Ready
    pub(super) not_ready: Option<Box<str>>,
}

/// All steps, as bits.
pub(super) const ALL_STEPS: u8 = (1 << NodeStep::ALL.len()) - 1;

/// How far above the bit of a step is the bit of its measurement.
const MEASURED: usize = 4;
const _: () = assert!(NodeStep::ALL.len() <= MEASURED);

impl KnownNode {
    /// Discovers a node, whose first version is folded next. One that is not `is_own` is counted by another
    /// shard.
    pub(super) fn discover(
        snapshot: &NodeSnapshot,
        context: NodeContext,
        arrival: NodeArrival,
        is_own: bool,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) -> Self {
        let (appears, in_first_list) = match arrival {
            NodeArrival::Event => (context.observed.unwrap_or(context.now), false),
            NodeArrival::List { began, is_first } => (began, is_first),
        };
        let is_old = |created| appears.nanos_since(created) > OLD_NODES_NANOS;
        let is_ready = snapshot.holding_ready().is_some();
        let preexisting = in_first_list && is_ready || snapshot.created.is_some_and(is_old);
        let state = match preexisting {
            true => NodeState::Finished(NodeOutcome::Preexisting),
            false => NodeState::Starting,
        };
        let mut node = Self {
            name: Arc::clone(&snapshot.name),
            version: 0,
            stated: snapshot.created,
            created: None,
            ready: Reached::No,
            labels: Arc::new(snapshot.labels.clone()),
            content: None,
            state: match is_own {
                true => state,
                false => NodeState::Undiscovered,
            },
            decided: match is_own && !preexisting {
                true => 0,
                false => ALL_STEPS,
            },
            service: NodeService::new(snapshot.created, appears),
            not_ready: None,
        };
        emit(NodeObservation::PoolEntered(&node.labels.pool));
        if is_own {
            let from = NodeState::Undiscovered;
            emit(NodeObservation::Moved { from, to: state });
        }
        node.created = node.estimate(snapshot.created, context, arrival, emit);
        node
    }

    /// Whether it is counted as starting.
    pub(super) fn is_starting(&self) -> bool {
        self.state == NodeState::Starting
    }

    /// The instant from which its age counts; the latest one, so that it is never late, without a creation time.
    pub(super) fn age_from(&self) -> Timestamp {
        self.stated.unwrap_or(Timestamp::from_nanos(i64::MAX))
    }

    /// Takes a version that states the same as the newest one: nothing but the version changes. False where it
    /// states something else, or that is not known.
    pub(super) fn repeats(&mut self, version: Option<u64>, content: u64) -> bool {
        let is_same = self.content == Some(content);
        if is_same {
            self.version = version.map_or(self.version, |version| version.max(self.version));
        }
        is_same
    }

    /// Folds a version, unless it is older than the newest one. `content` is the hash of what it states.
    pub(super) fn fold(
        &mut self,
        (snapshot, content): (&NodeSnapshot, u64),
        context: NodeContext,
        arrival: NodeArrival,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) {
        if let Some(version) = snapshot.resource_version {
            if version < self.version {
                return;
            }
            self.version = version;
        }
        self.content = Some(content);
        self.service.fold(snapshot);
        self.not_ready.clone_from(&snapshot.not_ready);
        if *self.labels != snapshot.labels {
            if self.labels.pool != snapshot.labels.pool {
                emit(NodeObservation::PoolEntered(&snapshot.labels.pool));
                emit(NodeObservation::PoolLeft(&self.labels.pool));
            }
            self.labels = Arc::new(snapshot.labels.clone());
        }
        if let Some(ready) = snapshot.holding_ready()
            && !self.ready.is_reached()
        {
            let at = self.estimate(ready.last_transition, context, arrival, emit);
            self.ready = Reached::At(at);
            self.judge(NodeStep::Ready, at, emit);
        }
        if self.is_starting() && snapshot.is_schedulable() {
            let arrived = match arrival {
                NodeArrival::Event => context.mode.estimate_ungated(context.observed, None),
                NodeArrival::List { .. } => None,
            };
            let at = Reached::At(arrived).later(self.ready).usable();
            self.judge(NodeStep::Schedulable, at, emit);
            self.move_to(NodeOutcome::Ready, emit);
        }
    }

    /// Ends its startup, if it is starting.
    pub(super) fn end(&mut self, outcome: NodeOutcome, emit: &mut impl FnMut(NodeObservation<'_>)) {
        if self.is_starting() {
            self.move_to(outcome, emit);
        }
    }

    /// It is counted by another shard from now on.
    pub(super) fn disown(&mut self, emit: &mut impl FnMut(NodeObservation<'_>)) {
        self.end(NodeOutcome::Vanished, emit);
        self.state = NodeState::Undiscovered;
        self.decided = ALL_STEPS;
    }

    fn move_to(&mut self, outcome: NodeOutcome, emit: &mut impl FnMut(NodeObservation<'_>)) {
        let to = NodeState::Finished(outcome);
        let from = std::mem::replace(&mut self.state, to);
        emit(NodeObservation::Moved { from, to });
    }

    /// Observes a step that ended at `at`, once.
    pub(super) fn judge(
        &mut self,
        step: NodeStep,
        at: Option<Timestamp>,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) {
        let bit = 1 << step as u8;
        if self.decided & bit != 0 {
            return;
        }
        self.decided |= bit;
        match DurationJudgement::from_times(self.created, at) {
            DurationJudgement::Usable { latency, rounded } => {
                let is_first = self.decided >> MEASURED == 0;
                self.decided |= bit << MEASURED;
                let pool = &self.labels.pool;
                emit(NodeObservation::Measured(MeasuredStep { step, latency, pool, is_first }));
                if rounded {
                    emit(NodeObservation::Anomaly(AnomalyKind::Rounded));
                }
            }
            DurationJudgement::Unusable(kind) => emit(NodeObservation::Anomaly(kind)),
        }
    }

    /// When something happened that the API states as `stated`.
    fn estimate(
        &self,
        stated: Option<Timestamp>,
        context: NodeContext,
        arrival: NodeArrival,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) -> Option<Timestamp> {
        let observed = match arrival {
            NodeArrival::Event => context.observed,
            NodeArrival::List { .. } => None,
        };
        let estimate = context.mode.estimate(stated, observed);
        if estimate.skewed && self.decided & ALL_STEPS != ALL_STEPS {
            emit(NodeObservation::Anomaly(AnomalyKind::Skew));
        }
        estimate.at
    }
}
