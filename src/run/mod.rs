//! The composition root: the only place that knows all the parts, and puts them together as a
//! command asks for.

mod demo;
mod exporter;
mod ingest;
mod labels;
mod ledger;
mod looks;
mod progress;
mod recordings;
mod rules;
mod serve;
mod slos;

use std::future::Future;
use std::io::{self, Write};

use anyhow::Context;

use crate::args::Command;
use crate::logging;

/// Runs a command to its end.
///
/// # Errors
/// What keeps the command from doing its work: one line that says what, where and how to mend it.
pub fn run(command: Command) -> anyhow::Result<()> {
    logging::start(command.log())?;
    match command {
        Command::Serve(args) => block_on(serve::serve(args)),
        Command::Demo(args) => block_on(demo::demo(args)),
        Command::Replay(args) => recordings::replay(&args, &mut io::stdout().lock()),
        Command::Report(args) => recordings::report(&args, &mut io::stdout().lock()),
        Command::Rules(args) => rules::rules(&args, &mut io::stdout().lock()),
    }
}

fn block_on(command: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(command)
}

/// A reader that goes away early (`| head`) has had what it wanted.
fn print(text: &[u8], out: &mut impl Write) -> anyhow::Result<()> {
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
