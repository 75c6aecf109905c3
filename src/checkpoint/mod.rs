//! The checkpoint: what has to outlive the process (`--state-dir DIR`), as one checked file that is
//! replaced as a whole.
//!
//! ```text
//! content (what is kept) ─► codec (values ⇄ bytes)
//!    └─► frame (sections, length, checksum) ─► store (which file is which) ─► disk (operations)
//! ```
//!
//! | File in DIR | What it is |
//! |---|---|
//! | `lock` | held by the process that writes, for as long as it lives |
//! | `checkpoint` | the last one saved |
//! | `checkpoint.tmp` | the one being written; means nothing to a reader |
//! | `checkpoint.rejected-REASON` | one that was not used, byte for byte; the last of each reason |
//!
//! Two promises, which `tests/suite/checkpoint_crash.rs` tests by cutting the power at every operation of a
//! disk that then loses what was not synced:
//! - What [`Store::save`] has answered with `Ok` is never lost to something older.
//! - What [`Store::load`] finds is one of the documents that were saved, whole. Any other bytes
//!   are set aside, and loading them neither panics nor allocates more than their size.
//!
//! # How it was weighed
//!
//! What is wanted: *what a scrape has shown is never newer than what is durable*. Then counters never
//! fall, wherever the process is killed, and Prometheus, which knows of podinit only what it was
//! shown, cannot tell a restart from a slow scrape. The part `run::checkpoint` keeps that promise.
//!
//! **Starting from zero** needs no disk and no code. What goes wrong at every restart, each roll-out
//! of podinit included:
//! - Pods that are born and gone while nobody watches, or between the last scrape and the kill, are
//!   lost, and nothing says so. `rate()` bridges the reset, but knows only what was scraped.
//! - Pods in flight are adopted: their stages so far are unobserved, and those whose deadline has
//!   passed count for no SLO. A podinit that crashes while a cluster is in trouble hides the trouble.
//! - Pods that got ready meanwhile were there before the first list: no latency, though the API states
//!   all the times.
//! - Gauges of podinit's own cannot tell a restart from a cluster without pods.
//!
//! **A journal**, one record for each change, synced before a scrape is answered. It writes less where
//! little changes among very many pods. It needs the same barrier before each scrape, and beside it
//! replay, torn tails, compaction, and a snapshot anyway to begin from. What a journal is good for,
//! the API server is already: it has what came after the last snapshot, for as long as it keeps its
//! history (five minutes of it, by default).
//!
//! **A snapshot of everything before each scrape** that shows something new, which this is. It is one
//! file and one way of reading it; recovery is the ordinary way of events: the checkpoint holds, of each
//! list-watch, the version up to which everything was *accounted for* (not read: deliveries wait in a
//! queue), and the watch is resumed from there. Its failure cases:
//!
//! | what happens | what follows |
//! |---|---|
//! | killed between two scrapes | What was counted since the last commit was never shown. It is told again by the watch, and counted then. |
//! | killed within a commit | The rename is whole or not at all. The scrape was not answered. |
//! | away for longer than the API server's history | A list tells what stands. Pods in flight that are gone end as `vanished`; pods born and gone meanwhile are lost, and the time in which that could be is counted (`podinit_observation_gap_seconds_total`). |
//! | deadlines that pass meanwhile | They are judged after the resync, by API times: each pod still has one event for each SLO. |
//! | disk full, read-only, failing, hanging | Scrapes wait for two seconds at most, and are served. `podinit_checkpoint_durable` is 0: a kill now would lower counters. |
//! | an older checkpoint is put back (a volume from a backup) | Counters fall once, to what it says; what came after it is told again or counted as a gap. Nothing counts twice. |
//! | truncated, flipped bits, a newer podinit's | Set aside, as starting from zero. |
//! | another cluster's | Known by the pods themselves (see `run::checkpoint::identity`), set aside. |
//! | two processes | The second does not start. |
//! | large clusters | Every commit writes everything: about 35 bytes for each pod that exists. Reading the state takes the ingest task some milliseconds for each 100,000 pods; hashing and writing happen beside it. |
//!
//! Not kept are exemplars, which the next observations bring again, and the metrics of the process
//! itself (`process_*`), which a new process has anew.

pub mod codec;
pub mod content;
pub mod disk;
pub mod frame;
mod look;
pub mod open;
pub mod store;

// Only Linux lets one thread give up what root may do.
#[cfg(all(test, target_os = "linux"))]
mod permission_tests;

pub use disk::{Disk, RealDisk};
pub use look::{Look, Seen, look};
pub use open::{OpenError, OpenFault};
pub use store::{Loaded, Rejection, Store};
