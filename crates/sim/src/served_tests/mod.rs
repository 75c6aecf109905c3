//! What the simulated API server serves, read by a plain client.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod client;
mod cluster;
mod deployments;
mod events;
mod faults;
mod gates;
mod lives;
mod protocol;
mod related;
mod releases;
mod story;

/// For a test that hangs: no machine is so slow that a test that passes meets it.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(600);
