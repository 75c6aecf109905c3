//! Where a pod is in the interval of an SLO.

use crate::lifecycle::custom_milestone::SloInterval;
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::reached::Reached;
use crate::lifecycle::startup::Startup;

impl SloInterval {
    /// When the interval began for the pod.
    pub(super) fn start(&self, startup: &Startup) -> Reached {
        match self {
            Self::Standard(interval) => startup.start(*interval),
            Self::Custom { from, .. } => startup.custom_start(*from),
        }
    }

    /// When the interval ended for the pod.
    pub(super) fn end(&self, startup: &Startup) -> Reached {
        match self {
            Self::Standard(interval) => startup.end(*interval),
            Self::Custom { milestone, .. } => {
                startup.custom(milestone).map_or(Reached::No, |state| state.reached)
            }
        }
    }

    /// Whether the pod has the interval.
    pub(super) fn applies(&self, startup: &Startup) -> bool {
        match self {
            Self::Standard(interval) => startup.applies(*interval),
            Self::Custom { .. } => self.can_enter(startup),
        }
    }

    /// Whether the pod has the interval, or may still get it.
    pub(super) fn can_enter(&self, startup: &Startup) -> bool {
        match self {
            Self::Standard(interval) => startup.can_enter(*interval),
            Self::Custom { milestone, from } => {
                let state = startup.custom(milestone);
                !state.is_some_and(|state| startup.can_never_begin(*from, state))
            }
        }
    }

    /// Whether it ends with a milestone that the pod can never reach any more.
    pub(super) fn never_ends(&self, startup: &Startup) -> bool {
        self.standard().is_some_and(|interval| startup.never_ends(interval))
    }

    /// The milestones at its ends that a condition of Kubernetes shows.
    pub(super) fn needed_conditions(&self, startup: &Startup) -> impl Iterator<Item = Milestone> {
        let standard = self.standard().into_iter();
        standard.flat_map(|interval| startup.needed_conditions(interval).collect::<Vec<_>>())
    }
}
