//! The Events that kubelets, the scheduler and the volume controller report of what happens to a pod.

use super::container::ContainerRef;
use super::kubelet_event;
use super::life::Change;
use super::node::{Kubelet, Node};
use super::pod::{Pod, SCHEDULER_SKEW};
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
}

impl Reporter {
    /// `reportingComponent`
    pub const fn component(&self) -> &'static str {
        match self {
            Self::Kubelet(..) => "kubelet",
            Self::Scheduler => "default-scheduler",
            Self::VolumeController => "attachdetach-controller",
        }
    }

    /// Which process it is: the name of the node or of the component.
    pub const fn instance(&self) -> &'static str {
        match self {
            Self::Kubelet(node, _) => node.name,
            Self::Scheduler | Self::VolumeController => self.component(),
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

/// The Events of `change`, which has just happened to `pod` at `now` of the API server's clock.
pub fn drafts(change: &Change, pod: &Pod, now: Timestamp) -> Vec<EventDraft> {
    let manifest = &pod.manifest;
    match change {
        Change::Unschedulable(why) => {
            let draft = scheduler("FailedScheduling", why.message(), now);
            vec![EventDraft {
                warning: true,
                ..draft
            }]
        }
        Change::Bind { node, .. } => {
            let (namespace, name) = (&manifest.namespace, &manifest.name);
            let message = format!("Successfully assigned {namespace}/{name} to {}", node.name);
            vec![scheduler("Scheduled", message, now)]
        }
        Change::Mount => vec![EventDraft {
            reporter: Reporter::VolumeController,
            warning: false,
            reason: "SuccessfulAttachVolume",
            message: format!(
                "AttachVolume.Attach succeeded for volume \"pvc-{}\" ",
                manifest.uid
            ),
            container: None,
            at: now,
        }],
        _ => match pod.node {
            Some(node) => kubelet_event::drafts(change, pod, node, now),
            None => Vec::new(),
        },
    }
}

fn scheduler(reason: &'static str, message: String, now: Timestamp) -> EventDraft {
    EventDraft {
        reporter: Reporter::Scheduler,
        warning: false,
        reason,
        message,
        container: None,
        at: now.plus_nanos(SCHEDULER_SKEW),
    }
}
