//! A pod whose startup is under way: folds snapshots into its [`Startup`] and says what follows.

use super::clock::Judgement;
use super::delivery::SourceId;
use super::inflight::{InFlightOrder, Waiting};
use super::milestone::Milestone;
use super::observation::{AnomalyKind, Observation, Outcome, Position, Sink, UnobservedReason};
use super::reentry::LastTrue;
use super::stage::{Interval, Stage};
use super::startup::{Reached, Sighting, Startup};
use crate::pod::{Phase, PodInfo, PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// What a later snapshot is held against, for a pod in flight and for one that has finished. All
/// that is kept of a finished pod, so it is small.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The newest resourceVersion as a decimal integer; zero, which Kubernetes gives to no
    /// object, for none
    newest_version: u64,
    last_true: LastTrue,
    /// The list-watch that the pod belongs to
    pub source: SourceId,
    is_static: bool,
}

impl Seen {
    /// Nothing seen yet of the pod that `snapshot` is going to be the first of.
    pub fn nothing(snapshot: &PodSnapshot, source: SourceId) -> Self {
        let last_true = LastTrue::default();
        Self {
            newest_version: 0,
            last_true,
            source,
            is_static: snapshot.is_static,
        }
    }

    /// Takes note of a snapshot and emits the re-entries that it shows (§5 rule 6; of static pods
    /// none). Returns false, and does nothing, if it is older than the newest version seen
    /// (rule 1). A snapshot without a usable version is never older.
    pub fn accept(&mut self, snapshot: &PodSnapshot, emit: &mut impl FnMut(Observation)) -> bool {
        if let Some(version) = snapshot.resource_version {
            if version < self.newest_version {
                return false;
            }
            self.newest_version = version;
        }
        if !self.is_static {
            self.last_true.update(&snapshot.conditions, |milestone| {
                emit(Observation::Reentered(milestone));
            });
        }
        true
    }
}

/// A pod whose startup is under way.
#[derive(Debug)]
pub struct PodInFlight {
    /// What a later snapshot is held against
    pub seen: Seen,
    info: PodInfo,
    startup: Startup,
    stage: Stage,
    discovered: Timestamp,
    waiting: Option<Waiting>,
}

impl PodInFlight {
    /// Discovers a pod. Emits that it is in flight; its first snapshot is still to be folded.
    pub fn discover(
        snapshot: &PodSnapshot,
        source: SourceId,
        now: Timestamp,
        sink: &mut impl Sink,
    ) -> Self {
        let startup = Startup::new(snapshot);
        let stage = startup.stage();
        let to = Position::InFlight(stage);
        sink.observe(
            &snapshot.info,
            Observation::Moved {
                from: Position::Undiscovered,
                to,
            },
        );
        Self {
            seen: Seen::nothing(snapshot, source),
            info: snapshot.info.clone(),
            startup,
            stage,
            discovered: now,
            waiting: None,
        }
    }

    /// Folds a snapshot, unless it is older than the newest one. `adopted` says that it is the
    /// first one of a pod that was adopted in flight. Returns the outcome if the startup ended
    /// with it.
    pub fn fold(
        &mut self,
        snapshot: &PodSnapshot,
        sighting: Sighting,
        adopted: bool,
        sink: &mut impl Sink,
    ) -> Option<Outcome> {
        let Self {
            info,
            startup,
            seen,
            ..
        } = self;
        if !seen.accept(snapshot, &mut |again| sink.observe(info, again)) {
            return None;
        }
        let newly_bound = info.node.is_none() && snapshot.info.node.is_some();
        if newly_bound {
            info.node.clone_from(&snapshot.info.node);
        }
        let mut emit = |observation| sink.observe(info, observation);
        if newly_bound {
            emit(Observation::Bound);
        }
        startup.latch(snapshot, sighting, &mut emit);
        if adopted {
            give_up_what_has_ended(startup, &mut emit);
        }
        judge(startup, &mut emit);
        outcome(startup, snapshot)
    }

    /// Says which stage the pod is in now, if that changed, and takes its place in the order of
    /// waiting.
    pub fn settle(&mut self, uid: PodUid, order: &mut InFlightOrder, sink: &mut impl Sink) {
        let stage = self.startup.stage();
        let from = Position::InFlight(self.stage);
        if stage != self.stage {
            let to = Position::InFlight(stage);
            sink.observe(&self.info, Observation::Moved { from, to });
            self.stage = stage;
        }
        let entered = self.startup.entered(stage).unwrap_or(self.discovered);
        self.wait(uid, Some((stage, entered)), order, sink);
    }

    /// Ends the startup.
    pub fn finish(
        &mut self,
        uid: PodUid,
        outcome: Outcome,
        order: &mut InFlightOrder,
        sink: &mut impl Sink,
    ) {
        if matches!(outcome, Outcome::Ready | Outcome::Completed) {
            let Self { info, startup, .. } = self;
            give_up_what_was_not_seen(startup, &mut |observation| sink.observe(info, observation));
        }
        let from = Position::InFlight(self.stage);
        let to = Position::Finished(outcome);
        sink.observe(&self.info, Observation::Moved { from, to });
        self.wait(uid, None, order, sink);
    }

    fn wait(
        &mut self,
        uid: PodUid,
        to: Option<Waiting>,
        order: &mut InFlightOrder,
        sink: &mut impl Sink,
    ) {
        let Self { info, waiting, .. } = self;
        order.move_pod(uid, *waiting, to, &mut |observation| {
            sink.observe(info, observation)
        });
        *waiting = to;
    }
}

/// Judges every interval of which both ends are reached, each by itself and once (§3, §4).
fn judge(startup: &mut Startup, emit: &mut impl FnMut(Observation)) {
    for interval in Interval::ALL {
        if startup.is_decided(interval) || !startup.applies(interval) {
            continue;
        }
        let (Reached::At(from), Reached::At(to)) = (startup.start(interval), startup.end(interval))
        else {
            continue;
        };
        startup.decide(interval);
        match Judgement::of(from, to) {
            Judgement::Usable { latency, rounded } => {
                emit(Observation::Measured { interval, latency });
                if rounded {
                    emit(Observation::Anomaly(AnomalyKind::Rounded));
                }
            }
            Judgement::Unusable(kind) => {
                emit(Observation::Anomaly(kind));
                if let Interval::Stage(stage) = interval {
                    let reason = UnobservedReason::Time;
                    emit(Observation::Unobserved { stage, reason });
                }
            }
        }
    }
}

/// The stages that had ended when an adopted pod was first seen are not observed (§5 rule 2).
fn give_up_what_has_ended(startup: &mut Startup, emit: &mut impl FnMut(Observation)) {
    for stage in Stage::ALL {
        let interval = Interval::Stage(stage);
        if startup.applies(interval) && startup.end(interval).is_reached() {
            startup.decide(interval);
            emit(Observation::Unobserved {
                stage,
                reason: UnobservedReason::Preexisting,
            });
        }
    }
}

fn give_up_what_was_not_seen(startup: &mut Startup, emit: &mut impl FnMut(Observation)) {
    for stage in Stage::ALL {
        let interval = Interval::Stage(stage);
        if startup.applies(interval) && !startup.is_decided(interval) {
            startup.decide(interval);
            let reason = if startup.types_stood(stage) {
                UnobservedReason::NotSeen
            } else {
                UnobservedReason::ConditionAbsent
            };
            emit(Observation::Unobserved { stage, reason });
        }
    }
}

/// Whether the startup is over with `snapshot`. Ready wins: it was seen, whatever came of the pod
/// in the same moment.
fn outcome(startup: &Startup, snapshot: &PodSnapshot) -> Option<Outcome> {
    if startup.reached(Milestone::Ready).is_reached() {
        return Some(Outcome::Ready);
    }
    match snapshot.phase {
        Phase::Active => None,
        Phase::Succeeded => Some(Outcome::Completed),
        Phase::Failed => Some(Outcome::Failed),
    }
}
