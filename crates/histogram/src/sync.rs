//! The atomics of this module: the standard library's, or loom's when the module is model-checked
//! (`--cfg podinit_loom`; the plain `loom` cfg would also take the network out of tokio).

#[cfg(podinit_loom)]
pub use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicU64, Ordering, fence},
    thread::yield_now,
};
#[cfg(not(podinit_loom))]
pub use std::{
    hint::spin_loop,
    sync::atomic::{AtomicU64, Ordering, fence},
    thread::yield_now,
};
