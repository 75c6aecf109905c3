//! The lock-free cells of a histogram: observing takes two atomic additions, and reading sees one moment.
//!
//! - [`layout`]: the fixed bounds. Classic and native buckets come from the same cells, so both agree.
//! - [`cells`]: the counts of one histogram.
//! - [`sequence_lock`]: lets a reader see several counts as of one moment; writers never wait.
//! - [`sync`]: the atomics, which loom replaces (`--cfg podinit_loom`) to try every order of the threads.
//!
//! This crate depends on no other, so that loom and its models build in seconds. It must not know what is counted:
//! no pod, label, metric name or exposition format.

#![forbid(unsafe_code)]

pub mod cells;
pub mod layout;
#[cfg(all(test, podinit_loom))]
mod model;
pub mod sequence_lock;
pub mod sync;
