//! The body of an answer, which the API server may have compressed.
//! A body is read piece by piece, with a deadline for each, also where the API server has compressed it.

use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::timeout;

use super::api_error::{ApiError, ApiErrorKind};

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    body: Body,
    gunzip: Option<GzipDecoder>,
}

impl AnswerBody {
    /// A body, which is compressed or not.
    pub(crate) fn new(body: Body, is_gzip: bool) -> Self {
        let gunzip = is_gzip.then(GzipDecoder::new);
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

/// The next piece of a body, or `None` at its end. Fails with `silence` as the reason when nothing
/// arrives for `deadline`.
pub(crate) async fn next_chunk(
    body: &mut Body,
    deadline: Duration,
    silence: &str,
) -> Result<Option<Bytes>, ApiError> {
    loop {
        let frame =
            timeout(deadline, body.frame()).await.map_err(|_| timed_out(silence, deadline))?;
        let Some(frame) = frame else { return Ok(None) };
        let frame = frame.map_err(|error| ApiError::from_client(&error))?;
        // A frame of trailers carries no data.
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// The error of something that did not happen in time.
pub fn timed_out(what: &str, deadline: Duration) -> ApiError {
    let detail = format!("{what} for {} s", deadline.as_secs_f64());
    ApiError::new(ApiErrorKind::Timeout, detail)
}

/// So many bytes are decompressed at once, which become at most a thousand times as many.
const PIECE: usize = 4096;

/// Decompresses gzip, of any number of members.
#[derive(Debug)]
pub(crate) struct GzipDecoder(MultiGzDecoder<Vec<u8>>);

impl GzipDecoder {
    pub(crate) fn new() -> Self {
        Self(MultiGzDecoder::new(Vec::new()))
    }

    /// Takes in what arrives next, and gives `take` all that can be read of it. Fails as `take` does, or
    /// where this is no gzip.
    pub(crate) fn push(
        &mut self,
        chunk: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        for piece in chunk.chunks(PIECE) {
            let written = self.0.write_all(piece).and_then(|()| self.0.flush());
            written.map_err(unreadable)?;
            self.read(&mut take)?;
        }
        Ok(())
    }

    /// Everything has arrived. Fails also where that is not so.
    pub(crate) fn finish(
        mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        self.0.try_finish().map_err(unreadable)?;
        self.read(&mut take)
    }

    fn read(
        &mut self,
        take: &mut impl FnMut(&[u8]) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let read = self.0.get_mut();
        if read.is_empty() {
            return Ok(());
        }
        let taken = take(read);
        read.clear();
        taken
    }
}

fn unreadable(error: io::Error) -> ApiError {
    ApiError::malformed(format!("the compressed answer cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::cluster::api_error::ApiErrorKind;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(body: &[u8], piece: usize) -> Result<Vec<u8>, ApiError> {
        let (mut gunzip, mut read) = (GzipDecoder::new(), Vec::new());
        for piece in body.chunks(piece) {
            gunzip.push(piece, |bytes| {
                read.extend_from_slice(bytes);
                Ok(())
            })?;
        }
        gunzip.finish(|bytes| {
            read.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(read)
    }

    #[test]
    fn all_members_are_read_however_they_arrive() {
        let text: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
        let (begin, end) = text.split_at(70_001);
        let body = [gzip(begin), gzip(b""), gzip(end)].concat();
        for piece in [1, 7, 4096, body.len()] {
            assert_eq!(read(&body, piece).unwrap(), text, "by {piece}");
        }
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_an_error() {
        let mut body = gzip(&[b'x'; 5000]);
        for length in 0..body.len() {
            let failure = read(&body[..length], 9).unwrap_err();
            assert_eq!(failure.kind, ApiErrorKind::Malformed, "{length}");
        }
        let checksum = body.len() - 6;
        body[checksum] ^= 1;
        read(&body, 9).unwrap_err();
        read(b"{\"kind\":\"PodList\"}", 9).unwrap_err();
    }

    #[test]
    fn what_a_flush_has_sent_is_read_at_once() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut gunzip = GzipDecoder::new();
        for event in ["one", "two"] {
            encoder.write_all(event.as_bytes()).unwrap();
            encoder.flush().unwrap();
            let sent = std::mem::take(encoder.get_mut());
            let mut read = Vec::new();
            gunzip
                .push(&sent, |bytes| {
                    read.extend_from_slice(bytes);
                    Ok(())
                })
                .unwrap();
            assert_eq!(read, event.as_bytes());
        }
    }

    #[test]
    fn little_is_held_of_what_expands_beyond_measure() {
        let bomb = gzip(&vec![0; 64 << 20]);
        let (mut gunzip, mut longest) = (GzipDecoder::new(), 0);
        gunzip
            .push(&bomb, |bytes| {
                longest = longest.max(bytes.len());
                Ok(())
            })
            .unwrap();
        assert!((1..=5 << 20).contains(&longest), "{longest}");
    }
}
