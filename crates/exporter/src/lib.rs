//! The running exporter, which `serve` and `demo` share. Read [`start`] first: it says what is started, in which order.
//!
//! - [`start`], [`first_contact`]: from a bound address to watches that run.
//! - The accounting: one task owns the tracker; it takes deliveries, keeps the clock and counts.
//! - [`saving`]: what outlives the process, in the file of `podinit-checkpoint`.
//! - [`families()`]: the list of all metrics, with those of traces, which it is given.
//!
//! It knows all crates of the path of `serve`. It must not know flags, who may ask, where traces go, nor who looks at
//! it: that is given to it ([`ExporterOptions`](start::ExporterOptions), [`Exporter::guarded_by`](start::Exporter::guarded_by),
//! [`Exporter::showing`](start::Exporter::showing)).

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod accounting_clock;
pub mod accounting_thread;
pub(crate) mod api_server_wait;
#[cfg(test)]
mod clock_tests;
pub mod config;
mod evidence;
mod families;
pub mod first_contact;
mod ingest;
pub mod ingest_sink;
mod own_families;
pub mod own_thread;
pub mod process;
pub mod records;
pub mod reload;
pub mod saving;
pub(crate) mod scrapes;
mod serving;
pub mod slos;
pub mod start;
mod tasks;
pub mod traces;
mod views;

pub use families::families;
pub use own_families::{CheckpointGauges, ClockFamilies, ConfigGauges};
pub use views::{ExporterViews, WaitsFor};
