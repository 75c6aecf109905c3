//! `podinit wait`: waits until a workload is rolled out, and says why it is not.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::{print, style};
use super::source::{connect, probe_all};
use crate::args::{WaitArgs, WaitFormat};
use podinit_exporter::process::signals;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_text::document::DocumentFormat;
use podinit_text::strangers_text::shown;
use podinit_wait::{INTERRUPTED, WaitOptions, wait as wait_for};

/// Where there is no terminal, no two lines follow each other sooner.
const LINE_EVERY: Duration = Duration::from_secs(1);

/// Waits, and prints the answer at the end.
///
/// # Errors
/// If the cluster cannot be read, or there is no such object, or standard output cannot be written.
pub(super) async fn wait(args: WaitArgs) -> anyhow::Result<ExitCode> {
    let interrupted = signals::shutdown().context("cannot listen for signals")?;
    let waited = async {
        let (cluster, clock) = connect(&args.connection).await?;
        let namespace = args.namespace().unwrap_or(cluster.client.default_namespace()).to_owned();
        let scopes = [PodScope::Namespace(namespace.clone())];
        probe_all(&cluster, &scopes, &PodSelectors::default()).await?;
        let options = WaitOptions {
            namespace,
            targets: args.targets(),
            timeout: args.timeout,
            fail_after: args.fail_after(),
            until_created: args.until_created,
        };
        let mut progress = WaitProgress::new();
        let show = |lines: &[(String, String)]| progress.show(lines);
        let answer = wait_for(&cluster, clock, &options, &interrupted, show).await;
        progress.end();
        anyhow::Ok(answer?)
    };
    // Before there is anything to say, a signal ends it at once.
    tokio::pin!(waited);
    let answer = tokio::select! {
        biased;
        answer = &mut waited => answer?,
        () = async { interrupted.cancelled().await; tokio::time::sleep(LINE_EVERY).await } => {
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    let text = match args.output {
        WaitFormat::Text => answer.to_document(DocumentFormat::Text(style())),
        WaitFormat::Json => answer.to_json()?,
        WaitFormat::Markdown => answer.to_document(DocumentFormat::Markdown),
    };
    print(text.as_bytes(), &mut io::stdout().lock())?;
    Ok(ExitCode::from(answer.status))
}

/// What is said on standard error meanwhile.
enum WaitProgress {
    /// On a terminal: lines that change
    Bar(ProgressBar),
    /// A line for each change of a target
    Lines { keys: Vec<String>, last: Option<Instant> },
}

impl WaitProgress {
    fn new() -> Self {
        if !io::stderr().is_terminal() {
            return Self::Lines { keys: Vec::new(), last: None };
        }
        let bar = ProgressBar::no_length();
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        Self::Bar(match ProgressStyle::with_template("{spinner} {wide_msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    /// Shows a line for each target, each with what tells it from others.
    fn show(&mut self, lines: &[(String, String)]) {
        match self {
            Self::Bar(bar) => {
                let lines = lines.iter().map(|(line, _)| shown(line));
                let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
                bar.set_message(lines.join("  ·  "));
                bar.tick();
            }
            Self::Lines { last: Some(last), .. } if last.elapsed() < LINE_EVERY => {}
            Self::Lines { keys, last } => {
                keys.resize(lines.len(), String::new());
                for ((line, key), known) in lines.iter().zip(keys) {
                    if known != key && !line.is_empty() {
                        known.clone_from(key);
                        *last = Some(Instant::now());
                        // Who does not read it still gets the answer.
                        let _ = writeln!(io::stderr(), "{}", shown(line));
                    }
                }
            }
        }
    }

    fn end(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
