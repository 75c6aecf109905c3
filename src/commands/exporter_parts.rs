//! The parts that `serve` and `demo` give an exporter.

use std::sync::Arc;

use crate::args::{ExporterArgs, OtlpArgs};
use podinit_access::WebSettings;
use podinit_exporter::saving::{Checkpoint, Snapshots};
use podinit_exporter::start::Given;
use podinit_kube::cluster::clock::Clock;
use podinit_oncall::records::{self, RecordsClient};

/// What an exporter is given, and what makes use of that.
pub(super) struct ExporterParts {
    pub(super) given: Given,
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
    checkpoint: Option<(Checkpoint, Snapshots)>,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<ExporterParts> {
    let web = WebSettings::open(args.web_config.as_deref(), asks_tokens, &clock)?;
    let OtlpArgs { otlp_endpoint, otlp_sample_ratio } = &args.otlp;
    let label_keys = args.labels.config().decode_options().pod_labels;
    let traces =
        podinit_traces::open(otlp_endpoint.as_ref(), *otlp_sample_ratio, label_keys).await?;
    let (records, keeper) = records::keeper();
    let access = Some(web.stats());
    let given = Given { checkpoint, access, records: Some(keeper), traces };
    Ok(ExporterParts { given, web, records })
}
