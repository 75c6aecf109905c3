//! [§10.4](crate::specification#s10-4): whether a node is on its way for a pod that fits on none.

use super::{EVENTS, Example, example};
use crate::oracle::build::*;
use crate::oracle::build_evidence::{heard, watched, with};
use serde_json::{Value, json};

/// What a component reports of the pod `a`.
fn said(reason: &str, by: &str) -> Value {
    let event = with(heard(&pod("a"), reason, "", 1.0), "/reportingComponent", "".into());
    with(event, "/source/component", by.into())
}

fn unschedulable(name: &str) -> Pod {
    pod(name).because(
        SCHEDULED,
        "False",
        0.0,
        "Unschedulable",
        "0/1 nodes are available: 1 Too many pods.",
    )
}

/// A pod in the stage `unschedulable` about which these documents come, and its state.
fn state(says: &'static str, documents: Vec<Value>, state: &str) -> Example {
    let documents = [vec![added(&unschedulable("a"))], documents].concat();
    let figures = format!("inflight unschedulable 1\ncapacity {state} 1");
    example(says, EVENTS, documents, figures.leak())
}

pub(super) fn examples() -> Vec<Example> {
    let mut states = vec![
        state("§10.4: \"none of them\"", vec![], "unknown"),
        state(
            "§10.4: reason `TriggeredScaleUp`",
            vec![said("TriggeredScaleUp", "cluster-autoscaler")],
            "scaling_up",
        ),
        state(
            "§10.4: reason `NotTriggerScaleUp`, whoever reports it",
            vec![said("NotTriggerScaleUp", "")],
            "no_scale_up",
        ),
        state(
            "§10.4: reason `FailedScaleUp`",
            vec![
                said("TriggeredScaleUp", "cluster-autoscaler"),
                said("FailedScaleUp", "cluster-autoscaler"),
            ],
            "scale_up_failed",
        ),
        state(
            "§10.4: `FailedScheduling` reported by `eks-auto-mode/compute`",
            vec![said("FailedScheduling", "eks-auto-mode/compute")],
            "no_scale_up",
        ),
        state("§10.4: reason `Nominated`", vec![said("Nominated", "karpenter")], "nominated"),
        state(
            "§10.4: `FailedScheduling` reported by `karpenter` as `source.component`",
            vec![said("FailedScheduling", "karpenter")],
            "no_scale_up",
        ),
        state(
            "§10.4: \"read as in 9.2\": `source.component` counts where `reportingComponent` is empty",
            vec![with(
                said("FailedScheduling", "karpenter"),
                "/reportingComponent",
                "default-scheduler".into(),
            )],
            "unknown",
        ),
        state(
            "§10.4: `FailedScheduling` of the scheduler is none of these Events, and takes nothing back",
            vec![
                said("TriggeredScaleUp", "cluster-autoscaler"),
                said("FailedScheduling", "default-scheduler"),
            ],
            "scaling_up",
        ),
        state(
            "§10.4: \"from the last of these Events\"",
            vec![
                said("TriggeredScaleUp", "cluster-autoscaler"),
                said("NotTriggerScaleUp", "cluster-autoscaler"),
            ],
            "no_scale_up",
        ),
        state(
            "§10.4: an Event that is delivered again, because it occurred again, is the last",
            vec![
                watched("ADDED", said("NotTriggerScaleUp", "cluster-autoscaler")),
                watched("ADDED", said("TriggeredScaleUp", "cluster-autoscaler")),
                watched("MODIFIED", said("NotTriggerScaleUp", "cluster-autoscaler")),
            ],
            "no_scale_up",
        ),
        state(
            "§9.5: the deletion of an Event is ignored",
            vec![
                watched("ADDED", said("TriggeredScaleUp", "cluster-autoscaler")),
                watched("ADDED", said("NotTriggerScaleUp", "cluster-autoscaler")),
                watched("DELETED", said("TriggeredScaleUp", "cluster-autoscaler")),
            ],
            "no_scale_up",
        ),
        state(
            "§10.4: \"by UID\"",
            vec![with(
                said("TriggeredScaleUp", "cluster-autoscaler"),
                "/involvedObject/uid",
                json!("another"),
            )],
            "unknown",
        ),
        state(
            "§10.4: a gap and a relist take nothing back",
            vec![said("Nominated", "karpenter"), expired(), list(&[unschedulable("a")])],
            "nominated",
        ),
    ];
    states.extend([
        example(
            "§10.4: \"delivered while it was in flight\": before the pod is known, it is not",
            EVENTS,
            vec![said("TriggeredScaleUp", "cluster-autoscaler"), added(&unschedulable("a"))],
            "inflight unschedulable 1\ncapacity unknown 1",
        ),
        example(
            "§10.4: in flight is also a pod in another stage",
            EVENTS,
            vec![
                added(&pod("a")),
                said("TriggeredScaleUp", "cluster-autoscaler"),
                modified(&unschedulable("a")),
                added(&unschedulable("b")),
            ],
            "inflight unschedulable 2\ncapacity scaling_up 1\ncapacity unknown 1",
        ),
        example(
            "§10.4: \"each pod in the stage `unschedulable`\", and none other",
            EVENTS,
            vec![
                added(&unschedulable("a")),
                said("TriggeredScaleUp", "cluster-autoscaler"),
                modified(&unschedulable("a").yes(SCHEDULED, 40.0)),
                said("Nominated", "karpenter"),
            ],
            "inflight network 1\nunschedulable 1 40\ncapacity scaling_up 0",
        ),
        example(
            "§10.4: a UID that is forgotten has no state when it comes back",
            EVENTS,
            vec![
                list(&[unschedulable("a")]),
                said("TriggeredScaleUp", "cluster-autoscaler"),
                list(&[]),
                list(&[unschedulable("a")]),
            ],
            "finished vanished 1\ninflight unschedulable 1\ncapacity unknown 1",
        ),
    ]);
    states
}
