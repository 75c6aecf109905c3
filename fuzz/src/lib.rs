//! The fuzz targets. Each `run` panics if one of its properties does not hold for the bytes;
//! `tests/suite/repository/fuzz_seeds.rs` runs the same functions on the seeds without a fuzzer.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub, missing_docs)]

pub mod accept_header;
pub mod checkpoint_content;
pub mod checkpoint_loader;
pub mod credential_sources;
pub mod kube_event;
pub mod pod_snapshot;
pub mod slo_file;
pub mod times;
pub mod watch_frame;
pub mod watch_line;
