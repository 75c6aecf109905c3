//! The problems of a running exporter, found from its records when somebody asks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::{Problems, Seen, Wanted};
use crate::inspect::records::{Filter, Position, Query, RecordsClient, Sort, Unanswered};
use podinit_core::lifecycle::Record;
use podinit_core::problems::MOST_RECORDS;

/// Problems are found at most once in so long ([§13.8](crate::specification#s13-8)).
const AT_MOST_EVERY: Duration = Duration::from_secs(5);

/// So many records are asked for at a time.
const PAGE: usize = 500;

/// Finds problems by asking the owner of the records, which never makes that wait longer than a page takes.
pub struct Finder {
    records: RecordsClient,
    last: Mutex<Option<(Instant, Arc<Seen>)>>,
}

impl Finder {
    /// A finder over the records that `records` answers for.
    pub fn new(records: RecordsClient) -> Self {
        Self {
            records,
            last: Mutex::default(),
        }
    }

    /// The problems now, or those of a moment ago.
    ///
    /// # Errors
    /// When the records cannot be had now.
    pub async fn problems(&self) -> Result<Arc<Seen>, Unanswered> {
        self.seen(&Wanted::default()).await
    }

    /// The problems, and those pods that are wanted. All of them are what was found a moment ago.
    ///
    /// # Errors
    /// When the records cannot be had now.
    pub async fn seen(&self, wanted: &Wanted) -> Result<Arc<Seen>, Unanswered> {
        let mut last = self.last.lock().await;
        if let Some((found_at, seen)) = &*last
            && found_at.elapsed() < AT_MOST_EVERY
            && wanted.is_all()
        {
            return Ok(Arc::clone(seen));
        }
        let (in_flight, now) = self.records.in_flight(usize::MAX).await?;
        let mut newest = self.newest().await?;
        newest.reverse();
        let own = wanted.clone();
        let found = spawn_blocking(move || Problems::see(in_flight, &newest, now, &own));
        let found = found.await.map_err(|_| Unanswered::Unavailable)?;
        let found = Arc::new(found);
        if wanted.is_all() {
            *last = Some((Instant::now(), Arc::clone(&found)));
        }
        Ok(found)
    }

    /// The newest records, the newest first.
    async fn newest(&self) -> Result<Vec<Record>, Unanswered> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let query = Query::Ended {
                filter: Filter::default(),
                sort: Sort::Newest,
                after,
                limit: PAGE,
            };
            let answer = self.records.ask(query).await?;
            found.extend(answer.records);
            match answer.next {
                Some(Position::Ended(next)) if found.len() < MOST_RECORDS => after = Some(next),
                _ => return Ok(found),
            }
        }
    }
}
