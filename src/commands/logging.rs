//! The log, on standard error for every command: standard output holds only results.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;

use tracing_subscriber::EnvFilter;

use crate::args::{LogArgs, LogFormat};

/// The Kubernetes client logs every failed request as an error. The watch counts them, and logs only
/// when it begins to fail and when it works again.
const QUIET: &str = "kube_client::client::builder=off";

/// Starts logging for the whole process. Call it once, before anything is logged. Lines that cannot be
/// written (a full disk, a closed pipe) are lost: logging never ends the process.
///
/// Colours are for terminals only, and not if `NO_COLOR` is set to a value that is not empty
/// (<https://no-color.org>).
///
/// # Errors
/// If logging was started before, or the filter is invalid.
pub fn start(args: &LogArgs) -> anyhow::Result<()> {
    let filter = EnvFilter::builder().parse(&args.log_level)?.add_directive(QUIET.parse()?);
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // Otherwise a line that cannot be written is reported with `eprintln!`, which panics.
        .log_internal_errors(false)
        .with_writer(io::stderr);
    match args.log_format {
        LogFormat::Text => builder
            .with_ansi(wants_colour(
                io::stderr().is_terminal(),
                std::env::var_os("NO_COLOR").as_deref(),
            ))
            .with_target(false)
            .try_init(),
        LogFormat::Json => builder
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .try_init(),
    }
    .map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Logs a panic in one line, with the backtrace if there is one (`RUST_BACKTRACE=1`). If logging is off
/// it is written all the same.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = message_of(panic);
    let place = panic.location().map(ToString::to_string);
    let place = place.unwrap_or_default();
    let backtrace = Backtrace::capture();
    if !tracing::enabled!(tracing::Level::ERROR) {
        let _ = writeln!(io::stderr(), "podinit: panic at {place}: {message}");
    } else if backtrace.status() == BacktraceStatus::Captured {
        tracing::error!(place, %backtrace, "panic: {message}");
    } else {
        tracing::error!(place, "panic: {message}");
    }
}

fn message_of<'a>(panic: &'a PanicHookInfo<'_>) -> &'a str {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&'static str>().copied();
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(owned).unwrap_or("of an unknown kind")
}

fn wants_colour(is_terminal: bool, no_color: Option<&std::ffi::OsStr>) -> bool {
    is_terminal && no_color.is_none_or(std::ffi::OsStr::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        assert!(wants_colour(true, None));
        assert!(wants_colour(true, Some(OsStr::new(""))));
        assert!(!wants_colour(true, Some(OsStr::new("1"))));
        assert!(!wants_colour(false, None));
    }
}
