//! Startups as OpenTelemetry traces: which are sampled, what their spans are, and how they are sent.
//!
//! ```text
//! exporter ─ EndedStartup ─▶ TraceQueue ─ bounded queue ─▶ TraceExporter ─ spans ─▶ collector (OTLP/HTTP)
//! ```
//!
//! The exporter samples and never waits: what the queue has no room for is dropped and counted. A task of its own makes
//! the spans, sends them, and tries again while the collector fails. `docs/traces.md` says what a trace holds.
//!
//! It knows core's records, how a client is made, and instruments, which count what it sends. It must not know flags
//! nor an exporter; the exporter does not know it.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

#[cfg(test)]
mod accounting_tests;
mod answer;
mod attributes;
mod batches;
#[cfg(test)]
mod fixtures;
mod http_client;
mod ids;
mod pipeline;
mod queue;
mod sampling;
mod settings;
mod spans;
mod trace_stats;

pub use answer::{CollectorAnswer, RequestFailure};
pub use batches::probe;
pub use ids::span_ref;
pub use pipeline::{TracePipeline, open, settings};
pub use queue::{MOST_QUEUED, TraceQueue, channel};
pub use sampling::SampleRatio;
pub use settings::{EXPECTED_ENDPOINT, OtlpSettings, SettingsError};
pub use trace_stats::{DropReason, ExportFailure, TraceStats};
