//! Which exposition format a scraper gets (RFC 9110, section 12.5.1).
//!
//! The media type with the greatest quality wins, and the first of equals. A wildcard stands for the
//! plainest format that it covers. If nothing fits, the answer is text 0.0.4, as in Prometheus client
//! libraries: a scraper with an unusual header is better served by a format that everything reads than
//! by status 406. And whether a response is compressed (RFC 9110, section 12.5.3).

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue};

use super::quality_list::{QualityMember, members};
use podinit_instruments::ExpositionFormat;

/// How names outside the legacy character set would be escaped. All names of podinit are within it,
/// so each scheme yields the same bytes; the response only states which scheme was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameEscaping {
    AllowUtf8,
    Underscores,
    Dots,
    Values,
}

impl NameEscaping {
    fn from_parameter(text: &str) -> Option<Self> {
        match text {
            "allow-utf-8" => Some(Self::AllowUtf8),
            "underscores" => Some(Self::Underscores),
            "dots" => Some(Self::Dots),
            "values" => Some(Self::Values),
            _ => None,
        }
    }
}

/// The versions of OpenMetrics text that scrapers request. podinit's text is valid in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenMetricsVersion {
    V0_0_1,
    V1_0_0,
}

/// The outcome of a negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NegotiatedFormat {
    /// The format to encode
    pub format: ExpositionFormat,
    version: OpenMetricsVersion,
    escaping: Option<NameEscaping>,
}

impl NegotiatedFormat {
    const FALLBACK: Self = Self::plain(ExpositionFormat::Text);

    const fn plain(format: ExpositionFormat) -> Self {
        Self { format, version: OpenMetricsVersion::V1_0_0, escaping: None }
    }

    /// The value of the header `Content-Type`. It names an escaping scheme only to scrapers that
    /// named one (Prometheus 3), since older ones compare the whole value.
    pub fn content_type(self) -> HeaderValue {
        /// The content type with and without each escaping scheme.
        macro_rules! escaped {
            ($base:literal, $escaping:expr) => {
                match $escaping {
                    None => $base,
                    Some(NameEscaping::AllowUtf8) => concat!($base, "; escaping=allow-utf-8"),
                    Some(NameEscaping::Underscores) => concat!($base, "; escaping=underscores"),
                    Some(NameEscaping::Dots) => concat!($base, "; escaping=dots"),
                    Some(NameEscaping::Values) => concat!($base, "; escaping=values"),
                }
            };
        }
        HeaderValue::from_static(match (self.format, self.version) {
            (ExpositionFormat::Protobuf, _) => escaped!(
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
                self.escaping
            ),
            (ExpositionFormat::OpenMetrics, OpenMetricsVersion::V1_0_0) => escaped!(
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                self.escaping
            ),
            (ExpositionFormat::OpenMetrics, OpenMetricsVersion::V0_0_1) => escaped!(
                "application/openmetrics-text; version=0.0.1; charset=utf-8",
                self.escaping
            ),
            (ExpositionFormat::Text, _) => {
                escaped!("text/plain; version=0.0.4; charset=utf-8", self.escaping)
            }
        })
    }
}

/// Chooses a format by the `Accept` headers. Every header leads to some format.
pub fn negotiate(headers: &HeaderMap) -> NegotiatedFormat {
    let mut wanted = members(headers, &ACCEPT);
    let refused: Vec<ExpositionFormat> = wanted
        .iter()
        .filter(|member| member.quality == 0)
        .filter_map(named)
        .map(|negotiated| negotiated.format)
        .collect();
    wanted.retain(|member| member.quality > 0);
    // A stable sort: the first of equals stays first.
    wanted.sort_by_key(|member| std::cmp::Reverse(member.quality));
    wanted
        .iter()
        .find_map(|member| named(member).or_else(|| covered(member, &refused)))
        .unwrap_or(NegotiatedFormat::FALLBACK)
}

/// The format that a media type names, if all of its parameters are known.
fn named(member: &QualityMember) -> Option<NegotiatedFormat> {
    let version = member.parameter("version");
    let (format, version) = match member.token.as_str() {
        "application/vnd.google.protobuf" => {
            let is_family = member.parameter("proto") == Some("io.prometheus.client.MetricFamily");
            let is_delimited = member.parameter("encoding") == Some("delimited");
            if !(is_family && is_delimited) {
                return None;
            }
            (ExpositionFormat::Protobuf, OpenMetricsVersion::V1_0_0)
        }
        "application/openmetrics-text" => match version {
            None | Some("1.0.0") => (ExpositionFormat::OpenMetrics, OpenMetricsVersion::V1_0_0),
            Some("0.0.1") => (ExpositionFormat::OpenMetrics, OpenMetricsVersion::V0_0_1),
            Some(_) => return None,
        },
        "text/plain" => match version {
            None | Some("0.0.4") => (ExpositionFormat::Text, OpenMetricsVersion::V1_0_0),
            Some(_) => return None,
        },
        _ => return None,
    };
    Some(NegotiatedFormat {
        format,
        version,
        escaping: member.parameter("escaping").and_then(NameEscaping::from_parameter),
    })
}

/// The plainest format that a wildcard covers and that no other member refuses by name.
fn covered(member: &QualityMember, refused: &[ExpositionFormat]) -> Option<NegotiatedFormat> {
    let candidates: &[ExpositionFormat] = match member.token.as_str() {
        "*/*" | "*" => {
            &[ExpositionFormat::Text, ExpositionFormat::OpenMetrics, ExpositionFormat::Protobuf]
        }
        "text/*" => &[ExpositionFormat::Text],
        "application/*" => &[ExpositionFormat::OpenMetrics, ExpositionFormat::Protobuf],
        _ => return None,
    };
    let format = candidates.iter().find(|format| !refused.contains(format))?;
    Some(NegotiatedFormat::plain(*format))
}

/// The content coding of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentCoding {
    /// As it is
    Identity,
    /// gzip
    Gzip,
}

impl ContentCoding {
    /// Every coding, in the order of their discriminants.
    pub const ALL: [Self; 2] = [Self::Identity, Self::Gzip];

    /// Chooses by the `Accept-Encoding` headers: gzip if its quality is not below that of identity. A
    /// client that refuses both gets plain bytes, as RFC 9110 allows.
    pub fn negotiate(headers: &HeaderMap) -> Self {
        let members = members(headers, &ACCEPT_ENCODING);
        let quality = |names: &[&str]| {
            let named = |member: &&super::quality_list::QualityMember| {
                names.contains(&member.token.as_str())
            };
            members.iter().find(named).map(|member| member.quality)
        };
        let gzip = quality(&["gzip", "x-gzip"]).or_else(|| quality(&["*"])).unwrap_or(0);
        // If identity is not listed, it is only the last resort.
        let identity = quality(&["identity"]).unwrap_or(0);
        if gzip > 0 && gzip >= identity { Self::Gzip } else { Self::Identity }
    }

    /// Encodes a body. gzip at level 1: expositions are so repetitive that higher levels gain little
    /// and cost several times the processor time of a scrape.
    ///
    /// # Errors
    /// None from a writer into memory; the signature is that of `std::io`.
    pub fn apply(self, body: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Self::Identity => Ok(body),
            Self::Gzip => {
                let sink = Vec::with_capacity(body.len() / 8);
                let mut encoder = GzEncoder::new(sink, Compression::new(1));
                encoder.write_all(&body)?;
                encoder.finish()
            }
        }
    }
}

#[cfg(test)]
#[path = "negotiation_tests.rs"]
mod tests;

#[cfg(test)]
mod compression_tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use http::HeaderValue;
    use std::io::Read;

    #[test]
    fn gzip_is_chosen_when_the_client_prefers_it() {
        use ContentCoding::{Gzip, Identity};
        for (accept, expected) in [
            ("gzip", Gzip),
            ("GZIP", Gzip),
            ("x-gzip", Gzip),
            ("deflate, gzip, br, zstd", Gzip),
            ("gzip;q=0.001", Gzip),
            ("gzip;q=0", Identity),
            ("gzip;q=oops", Identity),
            ("*", Gzip),
            ("*;q=0", Identity),
            ("gzip;q=0, *", Identity),
            ("gzip;q=0.5, identity", Identity),
            ("gzip;q=0.5, identity;q=0.5", Gzip),
            ("identity;q=0", Identity),
            ("identity;q=0, *;q=0.1", Gzip),
            ("identity", Identity),
            ("br", Identity),
            ("", Identity),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accept));
            assert_eq!(ContentCoding::negotiate(&headers), expected, "{accept}");
        }
        assert_eq!(ContentCoding::negotiate(&HeaderMap::new()), Identity);
    }

    #[test]
    fn gzip_decodes_to_the_original_body() {
        let body = b"podinit_synced 1\n".repeat(1000);
        let coded = ContentCoding::Gzip.apply(body.clone()).unwrap();
        assert!(coded.len() < body.len() / 10);
        let mut decoded = Vec::new();
        flate2::read::GzDecoder::new(coded.as_slice()).read_to_end(&mut decoded).unwrap();
        assert_eq!(decoded, body);
    }
}
