//! An Event as its reporter makes it.

use super::component_fault::ScaleUp;
use super::container::ContainerRef;
use super::node::{Kubelet, Node};
use podinit_core::timestamp::Timestamp;

/// Who reports an Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporter {
    /// The kubelet of this version on this node
    Kubelet(Node, Kubelet),
    /// The scheduler, by the API of `events.k8s.io`
    Scheduler,
    /// The controller that attaches volumes
    VolumeController,
    /// cluster-autoscaler, or Karpenter
    Autoscaler(ScaleUp),
}

impl Reporter {
    /// `reportingComponent`
    pub const fn component(&self) -> &'static str {
        match self {
            Self::Kubelet(..) => "kubelet",
            Self::Scheduler => "default-scheduler",
            Self::VolumeController => "attachdetach-controller",
            Self::Autoscaler(ScaleUp::Triggered | ScaleUp::NotTriggered) => "cluster-autoscaler",
            Self::Autoscaler(ScaleUp::Nominated | ScaleUp::OverLimit) => "karpenter",
        }
    }

    /// Which process it is: the name of the node or of the component.
    pub const fn instance(&self) -> &'static str {
        match self {
            Self::Kubelet(node, _) => node.name,
            Self::Scheduler | Self::VolumeController | Self::Autoscaler(_) => self.component(),
        }
    }
}

/// An Event as its reporter makes it, before its recorder sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDraft {
    /// Who reports it
    pub reporter: Reporter,
    /// `type: Warning`, otherwise `Normal`
    pub warning: bool,
    /// `reason`
    pub reason: &'static str,
    /// `message`
    pub message: String,
    /// The container that `involvedObject.fieldPath` names
    pub container: Option<ContainerRef>,
    /// When, by the reporter's clock
    pub at: Timestamp,
}
