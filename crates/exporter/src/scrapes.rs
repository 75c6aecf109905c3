//! The exposition as the server serves it: once it is durable.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::timeout;

use super::saving::CommitRequests;
use podinit_expo::metrics::Exposition;
use podinit_http::{ScrapeError, ScrapeTarget};
use podinit_instruments::ExpositionFormat;

/// How long a scrape waits for a state that may be restored at any moment. Scrapers usually give up
/// after ten seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Whether an earlier process's state is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RestoreState {
    /// It will be in a moment, if the API server answers
    Expected,
    /// The API server does not answer
    Delayed,
    /// It is, or there is none
    Restored,
}

pub(crate) struct ScrapeSource {
    exposition: Arc<Exposition>,
    /// Where there is a checkpoint
    commits: Option<Arc<CommitRequests>>,
    /// Until it is restored, nothing is shown of what a checkpoint may still replace
    state: watch::Sender<RestoreState>,
}

impl ScrapeSource {
    /// Where there is a checkpoint, it is to be restored before counters are shown.
    pub(crate) fn new(exposition: Arc<Exposition>, commits: Option<Arc<CommitRequests>>) -> Self {
        let state = match commits {
            Some(_) => RestoreState::Expected,
            None => RestoreState::Restored,
        };
        Self { exposition, commits, state: watch::Sender::new(state) }
    }

    /// Shows everything from now on: what there was to restore is restored.
    pub(crate) fn state_is_restored(&self) {
        self.state.send_replace(RestoreState::Restored);
    }

    /// Shows what there is to show without waiting for the state.
    pub(crate) fn state_is_delayed(&self) {
        self.state.send_if_modified(|state| {
            let was_expected = *state == RestoreState::Expected;
            if was_expected {
                *state = RestoreState::Delayed;
            }
            was_expected
        });
    }

    fn is_restored(&self) -> bool {
        *self.state.borrow() == RestoreState::Restored
    }
}

impl ScrapeTarget for ScrapeSource {
    fn encode(&self, format: ExpositionFormat) -> Result<Vec<u8>, ScrapeError> {
        let body = if self.is_restored() {
            self.exposition.encode(format)
        } else {
            self.exposition.encode_unsaved(format)
        };
        body.map_err(|error| ScrapeError(error.to_string()))
    }

    fn settled(&self) -> BoxFuture<'static, ()> {
        let mut state = self.state.subscribe();
        Box::pin(async move {
            let settled = state.wait_for(|state| *state != RestoreState::Expected);
            let _ = timeout(LONGEST_WAIT, settled).await;
        })
    }

    fn says_durable(&self) -> bool {
        (self.commits.as_ref()).is_none_or(|commits| commits.are_durable())
    }

    /// Waits for a commit, where there is a checkpoint (see the module `checkpoint`).
    fn made_durable(&self, said: bool) -> BoxFuture<'static, bool> {
        match &self.commits {
            Some(commits) if self.is_restored() => Box::pin(commits.commit(said)),
            _ => Box::pin(std::future::ready(true)),
        }
    }
}
