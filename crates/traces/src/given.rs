//! Traces as an exporter is given them.

use std::sync::Arc;

use futures::FutureExt;
use http::Uri;

use crate::batches::{ExporterError, TraceExporter};
use crate::ids::{SpanName, span_id, trace_id};
use crate::queue::{TraceQueue, channel};
use crate::sampling::SampleRatio;
use crate::settings::{OtlpSettings, SettingsError};
use crate::spans::SpanBuilder;
use podinit_core::lifecycle::{EndedStartup, Interval};
use podinit_core::pod::PodUid;
use podinit_expo::metrics::TraceStats;
use podinit_exporter::traces::{TraceExport, TraceSink};
use podinit_instruments::SpanRef;

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
) -> Result<Option<TraceExport>, ExporterError> {
    let Some(settings) = settings(endpoint)? else {
        return Ok(None);
    };
    let stats = Arc::new(TraceStats::default());
    let (queue, startups) = channel(ratio, Arc::clone(&stats));
    let spans = SpanBuilder::new(label_keys);
    let exporter = TraceExporter::new(&settings, startups, spans, Arc::clone(&stats)).await?;
    let sender = Box::new(|accounted| exporter.run(accounted).boxed());
    Ok(Some(TraceExport { stats, sink: Box::new(queue), sender }))
}

impl TraceSink for TraceQueue {
    fn offer(&self, startup: &Arc<EndedStartup>) -> bool {
        self.offer(startup)
    }

    fn span(&self, pod: PodUid, interval: Interval) -> SpanRef {
        SpanRef {
            trace_id: trace_id(pod).to_string(),
            span_id: span_id(pod, SpanName::from_interval(interval)).to_string(),
        }
    }
}
