//! Which representation of an object or list a client takes.

use http::HeaderMap;
use http::header::ACCEPT;

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

/// One range of an `Accept` header.
struct Range<'a> {
    media: &'a str,
    parameters: Vec<&'a str>,
    quality: f32,
}

impl<'a> Range<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let (qualities, parameters) = parts.partition::<Vec<_>, _>(|one| one.starts_with("q="));
        let quality = qualities
            .first()
            .and_then(|quality| quality[2..].parse().ok());
        Self {
            media,
            parameters,
            quality: quality.unwrap_or(1.0),
        }
    }

    /// The representation that it asks for, if that is offered.
    fn representation(&self, protobuf: bool) -> Option<Representation> {
        let table = ["as=Table", "v=v1"];
        let is_plain = !self.parameters.iter().any(|one| one.starts_with("as="));
        match self.media {
            "application/vnd.kubernetes.protobuf" => {
                (protobuf && is_plain).then_some(Representation::Protobuf)
            }
            "application/json" | "application/*" | "*/*" | "" => {
                if table.iter().all(|wanted| self.parameters.contains(wanted)) {
                    Some(Representation::Table)
                } else {
                    is_plain.then_some(Representation::Json)
                }
            }
            _ => None,
        }
    }
}

impl Representation {
    /// The one of the highest quality that is offered, of several the first; `None` if none is. `protobuf`
    /// is offered or not.
    pub(super) fn accepted(headers: &HeaderMap, protobuf: bool) -> Option<Self> {
        let Some(accept) = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()) else {
            return Some(Self::Json);
        };
        let mut ranges: Vec<Range<'_>> = accept.split(',').map(Range::of).collect();
        // The sort is stable.
        ranges.sort_by(|one, other| other.quality.total_cmp(&one.quality));
        ranges
            .iter()
            .find_map(|range| range.representation(protobuf))
    }
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
        assert_eq!(
            Representation::accepted(&HeaderMap::new(), true),
            Some(Json)
        );
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let protobuf = "application/vnd.kubernetes.protobuf";
        for (accept, expected, without_protobuf) in [
            ("application/json", Some(Json), Some(Json)),
            ("*/*", Some(Json), Some(Json)),
            (protobuf, Some(Protobuf), None),
            (
                &format!("{protobuf}, application/json"),
                Some(Protobuf),
                Some(Json),
            ),
            (
                &format!("application/json,{protobuf}"),
                Some(Json),
                Some(Json),
            ),
            (
                &format!("application/json;q=0.9,{protobuf}"),
                Some(Protobuf),
                Some(Json),
            ),
            (
                &format!("{protobuf};q=0.5, application/json;q=0.8"),
                Some(Json),
                Some(Json),
            ),
            (
                &format!("{protobuf};stream=watch, application/json"),
                Some(Protobuf),
                Some(Json),
            ),
            (
                &format!("{protobuf};as=Table;v=v1;g=meta.k8s.io"),
                None,
                None,
            ),
            (table, Some(Table), Some(Table)),
            (
                &format!("{table},application/json"),
                Some(Table),
                Some(Table),
            ),
            (
                "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
                None,
                None,
            ),
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
