//! Whether a response is compressed (RFC 9110, section 12.5.3).

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

use super::quality_list::members;

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
            let named =
                |member: &&super::quality_list::Member| names.contains(&member.token.as_str());
            members.iter().find(named).map(|member| member.quality)
        };
        let gzip = quality(&["gzip", "x-gzip"])
            .or_else(|| quality(&["*"]))
            .unwrap_or(0);
        // If identity is not listed, it is only the last resort.
        let identity = quality(&["identity"]).unwrap_or(0);
        if gzip > 0 && gzip >= identity {
            Self::Gzip
        } else {
            Self::Identity
        }
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
mod tests {
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
        flate2::read::GzDecoder::new(coded.as_slice())
            .read_to_end(&mut decoded)
            .unwrap();
        assert_eq!(decoded, body);
    }
}
