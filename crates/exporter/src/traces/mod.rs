//! Startups as OpenTelemetry traces: which are sampled, what their spans are, and how they are sent.
//!
//! ```text
//! tracker ─ EndedStartup ─▶ TraceQueue ─ bounded queue ─▶ TraceExporter ─ spans ─▶ collector (OTLP/HTTP)
//! ```
//!
//! The owner of the tracker samples and never waits: what the queue has no room for is dropped and
//! counted. A task of its own makes the spans, sends them, and tries again while the collector fails.
//! [traces.md](https://docs.rs/podinit) in `docs/` says what a trace holds.

mod answer;
mod attributes;
mod batches;
#[cfg(test)]
pub(crate) mod fixtures;
mod http_client;
mod ids;
mod queue;
mod sampling;
mod settings;
mod spans;
mod stats;

pub use answer::{Answer, Failure};
pub use batches::{ExporterError, FLUSH_DEADLINE, TraceExporter, probe};
pub use ids::{SpanName, span_id, trace_id};
pub use queue::{MOST_QUEUED, TraceQueue, channel};
pub use sampling::SampleRatio;
pub use settings::{EXPECTED_ENDPOINT, OtlpSettings, SettingsError};
pub use spans::Spans;
pub use stats::{DropReason, ExportFailure, TraceStats};
