//! What the tests of several files need.

use std::time::Duration;

pub mod access;
pub mod checkpoint;
pub mod cluster;
pub mod demo;
pub mod descriptors;
pub mod doctor;
pub mod embedded;
pub mod files;
pub mod freshness;
pub mod hostile;
pub mod json_schema;
#[cfg(target_os = "linux")]
pub mod large_cluster;
#[cfg(target_os = "linux")]
pub mod memory;
pub mod output;
pub mod page;
pub mod parsed_exposition;
pub mod restart;
pub mod samples;
pub mod scene;
pub mod scrape;
pub mod server;
pub mod sim;
pub mod sinks;
pub mod slo;
pub mod story;
pub mod watch;

/// For a test that hangs: no machine is so slow that a test that passes meets it.
pub const PATIENCE: Duration = Duration::from_secs(600);
