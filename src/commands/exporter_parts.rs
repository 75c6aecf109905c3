//! The parts that `serve` and `demo` give an exporter.

use std::sync::Arc;

use crate::args::{ExporterArgs, OtlpArgs};
use podinit_access::WebSettings;
use podinit_exporter::saving::{SnapshotService, StateCheckpoint};
use podinit_exporter::start::ExporterOptions;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_oncall::records::{self, RecordsClient};

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
    let (records, keeper) = records::keeper();
    let access = Some(web.stats());
    let given = ExporterOptions { checkpoint, access, records: Some(keeper), traces };
    Ok(ExporterParts { given, web, records })
}
