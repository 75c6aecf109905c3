//! What is asked of a source of pods.

use crate::explain::ExplainTarget;

/// The question to a source. The source keeps no more than the answer needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodQuestion {
    /// The stuck pods, at most this number
    Stuck(usize),
    /// The problems
    Problems,
    /// The rollouts, at most this number
    Rollouts(usize),
    /// The startup of a pod, or of one of the pods of a workload
    Startup(ExplainTarget),
    /// The worst startups of the pods that fit
    Worst(ExplainTarget),
}

impl PodQuestion {
    /// Which pods it is about; `None` where it is about all.
    pub const fn target(&self) -> Option<&ExplainTarget> {
        match self {
            Self::Stuck(_) | Self::Problems | Self::Rollouts(_) => None,
            Self::Startup(target) | Self::Worst(target) => Some(target),
        }
    }
}
