//! Which representation and encoding of an object or list a client takes.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING};

/// Shorter answers are not compressed.
const THRESHOLD: usize = 128 * 1024;

/// A representation that the API server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Representation {
    /// The objects as JSON
    Json,
    /// The objects as protobuf
    Protobuf,
    /// A table of them (`meta.k8s.io/v1`), as JSON
    Table,
}

/// The quality of one range of an `Accept` header, and the representation that it asks for, if that is
/// offered.
fn range(range: &str, protobuf: bool) -> (f32, Option<Representation>) {
    let mut parts = range.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let parameters: Vec<&str> = parts.collect();
    let quality = parameters.iter().find_map(|one| one.strip_prefix("q="));
    let quality = quality.and_then(|quality| quality.parse().ok());
    let is_table = ["as=Table", "v=v1"].iter().all(|wanted| parameters.contains(wanted));
    let is_plain = !parameters.iter().any(|one| one.starts_with("as="));
    let representation = match media {
        "application/vnd.kubernetes.protobuf" => {
            (protobuf && is_plain).then_some(Representation::Protobuf)
        }
        "application/json" | "application/*" | "*/*" | "" if is_table => {
            Some(Representation::Table)
        }
        "application/json" | "application/*" | "*/*" | "" => {
            is_plain.then_some(Representation::Json)
        }
        _ => None,
    };
    (quality.unwrap_or(1.0), representation)
}

impl Representation {
    /// The `Content-Type` of an answer, or of a watch.
    pub(super) const fn content_type(self, watch: bool) -> &'static str {
        match self {
            Self::Json | Self::Table => "application/json",
            Self::Protobuf if watch => "application/vnd.kubernetes.protobuf;stream=watch",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }

    /// The one of the highest quality that is offered, of several the first; `None` if none is. `protobuf`
    /// is offered or not.
    pub(super) fn accepted(headers: &HeaderMap, protobuf: bool) -> Option<Self> {
        let Some(accept) = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()) else {
            return Some(Self::Json);
        };
        let mut ranges: Vec<_> = accept.split(',').map(|text| range(text, protobuf)).collect();
        // The sort is stable.
        ranges.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        ranges.into_iter().find_map(|(_, representation)| representation)
    }
}

/// Whether a client takes gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    (values.filter_map(|value| value.to_str().ok()))
        .flat_map(|value| value.split(','))
        .any(|coding| coding.trim() == "gzip")
}

/// The compressed body that `parts` make, as an API server compresses it; `None` where it is too short for
/// that.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn accepted(accept: &str, protobuf: bool) -> Option<Representation> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        Representation::accepted(&headers, protobuf)
    }

    #[test]
    fn the_first_that_is_offered_is_chosen() {
        use Representation::{Json, Protobuf, Table};
        assert_eq!(Representation::accepted(&HeaderMap::new(), true), Some(Json));
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let protobuf = "application/vnd.kubernetes.protobuf";
        for (accept, expected, without_protobuf) in [
            ("application/json", Some(Json), Some(Json)),
            ("*/*", Some(Json), Some(Json)),
            (protobuf, Some(Protobuf), None),
            (&format!("{protobuf}, application/json"), Some(Protobuf), Some(Json)),
            (&format!("application/json,{protobuf}"), Some(Json), Some(Json)),
            (&format!("application/json;q=0.9,{protobuf}"), Some(Protobuf), Some(Json)),
            (&format!("{protobuf};q=0.5, application/json;q=0.8"), Some(Json), Some(Json)),
            (&format!("{protobuf};stream=watch, application/json"), Some(Protobuf), Some(Json)),
            (&format!("{protobuf};as=Table;v=v1;g=meta.k8s.io"), None, None),
            (table, Some(Table), Some(Table)),
            (&format!("{table},application/json"), Some(Table), Some(Table)),
            ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", None, None),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
                Some(Json),
                Some(Json),
            ),
        ] {
            assert_eq!(accepted(accept, true), expected, "{accept}");
            assert_eq!(accepted(accept, false), without_protobuf, "{accept}");
        }
    }
}
