//! What signals do.
//!
//! The first SIGTERM (Kubernetes) or SIGINT (Ctrl-C) cancels a token; everything then finishes in order
//! and the process ends with status 0. A second signal ends the process at once, with the status that a
//! shell reports for death by that signal: 128 + 15 = 143 or 128 + 2 = 130.
//!
//! SIGHUP has two meanings. To a service it says that its files have changed. To a command in a terminal it
//! says that the terminal is gone, and is one more signal that ends it, unless it was ignored from the
//! start (`nohup`). Signals that nobody sends to podinit on purpose, and that would kill it, are ignored.

use std::fs;
use std::io::{self, IsTerminal};

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Signals that end a process that does not handle them. A file that grows beyond its limit (SIGXFSZ) is
/// an error of the write then, as on a full disk.
const IGNORED: [Number; 6] =
    [Number::USR1, Number::USR2, Number::ALARM, Number::VTALARM, Number::PROF, Number::XFSZ];

/// What SIGHUP does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HangupAction {
    Reloads,
    Ends,
    Ignored,
}

/// Listens for signals from now on. The token is cancelled by the first that is to end the process. Must
/// be called within a tokio runtime.
///
/// # Errors
/// If the system refuses to deliver the signals.
pub fn shutdown() -> io::Result<CancellationToken> {
    let hangup = match ignores_hangup() {
        true => HangupAction::Ignored,
        false => HangupAction::Ends,
    };
    listen(hangup).map(|(shutdown, _)| shutdown)
}

/// The same for a service, whose files are read again after SIGHUP. In a terminal SIGHUP ends it.
///
/// # Errors
/// Those of [`shutdown`].
pub fn of_service() -> io::Result<(CancellationToken, ReloadSignal)> {
    let hangup = match io::stdin().is_terminal() {
        true if ignores_hangup() => HangupAction::Ignored,
        true => HangupAction::Ends,
        false => HangupAction::Reloads,
    };
    listen(hangup)
}

/// Tells that files are to be read again. Clones are told of the same requests.
#[derive(Clone, Debug)]
pub struct ReloadSignal(watch::Receiver<()>);

impl ReloadSignal {
    /// Never tells that.
    pub fn never() -> Self {
        Self(watch::Sender::new(()).subscribe())
    }

    /// One that a test sends.
    #[cfg(test)]
    pub(crate) fn channel() -> (watch::Sender<()>, Self) {
        let (sender, receiver) = watch::channel(());
        (sender, Self(receiver))
    }

    /// Waits until the files are to be read again.
    pub async fn requested(&mut self) {
        if self.0.changed().await.is_err() {
            // There will be no request any more.
            std::future::pending().await
        }
    }
}

fn listen(hangup: HangupAction) -> io::Result<(CancellationToken, ReloadSignal)> {
    for ignored in IGNORED {
        // Its handler stays when this is dropped.
        drop(signal(SignalKind::from_raw(ignored.as_raw()))?);
    }
    let mut signals = ProcessSignals {
        terminate: signal(SignalKind::terminate())?,
        interrupt: signal(SignalKind::interrupt())?,
        hangup: match hangup {
            HangupAction::Reloads | HangupAction::Ends => Some(signal(SignalKind::hangup())?),
            HangupAction::Ignored => None,
        },
        reloads: hangup == HangupAction::Reloads,
        reload: watch::Sender::new(()),
    };
    let reload = ReloadSignal(signals.reload.subscribe());
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
    Ok((token, reload))
}

struct ProcessSignals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` where it is ignored
    hangup: Option<Signal>,
    reloads: bool,
    reload: watch::Sender<()>,
}

struct ReceivedSignals {
    name: &'static str,
    kind: SignalKind,
}

impl ProcessSignals {
    /// The next signal that ends the process.
    async fn next(&mut self) -> ReceivedSignals {
        loop {
            let hung_up = async {
                match &mut self.hangup {
                    Some(hangup) => hangup.recv().await,
                    None => None,
                }
            };
            let received = tokio::select! {
                Some(()) = self.terminate.recv() => ReceivedSignals {
                    name: "SIGTERM",
                    kind: SignalKind::terminate(),
                },
                Some(()) = self.interrupt.recv() => ReceivedSignals {
                    name: "SIGINT",
                    kind: SignalKind::interrupt(),
                },
                Some(()) = hung_up => ReceivedSignals {
                    name: "SIGHUP",
                    kind: SignalKind::hangup(),
                },
                // The runtime is shutting down, and this task with it.
                else => std::future::pending().await,
            };
            if received.kind != SignalKind::hangup() || !self.reloads {
                return received;
            }
            tracing::info!(signal = received.name, "reading the files again");
            self.reload.send_replace(());
        }
    }
}

/// Whether SIGHUP was ignored when the process started. Where that cannot be known, it was not.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (Number::HUP.as_raw() - 1)) != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use rustix::process::{getpid, kill_process};

    /// One test, since a signal reaches everything in the process that listens.
    #[tokio::test]
    async fn only_a_signal_to_end_cancels_the_token() {
        let (token, mut reload) = listen(HangupAction::Reloads).unwrap();
        for ignored in IGNORED {
            kill_process(getpid(), ignored).unwrap();
        }
        for _ in 0..2 {
            kill_process(getpid(), Number::HUP).unwrap();
            reload.requested().await;
        }
        assert!(!token.is_cancelled());
        kill_process(getpid(), Number::TERM).unwrap();
        token.cancelled().await;
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_sender_there_is_never_a_request() {
        let mut reload = ReloadSignal::never();
        let year = std::time::Duration::from_secs(31_536_000);
        let waited = tokio::time::timeout(year, reload.requested()).await;
        assert!(waited.is_err());
    }
}
