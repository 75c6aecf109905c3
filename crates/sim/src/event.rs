//! The Events that kubelets, the scheduler and the volume controller report of what happens to a pod.

use super::event_draft::{EventDraft, Reporter};
use super::kubelet_event;
use super::life::Change;
use super::pod::{Pod, SCHEDULER_SKEW};
use podinit_core::timestamp::Timestamp;

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
