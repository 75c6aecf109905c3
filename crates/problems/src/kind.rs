//! What a problem can be about ([§13](crate::specification#s13)).

use super::late_nodes::FoundLateNodes;
use super::several_causes::CauseAtPlace;
use podinit_core::lifecycle::NodeClock;

/// What a problem is about. A new kind is a variant here, what finds it in a file of this crate, and its words in a
/// file beside those of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ProblemKind {
    /// Pods that a cause affects, which may share a value
    #[default]
    Pods,
    /// A node whose clock is off, with the pods in flight on it ([§13.12](crate::specification#s13-12))
    Clock(NodeClock),
    /// A node or a zone where pods are affected by three causes or more, those of most pods first
    /// ([§13.15](crate::specification#s13-15))
    SeveralCauses(Vec<CauseAtPlace>),
    /// Nodes that do not become schedulable, with the pods that wait for them
    /// ([§13.13](crate::specification#s13-13))
    LateNodes(FoundLateNodes),
}

impl ProblemKind {
    /// Whether it keeps its pods from starting, so that they are in no other problem. A clock that is off does not:
    /// its pods are in another problem besides, or start as usual.
    pub const fn holds_pods(&self) -> bool {
        !matches!(self, Self::Clock(_))
    }

    /// The nodes that do not become schedulable, where that is the problem.
    pub const fn late_nodes(&self) -> Option<&FoundLateNodes> {
        match self {
            Self::LateNodes(nodes) => Some(nodes),
            Self::Pods | Self::Clock(_) | Self::SeveralCauses(_) => None,
        }
    }
}
