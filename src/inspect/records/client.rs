//! The readers' end of the queue.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::query::{Answer, Query};
use super::request::{Found, Request};
use podinit_core::lifecycle::EndedStartup;

/// Why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// As many queries wait as may
    #[error("too many queries at a time, try again")]
    Busy,
    /// The accounting has not begun, or has ended
    #[error("records are not available at the moment, try again")]
    Unavailable,
}

/// Asks the owner of the records.
#[derive(Clone, Debug)]
pub struct RecordsClient {
    pub(super) requests: mpsc::Sender<Request>,
}

impl RecordsClient {
    /// Asks, and makes the records of the answer.
    ///
    /// # Errors
    /// When there is no answer now.
    pub async fn ask(&self, query: Query) -> Result<Answer, Unanswered> {
        let (answer, answered) = oneshot::channel();
        let request = Request { query, answer };
        self.requests
            .try_send(request)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => Unanswered::Busy,
                mpsc::error::TrySendError::Closed(_) => Unanswered::Unavailable,
            })?;
        let found = answered.await.map_err(|_| Unanswered::Unavailable)?;
        Ok(match found {
            Found::Made(answer) => answer,
            Found::Kept {
                now,
                startups,
                next,
            } => Answer {
                now,
                records: startups
                    .iter()
                    .map(Arc::as_ref)
                    .map(EndedStartup::record)
                    .collect(),
                next,
            },
        })
    }
}
