//! Logs when a list-watch starts to fail, what then lasts, and when it works again: an API server that is
//! unavailable for an hour is a few lines, not thousands.

use tokio::time::Instant;

use super::outage::WatchOutage;
use super::stats::{RelistReason, WatchErrorReason};
use crate::cluster::api_error::ApiError;

/// What the log already says about one list-watch.
#[derive(Debug, Default)]
pub(super) struct WatchLog {
    streak: Option<FailureStreak>,
    listed: bool,
    /// It lost sync to a silence, which has been logged
    silent: bool,
    /// By reason, whether something skipped has been logged as a warning
    warned: [bool; WatchErrorReason::ALL.len()],
}

#[derive(Debug)]
struct FailureStreak {
    since: Instant,
    failures: u64,
    outage: WatchOutage,
}

impl WatchLog {
    /// A request or watch failed. Logged as a warning when it is the first failure since the watch
    /// worked, or one that lasts and was not named yet.
    pub(super) fn failed(&mut self, failure: &ApiError) {
        let reason = WatchErrorReason::from(failure.kind);
        let streak = self.streak.get_or_insert_with(|| FailureStreak {
            since: Instant::now(),
            failures: 0,
            outage: WatchOutage::default(),
        });
        streak.failures += 1;
        let (detail, reason) = (&failure.detail, reason.as_str());
        let news = streak.outage.is_news(reason, detail);
        if news {
            tracing::warn!(reason, detail, "the watch fails; podinit tries again");
        } else {
            tracing::debug!(reason, detail, "the watch still fails");
        }
    }

    /// The watch works.
    pub(super) fn works(&mut self) {
        if let Some(streak) = self.streak.take() {
            let seconds = streak.since.elapsed().as_secs_f64();
            let failures = streak.failures;
            tracing::info!(failures, seconds, "the watch works again");
        }
    }

    /// The watch is no longer in sync, because it brings nothing.
    pub(super) fn silent(&mut self) {
        self.silent = true;
        tracing::warn!(
            "the watch is silent; podinit is out of sync until the watch shows the present"
        );
    }

    /// The watch is in sync again.
    pub(super) fn in_sync(&mut self) {
        if std::mem::take(&mut self.silent) {
            tracing::info!("the watch shows the present again; podinit is in sync");
        }
    }

    /// A list has completed. Whether the watch works is not known yet.
    pub(super) fn listed(&mut self, pods: usize) {
        self.in_sync();
        if std::mem::replace(&mut self.listed, true) {
            tracing::debug!(pods, "listed again");
        } else {
            tracing::info!(pods, "listed");
        }
    }

    /// A streamed list failed, so the list is requested in pages. Logged as a warning when all later
    /// lists are too, which happens once.
    pub(super) fn unstreamed(&self, failure: &ApiError, for_good: bool) {
        let detail = &failure.detail;
        if for_good {
            tracing::warn!(detail, "the API server does not stream lists; podinit asks for pages");
        } else {
            tracing::info!(detail, "the streamed list did not arrive; podinit asks for pages");
        }
    }

    /// A list in one answer failed, so the list is requested in pages. Logged as a warning when all later lists
    /// are too, which happens once.
    pub(super) fn in_pages(&self, failure: &ApiError, for_good: bool) {
        let detail = &failure.detail;
        if for_good {
            tracing::warn!(detail, "lists in one answer do not arrive; podinit asks for pages");
        } else {
            tracing::info!(detail, "the list did not arrive in one answer; podinit asks for pages");
        }
    }

    /// The pods are about to be listed again. Mostly only at level debug: the metric counts these, and the failure behind
    /// it has been logged. Of a restore nothing was.
    pub(super) fn lost(&self, reason: RelistReason) {
        if reason == RelistReason::Restored {
            tracing::warn!(
                "versions went back: the API server was restored from a backup, or its cache lags; podinit lists the pods again"
            );
            return;
        }
        let reason = reason.as_str();
        tracing::debug!(reason, "events were lost; the pods are listed again");
    }

    /// Something that could not be used was skipped. Logged as a warning once per reason; the metric
    /// counts all.
    pub(super) fn skipped(&mut self, reason: WatchErrorReason, detail: &str) {
        let known = std::mem::replace(&mut self.warned[reason as usize], true);
        let reason = reason.as_str();
        if known {
            tracing::debug!(reason, detail, "skipped");
        } else {
            tracing::warn!(
                reason,
                detail,
                "podinit skipped an object that it cannot use; it only counts further ones"
            );
        }
    }

    /// Whether the list-watch is failing, and how many failures that has been so far.
    #[cfg(test)]
    fn failures(&self) -> Option<u64> {
        self.streak.as_ref().map(|streak| streak.failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::api_error::ApiErrorKind;

    #[test]
    fn trouble_lasts_until_the_watch_works() {
        let mut log = WatchLog::default();
        assert_eq!(log.failures(), None);
        log.failed(&ApiError::new(ApiErrorKind::Transport, "refused"));
        log.failed(&ApiError::new(ApiErrorKind::ServerError, "starting"));
        assert_eq!(log.failures(), Some(2));
        log.works();
        assert_eq!(log.failures(), None);
    }
}
