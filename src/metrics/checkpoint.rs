//! The metrics of the checkpoint itself (`--state-dir`).

use crate::families;
use crate::instruments::{CounterVec, Gauge, OperationResult, SavedFamilies};
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

families! {
    /// The metrics of the checkpoint. Its counters are in the checkpoint too: what a scrape has shown
    /// of them must not be lost either.
    pub struct CheckpointGauges {
        loads: CounterVec<CheckpointLoad> =
            "podinit_checkpoint_loads_total", ["result"], experimental, saved,
            "Starts with a state directory, by how the checkpoint in it was used.";
        writes: CounterVec<OperationResult> =
            "podinit_checkpoint_writes_total", ["result"], experimental, saved,
            "Times that the checkpoint was written, by result.";
        size: Gauge =
            "podinit_checkpoint_size_bytes", [], experimental, not_saved,
            "Size of the checkpoint as it was last written.";
        durable: Gauge =
            "podinit_checkpoint_durable", [], experimental, not_saved,
            "Whether everything that scrapes were shown is in the checkpoint on disk (1) or not (0).";
    }
}

impl CheckpointGauges {
    /// Nothing loaded or written; nothing shown that is not durable.
    pub fn new() -> Self {
        let gauges = Self::default();
        gauges.set_durable(true);
        gauges
    }

    /// Counts a start.
    pub fn count_load(&self, load: CheckpointLoad) {
        self.loads.with(load).increment();
    }

    /// Counts a write of so many bytes that has become durable.
    pub fn count_success(&self, bytes: usize) {
        self.writes.with(OperationResult::Success).increment();
        self.size.set(bytes as u64);
    }

    /// Counts a write that failed.
    pub fn count_failure(&self) {
        self.writes.with(OperationResult::Failure).increment();
    }

    /// Whether everything that was shown is durable, as was last stated.
    pub fn is_durable(&self) -> bool {
        self.durable.get() == 1
    }

    /// States whether everything that was shown is durable. Returns what was stated before.
    pub fn set_durable(&self, durable: bool) -> bool {
        self.durable.swap(durable.into()) == 1
    }

    /// Counts in `saved` the write that is about to happen: a checkpoint that is found later, wherever
    /// that is, has been written with success.
    pub fn count_write_in(saved: &mut SavedFamilies) {
        let [_, writes, ..] = &Self::FAMILIES;
        saved.add(writes, &[OperationResult::Success.as_str()], 1);
    }
}
