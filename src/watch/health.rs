//! Says in the log when a list-watch starts to fail and when it works again, and nothing between:
//! an API server that is away for an hour is two lines, not thousands.

use tokio::time::Instant;

use super::stats::{RelistReason, WatchErrorReason};
use crate::cluster::api_error::ApiError;

/// The state of one list-watch as the log knows it.
#[derive(Debug, Default)]
pub(super) struct Health {
    trouble: Option<Trouble>,
    listed: bool,
    /// By reason, whether an oddity has been told of
    told: [bool; WatchErrorReason::ALL.len()],
}

#[derive(Debug)]
struct Trouble {
    since: Instant,
    failures: u64,
    reason: WatchErrorReason,
}

impl Health {
    /// A request or watch failed. Logged when it is the first since all was well, or when it is
    /// of another kind than the one before.
    pub(super) fn failed(&mut self, failure: &ApiError) {
        let reason = WatchErrorReason::from(failure.kind);
        let trouble = self.trouble.get_or_insert_with(|| Trouble {
            since: Instant::now(),
            failures: 0,
            reason,
        });
        let news = trouble.failures == 0 || trouble.reason != reason;
        trouble.failures += 1;
        trouble.reason = reason;
        let (detail, reason) = (&failure.detail, reason.as_str());
        if news {
            tracing::warn!(reason, detail, "the watch is failing; it will be retried");
        } else {
            tracing::debug!(reason, detail, "the watch is still failing");
        }
    }

    /// The watch works.
    pub(super) fn works(&mut self) {
        if let Some(trouble) = self.trouble.take() {
            let seconds = trouble.since.elapsed().as_secs_f64();
            let failures = trouble.failures;
            tracing::info!(failures, seconds, "the watch works again");
        }
    }

    /// A list has completed; that the watch works is not known yet.
    pub(super) fn listed(&mut self, pods: usize) {
        if std::mem::replace(&mut self.listed, true) {
            tracing::debug!(pods, "listed again");
        } else {
            tracing::info!(pods, "listed");
        }
    }

    /// A streamed list could not be had, so that pages are asked for. Logged as a warning when that
    /// is for good, which comes once.
    pub(super) fn unstreamed(&self, failure: &ApiError, for_good: bool) {
        let detail = &failure.detail;
        if for_good {
            tracing::warn!(
                detail,
                "the API server streams no lists; they are taken in pages"
            );
        } else {
            tracing::info!(detail, "the streamed list had no end; it is taken in pages");
        }
    }

    /// Events were lost, and the pods are about to be listed again. Debug only: the counter tells
    /// how often, and a failure behind it has been told of.
    pub(super) fn lost(&self, reason: RelistReason) {
        let reason = reason.as_str();
        tracing::debug!(reason, "events were lost; the pods are listed again");
    }

    /// Something that could not be used was passed over. Logged as a warning once per kind; the
    /// counter knows how often it happens.
    pub(super) fn odd(&mut self, reason: WatchErrorReason, detail: &str) {
        let known = std::mem::replace(&mut self.told[reason as usize], true);
        let reason = reason.as_str();
        if known {
            tracing::debug!(reason, detail, "passed over");
        } else {
            tracing::warn!(reason, detail, "passed over; further ones are only counted");
        }
    }

    /// Whether the list-watch is in trouble, and how many failures that has been so far.
    #[cfg(test)]
    fn failures(&self) -> Option<u64> {
        self.trouble.as_ref().map(|trouble| trouble.failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::api_error::ApiErrorKind;

    #[test]
    fn trouble_lasts_until_the_watch_works() {
        let mut health = Health::default();
        assert_eq!(health.failures(), None);
        health.failed(&ApiError::new(ApiErrorKind::Transport, "refused"));
        health.failed(&ApiError::new(ApiErrorKind::ServerError, "starting"));
        assert_eq!(health.failures(), Some(2));
        health.works();
        assert_eq!(health.failures(), None);
    }
}
