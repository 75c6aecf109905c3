//! The real pipeline (kube client, list-watch, tracker, recorder) in front of a simulated cluster
//! that a test steps, and what the metrics must say by the cluster's own books.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

pub mod claims;
pub mod expected;
pub mod facts;
pub mod pipeline;
pub mod world;
