//! The checkpoint: the state that outlives the process (`--state-dir DIR`), as one checked file that
//! is replaced as a whole. `docs/restarts.md` gives the reasons for this design.
//!
//! ```text
//! content (what is saved, as bytes) ─► frame (sections, length, checksum)
//!    ─► store (which file is which) ─► disk (operations on files)
//! ```
//!
//! | File in DIR | What it is |
//! |---|---|
//! | `lock` | locked by the process that writes, for as long as it lives |
//! | `checkpoint` | the last one saved |
//! | `checkpoint.tmp` | the one being written; readers ignore it |
//! | `checkpoint.rejected-REASON` | one that could not be used, unchanged; the last of each reason |
//!
//! Two promises, which the tests in `checkpoint_crash.rs` check by cutting the power at every
//! operation of a disk that then loses what was not synced:
//! - A document for which [`CheckpointStore::save`] returned `Ok` is never lost to an older one.
//! - [`CheckpointStore::load`] finds one of the documents that were saved, whole. Any other bytes are set aside,
//!   and loading them neither panics nor allocates more than their size.
//!
//! It knows files, and the states of the tracker, of the metrics and of records, as values. It must not know when it is
//! written, nor what is restored from it: that is the exporter's.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod content;
mod disk;
pub mod frame;
mod inspect;
mod kept_records;
mod load;
mod open;
mod shape;
mod store;

// Only Linux lets one thread give up what root may do.
#[cfg(all(test, target_os = "linux"))]
mod permission_tests;

pub use disk::{Disk, RealDisk};
pub use inspect::{FoundCheckpoint, StateInspection, inspect};
pub use kept_records::{CheckpointRecords, KeptRecord, MOST_KEPT};
pub use load::CheckpointLoad;
pub use open::{OpenError, OpenFault};
pub use store::{CheckpointStore, LoadedCheckpoint};
