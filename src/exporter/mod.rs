//! The running exporter, which `serve` and `demo` share: it takes deliveries, keeps the clock, saves its
//! state, follows its files and answers scrapes.

pub mod accounting_clock;
pub(crate) mod accounting_thread;
pub(crate) mod api_server_wait;
#[cfg(test)]
mod clock_tests;
pub mod config;
mod families;
pub(crate) mod first_contact;
pub mod freshness;
mod ingest;
mod ingest_sink;
mod own_families;
pub(crate) mod own_thread;
pub mod records;
mod reload;
pub(crate) mod saving;
pub(crate) mod scrapes;
mod serving;
pub(crate) mod slos;
pub(crate) mod span_export;
pub(crate) mod start;
mod tasks;
mod tls_reload;
mod views;

pub use families::families;
pub use own_families::{CheckpointGauges, CheckpointLoad, ClockFamilies, ConfigGauges};
pub use views::Views;
