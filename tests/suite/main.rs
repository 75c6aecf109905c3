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
mod memory;
mod metrics;
mod oncall;
mod oracle;
mod proof;
mod recordings;
mod report;
mod repository;
mod server;
mod simulation;
mod soak;
mod support;
mod tools;
mod watch;

/// Counts per thread what is allocated, for the tests that limit memory.
#[global_allocator]
static ALLOCATOR: memory::counting::Counting = memory::counting::Counting;
