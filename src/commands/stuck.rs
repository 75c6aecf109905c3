//! `podinit stuck`: the stuck pods of a recording, an exporter or a cluster, once or again and again.

use std::process::ExitCode;

use super::look::{Look, STALE, warn_of};
use super::one_shot_list::LookedAt;
use super::output::style;
use super::recorded_look;
use crate::args::{StuckArgs, StuckFormat};
use crate::inspect::api::client::ApiClient;
use crate::inspect::stuck::StuckPods;

/// The exit status if pods are stuck.
const STUCK: u8 = 3;

/// Prints the stuck pods, once or until a signal.
///
/// # Errors
/// If the pods cannot be found out, or standard output cannot be written.
pub(super) async fn stuck(args: StuckArgs) -> anyhow::Result<ExitCode> {
    let look = Look { again: args.look.watch, clears: args.output != StuckFormat::Json };
    let ask = async |source: &mut Source| source.ask(&args).await;
    let last = look.at(Source::open(&args), ask, |found| text(found, args.output));
    let last = last.await?;
    warn_of(last.fresh, last.freshness.as_ref());
    Ok(match (last.fresh, last.pods.is_empty()) {
        (false, _) => ExitCode::from(STALE),
        (true, false) => ExitCode::from(STUCK),
        (true, true) => ExitCode::SUCCESS,
    })
}

fn text(found: &StuckPods, format: StuckFormat) -> anyhow::Result<String> {
    let colour = style().colour;
    Ok(match format {
        StuckFormat::Table => found.to_table(false, colour),
        StuckFormat::Wide => found.to_table(true, colour),
        StuckFormat::Json => found.to_json()?,
    })
}

/// What knows which pods are stuck.
enum Source {
    Recording,
    Exporter(Box<ApiClient>),
    Cluster(Box<LookedAt>),
}

impl Source {
    async fn open(args: &StuckArgs) -> anyhow::Result<Self> {
        if !args.recorded.files.is_empty() {
            return Ok(Self::Recording);
        }
        match args.look.exporter() {
            Some(exporter) => Ok(Self::Exporter(Box::new(ApiClient::new(&exporter).await?))),
            None => Ok(Self::Cluster(Box::new(LookedAt::open(&args.look).await?))),
        }
    }

    async fn ask(&mut self, args: &StuckArgs) -> anyhow::Result<StuckPods> {
        let limit = args.limit.get();
        Ok(match self {
            Self::Recording => {
                let (seen, clocks_ahead) = recorded_look::look(&args.recorded, &args.look)?;
                StuckPods {
                    clocks_ahead,
                    source: recorded_look::source(&args.recorded),
                    ..StuckPods::of_recording(&seen, limit)
                }
            }
            Self::Exporter(exporter) => {
                let namespaces = args.look.namespaces.chosen();
                StuckPods::of_exporter(exporter, &namespaces, limit).await?
            }
            Self::Cluster(cluster) => StuckPods::of_cluster(cluster.look().await?, limit),
        })
    }
}
