//! Sends traces in batches, and tries again while the collector fails.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use opentelemetry::Key;
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{
    EnvResourceDetector, ResourceDetector, SdkProvidedResourceDetector, TelemetryResourceDetector,
};
use opentelemetry_sdk::trace::SpanExporter as _;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::answer::{CollectorAnswer, RequestFailure};
use super::http_client::CollectorClient;
use super::queue::MOST_QUEUED;
use super::settings::{OtlpSettings, SettingsError};
use super::spans::SpanBuilder;
use crate::trace_stats::{DropReason, ExportFailure, TraceStats};
use podinit_connect::connect_to_server;
use podinit_connect::options::{ConnectError, ServerOptions};
use podinit_core::lifecycle::EndedStartup;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::watch::backoff::Backoff;

/// How long the exporter may go on once the accounting has ended: with what may come before (see `Tasks`),
/// within the time that a pod has to end.
pub(super) const FLUSH_DEADLINE: Duration = Duration::from_secs(4);

/// How long the first startup of a batch waits for others.
const GATHER: Duration = Duration::from_millis(500);

/// So many startups are sent at once, a hundred kilobytes or some.
const MOST_OF_A_BATCH: usize = 128;

/// The waits between attempts while the collector fails.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Why there is no exporter.
#[derive(Debug, thiserror::Error)]
pub enum ExporterError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("traces cannot be sent: {0}")]
    Build(#[from] ExporterBuildError),
}

/// The task that sends traces.
pub struct TraceExporter {
    startups: mpsc::Receiver<Arc<EndedStartup>>,
    spans: SpanBuilder,
    exporter: SpanExporter,
    client: CollectorClient,
    stats: Arc<TraceStats>,
    backoff: Backoff,
    /// The collector, as log lines name it
    server: String,
    is_failing: bool,
}

impl TraceExporter {
    /// An exporter of what `startups` brings. Sends nothing yet.
    ///
    /// # Errors
    /// When no client can be made, as when the certificates cannot be read.
    pub(crate) async fn new(
        settings: &OtlpSettings,
        startups: mpsc::Receiver<Arc<EndedStartup>>,
        spans: SpanBuilder,
        stats: Arc<TraceStats>,
    ) -> Result<Self, ExporterError> {
        let collector = connect(settings).await?;
        tracing::info!(collector = collector.server, "sending startups as traces");
        let collector = (collector.client, collector.server);
        Self::with_client(collector, settings, startups, spans, stats)
    }

    /// The same, with a client of the collector and the name of it.
    fn with_client(
        (client, server): (Client, String),
        settings: &OtlpSettings,
        startups: mpsc::Receiver<Arc<EndedStartup>>,
        spans: SpanBuilder,
        stats: Arc<TraceStats>,
    ) -> Result<Self, ExporterError> {
        let client = CollectorClient::new(client, settings.timeout);
        let mut exporter = exporter(&client, settings)?;
        exporter.set_resource(&resource());
        Ok(Self {
            startups,
            spans,
            exporter,
            client,
            stats,
            backoff: Backoff::new(SHORTEST_WAIT, LONGEST_WAIT, fastrand::Rng::new()),
            server,
            is_failing: false,
        })
    }

    /// Sends until the other end of the queue is gone and everything is sent, or until
    /// [`FLUSH_DEADLINE`] after `accounted`, when the accounting has ended.
    pub async fn run(mut self, accounted: CancellationToken) {
        let mut batch = Vec::new();
        let too_late = async {
            accounted.cancelled().await;
            sleep(FLUSH_DEADLINE).await;
        };
        tokio::select! {
            () = self.send_all(&mut batch, &accounted) => {}
            () = too_late => {
                let traces = batch.len() + self.startups.len();
                tracing::warn!(collector = self.server, traces, "podinit ended before it could send these traces");
            }
        }
    }

    async fn send_all(
        &mut self,
        batch: &mut Vec<Arc<EndedStartup>>,
        accounted: &CancellationToken,
    ) {
        while self.startups.recv_many(batch, MOST_OF_A_BATCH).await > 0 {
            if batch.len() < MOST_OF_A_BATCH {
                // More may come, unless the end has.
                let _ = timeout(GATHER, accounted.cancelled()).await;
                while batch.len() < MOST_OF_A_BATCH
                    && let Ok(startup) = self.startups.try_recv()
                {
                    batch.push(startup);
                }
            }
            self.stats.queued.set(self.startups.len() as u64);
            self.send(batch).await;
            batch.clear();
        }
    }

    /// Sends a batch, again and again as long as that can help.
    async fn send(&mut self, batch: &[Arc<EndedStartup>]) {
        let traces = batch.len() as u64;
        loop {
            let spans = batch.iter();
            let spans = spans.flat_map(|startup| self.spans.spans(&startup.record()));
            let exported = self.exporter.export(spans.collect()).await;
            match self.client.take_answer() {
                Some(CollectorAnswer::Taken { rejected_spans }) => {
                    self.stats.sent.add(traces);
                    self.stats.rejected_spans.add(rejected_spans);
                    return self.succeeded();
                }
                Some(CollectorAnswer::Failed(failure)) => {
                    self.failed(&failure);
                    if !failure.is_transient() {
                        return self.stats.dropped.with(DropReason::Rejected).add(traces);
                    }
                    let wait = self.backoff.after_failure();
                    sleep(wait.max(failure.retry_after.unwrap_or_default())).await;
                }
                // It was not even sent.
                None => {
                    tracing::warn!(collector = self.server, ?exported, "traces cannot be encoded");
                    return self.stats.dropped.with(DropReason::Rejected).add(traces);
                }
            }
        }
    }

    fn succeeded(&mut self) {
        self.backoff.reset();
        if std::mem::take(&mut self.is_failing) {
            let dropped = self.stats.dropped(DropReason::QueueFull);
            tracing::info!(collector = self.server, dropped, "podinit sends traces again");
        }
    }

    fn failed(&mut self, failure: &RequestFailure) {
        self.stats.failures.with(failure.reason).increment();
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(
                collector = self.server,
                why = failure.why,
                "podinit cannot send traces; {MOST_QUEUED} may wait, and it drops and counts further ones"
            );
        }
    }
}

/// What a collector makes of a request without traces.
///
/// # Errors
/// When no client can be made, as when the certificates cannot be read.
pub async fn probe(settings: &OtlpSettings) -> Result<CollectorAnswer, ExporterError> {
    let client = CollectorClient::new(connect(settings).await?.client, settings.timeout);
    let exported = exporter(&client, settings)?.export(Vec::new()).await;
    let not_sent = || RequestFailure {
        reason: ExportFailure::Unreachable,
        why: format!("{exported:?}"),
        retry_after: None,
    };
    let answer = client.take_answer();
    Ok(answer.unwrap_or_else(|| CollectorAnswer::Failed(not_sent())))
}

/// A client of the collector.
async fn connect(settings: &OtlpSettings) -> Result<ClusterClient, ConnectError> {
    let server = ServerOptions {
        url: settings.server(),
        withholds_secret: false,
        token_file: None,
        username: None,
        password_file: None,
        ca_file: settings.ca_file.clone(),
        cert_file: settings.cert_file.clone(),
        key_file: settings.key_file.clone(),
    };
    connect_to_server(&server, "the OTLP endpoint".to_owned()).await
}

/// The OTLP exporter, which encodes spans.
fn exporter(
    client: &CollectorClient,
    settings: &OtlpSettings,
) -> Result<SpanExporter, ExporterBuildError> {
    SpanExporter::builder()
        .with_http()
        .with_http_client(client.clone())
        .with_endpoint(settings.url.to_string())
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(settings.timeout)
        // This task tries again itself: it has to know what the collector said.
        .with_retry_policy(RetryPolicy::disabled())
        .build()
}

/// Who sends: podinit, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` say otherwise.
fn resource() -> Resource {
    let detectors: [Box<dyn ResourceDetector>; 3] = [
        Box::new(EnvResourceDetector::new()),
        Box::new(TelemetryResourceDetector),
        Box::new(SdkProvidedResourceDetector),
    ];
    let own = [("service.version", env!("CARGO_PKG_VERSION"))];
    let own = own.map(|(key, value)| opentelemetry::KeyValue::new(key, value));
    let builder = || {
        let builder = Resource::builder_empty().with_attributes(own.clone());
        builder.with_detectors(&detectors)
    };
    let found = builder().build();
    let name = found.get(&Key::from_static_str("service.name"));
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    match is_named {
        true => found,
        false => builder().with_service_name("podinit").build(),
    }
}

#[cfg(test)]
#[path = "batches_tests.rs"]
mod tests;
