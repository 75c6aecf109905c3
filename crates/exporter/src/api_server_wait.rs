//! Waits for the API server at the start of `serve`. At a cluster's cold boot, or while the pod's own
//! network is being set up, it does not answer, or answers with errors. A process that ends then is
//! started again later and later (CrashLoopBackOff), and is blind for minutes.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use podinit_kube::watch::backoff::Backoff;
use podinit_kube::watch::outage::WatchOutage;

/// The longest wait before the first retry.
const BACKOFF_BASE: Duration = Duration::from_millis(500);

/// The longest wait between two attempts. Shorter than that of a watch: nothing is known yet, and one
/// small request costs an API server little.
const BACKOFF_CAP: Duration = Duration::from_secs(10);

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) struct FailedAttempt {
    /// One line that says what to do
    pub(crate) error: anyhow::Error,
    /// A short name of the state that the API server is in
    pub(crate) state: &'static str,
    /// Whether another attempt can succeed
    pub(crate) is_transient: bool,
    /// How long the API server asks to be left alone
    pub(crate) retry_after: Option<Duration>,
}

/// What there is to say of a wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WaitNews {
    /// It begins, or goes on for another reason: the error of the last attempt
    Waits(String),
    /// It is over: the API server answers after so many seconds
    Answers(u64),
}

impl WaitNews {
    /// Writes it to the log.
    pub(crate) fn log(self) {
        match self {
            Self::Waits(error) => tracing::warn!("{error}; waiting for it"),
            Self::Answers(waited_seconds) => {
                tracing::info!(waited_seconds, "the API server answers")
            }
        }
    }
}

/// Makes attempts until one succeeds. Tells when it begins to wait, why it goes on to wait where that is another
/// reason, and when the wait is over.
///
/// # Errors
/// The last error, when waiting cannot help or `limit` has passed.
pub(crate) async fn until_it_answers<T, A: Future<Output = Result<T, FailedAttempt>>>(
    mut attempt: impl FnMut() -> A,
    limit: Option<Duration>,
    random: fastrand::Rng,
    mut tell: impl FnMut(WaitNews),
) -> anyhow::Result<T> {
    let began = Instant::now();
    let ends = limit.map(|limit| began + limit);
    let mut backoff = Backoff::new(BACKOFF_BASE, BACKOFF_CAP, random);
    let mut outage = None;
    loop {
        let failed = match attempt().await {
            Ok(answer) => {
                if outage.is_some() {
                    tell(WaitNews::Answers(began.elapsed().as_secs()));
                }
                return Ok(answer);
            }
            Err(failed) => failed,
        };
        let is_over = ends.is_some_and(|ends| Instant::now() >= ends);
        if !failed.is_transient || is_over {
            return Err(failed.error);
        }
        let error = format!("{:#}", failed.error);
        let outage = outage.get_or_insert_with(WatchOutage::default);
        if outage.is_news(failed.state, &error) {
            tell(WaitNews::Waits(error));
        }
        let wait = backoff.after_failure().max(failed.retry_after.unwrap_or_default());
        match ends {
            // One more attempt at the end: it may have come up meanwhile.
            Some(ends) => drop(timeout_at(ends, sleep(wait)).await),
            None => sleep(wait).await,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_reason_and_each_that_lasts_are_told_once() {
        let mut told = Vec::new();
        let began = Instant::now();
        let attempt = || async {
            let (state, detail) = match began.elapsed().as_secs() {
                0 => ("unreachable", "unexpected EOF"),
                1..100 => ("unreachable", "invalid peer certificate"),
                100..200 => ("busy", "starting"),
                _ => return Ok(()),
            };
            Err(FailedAttempt {
                error: anyhow::anyhow!("it is {state}: {detail}"),
                state,
                is_transient: true,
                retry_after: None,
            })
        };
        let random = fastrand::Rng::with_seed(7);
        until_it_answers(attempt, None, random, |news| told.push(news)).await.unwrap();
        let waited = began.elapsed();
        assert!(waited <= Duration::from_secs(200) + BACKOFF_CAP);
        let waits = [
            "unreachable: unexpected EOF",
            "unreachable: invalid peer certificate",
            "busy: starting",
        ];
        let mut expected: Vec<_> =
            waits.iter().map(|reason| WaitNews::Waits(format!("it is {reason}"))).collect();
        expected.push(WaitNews::Answers(waited.as_secs()));
        assert_eq!(told, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn an_api_server_that_asks_to_be_left_alone_is() {
        let began = Instant::now();
        let mut times = Vec::new();
        let attempt = || {
            times.push(began.elapsed());
            let is_third = times.len() == 3;
            async move {
                if is_third {
                    return Ok(());
                }
                Err(FailedAttempt {
                    error: anyhow::anyhow!("busy"),
                    state: "busy",
                    is_transient: true,
                    retry_after: Some(Duration::from_secs(30)),
                })
            }
        };
        let random = fastrand::Rng::with_seed(7);
        until_it_answers(attempt, None, random, drop).await.unwrap();
        assert_eq!(times, [0, 30, 60].map(Duration::from_secs));
    }
}
