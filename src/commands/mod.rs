//! One file for each command. This room alone knows all others.

mod capture;
mod comparison;
mod demo;
mod doctor;
mod explain;
mod exporter_parts;
pub mod logging;
mod output;
mod pod_view;
mod problems;
mod progress;
mod reports;
mod rollouts;
mod serve;
mod shell_help;
mod source;
mod stuck;
mod wait;

use std::future::Future;
use std::io;
use std::io::Write;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use self::output::print;
use crate::args::{Command, RulesArgs, unknown_variables};
use podinit_rules::render;
use podinit_slo::SloFile;
use podinit_slo::file::EvidenceSources;

pub use shell_help::kubectl_completion;

/// The exit status of a usage error.
const USAGE: u8 = 2;

/// A usage error that only what the command has read shows.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// The exit status of a command that failed.
pub fn status_of(error: &anyhow::Error) -> ExitCode {
    match error.is::<UsageError>() {
        true => ExitCode::from(USAGE),
        false => ExitCode::FAILURE,
    }
}

/// Runs a command to its end, and returns the exit status of the process.
///
/// # Errors
/// Why the command failed: one line that says what, where and how to fix it.
pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    if let Some(log) = command.log() {
        logging::start(log)?;
        warn_of_unknown_variables();
    }
    match command {
        Command::Serve(args) => block_on(serve::serve(args)),
        Command::Demo(args) => block_on(demo::demo(args)),
        Command::Replay(args) => reports::replay(&args, &mut io::stdout().lock()),
        Command::Report(args) => match args.baseline() {
            Some(before) => {
                return comparison::compare(&args, before, &mut io::stdout().lock());
            }
            None => reports::report(&args, &mut io::stdout().lock()),
        },
        Command::Explain(args) => block_on(explain::explain(&args)),
        Command::Problems(args) => return block_on(problems::problems(args)),
        Command::Stuck(args) => return block_on(stuck::stuck(args)),
        Command::Rollouts(args) => return block_on(rollouts::rollouts(args)),
        Command::Wait(args) => return block_on(wait::wait(args)),
        Command::Rules(args) => rules(&args, &mut io::stdout().lock()),
        Command::Capture(args) => block_on(capture::capture(args)),
        Command::Completions(args) => shell_help::completions(&args, &mut io::stdout().lock()),
        Command::Man(args) => shell_help::man(&args),
        Command::Doctor(args) => return block_on(doctor::doctor(args)),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn warn_of_unknown_variables() {
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    for line in unknown_variables(&names.collect::<Vec<_>>()) {
        tracing::warn!("{line}");
    }
}

/// How long to wait for threads that still work when the command has ended. One that hangs must not
/// keep the process from ending.
const THREAD_GRACE: Duration = Duration::from_secs(1);

/// The maximum of threads that serve. More would only take memory, and a lot of it on a node with a hundred
/// cores.
const MAX_WORKERS: usize = 4;

/// The maximum of threads for blocking work: encoding, checking passwords, resolving names. Each
/// allocates from an arena of its own, which does not return its memory to the system.
const MAX_BLOCKING: usize = 8;

fn block_on<T>(command: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(MAX_WORKERS))
        .max_blocking_threads(MAX_BLOCKING)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ended = runtime.block_on(command);
    runtime.shutdown_timeout(THREAD_GRACE);
    ended
}

/// Prints the rules for an SLO file. After an error, nothing is printed.
fn rules(args: &RulesArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let text = match &args.slo {
        None => render(&SloFile::built_in(), &args.options())?,
        Some(path) => {
            let file = SloFile::read(path, EvidenceSources::ALL)?;
            render(&file, &args.options()).with_context(|| path.display().to_string())?
        }
    };
    print(text.as_bytes(), out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_thread_that_hangs_does_not_keep_the_process() {
        let (let_go, hang) = mpsc::channel::<()>();
        let ended: anyhow::Result<()> = block_on(async move {
            tokio::task::spawn_blocking(move || hang.recv());
            anyhow::bail!("a task has failed")
        });
        assert_eq!(ended.unwrap_err().to_string(), "a task has failed");
        drop(let_go);
    }
}
