//! The exposition as the server serves it: once it is durable.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::checkpoint::Commits;
use crate::instruments::Format;
use crate::metrics::Exposition;
use crate::server::{ExporterStatus, Scrape, ScrapeError};
use crate::watch::stats::WatchStats;

pub(super) struct Scrapes {
    pub(super) exposition: Arc<Exposition>,
    pub(super) stats: Arc<WatchStats>,
    /// Where there is a checkpoint
    pub(super) commits: Option<Arc<Commits>>,
}

impl Scrape for Scrapes {
    fn encode(&self, format: Format) -> Result<Vec<u8>, ScrapeError> {
        let body = self.exposition.encode(format);
        body.map_err(|error| ScrapeError(error.to_string()))
    }

    /// Waits for a commit, where there is a checkpoint (see the module `checkpoint`).
    fn made_durable(&self) -> BoxFuture<'static, ()> {
        match &self.commits {
            Some(commits) => Box::pin(commits.commit()),
            None => Box::pin(std::future::ready(())),
        }
    }

    fn status(&self) -> ExporterStatus {
        ExporterStatus {
            synced: Some(self.stats.synced()),
            pods_in_flight: Some(self.exposition.pods_in_flight()),
        }
    }
}
