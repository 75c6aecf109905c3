//! `podinit problems`: what is broken in a recording, a cluster or for an exporter.

use std::process::ExitCode;

use super::look::{Look, STALE, warn_of};
use super::one_shot_list::LookedAt;
use super::output::style;
use super::recorded_look;
use crate::args::{ProblemsArgs, ProblemsFormat};
use crate::inspect::api::client::ApiClient;
use crate::inspect::problems::Problems;

/// The exit status if there are problems.
const PROBLEMS: u8 = 3;

/// Prints the problems, once or until a signal.
///
/// # Errors
/// If they cannot be found out, or standard output cannot be written.
pub(super) async fn problems(args: ProblemsArgs) -> anyhow::Result<ExitCode> {
    let look = Look { again: args.look.watch, clears: args.output != ProblemsFormat::Json };
    let ask = async |source: &mut Source| source.ask(&args).await;
    let last = look.at(Source::open(&args), ask, |found| text(found, args.output));
    let last = last.await?;
    warn_of(last.fresh, last.freshness.as_ref());
    Ok(match (last.fresh, last.problems.is_empty()) {
        (false, _) => ExitCode::from(STALE),
        (true, false) => ExitCode::from(PROBLEMS),
        (true, true) => ExitCode::SUCCESS,
    })
}

fn text(found: &Problems, format: ProblemsFormat) -> anyhow::Result<String> {
    let colour = style().colour;
    Ok(match format {
        ProblemsFormat::Table => found.to_table(false, colour),
        ProblemsFormat::Wide => found.to_table(true, colour),
        ProblemsFormat::Json => found.to_json()?,
    })
}

/// What knows the pods.
enum Source {
    Recording,
    Exporter(Box<ApiClient>),
    Cluster(Box<LookedAt>),
}

impl Source {
    async fn open(args: &ProblemsArgs) -> anyhow::Result<Self> {
        if !args.recorded.files.is_empty() {
            return Ok(Self::Recording);
        }
        if let Some(exporter) = args.look.exporter() {
            return Ok(Self::Exporter(Box::new(ApiClient::new(&exporter).await?)));
        }
        Ok(Self::Cluster(Box::new(LookedAt::open(&args.look).await?)))
    }

    async fn ask(&mut self, args: &ProblemsArgs) -> anyhow::Result<Problems> {
        Ok(match self {
            Self::Recording => {
                let (seen, clocks_ahead) = recorded_look::look(&args.recorded, &args.look)?;
                Problems { clocks_ahead, ..seen.problems() }
            }
            Self::Exporter(exporter) => exporter.problems().await?,
            Self::Cluster(cluster) => cluster.look().await?.problems(),
        })
    }
}
