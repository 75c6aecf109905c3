//! Every integration test, in one binary, so that the library is linked once and support is compiled once.
//!
//! ```text
//! cargo test --test suite                       # all
//! cargo test --test suite watch::               # the tests of one folder
//! ```

// Only the allocator that counts is unsafe.
#![deny(unsafe_code)]
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    // The tests of files that are run in both encodings
    clippy::duplicate_mod
)]

mod checkpoint;
mod command_line;
mod comparison;
mod explain;
mod kube_events;
mod max_pods;
mod memory;
mod metrics;
mod oncall;
mod oracle;
mod proof;
mod recordings;
mod report;
mod repository;
mod server;
mod sim_cluster;
mod sim_events;
mod sim_faults;
mod sim_gates;
mod sim_lives;
mod sim_protocol;
mod simulation;
mod soak;
mod support;
mod tools;
mod tracker;
mod watch;

/// Counts per thread what is allocated, for the tests that limit memory.
#[global_allocator]
static ALLOCATOR: memory::counting::Counting = memory::counting::Counting;
