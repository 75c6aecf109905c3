//! Why a pod is about to be ended by Kubernetes itself.

use crate::label_values;

label_values! {
    /// The reasons of the condition `DisruptionTarget`, as Kubernetes spells them; `Other` is any
    /// other reason, or none.
    pub enum DisruptionReason {
        /// A pod of higher priority takes its place
        PreemptionByScheduler => "PreemptionByScheduler",
        /// Its node has a NoExecute taint that it does not tolerate
        DeletionByTaintManager => "DeletionByTaintManager",
        /// One of its devices has such a taint
        DeletionByDeviceTaintManager => "DeletionByDeviceTaintManager",
        /// The eviction API, as in `kubectl drain`
        EvictionByEvictionApi => "EvictionByEvictionAPI",
        /// Its node is gone
        DeletionByPodGc => "DeletionByPodGC",
        /// The kubelet: the node is short of resources, or shuts down
        TerminationByKubelet => "TerminationByKubelet",
        Other => "other",
    }
}
