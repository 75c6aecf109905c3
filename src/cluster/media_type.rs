//! What an answer says that it is.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

use podinit_decode::Encoding;

/// The encoding that an answer states. What states none is JSON, or will be found to be none.
pub(crate) fn encoding_of(headers: &HeaderMap) -> Encoding {
    match media_type(headers) {
        Some("application/vnd.kubernetes.protobuf") => Encoding::Protobuf,
        _ => Encoding::Json,
    }
}

/// Whether an answer states that it is compressed with gzip.
pub(crate) fn is_gzip(headers: &HeaderMap) -> bool {
    let stated = headers.get(CONTENT_ENCODING);
    stated.is_some_and(|stated| stated.as_bytes().eq_ignore_ascii_case(b"gzip"))
}

/// The media type of an answer, without its parameters.
pub(super) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let stated = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let media_type = stated
        .split_once(';')
        .map_or(stated, |(media_type, _)| media_type);
    Some(media_type.trim())
}
