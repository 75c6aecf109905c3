//! The ledger: what has to outlive the process (`--state-dir DIR`), as one checked file that is
//! replaced as a whole.
//!
//! ```text
//! codec (values ⇄ bytes) ─► frame (sections, length, checksum) ─► store (which file is which)
//!                                                                   └─► disk (operations)
//! ```
//!
//! | File in DIR | What it is |
//! |---|---|
//! | `lock` | held by the process that writes, for as long as it lives |
//! | `ledger` | the last one saved |
//! | `ledger.tmp` | the one being written; means nothing to a reader |
//! | `ledger.rejected-REASON` | one that was not used, byte for byte; the last of each reason |
//!
//! Two promises, which `tests/ledger_crash.rs` tests by cutting the power at every operation of a
//! disk that then loses what was not synced:
//! - What [`Store::save`] has answered with `Ok` is never lost to something older.
//! - What [`Store::load`] finds is one of the documents that were saved, whole. Any other bytes
//!   are set aside, and loading them neither panics nor allocates more than their size.

pub mod codec;
pub mod content;
pub mod disk;
pub mod frame;
pub mod open;
pub mod store;

pub use disk::{Disk, RealDisk};
pub use open::{OpenError, OpenFault};
pub use store::{Loaded, Reason, Rejection, Store};
