//! The problems of a running exporter, found from its records when somebody asks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::Problems;
use crate::inspect::records::{Answer, Filter, Position, Query, RecordsClient, Sort, Unanswered};
use crate::watch::stats::WatchStats;
use podinit_core::lifecycle::Record;
use podinit_core::problems::MOST_RECORDS;
use podinit_core::timestamp::Timestamp;

/// Problems are found at most once in so long ([§13.8](crate::specification#s13-8)).
const AT_MOST_EVERY: Duration = Duration::from_secs(5);

/// So many records are asked for at a time.
const PAGE: usize = 500;

/// Finds problems by asking the owner of the records, which never makes that wait longer than a page takes.
pub struct Finder {
    records: RecordsClient,
    stats: Arc<WatchStats>,
    last: Mutex<Option<(Instant, Arc<Problems>)>>,
}

impl Finder {
    /// A finder over the records that `records` answers for, of the watch that `stats` is of.
    pub fn new(records: RecordsClient, stats: Arc<WatchStats>) -> Self {
        Self {
            records,
            stats,
            last: Mutex::default(),
        }
    }

    /// The problems now, or those of a moment ago.
    ///
    /// # Errors
    /// When the records cannot be had now.
    pub async fn problems(&self) -> Result<Arc<Problems>, Unanswered> {
        let mut last = self.last.lock().await;
        if let Some((found_at, problems)) = &*last
            && found_at.elapsed() < AT_MOST_EVERY
        {
            return Ok(Arc::clone(problems));
        }
        let (in_flight, now) = self
            .all(
                |after| Query::InFlight {
                    filter: Filter::default(),
                    stuck: false,
                    after: after.and_then(|position| match position {
                        Position::InFlight(position) => Some(position),
                        Position::Ended(_) => None,
                    }),
                    limit: PAGE,
                },
                usize::MAX,
            )
            .await?;
        let (mut newest, _) = self
            .all(
                |after| Query::Ended {
                    filter: Filter::default(),
                    sort: Sort::Newest,
                    after: after.and_then(|position| match position {
                        Position::Ended(position) => Some(position),
                        Position::InFlight(_) => None,
                    }),
                    limit: PAGE,
                },
                MOST_RECORDS,
            )
            .await?;
        newest.reverse();
        let is_fresh = self.stats.synced();
        let found = spawn_blocking(move || Problems::find(in_flight, &newest, now));
        let mut found = found.await.map_err(|_| Unanswered::Unavailable)?;
        found.fresh &= is_fresh;
        let found = Arc::new(found);
        *last = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }

    /// The records of all pages, at most so many, and up to when everything was accounted for.
    async fn all(
        &self,
        page: impl Fn(Option<Position>) -> Query,
        most: usize,
    ) -> Result<(Vec<Record>, Option<Timestamp>), Unanswered> {
        let (mut found, mut now, mut after) = (Vec::new(), None, None);
        loop {
            let answer: Answer = self.records.ask(page(after)).await?;
            found.extend(answer.records);
            now = now.max(answer.now);
            after = answer.next;
            if after.is_none() || found.len() >= most {
                return Ok((found, now));
            }
        }
    }
}
