//! Startups as traces, as an exporter sends them.

use std::sync::Arc;

use http::Uri;
use tokio::sync::mpsc;

use crate::config::ExporterConfig;
use crate::traces::{
    self, OtlpSettings, SettingsError, Spans, TraceExporter, TraceQueue, TraceStats,
};
use podinit_core::lifecycle::EndedStartup;

/// The collector at `endpoint`, or the one that the environment names.
pub fn settings(endpoint: Option<&Uri>) -> Result<Option<OtlpSettings>, SettingsError> {
    let variable = |name| std::env::var(name).ok();
    OtlpSettings::resolve(endpoint, variable)
}

/// What sends traces, before it is connected.
pub(crate) struct Traces {
    settings: OtlpSettings,
    startups: mpsc::Receiver<Arc<EndedStartup>>,
    spans: Spans,
    pub(crate) stats: Arc<TraceStats>,
}

impl Traces {
    /// Traces of a share of the startups to the collector of `config`, or the one that the environment names, if there
    /// is one; and the queue that feeds them. `label_keys` are the keys of the chosen pod labels.
    pub(crate) fn open(
        config: &ExporterConfig,
        label_keys: Vec<String>,
    ) -> Result<Option<(Self, TraceQueue)>, SettingsError> {
        let Some(settings) = settings(config.otlp_endpoint.as_ref())? else {
            return Ok(None);
        };
        let stats = Arc::new(TraceStats::default());
        let (queue, startups) = traces::channel(config.otlp_sample_ratio, Arc::clone(&stats));
        let traces = Self { settings, startups, spans: Spans::new(label_keys), stats };
        Ok(Some((traces, queue)))
    }

    /// The task that sends them.
    pub(crate) async fn exporter(self) -> anyhow::Result<TraceExporter> {
        let Self { settings, startups, spans, stats } = self;
        Ok(TraceExporter::new(&settings, startups, spans, stats).await?)
    }
}
