//! The deadlines of the SLOs ([§6](crate::specification#s6)) for the pods in flight.

use std::sync::Arc;

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::observation::Reporter;
use crate::lifecycle::pod_in_flight::SharedState;
use crate::lifecycle::sink::Sink;
use crate::lifecycle::slo::{SloRule, Timers};
use crate::lifecycle::slo_verdict::SloId;
use crate::lifecycle::stuck::StuckAfter;
use crate::timestamp::Timestamp;

impl Tracker {
    /// How many pods in flight have not had their event for `slo` yet.
    pub fn undecided(&self, slo: SloId) -> usize {
        let waits = |remembered: &RememberedPod| match remembered {
            RememberedPod::InFlight(pod) => pod.undecided().any(|waiting| waiting == slo),
            RememberedPod::Finished(_) | RememberedPod::Deleted { .. } => false,
        };
        self.pods
            .iter()
            .filter(|(_, remembered)| waits(remembered))
            .count()
    }

    /// Puts other SLOs in force ([§6.6](crate::specification#s6-6)). An SLO of which only the
    /// threshold or grace has changed goes on for the pods in flight. Any other applies to the pods
    /// that are discovered from now on.
    pub fn set_slos(&mut self, rules: Arc<[SloRule]>) {
        let old = std::mem::replace(&mut self.shared.rules, rules);
        let successor = |rule: &SloRule| {
            let mut newer = (0..).map(SloId).zip(self.shared.rules.iter());
            newer
                .find(|(_, newer)| rule.becomes(newer))
                .map(|(id, _)| id)
        };
        let successors: Vec<Option<SloId>> = old.iter().map(successor).collect();
        self.shared.timers = Timers::default();
        for remembered in self.pods.values_mut() {
            if let RememberedPod::InFlight(pod) = remembered {
                pod.replace_slos(&successors, &mut self.shared);
            }
        }
    }

    /// Changes after how long pods in flight count as stuck. It applies from the next step on.
    pub fn set_stuck_after(&mut self, limits: StuckAfter) {
        self.shared.stuck.set(limits);
    }

    /// Reports the pods that have been in their stage for longer than its limit before `at`.
    fn report_stuck(&mut self, at: Timestamp, reporter: &mut Reporter<'_, impl Sink>) {
        for stage in Stage::ALL {
            if let Some((from, before)) = self.shared.stuck.advance(stage, at) {
                for uid in self.shared.order.entered_between(stage, from, before) {
                    if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                        pod.report_stuck(&self.shared.stuck, reporter);
                    }
                }
            }
        }
    }

    /// Reports the deadlines that passed before `at`, unless deliveries from before `at` may still
    /// be missing ([§6.7](crate::specification#s6-7)).
    pub(super) fn pass_deadlines(&mut self, at: Timestamp, reporter: &mut Reporter<'_, impl Sink>) {
        if !self.sources.may_pass_deadlines(at) {
            return;
        }
        while let Some((uid, slo)) = self.shared.timers.pop_passed(at) {
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                pod.pass_deadline(slo, at, &self.shared, reporter);
            }
        }
        self.report_stuck(at, reporter);
    }

    /// Removes the deadlines of decided pods once there are many. At most one deadline per SLO and
    /// pod in flight is live.
    pub(super) fn tidy_deadlines(&mut self) {
        let SharedState {
            order,
            timers,
            rules,
            ..
        } = &mut self.shared;
        let pods = &mut self.pods;
        let live = order.len().saturating_mul(rules.len());
        timers.tidy(live, |uid, slo| {
            matches!(pods.get_mut(uid),
                Some(RememberedPod::InFlight(pod)) if pod.undecided().any(|waiting| waiting == slo))
        });
    }
}
