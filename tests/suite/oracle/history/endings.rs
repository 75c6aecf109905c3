//! What a pod says of its end: deletions, and what kubelets say of evictions ([§5.9](crate::specification#s5-9),
//! [§10.2](crate::specification#s10-2)).

use serde_json::Value;

use super::rng::Rng;
use crate::oracle::build::{Pod, time};

/// A pod that has ended, now and then with what a kubelet says of an eviction, or while it is being deleted.
pub(super) fn ended(mut pod: Pod) -> Pod {
    // With a seed of its own, so that everything else of its life stays what it was without.
    let uid = pod.0["metadata"]["uid"].as_str().unwrap_or_default();
    let seed = uid
        .bytes()
        .fold(0x656e_6465_u64, |seed, byte| seed.wrapping_mul(257).wrapping_add(u64::from(byte)));
    let rng = &mut Rng::new(seed);
    if rng.percent(35) {
        pod = pod.put("metadata", "deletionTimestamp", time(4_000.0));
    }
    if rng.percent(40) {
        let (reason, message) = rng.pick(&ENDINGS);
        pod = pod.put("status", "reason", reason.into()).put("status", "message", message.into());
        if rng.percent(40) {
            // Older kubelets drop the statuses.
            pod = pod.put("status", "containerStatuses", Value::Null);
        }
    }
    match rng.percent(30) {
        true => {
            pod.put("spec", "restartPolicy", rng.pick(&["Never", "OnFailure", "Always"]).into())
        }
        false => pod,
    }
}

/// Reasons and messages of pods that have ended.
const ENDINGS: [(&str, &str); 9] = [
    ("Evicted", "The node was low on resource: memory. "),
    ("Evicted", "The node had condition: [MemoryPressure]. "),
    ("Evicted", "Usage of EmptyDir volume \"cache\" exceeds the limit \"1Gi\". "),
    ("Preempting", "Preempted in order to admit critical pod"),
    ("Terminated", "Pod was terminated in response to imminent node shutdown."),
    ("Terminated", "Pod was rejected as the node is shutting down."),
    ("Shutdown", "Node is shutting, evicting pods"),
    ("Shutdown", "Node is in progress of shutting down, not admitting any new pods"),
    ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline"),
];
