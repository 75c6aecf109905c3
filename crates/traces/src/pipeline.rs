//! What somebody needs who has startups sent as traces.

use std::sync::Arc;

use http::Uri;

use crate::batches::{ExporterError, TraceExporter};
use crate::queue::{TraceQueue, channel};
use crate::sampling::SampleRatio;
use crate::settings::{OtlpSettings, SettingsError};
use crate::spans::SpanBuilder;
use crate::trace_stats::TraceStats;

/// The way of startups to a collector.
pub struct TracePipeline {
    /// What is counted of it
    pub stats: Arc<TraceStats>,
    /// Takes the startups
    pub queue: TraceQueue,
    /// Sends them
    pub exporter: TraceExporter,
}

/// The collector at `endpoint`, or the one that the environment names.
///
/// # Errors
/// One line for a setting that cannot be used.
pub fn settings(endpoint: Option<&Uri>) -> Result<Option<OtlpSettings>, SettingsError> {
    let variable = |name| std::env::var(name).ok();
    OtlpSettings::resolve(endpoint, variable)
}

/// Traces of a share of the startups to the collector at `endpoint`, or the one that the environment names, if there is
/// one. `label_keys` are the keys of the chosen pod labels. Sends nothing yet.
///
/// # Errors
/// One line for a setting or a file of certificates that cannot be used.
pub async fn open(
    endpoint: Option<&Uri>,
    ratio: SampleRatio,
    label_keys: Vec<String>,
) -> Result<Option<TracePipeline>, ExporterError> {
    let Some(settings) = settings(endpoint)? else {
        return Ok(None);
    };
    let stats = Arc::new(TraceStats::default());
    let (queue, startups) = channel(ratio, Arc::clone(&stats));
    let spans = SpanBuilder::new(label_keys);
    let exporter = TraceExporter::new(&settings, startups, spans, Arc::clone(&stats)).await?;
    Ok(Some(TracePipeline { stats, queue, exporter }))
}
