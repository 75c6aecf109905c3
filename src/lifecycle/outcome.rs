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
        /// Deleted before Ready was seen
        Deleted => "deleted",
        /// Absent from a completed list
        Vanished => "vanished",
        /// Failed, deleted or absent before Ready was seen, and Kubernetes itself had marked it for
        /// disruption ([§10.2](crate::specification#s10-2))
        Disrupted => "disrupted",
        /// Had finished its startup before podinit first saw it
        Preexisting => "preexisting",
        /// A static (mirror) pod, whose times are artificial
        Static => "static",
    }
}
