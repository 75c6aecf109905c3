//! Why a kubelet has ended a pod, as `status.reason` and `status.message` say
//! ([§5.9](crate::specification#s5-9), [§10.2](crate::specification#s10-2)). The statuses of its containers may be gone.

/// What a kubelet has ended a pod for that it had admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KubeletEviction {
    /// Its node is short of something, shuts down, or needs room for a critical pod
    ForNode,
    /// It has used more than its own limits
    ForOwnLimits,
}

impl KubeletEviction {
    /// What the reason and the message of a pod that has ended say; `None` of a pod that was not admitted, and of any
    /// other end.
    pub(super) fn from_reason(reason: &str, message: &str) -> Option<Self> {
        match reason {
            "Evicted" if message.starts_with("The node was low on resource") => Some(Self::ForNode),
            // The pressure was there before the pod.
            "Evicted" if message.starts_with("The node had condition") => None,
            "Evicted" => Some(Self::ForOwnLimits),
            "Preempting" => Some(Self::ForNode),
            "Terminated" | "Shutdown" => is_of_shutdown(message).then_some(Self::ForNode),
            _ => None,
        }
    }
}

/// Whether a pod was ended as its node shut down. Kubelets up to 1.21 say that a node "is shutting".
fn is_of_shutdown(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let says = |text: &str| message.contains(text);
    (says("shutdown") || says("shutting")) && !says("rejected") && !says("not admit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubelets_say_tells_whose_fault_it_was() {
        use KubeletEviction::{ForNode, ForOwnLimits};
        for (reason, message, expected) in [
            (
                "Evicted",
                "The node was low on resource: memory. Threshold quantity: 100Mi",
                Some(ForNode),
            ),
            ("Evicted", "The node had condition: [DiskPressure]. ", None),
            (
                "Evicted",
                "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
                Some(ForOwnLimits),
            ),
            (
                "Evicted",
                "Container app exceeded its local ephemeral storage limit \"1Gi\". ",
                Some(ForOwnLimits),
            ),
            (
                "Evicted",
                "Usage of EmptyDir volume \"cache\" exceeds the limit \"1Gi\". ",
                Some(ForOwnLimits),
            ),
            ("Evicted", "", Some(ForOwnLimits)),
            ("Preempting", "Preempted in order to admit critical pod", Some(ForNode)),
            (
                "Terminated",
                "Pod was terminated in response to imminent node shutdown.",
                Some(ForNode),
            ),
            ("Shutdown", "Node is shutting, evicting pods", Some(ForNode)),
            ("Shutdown", "Node is in progress of shutting down, not admitting any new pods", None),
            ("NodeShutdown", "Pod was rejected as the node is shutting down.", None),
            ("Terminated", "Pod was rejected: node is shutting down", None),
            ("Terminated", "Job reached its deadline", None),
            ("OutOfcpu", "Node didn't have enough resource: cpu", None),
        ] {
            assert_eq!(
                KubeletEviction::from_reason(reason, message),
                expected,
                "{reason}: {message}"
            );
        }
    }
}
