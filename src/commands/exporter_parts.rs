//! The parts that `serve` and `demo` give an exporter.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::args::{ExporterArgs, OtlpArgs};
use podinit_access::WebSettings;
use podinit_access::kubernetes::KubernetesAccess;
use podinit_exporter::process::signals::ReloadSignal;
use podinit_exporter::reload::ReloadTask;
use podinit_exporter::saving::{SnapshotService, StateCheckpoint};
use podinit_exporter::start::{Exporter, ExporterOptions};
use podinit_exporter::traces::{TraceExport, TraceSink};
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_oncall::records::{self, RecordsClient};
use podinit_traces::{TracePipeline, span_ref};

/// How long the reload of the web configuration may be silent. It polls every few seconds, and waits
/// for nothing but the file system.
const WEB_CONFIG_DEADLINE: Duration = Duration::from_secs(60);

/// What an exporter is given, and what makes use of that.
pub(super) struct ExporterParts {
    pub(super) given: ExporterOptions,
    /// Who may ask
    pub(super) web: WebSettings,
    /// Asks for the records of startups
    pub(super) records: RecordsClient,
}

/// The parts of an exporter with these flags. `asks_tokens` says whether clients have to send bearer tokens.
///
/// # Errors
/// One line for a file or a setting that cannot be used.
pub(super) async fn exporter_parts(
    args: &ExporterArgs,
    asks_tokens: bool,
    checkpoint: Option<(StateCheckpoint, SnapshotService)>,
    clock: Arc<dyn DeliveryClock>,
) -> anyhow::Result<ExporterParts> {
    let web = WebSettings::open(args.web_config.as_deref(), asks_tokens, &clock)?;
    let OtlpArgs { otlp_endpoint, otlp_sample_ratio } = &args.otlp;
    let label_keys = args.labels.config().decode_options().pod_labels;
    let traces =
        podinit_traces::open(otlp_endpoint.as_ref(), *otlp_sample_ratio, label_keys).await?;
    let traces = traces.map(|TracePipeline { stats, queue, exporter }| TraceExport {
        stats: Box::new(stats),
        sink: TraceSink { offer: Box::new(move |startup| queue.offer(startup)), span: span_ref },
        sender: Box::new(|accounted| Box::pin(exporter.run(accounted))),
    });
    let (records, keeper) = records::keeper();
    let access = Some(web.stats());
    let given = ExporterOptions { checkpoint, access, records: Some(keeper), traces };
    Ok(ExporterParts { given, web, records })
}

/// Lets `exporter` answer only whom `web` lets, and whose bearer tokens `tokens` accepts, if they are asked for. While it
/// serves, it reads the file again at intervals, and when `reload` requests it.
///
/// # Errors
/// Where the system has no randomness for keys.
pub(super) fn guard(
    exporter: Exporter,
    web: WebSettings,
    tokens: Option<KubernetesAccess>,
    reload: ReloadSignal,
) -> anyhow::Result<Exporter> {
    let (gate, file) = web.gate(tokens)?;
    let exporter = exporter.guarded_by(gate);
    let Some((file, changes)) = file else {
        return Ok(exporter);
    };
    let views = exporter.views();
    let task = ReloadTask::new(file, changes, Arc::clone(&views.clock));
    let heartbeat = views.health.register_task("web-config", WEB_CONFIG_DEADLINE);
    let name = "the reload of the web configuration";
    let run = |shutdown| task.run(shutdown, heartbeat, reload);
    Ok(exporter.running(name, &Handle::current(), run))
}
