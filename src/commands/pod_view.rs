//! Commands that look at pods once, or again and again.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::output::print_to_reader;
use podinit_core::timestamp::Timestamp;
use podinit_exporter::process::signals;
use podinit_kube::cluster::api_server_clock::ApiServerClock;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_oncall::freshness::Freshness;
use podinit_text::human_time::{as_of, time_of_day};
use podinit_text::strangers_text::shown;

/// How long what is shown stands until it is looked at again.
const REFRESH: Duration = Duration::from_secs(5);

/// Moves to the first line of a terminal and clears it, what has scrolled away included.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

/// The exit status of an answer that is not empty, where an empty one is good.
const FOUND: u8 = 3;
/// The exit status if the source does not know the present.
const STALE: u8 = 4;

/// The exit status of what was shown, after the warnings about it: it is `fresh` or not, and `bad` things are in it or
/// not.
pub(super) fn status(fresh: bool, freshness: Option<&Freshness>, bad: bool) -> ExitCode {
    warn_of(fresh, freshness);
    match (fresh, bad) {
        (false, _) => ExitCode::from(STALE),
        (true, true) => ExitCode::from(FOUND),
        (true, false) => ExitCode::SUCCESS,
    }
}

/// Warns where what was shown cannot be trusted as it is, and of pods that an exporter does not see.
fn warn_of(fresh: bool, freshness: Option<&Freshness>) {
    let now = ApiServerClock::from_machine().now();
    let headline = freshness.and_then(|freshness| freshness.headline(now));
    match headline {
        Some(headline) => tracing::warn!("{}", shown(&headline)),
        None if !fresh => {
            tracing::warn!("the source does not know the present, so its answer may be old");
        }
        None => {}
    }
    if let Some(note) = freshness.and_then(Freshness::shard_note) {
        tracing::warn!("{}", shown(&note));
    }
}

/// How to look.
#[derive(Clone, Copy, Debug)]
pub(super) struct PodViewOptions {
    /// Again and again, until a signal
    pub again: bool,
    /// On a terminal, what is shown takes the place of what was
    pub clears: bool,
    /// At a recording
    pub of_recording: bool,
}

impl PodViewOptions {
    /// A table with a line that says of when it is, where one follows the other or it is of a recording.
    pub(super) fn dated(self, time: Option<Timestamp>, table: String) -> String {
        match time.filter(|_| self.clears) {
            Some(time) if self.of_recording => format!("{table}\n{}\n", as_of(time)),
            Some(time) if self.again => format!("As of {} UTC\n\n{table}", time_of_day(time)),
            _ => table,
        }
    }

    /// Asks a source and prints the `text` of what it says. When looking again, a failure after the first
    /// text is logged, and the next attempt made. Returns what was shown last.
    ///
    /// # Errors
    /// If nothing was found out before a signal, or standard output cannot be written.
    pub(super) async fn at<S, T>(
        self,
        open: impl Future<Output = anyhow::Result<S>>,
        mut ask: impl AsyncFnMut(&mut S) -> anyhow::Result<T>,
        text: impl Fn(&T) -> anyhow::Result<String>,
    ) -> anyhow::Result<T> {
        let shutdown = signals::shutdown().context("cannot listen for signals")?;
        let mut last = None;
        let shown = async {
            let mut source = open.await?;
            loop {
                match ask(&mut source).await {
                    Ok(found) => {
                        let is_read = self.show(&text(&found)?)?;
                        last = Some(found);
                        if !self.again || !is_read {
                            return Ok(());
                        }
                    }
                    Err(error) if last.is_some() => tracing::warn!("{error:#}"),
                    Err(error) => return Err(error),
                }
                tokio::time::sleep(REFRESH).await;
            }
        };
        shutdown.run_until_cancelled(shown).await.unwrap_or(Ok(()))?;
        last.context("interrupted before there was an answer")
    }

    /// Prints. Returns whether somebody still reads it.
    fn show(&self, text: &str) -> anyhow::Result<bool> {
        let clear = match self.again && self.clears && io::stdout().is_terminal() {
            true => CLEAR,
            false => "",
        };
        print_to_reader(format!("{clear}{text}").as_bytes(), &mut io::stdout().lock())
    }
}
