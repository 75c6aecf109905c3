//! Recordings of pods: reading them, and their way through the accounting.
//!
//! - [`reader`]: files of lists, watch streams and single objects, JSON or YAML.
//! - [`replay`]: a recording through the same tracker and recorder as in `serve`, with the recording's own clock.
//!   What shows one moment is read as one.
//! - [`probes`]: what startups tell of the probes of a workload, for reports and explanations.
//! - [`ExporterRecords`]: what running exporters have kept.
//!
//! It knows the path of `serve` up to the metrics. It must not know a running exporter, a server, or a report.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod kept_records;
pub mod probes;
pub mod reader;
pub mod replay;

pub use kept_records::ExporterRecords;

/// The heading of the pods whose status no longer states how they started.
pub const SET_ASIDE: &str = "Set aside, startup times lost";
