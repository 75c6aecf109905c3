//! The readers' end of the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::filter::RecordFilter;
use super::query::{QueryAnswer, QueryPosition, QueryRequest, RecordQuery};
use podinit_core::lifecycle::Record;

/// Why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnansweredQuery {
    /// As many queries wait as may
    #[error("too many queries at a time, try again")]
    Busy,
    /// There was no answer in time
    #[error("podinit is busy, try again")]
    Slow,
    /// The accounting has not begun: podinit waits for the API server
    #[error("podinit knows no pod yet, try again")]
    NotBegun,
    /// The accounting has ended
    #[error("records are not available at the moment, try again")]
    Unavailable,
}

/// Asks the owner of the records.
#[derive(Clone, Debug)]
pub struct RecordsClient {
    pub(super) requests: mpsc::Sender<QueryRequest>,
    /// The queue of [`RecordsClient::apart()`]
    pub(super) apart: mpsc::Sender<QueryRequest>,
    /// How long a reader waits before it has to try again; `None` for as long as it takes
    pub(super) longest_wait: Option<Duration>,
    /// Whether the owner answers
    pub(super) begun: Arc<AtomicBool>,
}

/// How many pods in flight one query asks for, so that no answer delays the accounting for long.
const PAGE: usize = 500;

/// How long a reader waits before it has to try again: the owner may be accounting for a large list.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(2);

impl RecordsClient {
    /// A client for one who asks again and again: its queries stand behind none of the others, since half of the
    /// time is for them. It waits for an answer as long as that takes.
    pub fn apart(&self) -> Self {
        Self { requests: self.apart.clone(), longest_wait: None, ..self.clone() }
    }

    /// The first pods in flight, at least `most` if there are so many.
    ///
    /// # Errors
    /// When there is no answer now.
    pub async fn in_flight(&self, most: usize) -> Result<Vec<Record>, UnansweredQuery> {
        let (mut records, mut after) = (Vec::new(), None);
        loop {
            let query = RecordQuery::InFlight {
                filter: RecordFilter::default(),
                stuck: false,
                after,
                limit: PAGE,
            };
            let answer = self.ask(query).await?;
            records.extend(answer.records);
            match answer.next {
                Some(QueryPosition::InFlight(next)) if records.len() < most => after = Some(next),
                _ => return Ok(records),
            }
        }
    }

    /// Asks, and makes the records of the answer. Takes at most two seconds, unless it asks apart.
    ///
    /// # Errors
    /// When there is no answer now.
    pub async fn ask(&self, query: RecordQuery) -> Result<QueryAnswer, UnansweredQuery> {
        if !self.begun.load(Relaxed) {
            return Err(UnansweredQuery::NotBegun);
        }
        let (found, answered) = oneshot::channel();
        let request = QueryRequest { query, found };
        self.requests.try_send(request).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => UnansweredQuery::Busy,
            mpsc::error::TrySendError::Closed(_) => UnansweredQuery::Unavailable,
        })?;
        let answered = match self.longest_wait {
            Some(longest) => timeout(longest, answered).await.map_err(|_| UnansweredQuery::Slow)?,
            None => answered.await,
        };
        Ok(answered.map_err(|_| UnansweredQuery::Unavailable)?.into_answer())
    }
}
