//! What an answer says that it is.

use http::header::{CONTENT_TYPE, HeaderMap};

use crate::decode::Encoding;

/// The encoding that an answer states. What states none is JSON, or will be found to be none.
pub(crate) fn encoding_of(headers: &HeaderMap) -> Encoding {
    match media_type(headers) {
        Some("application/vnd.kubernetes.protobuf") => Encoding::Protobuf,
        _ => Encoding::Json,
    }
}

/// The media type of an answer, without its parameters.
pub(super) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let stated = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let media_type = stated
        .split_once(';')
        .map_or(stated, |(media_type, _)| media_type);
    Some(media_type.trim())
}
