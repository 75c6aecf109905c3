//! What is asked of a source of pods.

use crate::explain::ExplainTarget;

/// What is asked of a source. It keeps no more than the answer needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodQuestion {
    /// The pods that are stuck, at most so many
    Stuck(usize),
    /// What is broken
    Problems,
    /// The startup of a pod, or of one of the pods of a workload
    Startup(ExplainTarget),
    /// The worst startups of the pods that fit
    Worst(ExplainTarget),
}

impl PodQuestion {
    /// Which pods it is about; `None` where it is about all.
    pub const fn target(&self) -> Option<&ExplainTarget> {
        match self {
            Self::Stuck(_) | Self::Problems => None,
            Self::Startup(target) | Self::Worst(target) => Some(target),
        }
    }
}
