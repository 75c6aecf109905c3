//! Compresses lists as an API server does: those of more than 128 KiB, for clients that take gzip.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

/// Shorter answers are not compressed.
const THRESHOLD: usize = 128 * 1024;

/// Whether a client takes gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| coding.trim() == "gzip")
}

/// The compressed body that `parts` make; `None` where it is too short for that.
pub(super) fn gzip(parts: &[Bytes]) -> io::Result<Option<Bytes>> {
    if parts.iter().map(Bytes::len).sum::<usize>() <= THRESHOLD {
        return Ok(None);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for part in parts {
        encoder.write_all(part)?;
    }
    Ok(Some(encoder.finish()?.into()))
}
