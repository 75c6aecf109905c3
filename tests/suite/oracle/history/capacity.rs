//! What autoscalers say of pods that fit on no node ([§10.4](crate::specification#s10-4)): by all kinds of reporters,
//! and also of pods that have a node, or are not there yet.

use serde_json::Value;

use super::kube_events::{event, insert, pods};
use super::rng::Rng;

/// Puts such Events between the documents of a recording.
pub(super) fn scatter(rng: &mut Rng, mut documents: Vec<Value>) -> Vec<Value> {
    for pod in &pods(&documents) {
        if rng.percent(50) {
            continue;
        }
        for _ in 0..rng.below(4) {
            let mut event = event(rng, pod);
            by_autoscaler(rng, &mut event);
            insert(rng, &mut documents, pod, event);
        }
    }
    documents
}

/// Makes the Event one of an autoscaler, or one like it.
pub(super) fn by_autoscaler(rng: &mut Rng, event: &mut Value) {
    let (reason, message) = rng.pick(&SAID);
    let (reporting, source) = rng.pick(&REPORTERS);
    event["reason"] = reason.into();
    event["message"] = message.into();
    event["reportingComponent"] = reporting.into();
    event["source"]["component"] = source.into();
}

const SAID: [(&str, &str); 7] = [
    ("TriggeredScaleUp", "pod triggered scale-up: [{pool-a 3->4 (max: 10)}]"),
    ("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached"),
    ("Nominated", "Pod should schedule on: nodeclaim/default-x7k2p"),
    (
        "FailedScheduling",
        "Failed to schedule pod, all available instance types exceed limits for nodepool",
    ),
    ("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."),
    (
        "FailedScaleUp",
        "Node scale up in zones a associated with this pod failed: GCE quota exceeded. Pod is at risk of not being scheduled.",
    ),
    ("ScaledUpGroup", "Scale-up: group pool-a size set to 4"),
];

const REPORTERS: [(&str, &str); 9] = [
    ("eks-auto-mode/compute", ""),
    ("cluster-autoscaler", "cluster-autoscaler"),
    ("", "cluster-autoscaler"),
    ("karpenter", "karpenter"),
    ("", "karpenter"),
    ("karpenter", ""),
    ("karpenter", "else"),
    ("default-scheduler", "karpenter"),
    ("", ""),
];
