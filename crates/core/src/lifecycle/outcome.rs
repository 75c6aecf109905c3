//! How a pod's startup can end ([§5.9](crate::specification#s5-9)).

use crate::label_values;

label_values! {
    /// How a pod's startup ended.
    pub enum Outcome {
        /// Ready was seen
        Ready => "ready",
        /// Succeeded before Ready was seen
        Completed => "completed",
        /// Failed before Ready was seen
        Failed => "failed",
        /// Failed on its node before a container of it was started: the kubelet refused it
        Rejected => "rejected",
        /// Deleted before Ready was seen
        Deleted => "deleted",
        /// Absent from a completed list
        Vanished => "vanished",
        /// Failed, deleted or absent before Ready was seen, and Kubernetes itself had marked it for
        /// disruption ([§10.2](crate::specification#s10-2))
        Disrupted => "disrupted",
        /// In flight when the shards were numbered anew, and now one of another shard's
        /// ([§12](crate::specification#s12))
        Moved => "moved",
        /// Had finished its startup before podinit first saw it
        Preexisting => "preexisting",
        /// A static (mirror) pod, whose times are artificial
        Static => "static",
    }
}

impl Outcome {
    /// Whether the pod itself failed, or the kubelet refused it: it did not arrive, and nothing outside wanted it so.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Rejected)
    }

    /// Whether the series that count it are exposed at 0, before there is any. A pod moves only where
    /// there are shards, and before the first scrape of a process.
    pub const fn is_exposed_at_zero(self) -> bool {
        !matches!(self, Self::Moved)
    }
}
