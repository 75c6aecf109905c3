//! The running exporter, which `serve` and `demo` share: it takes deliveries, keeps the clock, saves its
//! state, follows its files and answers scrapes.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod accounting_clock;
pub mod accounting_thread;
pub(crate) mod api_server_wait;
pub mod checkpoint;
#[cfg(test)]
mod clock_tests;
pub mod config;
mod families;
pub mod first_contact;
pub mod freshness;
mod ingest;
mod ingest_sink;
mod own_families;
pub mod own_thread;
pub mod process;
pub mod records;
mod reload;
pub mod saving;
pub(crate) mod scrapes;
mod serving;
pub mod slos;
pub mod span_export;
pub mod start;
mod tasks;
mod tls_reload;
pub mod traces;
mod views;

pub use families::families;
pub use own_families::{CheckpointGauges, CheckpointLoad, ClockFamilies, ConfigGauges};
pub use views::Views;
