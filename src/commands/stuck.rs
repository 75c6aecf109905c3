//! `podinit stuck`: the stuck pods of an exporter or a cluster, once or again and again.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use super::one_shot_list::open;
use super::output::{print_to_reader, style};
use crate::args::{StuckArgs, StuckFormat};
use crate::cluster::client;
use crate::exporter::slos::Slos;
use crate::inspect::stuck::{StuckInCluster, StuckOfExporter, StuckPods};
use crate::process::signals;
use crate::slo::SloFile;
use crate::watch::requests::Scope;

/// How long a table stands until the next one, with `--watch`.
const REFRESH: Duration = Duration::from_secs(5);

/// The exit status if pods are stuck.
const STUCK: u8 = 3;

/// Moves to the first line of a terminal and clears it, what has scrolled away included.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

/// Prints the stuck pods. With `--watch` until a signal: a failure after the first table is logged, and
/// the next attempt made.
///
/// # Errors
/// If the pods cannot be found out, or standard output cannot be written.
pub(super) async fn stuck(args: StuckArgs) -> anyhow::Result<ExitCode> {
    let shutdown = signals::shutdown().context("cannot listen for signals")?;
    let mut last = None;
    let shown = async {
        let source = Source::open(&args).await?;
        loop {
            match source.ask(args.limit.get()).await {
                Ok(found) => {
                    let is_read = show(&found, &args)?;
                    last = Some(found.pods.is_empty());
                    if !args.watch || !is_read {
                        return Ok(());
                    }
                }
                Err(error) if last.is_some() => tracing::warn!("{error:#}"),
                Err(error) => return Err(error),
            }
            tokio::time::sleep(REFRESH).await;
        }
    };
    run_until_signal(&shutdown, shown).await?;
    match last {
        Some(true) => Ok(ExitCode::SUCCESS),
        Some(false) => Ok(ExitCode::from(STUCK)),
        None => anyhow::bail!("interrupted before there was an answer"),
    }
}

async fn run_until_signal(
    shutdown: &CancellationToken,
    shown: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    shutdown.run_until_cancelled(shown).await.unwrap_or(Ok(()))
}

/// Prints a table. Returns whether somebody still reads them.
fn show(found: &StuckPods, args: &StuckArgs) -> anyhow::Result<bool> {
    let mut text = String::new();
    if args.watch && args.output != StuckFormat::Json && io::stdout().is_terminal() {
        text.push_str(CLEAR);
    }
    let colour = style().colour;
    text.push_str(&match args.output {
        StuckFormat::Table => found.to_table(false, colour),
        StuckFormat::Wide => found.to_table(true, colour),
        StuckFormat::Json => found.to_json()?,
    });
    print_to_reader(text.as_bytes(), &mut io::stdout().lock())
}

/// What knows which pods are stuck.
enum Source {
    Exporter(Box<StuckOfExporter>),
    Cluster(Box<StuckInCluster>),
}

impl Source {
    async fn open(args: &StuckArgs) -> anyhow::Result<Self> {
        match args.exporter() {
            Some(exporter) => Ok(Self::Exporter(Box::new(StuckOfExporter {
                exporter: client::connect_to_server(&exporter, "--url".to_owned()).await?,
                namespaces: args.namespaces(),
            }))),
            None => Ok(Self::Cluster(Box::new(open_cluster(args).await?))),
        }
    }

    async fn ask(&self, limit: usize) -> anyhow::Result<StuckPods> {
        Ok(match self {
            Self::Exporter(exporter) => exporter.ask(limit).await?,
            Self::Cluster(cluster) => cluster.list(limit).await?,
        })
    }
}

async fn open_cluster(args: &StuckArgs) -> anyhow::Result<StuckInCluster> {
    let slos = match &args.slo {
        Some(file) => Slos::from(&SloFile::read(file)?),
        None => Slos::from(&SloFile::built_in()),
    };
    let scopes = Scope::of_namespaces(&args.namespaces());
    let selectors = args.selectors.clone().selectors();
    let (cluster, clock) = open(&args.connection, &scopes, &selectors).await?;
    Ok(StuckInCluster {
        cluster,
        clock,
        scopes,
        selectors,
        stuck_after: slos.stuck_after,
    })
}
