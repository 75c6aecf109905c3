//! The body of an answer, which the API server may have compressed.

use std::time::Duration;

use kube::client::Body;

use super::api_error::ApiError;
use super::body::next_chunk;
use super::gunzip::Gunzip;

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    body: Body,
    gunzip: Option<Gunzip>,
}

impl AnswerBody {
    /// A body, which is compressed or not.
    pub(crate) fn new(body: Body, is_gzip: bool) -> Self {
        let gunzip = is_gzip.then(Gunzip::new);
        Self { body, gunzip }
    }

    /// Gives the next piece to `take`, decompressed, which may be several pieces or none. False at the end of
    /// the body. Fails as `take` does, where the body cannot be decompressed, and with `silence` as the reason
    /// when nothing arrives for `deadline`.
    pub(crate) async fn next(
        &mut self,
        deadline: Duration,
        silence: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), ApiError>,
    ) -> Result<bool, ApiError> {
        match next_chunk(&mut self.body, deadline, silence).await? {
            Some(chunk) => match &mut self.gunzip {
                Some(gunzip) => gunzip.push(&chunk, take),
                None => take(&chunk),
            }
            .map(|()| true),
            None => match self.gunzip.take() {
                Some(gunzip) => gunzip.finish(take),
                None => Ok(()),
            }
            .map(|()| false),
        }
    }
}
