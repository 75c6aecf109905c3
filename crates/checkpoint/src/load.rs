//! How a checkpoint was used at the start.

use podinit_core::label_values;

label_values! {
    /// The result of looking for a checkpoint at the start; all but the first three are reasons for
    /// not using the one that was found.
    pub enum CheckpointLoad {
        /// Podinit was restored from it
        Restored => "restored",
        /// The same, and the number of shards has changed since ([§12](crate::specification#s12))
        Resharded => "resharded",
        /// There was none
        Absent => "absent",
        /// Its bytes are not what was written, or hold values that cannot be
        Corrupt => "corrupt",
        /// A newer podinit has written it
        FutureVersion => "future_version",
        /// An older podinit has written it, in a format that is no longer read
        OldVersion => "old_version",
        /// It is about another cluster
        ForeignCluster => "foreign_cluster",
        /// The disk does not return it, it is not a regular file, or it is far too large
        Unreadable => "unreadable",
    }
}
