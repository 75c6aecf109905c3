//! The headers with which scrapers negotiate the format.

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use podinit_http::ExpositionFormat;
use podinit_http::negotiation::{ContentCoding, negotiate};

/// Each line is one header.
pub fn run(bytes: &[u8]) {
    let headers = |name: &HeaderName| -> HeaderMap {
        let lines = bytes.split(|byte| *byte == b'\n');
        let values = lines.filter_map(|line| HeaderValue::from_bytes(line).ok());
        values.map(|value| (name.clone(), value)).collect()
    };
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();

    let accept = headers(&ACCEPT);
    let chosen = negotiate(&accept);
    assert_eq!(chosen, negotiate(&accept));
    let content_type = chosen.content_type();
    let content_type = content_type.to_str().unwrap();
    let (begin, asked) = match chosen.format {
        ExpositionFormat::Text => ("text/plain; version=0.0.4", ""),
        ExpositionFormat::OpenMetrics => {
            ("application/openmetrics-text; version=", "application/openmetrics-text")
        }
        ExpositionFormat::Protobuf => {
            ("application/vnd.google.protobuf; proto=", "application/vnd.google.protobuf")
        }
    };
    assert!(content_type.starts_with(begin), "{content_type}");
    assert!(text.contains(asked) || text.contains('*'), "{chosen:?}");
    assert!(!content_type.contains("escaping=") || text.contains("escaping"));
    // Asking for the content type of the answer gives the same format.
    let again = HeaderMap::from_iter([(ACCEPT, chosen.content_type())]);
    assert_eq!(negotiate(&again).content_type(), chosen.content_type());
    assert!(!headers(&ACCEPT).contains_key(CONTENT_TYPE));

    let coding = ContentCoding::negotiate(&headers(&ACCEPT_ENCODING));
    assert!(coding == ContentCoding::Identity || text.contains("gzip") || text.contains('*'));
}
