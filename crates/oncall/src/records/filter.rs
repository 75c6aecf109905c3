//! Which records a reader asks for.

use podinit_core::lifecycle::{Cause, EndedStartup, InFlightRecord, Outcome, Stage};
use podinit_core::pod::PodInfo;

/// Which records a reader asks for: those that fit everything that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    pub namespace: Option<String>,
    /// The owner's name, or its kind and name, as in `Deployment/web`
    pub workload: Option<String>,
    pub node: Option<String>,
    /// Of pods in flight, the stage that they are in. A startup that has ended is in none
    pub stage: Option<Stage>,
    /// Of pods in flight the present cause, of others any cause that is kept
    pub cause: Option<Cause>,
    /// How it ended. A startup under way has no outcome
    pub outcome: Option<Outcome>,
    /// Whether it was rejected or failed, or its pod crashes right after it was ready; not asked of one under way
    pub(crate) troubled: Option<bool>,
}

impl RecordFilter {
    pub(super) fn fits_in_flight(&self, pod: InFlightRecord<'_>) -> bool {
        let waiting = pod.waiting();
        self.outcome.is_none()
            && self.stage.is_none_or(|stage| waiting.stage() == stage)
            && self.cause.is_none_or(|cause| waiting.cause() == cause)
            && self.fits_pod(pod.pod())
    }

    pub(super) fn fits_ended(&self, startup: &EndedStartup, relapse: bool) -> bool {
        self.stage.is_none()
            && self.outcome.is_none_or(|outcome| startup.outcome() == outcome)
            && (self.troubled)
                .is_none_or(|troubled| (relapse || startup.outcome().is_failure()) == troubled)
            && self.fits_pod(startup.pod())
            && self.cause.is_none_or(|cause| startup.had_cause(cause))
    }

    fn fits_pod(&self, pod: &PodInfo) -> bool {
        let is = |wanted: &Option<String>, actual: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| actual == Some(wanted))
        };
        is(&self.namespace, Some(&pod.namespace))
            && is(&self.node, pod.node.as_deref())
            && (self.workload.as_deref()).is_none_or(|wanted| is_owned_by(pod, wanted))
    }
}

fn is_owned_by(pod: &PodInfo, wanted: &str) -> bool {
    let Some(owner) = &pod.workload else {
        return false;
    };
    match wanted.split_once('/') {
        Some((kind, name)) => owner.is_called(Some(kind), name, pod),
        None => owner.is_called(None, wanted, pod),
    }
}
