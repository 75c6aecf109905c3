//! The deadlines of the SLOs ([§6](crate::specification#s6)) for the pods in flight.

use std::sync::Arc;

use super::Tracker;
use super::overdue::{StagePlace, just_before};
use super::remembered_pod::RememberedPod;
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::nodes::KnownNodes;
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::Observer;
use crate::lifecycle::pod_in_flight::SharedState;
use crate::lifecycle::slo::{SloRule, SloTimers};
use crate::lifecycle::slo_verdict::SloId;
use crate::lifecycle::stuck::StuckAfter;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// To sort so many deadlines takes no longer than to report one.
const SORTED_FOR_ONE: usize = 8;

impl Tracker {
    /// How many pods have not had their event for `slo` yet.
    pub fn undecided(&self, slo: SloId) -> usize {
        self.pods.iter().filter(|(_, remembered)| remembered.awaits(slo)).count()
    }

    /// Puts other SLOs in force ([§6.6](crate::specification#s6-6)). An SLO of which only the
    /// threshold or grace has changed goes on for the pods in flight. Any other applies to the pods
    /// that are discovered from now on.
    pub fn set_slos(&mut self, rules: Arc<[SloRule]>) {
        let old = std::mem::replace(&mut self.shared.rules, rules);
        let successor = |rule: &SloRule| {
            let mut newer = (0..).map(SloId).zip(self.shared.rules.iter());
            newer.find(|(_, newer)| rule.becomes(newer)).map(|(id, _)| id)
        };
        let successors: Vec<Option<SloId>> = old.iter().map(successor).collect();
        self.shared.matches.replace(&old, &self.shared.rules, self.now);
        self.shared.timers = SloTimers::default();
        for remembered in self.pods.values_mut() {
            if let RememberedPod::InFlight(pod) = remembered {
                pod.replace_slos(&successors, &mut self.shared);
                self.shared.matches.see(&self.shared.rules, pod.info());
            }
        }
        let followed: Vec<PodUid> = self.followed.iter().collect();
        for uid in followed {
            self.change_followed(uid, |pod, shared| {
                pod.replace_slos(uid, &successors, shared);
            });
        }
    }

    /// Changes after how long pods in flight count as stuck. It applies from the next step on.
    pub fn set_stuck_after(&mut self, limits: StuckAfter) {
        self.shared.stuck.set(limits);
    }

    /// Reports the pods that have been in their stage for longer than its limit before `at`. False if there
    /// may be more.
    fn report_stuck(
        &mut self,
        at: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) -> bool {
        if let Some((stage, after, before)) = self.overdue.stuck.take()
            && !self.report_stuck_in(stage, (after, before), at, reporter)
        {
            return false;
        }
        while let Some(uid) = self.overdue.released_stuck.pop() {
            self.overdue.left = self.overdue.left.saturating_sub(1);
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                pod.report_stuck(&self.shared.stuck, reporter);
            }
        }
        if !self.shared.stuck.is_due(at) {
            return true;
        }
        Stage::ALL.into_iter().all(|stage| {
            let passed = self.shared.stuck.advance(stage, at);
            passed.is_none_or(|(from, before)| {
                self.report_stuck_in(stage, (just_before(from), before), at, reporter)
            })
        })
    }

    /// Reports the pods of a stage that have become stuck until then, from the place `after` on.
    fn report_stuck_in(
        &mut self,
        stage: Stage,
        (mut after, before): (Option<StagePlace>, Timestamp),
        until: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) -> bool {
        let places = self.shared.order.entered_after(stage, after);
        for place in places.take_while(|(entered, _)| *entered < before) {
            if self.overdue.left == 0 {
                self.overdue.stuck = Some((stage, after, before));
                return false;
            }
            self.overdue.left -= 1;
            after = Some(place);
            let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(place.1) else {
                continue;
            };
            let source = pod.last_seen.source;
            match self.sources.may_pass_deadlines(source, until) {
                true => pod.report_stuck(&self.shared.stuck, reporter),
                false => _ = self.overdue.held_stuck.insert((source, place.1)),
            }
        }
        true
    }

    /// Lets the deadlines before `at` pass, but for the pods of sources from which deliveries from before `at` may
    /// still be missing ([§6.7](crate::specification#s6-7)); those of sources that are late pass later. Reports as many as one step has room for.
    ///
    /// That they have passed is one moment, and when they are reported changes no figure: a deadline concerns
    /// one pod only, and is reported before anything else of that pod is ([`Tracker::pass_deadlines_of`]).
    pub(super) fn pass_deadlines(
        &mut self,
        at: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        self.shared.advance_lags(at);
        let some = self.sources.may_pass_some_deadlines(at);
        if some {
            self.sources.unblock(at);
            let SharedState { timers, lags, .. } = &mut self.shared;
            let may = |source| self.sources.may_pass_deadlines(source, at);
            timers.release(|source| may(source).then(|| lags.passed_until(source, at)));
            self.overdue.release(may);
            self.overdue.until = self.overdue.until.max(Some(at));
        }
        // While the pods are being saved, each that changes is copied.
        if !self.pods.is_frozen() {
            self.report_overdue(reporter);
            // Where nothing is in sync, that says enough.
            while some && let Some(source) = self.sources.hush(at) {
                self.hush_stuck(source, reporter);
            }
        }
    }

    /// Reports the stuck pods of a source as stuck no longer, until its watch shows that they are.
    fn hush_stuck(&mut self, source: SourceId, reporter: &mut TimedObserver<'_, impl Observer>) {
        let stuck = &self.shared.stuck;
        let places = Stage::ALL.into_iter().flat_map(|stage| {
            let places = self.shared.order.entered_after(stage, None);
            places.take_while(move |(entered, _)| stuck.is_stuck(stage, *entered))
        });
        let pods: Vec<PodUid> = places.map(|(_, uid)| uid).collect();
        for uid in pods {
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid)
                && pod.last_seen.source == source
            {
                pod.hush_stuck(reporter);
                self.overdue.held_stuck.insert((source, uid));
            }
        }
    }

    /// Reports all deadlines that have passed, before none may pass any more.
    pub(super) fn pass_all(&mut self, reporter: &mut TimedObserver<'_, impl Observer>) {
        let left = std::mem::replace(&mut self.overdue.left, usize::MAX);
        self.report_overdue(reporter);
        self.overdue.left = left;
    }

    /// Reports deadlines that have passed, as many as one step has room for.
    fn report_overdue(&mut self, reporter: &mut TimedObserver<'_, impl Observer>) {
        let Some(until) = self.overdue.until else {
            return;
        };
        while self.overdue.left > 0 {
            let timers = &mut self.shared.timers;
            let is_due = timers.next_due().is_some_and(|due| due < until);
            if is_due && !timers.sort(until, self.overdue.left.saturating_mul(SORTED_FOR_ONE)) {
                self.overdue.left = 0;
                return;
            }
            let Some(entry) = is_due.then(|| timers.pop_passed(until)).flatten() else {
                // Where deliveries are late, pods seem to wait for longer than they do.
                let stuck_at = until.plus_nanos(-self.shared.lags.longest_hold());
                if self.report_stuck(stuck_at, reporter) {
                    self.overdue.until = None;
                }
                return;
            };
            self.overdue.left -= 1;
            let (deadline, uid, slo) = entry;
            let awaiting = self.pods.get(uid).filter(|pod| pod.awaits(slo));
            let Some(source) = awaiting.and_then(RememberedPod::source) else {
                continue;
            };
            let passed = self.shared.lags.passed_until(source, until);
            match self.sources.may_pass_deadlines(source, until) && deadline < passed {
                true => self.pass_deadlines_for(uid, Some(slo), passed, reporter),
                false => self.shared.timers.hold(source, entry),
            }
        }
    }

    /// Reports what has passed for one pod, before the pod changes.
    pub(super) fn pass_deadlines_of(
        &mut self,
        uid: PodUid,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        if let Some(until) = self.overdue.until
            && let Some(source) = self.pods.get(uid).and_then(RememberedPod::source)
            && self.sources.may_pass_deadlines(source, until)
        {
            let passed = self.shared.lags.passed_until(source, until);
            self.pass_deadlines_for(uid, None, passed, reporter);
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                pod.report_stuck(&self.shared.stuck, reporter);
            }
        }
    }

    /// Reports one deadline of a pod that has passed, or all of them.
    fn pass_deadlines_for(
        &mut self,
        uid: PodUid,
        missed: Option<SloId>,
        until: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        match self.pods.get_mut(uid) {
            Some(RememberedPod::InFlight(pod)) => {
                pod.pass_deadlines(missed, until, &self.shared, reporter);
            }
            Some(RememberedPod::Finished(_)) => {
                self.pass_followed(uid, missed, until, reporter);
            }
            Some(RememberedPod::Deleted { .. }) | None => {}
        }
    }

    /// The earliest time at which a deadline can pass, if its source is in sync; `None` without deadlines.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.shared.timers.next_due()
    }

    /// Whether no figure changes without a delivery: no pod is in flight or followed, no node is starting, and no rollout
    /// is in progress.
    pub fn is_quiet(&self) -> bool {
        let nodes = self.shared.nodes.as_ref();
        self.shared.order.len() == 0
            && self.followed.len() == 0
            && !self.is_behind()
            && self.rollouts.in_progress().next().is_none()
            && nodes.is_none_or(KnownNodes::is_quiet)
    }

    /// Whether deadlines have passed that may not all be reported. What is [saved](Tracker::begin_saving) says nothing
    /// of those, so they have to be reported before.
    pub fn is_behind(&self) -> bool {
        self.overdue.until.is_some()
    }

    /// Reports some of the deadlines that have passed; none while the pods are [being
    /// saved](Tracker::begin_saving).
    pub fn pass_more(&mut self, sink: &mut impl Observer) {
        if let Some(until) = self.overdue.until
            && !self.pods.is_frozen()
        {
            self.overdue.begin_step();
            let now = self.now.unwrap_or(until);
            self.report_overdue(&mut TimedObserver::new(now, sink));
        }
    }

    /// Removes the deadlines of decided pods once there are many. At most one deadline per SLO and
    /// pod in flight is live; of a pod that is followed also one for each milestone.
    pub(super) fn tidy_deadlines(&mut self) {
        let SharedState { order, timers, rules, milestones, .. } = &mut self.shared;
        let pods = &self.pods;
        let of_followed = self.followed.len().saturating_mul(rules.len() + milestones.len());
        let live = order.len().saturating_mul(rules.len()).saturating_add(of_followed);
        timers.tidy(live, |uid, slo| pods.get(uid).is_some_and(|pod| pod.awaits(slo)));
    }
}

#[cfg(test)]
#[path = "deadlines_tests.rs"]
mod tests;
