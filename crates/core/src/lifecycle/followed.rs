//! Pods that became ready before a milestone of your own: what is followed of them until it comes
//! ([§16.5](crate::specification#s16-5)). Their startups have ended, and nothing else of them is measured.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cause::BadReason;
use super::custom_milestone::{CustomMilestone, CustomUnobservedReason};
use super::milestone::Milestone;
use super::named::{Named, NamedFold, NamedObservation};
use super::observation::{ObservePod, PodObservation, TimedObserver};
use super::outcome::Outcome;
use super::pod_in_flight::{PodInFlight, SharedState, disrupted, terminal};
use super::reached::Reached;
use super::record::RecordAmendment;
use super::slo::{SloInput, SloProgress, SloRule, StartupKind};
use super::slo_verdict::{ExclusionReason, SloId};
use super::snapshot_context::SnapshotContext;
use super::startup::Startup;
use crate::node::NodeLabels;
use crate::pod::{DisruptionReason, PodInfo, PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// How long after its Ready a pod is followed at least.
const LASTS: Duration = Duration::from_secs(600);

/// The most pods that are followed: those that became ready last. Each takes about half a kilobyte.
const MOST: usize = 100_000;

/// The pods that are followed, by when they became ready.
#[derive(Debug)]
pub(super) struct FollowedPods {
    pods: BTreeSet<(Timestamp, PodUid)>,
    pub(super) most: usize,
}

impl Default for FollowedPods {
    fn default() -> Self {
        Self { pods: BTreeSet::new(), most: MOST }
    }
}

impl FollowedPods {
    pub(super) fn len(&self) -> usize {
        self.pods.len()
    }

    /// Follows one more. Returns the one that became ready first, where there are too many.
    pub(super) fn insert(&mut self, ready: Timestamp, uid: PodUid) -> Option<PodUid> {
        self.pods.insert((ready, uid));
        let is_over = self.pods.len() > self.most;
        is_over.then(|| self.pods.pop_first()).flatten().map(|(_, uid)| uid)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = PodUid> {
        self.pods.iter().map(|(_, uid)| *uid)
    }

    pub(super) fn remove(&mut self, ready: Timestamp, uid: PodUid) {
        self.pods.remove(&(ready, uid));
    }

    /// Keeps those that are still remembered.
    pub(super) fn retain(&mut self, is_remembered: impl Fn(PodUid) -> bool) {
        self.pods.retain(|(_, uid)| is_remembered(*uid));
    }
}

/// How a pod comes to be followed no longer before its milestones have come or their time has passed.
#[derive(Clone, Copy, Debug)]
pub(super) enum UnfollowReason {
    /// It is over, or gone
    Ended(Outcome),
    /// Others became ready later
    Displaced,
}

/// A pod whose startup ended as ready before a milestone of your own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowedPod {
    pub(super) info: PodInfo,
    /// The labels of the node of the pod, for a checkpoint; `None` in memory
    node_labels: Option<Arc<NodeLabels>>,
    /// When it was created, as latched
    created: Reached,
    /// When all its containers had started, as latched
    started: Reached,
    /// Since when it has been ready
    pub(super) ready: Timestamp,
    /// What is known of the milestones
    named: Option<Box<Named>>,
    /// The SLOs that name one for which it is followed
    slos: SloProgress,
    /// The milestones for which it is followed: a bit for each of those that are configured
    #[serde(skip)]
    open: u8,
    /// The milestones of `open`, for a checkpoint; empty in memory
    milestones: Vec<CustomMilestone>,
    /// Its newest snapshot says that Kubernetes ends it
    disruption: Option<DisruptionReason>,
}

/// The parts of a followed pod that may change.
struct FollowedParts<'a> {
    /// A startup with only what the milestones need
    startup: &'a mut Startup,
    slos: &'a mut SloProgress,
    open: &'a mut u8,
    info: &'a PodInfo,
    ready: Timestamp,
}

impl Startup {
    /// The configured milestones that are not reached, a bit for each.
    pub(super) fn open_milestones(&self, milestones: &[CustomMilestone]) -> u8 {
        let is_open = |milestone: &CustomMilestone| {
            self.custom(&milestone.name).is_none_or(|state| !state.reached.is_reached())
        };
        let numbered = milestones.iter().enumerate();
        numbered.fold(0, |open, (number, one)| open | u8::from(is_open(one)) << number)
    }

    /// The open milestones for which a pod is followed whose startup ended with `outcome`: a bit each, and 0 unless it
    /// is Ready.
    pub(super) fn followed_milestones(
        &self,
        outcome: Outcome,
        milestones: &[CustomMilestone],
    ) -> u8 {
        match outcome {
            Outcome::Ready => self.open_milestones(milestones),
            _ => 0,
        }
    }

    /// Reports the milestones of your own that a startup which has completed leaves unobserved.
    pub(super) fn report_custom_unobserved(
        &self,
        milestones: &[CustomMilestone],
        emit: &mut impl FnMut(PodObservation),
    ) {
        for (milestone, one) in open_ones(milestones, self.open_milestones(milestones)) {
            let reason = unobserved(self, one);
            emit(PodObservation::CustomUnobserved { milestone, reason });
        }
    }
}

/// The milestones of these bits, with their numbers.
fn open_ones(
    milestones: &[CustomMilestone],
    open: u8,
) -> impl Iterator<Item = (u8, &CustomMilestone)> {
    let numbered = (0..).zip(milestones);
    numbered.filter(move |(number, _)| open >> number & 1 != 0)
}

/// Whether an SLO ends with one of the milestones of these bits.
pub(super) fn names_open(rule: &SloRule, milestones: &[CustomMilestone], open: u8) -> bool {
    let named = rule.interval.milestone();
    named.is_some_and(|named| open_ones(milestones, open).any(|(_, one)| one.name == *named))
}

impl FollowedPod {
    /// What is followed of a pod that ended with `outcome`, and has been ready since `ready`; `None` of one that is not
    /// followed.
    pub(super) fn from_pod(
        pod: &PodInFlight,
        outcome: Outcome,
        ready: Timestamp,
        shared: &SharedState,
    ) -> Option<Self> {
        let milestones = &shared.milestones;
        let open = pod.startup.followed_milestones(outcome, milestones);
        (open != 0).then(|| Self {
            info: PodInfo { images: None, probes: None, ..pod.info.clone() },
            node_labels: None,
            created: pod.startup.reached(Milestone::Created),
            started: pod.startup.reached(Milestone::ContainersStarted),
            ready,
            named: pod.startup.named.as_ref().and_then(|named| named.without_gates()),
            slos: pod.slos.waiting_of(&shared.rules, |rule| names_open(rule, milestones, open)),
            open,
            milestones: Vec::new(),
            disruption: pod.evidence.disruption,
        })
    }

    fn with_parts<R>(&mut self, change: impl FnOnce(FollowedParts<'_>) -> R) -> R {
        let mut startup = Startup { named: self.named.take(), ..Startup::default() };
        let known =
            [(Milestone::Created, self.created), (Milestone::ContainersStarted, self.started)];
        for (milestone, reached) in known {
            if let Reached::At(at) = reached {
                startup.reach(milestone, at);
            }
        }
        let Self { info, slos, open, ready, .. } = self;
        let done = change(FollowedParts { startup: &mut startup, slos, open, info, ready: *ready });
        self.named = startup.named;
        done
    }

    /// Folds the newest snapshot of the pod. Returns whether it reported an observation.
    pub(super) fn fold(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) -> bool {
        self.disruption = snapshot.disruption;
        let mut told = self.with_parts(|FollowedParts { startup, slos, open, info, .. }| {
            let (still, mut told) = (*open, false);
            startup.fold_named(NamedFold {
                snapshot,
                seen,
                is_first: false,
                milestones: &shared.milestones,
                emit: |observation: NamedObservation<'_>| {
                    // Once its time has passed, a milestone comes too late.
                    if let NamedObservation::Pod(observation) = observation
                        && milestone_of(observation).is_some_and(|one| still >> one & 1 != 0)
                    {
                        told = true;
                        reporter.pod(info, observation);
                    }
                },
            });
            let input = SloInput {
                uid: snapshot.uid,
                snapshot: Some(snapshot),
                events: false,
                kind: StartupKind::SELECTED,
                now: seen.now,
                adopted: false,
                outcome: None,
                before: None,
            };
            let mut emit = |observation| {
                told = true;
                reporter.pod(info, observation);
            };
            slos.update(startup, input, &shared.rules, &mut shared.timers, &mut emit);
            *open &= startup.open_milestones(&shared.milestones);
            told
        });
        if let Some(outcome) = terminal(snapshot) {
            told |= self.leave(UnfollowReason::Ended(outcome), shared, reporter);
        }
        told
    }

    /// What became of the pod since its startup ended.
    pub(super) fn amendment(&self, rules: &[SloRule]) -> RecordAmendment {
        let verdicts = self.slos.verdicts(rules);
        let slos = verdicts.map(|(rule, verdict)| (Arc::clone(&rule.name), verdict));
        RecordAmendment { named: self.named.clone(), slos: slos.collect() }
    }

    /// Passes at `now` the deadline of an SLO, the end of a milestone, or all of them. Returns whether it reported an
    /// observation.
    pub(super) fn pass(
        &mut self,
        missed: Option<SloId>,
        now: Timestamp,
        shared: &SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) -> bool {
        let missed = missed.filter(|slo| *slo != SloId::FOLLOWED);
        self.with_parts(|FollowedParts { startup, slos, open, info, ready }| {
            let mut told = false;
            let mut emit = |observation| {
                told = true;
                reporter.pod(info, observation);
            };
            let (rules, known) = (&shared.rules, (&*startup, StartupKind::SELECTED));
            slos.pass_deadlines(missed, now, known, BadReason::NotKnown, rules, &mut emit);
            let all = if missed.is_none() { *open } else { 0 };
            for (number, one) in open_ones(&shared.milestones, all) {
                if end_of(one, (startup, slos), ready, rules) < now {
                    *open &= !(1 << number);
                    let reason = unobserved(startup, one);
                    emit(PodObservation::CustomUnobserved { milestone: number, reason });
                    let reason = match reason {
                        CustomUnobservedReason::ConditionAbsent => ExclusionReason::ConditionAbsent,
                        _ => ExclusionReason::NotSeen,
                    };
                    slos.end(reason, rules, |rule| !names(rule, one), &mut emit);
                }
            }
            told
        })
    }

    /// Whether there is still a milestone for which it is followed.
    pub(super) const fn is_open(&self) -> bool {
        self.open != 0
    }

    /// Stops following the pod. Returns whether it reported an observation.
    pub(super) fn leave(
        &mut self,
        left: UnfollowReason,
        shared: &SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) -> bool {
        let disruption = self.disruption;
        self.with_parts(|FollowedParts { startup, slos, open, info, .. }| {
            let mut told = false;
            let mut emit = |observation| {
                told = true;
                reporter.pod(info, observation);
            };
            for (milestone, one) in open_ones(&shared.milestones, *open) {
                let reason = match left {
                    UnfollowReason::Displaced => CustomUnobservedReason::NotFollowed,
                    UnfollowReason::Ended(Outcome::Completed) => unobserved(startup, one),
                    UnfollowReason::Ended(_) => continue,
                };
                emit(PodObservation::CustomUnobserved { milestone, reason });
            }
            *open = 0;
            let reason = match left {
                UnfollowReason::Displaced => ExclusionReason::NotFollowed,
                UnfollowReason::Ended(outcome) => {
                    ExclusionReason::from_outcome(disrupted(outcome, disruption))
                }
            };
            slos.end(reason, &shared.rules, |_| false, &mut emit);
            told
        })
    }

    /// Sets a timer for the end of each open milestone.
    pub(super) fn set_timers(&mut self, uid: PodUid, shared: &mut SharedState) {
        self.with_parts(|FollowedParts { startup, slos, open, ready, .. }| {
            let SharedState { milestones, rules, timers, .. } = shared;
            let ends = open_ones(milestones, *open);
            let ends = ends.map(|(_, one)| end_of(one, (startup, slos), ready, rules));
            let ends: BTreeSet<Timestamp> = ends.collect();
            ends.into_iter().for_each(|end| timers.add(end, uid, SloId::FOLLOWED));
        });
    }

    /// Puts other SLOs in force (see [`SloProgress::replace`]).
    pub(super) fn replace_slos(
        &mut self,
        uid: PodUid,
        successors: &[Option<SloId>],
        shared: &mut SharedState,
    ) {
        self.with_parts(|FollowedParts { startup, slos, .. }| {
            slos.replace(successors, &shared.rules, uid, startup, &mut shared.timers);
        });
        self.set_timers(uid, shared);
    }

    /// The SLOs that still wait for their event of this pod.
    pub(super) fn undecided(&self) -> impl Iterator<Item = SloId> {
        self.slos.undecided()
    }

    /// Whether a timer that was set for `slo` is still of use.
    pub(super) fn awaits(&self, slo: SloId) -> bool {
        slo == SloId::FOLLOWED || self.undecided().any(|waiting| waiting == slo)
    }

    /// The saved form, with names instead of positions.
    pub(super) fn saved(&self, milestones: &[CustomMilestone]) -> Box<Self> {
        let open = open_ones(milestones, self.open);
        Box::new(Self {
            milestones: open.map(|(_, one)| one.clone()).collect(),
            node_labels: self.info.node_labels.clone(),
            ..self.clone()
        })
    }

    /// Restores the pod of a checkpoint. Milestones that are no longer configured are not followed. Returns whether
    /// others are left.
    pub(super) fn restore(&mut self, shared: &SharedState) -> bool {
        let labels = self.node_labels.take();
        let newest = shared.newest_labels(&self.info);
        let same = newest.filter(|newest| labels.as_ref() == Some(newest));
        self.info.node_labels = same.cloned().or(labels);
        if let Some(named) = &mut self.named {
            named.configure(&shared.milestones);
        }
        let saved = std::mem::take(&mut self.milestones);
        let configured = shared.milestones.iter().enumerate();
        let open = configured.filter(|(_, one)| saved.contains(one));
        self.open = open.fold(0, |open, (number, _)| open | 1 << number);
        self.open != 0
    }

    /// Drops the SLOs past the first `slos.len()`: this podinit cannot read the others of the checkpoint.
    pub fn keep_slos(&mut self, slos: &[SloRule]) {
        self.slos.keep_first(slos.len());
    }

    /// The names and labels of the pod, so that a reader can share equal texts.
    pub const fn info_mut(&mut self) -> &mut PodInfo {
        &mut self.info
    }
}

fn names(rule: &SloRule, milestone: &CustomMilestone) -> bool {
    rule.interval.milestone() == Some(&milestone.name)
}

/// Until when a pod is followed for a milestone: it passes strictly after that.
fn end_of(
    milestone: &CustomMilestone,
    (startup, slos): (&Startup, &SloProgress),
    ready: Timestamp,
    rules: &[SloRule],
) -> Timestamp {
    let waiting = slos.results(rules, startup);
    let waiting = waiting.filter(|(rule, _, verdict)| verdict.is_none() && names(rule, milestone));
    let deadlines = waiting.filter_map(|(_, deadline, _)| deadline);
    deadlines.fold(ready.plus(LASTS), Timestamp::max)
}

/// Why a milestone that has not come was not observed.
fn unobserved(startup: &Startup, milestone: &CustomMilestone) -> CustomUnobservedReason {
    match startup.custom(&milestone.name) {
        Some(_) => CustomUnobservedReason::NotSeen,
        None => CustomUnobservedReason::ConditionAbsent,
    }
}

/// The number of the milestone that something is observed of.
const fn milestone_of(observation: PodObservation) -> Option<u8> {
    match observation {
        PodObservation::CustomMeasured { interval, .. } => Some(interval.milestone),
        PodObservation::CustomUnobserved { milestone, .. } => Some(milestone),
        _ => None,
    }
}
