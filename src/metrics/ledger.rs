//! What the ledger (`--state-dir`) says of itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::exposition::encoder::{Encoder, Head, Number};
use super::families::{LEDGER_DURABLE, LEDGER_LOADS, LEDGER_SIZE, LEDGER_WRITES};
use super::source::{FamilySource, by_label, integers};
use super::store::Count;

/// What became of the ledger that was there at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerLoad {
    /// Podinit went on from it
    Restored,
    /// There was none
    Absent,
    /// Its bytes are not what was written
    Corrupt,
    /// A newer podinit has written it
    FutureVersion,
    /// It is about another cluster
    ForeignCluster,
    /// It could not be read
    Unreadable,
}

impl LedgerLoad {
    /// Every result, in the order of their discriminants.
    pub const ALL: [Self; 6] = [
        Self::Restored,
        Self::Absent,
        Self::Corrupt,
        Self::FutureVersion,
        Self::ForeignCluster,
        Self::Unreadable,
    ];

    /// The value of the label `result`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Restored => "restored",
            Self::Absent => "absent",
            Self::Corrupt => "corrupt",
            Self::FutureVersion => "future_version",
            Self::ForeignCluster => "foreign_cluster",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The counters as they are kept in the ledger itself: what a scrape has shown of them must not be
/// lost either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedLedger {
    /// By [`LedgerLoad`]
    pub loads: [u64; LedgerLoad::ALL.len()],
    /// By [`SavedLedger::WRITES`]
    pub writes: [u64; 2],
}

impl SavedLedger {
    /// The values of the label `result` of loads.
    pub const LOADS: [&'static str; LedgerLoad::ALL.len()] = [
        LedgerLoad::Restored.as_str(),
        LedgerLoad::Absent.as_str(),
        LedgerLoad::Corrupt.as_str(),
        LedgerLoad::FutureVersion.as_str(),
        LedgerLoad::ForeignCluster.as_str(),
        LedgerLoad::Unreadable.as_str(),
    ];

    /// The values of the label `result` of writes.
    pub const WRITES: [&'static str; 2] = ["success", "failure"];
}

/// The families of the ledger. Each value stands by itself, hence `Relaxed`.
#[derive(Debug)]
pub struct LedgerGauges {
    loads: [Count; LedgerLoad::ALL.len()],
    writes: [Count; 2],
    size: AtomicU64,
    durable: AtomicBool,
}

impl Default for LedgerGauges {
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

impl LedgerGauges {
    /// Counts what became of the ledger at the start.
    pub fn count_load(&self, load: LedgerLoad) {
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
    pub fn saved(&self) -> SavedLedger {
        SavedLedger {
            loads: self.loads.each_ref().map(Count::get),
            writes: self.writes.each_ref().map(Count::get),
        }
    }

    /// What is kept of it in a ledger that, wherever it is found, has been written.
    pub fn saved_by_success(&self) -> SavedLedger {
        let mut saved = self.saved();
        saved.writes[0] += 1;
        saved
    }

    /// Adds what was counted before.
    pub fn restore(&self, saved: &SavedLedger) {
        let counts = self.loads.iter().chain(&self.writes);
        for (count, saved) in counts.zip(saved.loads.iter().chain(&saved.writes)) {
            count.add(*saved);
        }
    }
}

impl FamilySource for LedgerGauges {
    fn collect(&self, out: &mut dyn Encoder) {
        let saved = self.saved();
        let loads = SavedLedger::LOADS.into_iter().zip(saved.loads);
        by_label(out, &LEDGER_LOADS, integers(loads));
        let writes = SavedLedger::WRITES.into_iter().zip(saved.writes);
        by_label(out, &LEDGER_WRITES, integers(writes));
        out.family(Head::from(&LEDGER_SIZE));
        out.number(&[], Number::Integer(self.size.load(Relaxed)));
        out.family(Head::from(&LEDGER_DURABLE));
        out.number(&[], Number::Integer(self.durable.load(Relaxed).into()));
    }
}
