//! Shutdown by signals.
//!
//! The first SIGTERM (Kubernetes) or SIGINT (Ctrl-C) cancels a token; everything then finishes in order
//! and the process ends with status 0. A second signal ends the process at once, with the status that a
//! shell reports for death by that signal: 128 + 15 = 143 or 128 + 2 = 130.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Listens for signals from now on. The first one cancels the token. Must be called within a tokio
/// runtime.
///
/// # Errors
/// If the system refuses to deliver the signals.
pub fn on_signal() -> io::Result<CancellationToken> {
    let mut signals = Signals {
        terminate: signal(SignalKind::terminate())?,
        interrupt: signal(SignalKind::interrupt())?,
    };
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        let first = signals.next().await;
        tracing::info!(
            signal = first.name,
            "shutting down; a second signal ends the process at once"
        );
        cancelled.cancel();
        let second = signals.next().await;
        tracing::warn!(signal = second.name, "ending at once");
        std::process::exit(128 + second.kind.as_raw_value());
    });
    Ok(token)
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

struct Received {
    name: &'static str,
    kind: SignalKind,
}

impl Signals {
    async fn next(&mut self) -> Received {
        tokio::select! {
            Some(()) = self.terminate.recv() => Received {
                name: "SIGTERM",
                kind: SignalKind::terminate(),
            },
            Some(()) = self.interrupt.recv() => Received {
                name: "SIGINT",
                kind: SignalKind::interrupt(),
            },
            // The runtime is shutting down, and this task with it.
            else => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use rustix::process::{Signal as Number, getpid, kill_process};

    #[tokio::test]
    async fn the_first_signal_cancels_the_token() {
        let token = on_signal().unwrap();
        assert!(!token.is_cancelled());
        kill_process(getpid(), Number::TERM).unwrap();
        token.cancelled().await;
    }
}
