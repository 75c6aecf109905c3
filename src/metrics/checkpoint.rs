//! What the checkpoint (`--state-dir`) says of itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use super::exposition::encoder::{Encoder, Head, Number};
use super::families::{CHECKPOINT_DURABLE, CHECKPOINT_LOADS, CHECKPOINT_SIZE, CHECKPOINT_WRITES};
use super::source::{FamilySource, by_label, integers};
use super::store::Count;

crate::label_values! {
    /// The result of looking for a checkpoint at the start; all but the first two are reasons for
    /// not using the one that was found.
    pub enum CheckpointLoad {
        /// Podinit was restored from it
        Restored => "restored",
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

/// The counters as they are kept in the checkpoint itself: what a scrape has shown of them must not be
/// lost either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCheckpoint {
    /// By [`CheckpointLoad`]
    pub loads: [u64; CheckpointLoad::ALL.len()],
    /// By [`SavedCheckpoint::WRITES`]
    pub writes: [u64; 2],
}

impl SavedCheckpoint {
    /// The values of the label `result` of writes.
    pub const WRITES: [&'static str; 2] = ["success", "failure"];
}

/// The families of the checkpoint. Each value stands by itself, hence `Relaxed`.
#[derive(Debug)]
pub struct CheckpointGauges {
    loads: [Count; CheckpointLoad::ALL.len()],
    writes: [Count; 2],
    size: AtomicU64,
    durable: AtomicBool,
}

impl Default for CheckpointGauges {
    /// Nothing loaded or written; nothing shown that is not durable.
    fn default() -> Self {
        Self {
            loads: std::array::from_fn(|_| Count::new()),
            writes: std::array::from_fn(|_| Count::new()),
            size: AtomicU64::new(0),
            durable: AtomicBool::new(true),
        }
    }
}

impl CheckpointGauges {
    /// Counts what became of the checkpoint at the start.
    pub fn count_load(&self, load: CheckpointLoad) {
        self.loads[load as usize].increment();
    }

    /// Counts a write of so many bytes that has become durable, and with it all that was shown.
    pub fn count_success(&self, bytes: usize) {
        self.writes[0].increment();
        self.size.store(bytes as u64, Relaxed);
    }

    /// Counts a write that failed.
    pub fn count_failure(&self) {
        self.writes[1].increment();
    }

    /// States whether everything that was shown is durable. Returns what was stated before.
    pub fn set_durable(&self, durable: bool) -> bool {
        self.durable.swap(durable, Relaxed)
    }

    /// What is kept of it.
    pub fn saved(&self) -> SavedCheckpoint {
        SavedCheckpoint {
            loads: self.loads.each_ref().map(Count::get),
            writes: self.writes.each_ref().map(Count::get),
        }
    }

    /// What is kept of it in a checkpoint that, wherever it is found, has been written.
    pub fn saved_by_success(&self) -> SavedCheckpoint {
        let mut saved = self.saved();
        saved.writes[0] += 1;
        saved
    }

    /// Adds what was counted before.
    pub fn restore(&self, saved: &SavedCheckpoint) {
        let counts = self.loads.iter().chain(&self.writes);
        for (count, saved) in counts.zip(saved.loads.iter().chain(&saved.writes)) {
            count.add(*saved);
        }
    }
}

impl FamilySource for CheckpointGauges {
    fn collect(&self, out: &mut dyn Encoder) {
        let saved = self.saved();
        let loads = CheckpointLoad::ALL.map(CheckpointLoad::as_str);
        let loads = loads.into_iter().zip(saved.loads);
        by_label(out, &CHECKPOINT_LOADS, integers(loads));
        let writes = SavedCheckpoint::WRITES.into_iter().zip(saved.writes);
        by_label(out, &CHECKPOINT_WRITES, integers(writes));
        out.family(Head::from(&CHECKPOINT_SIZE));
        out.number(&[], Number::Integer(self.size.load(Relaxed)));
        out.family(Head::from(&CHECKPOINT_DURABLE));
        out.number(&[], Number::Integer(self.durable.load(Relaxed).into()));
    }
}
