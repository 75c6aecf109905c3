//! Startups as traces, as an exporter sends them.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::args::OtlpArgs;
use crate::traces::{
    self, OtlpSettings, SettingsError, Spans, TraceExporter, TraceQueue, TraceStats,
};
use podinit_core::lifecycle::EndedStartup;

/// The collector that the arguments or the environment name.
pub(crate) fn settings(args: &OtlpArgs) -> Result<Option<OtlpSettings>, SettingsError> {
    let variable = |name| std::env::var(name).ok();
    OtlpSettings::resolve(args.otlp_endpoint.as_ref(), variable)
}

/// What sends traces, before it is connected.
pub(crate) struct Traces {
    settings: OtlpSettings,
    startups: mpsc::Receiver<Arc<EndedStartup>>,
    spans: Spans,
    pub(crate) stats: Arc<TraceStats>,
}

impl Traces {
    /// Traces to the collector that the arguments or the environment name, if they name one, and the queue
    /// that feeds them. `label_keys` are the keys of the chosen pod labels.
    pub(crate) fn open(
        args: &OtlpArgs,
        label_keys: Vec<String>,
    ) -> anyhow::Result<Option<(Self, TraceQueue)>> {
        let Some(settings) = settings(args)? else {
            return Ok(None);
        };
        let stats = Arc::new(TraceStats::default());
        let (queue, startups) = traces::channel(args.otlp_sample_ratio, Arc::clone(&stats));
        let traces = Self { settings, startups, spans: Spans::new(label_keys), stats };
        Ok(Some((traces, queue)))
    }

    /// The task that sends them.
    pub(crate) async fn exporter(self) -> anyhow::Result<TraceExporter> {
        let Self { settings, startups, spans, stats } = self;
        Ok(TraceExporter::new(&settings, startups, spans, stats).await?)
    }
}
