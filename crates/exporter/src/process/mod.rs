//! The process: its signals and the `process_*` metrics.

pub mod metrics;
pub mod signals;
