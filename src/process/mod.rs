//! The process: its log, its signals, and the `process_*` metrics.

pub mod logging;
pub mod metrics;
pub mod signals;
