//! Which representation of an object or list a client takes.

use http::HeaderMap;
use http::header::ACCEPT;

/// A representation that the API server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Representation {
    /// The objects
    Objects,
    /// A table of them (`meta.k8s.io/v1`)
    Table,
}

impl Representation {
    /// The first that the client takes; `None` if it takes no JSON.
    pub(super) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let Some(accept) = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()) else {
            return Some(Self::Objects);
        };
        accept.split(',').find_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            let parameters: Vec<&str> = parts.collect();
            let table = ["as=Table", "v=v1"];
            if !matches!(media, "application/json" | "application/*" | "*/*" | "") {
                None
            } else if table.iter().all(|wanted| parameters.contains(wanted)) {
                Some(Self::Table)
            } else {
                let is_plain = !parameters.iter().any(|one| one.starts_with("as="));
                is_plain.then_some(Self::Objects)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn accepted(accept: &str) -> Option<Representation> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        Representation::accepted(&headers)
    }

    #[test]
    fn the_first_that_is_offered_is_chosen() {
        use Representation::{Objects, Table};
        assert_eq!(Representation::accepted(&HeaderMap::new()), Some(Objects));
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        for (accept, expected) in [
            ("application/json", Some(Objects)),
            ("*/*", Some(Objects)),
            (
                "application/vnd.kubernetes.protobuf, application/json",
                Some(Objects),
            ),
            ("application/vnd.kubernetes.protobuf", None),
            (table, Some(Table)),
            (&format!("{table},application/json"), Some(Table)),
            ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", None),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
                Some(Objects),
            ),
        ] {
            assert_eq!(accepted(accept), expected, "{accept}");
        }
    }
}
