//! What each kind of scraper gets.

#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROTOBUF: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
/// As a scraper spells it.
const ASK_PROTOBUF: &str =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

fn content_type(accept: &str) -> String {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_bytes(accept.as_bytes()).unwrap());
    let value = negotiate(&headers).content_type();
    value.to_str().unwrap().to_owned()
}

#[test]
fn without_a_header_it_is_text() {
    let value = negotiate(&HeaderMap::new()).content_type();
    assert_eq!(value.to_str().unwrap(), TEXT);
}

#[test]
fn known_scrapers_get_what_they_prefer() {
    let prometheus_2 = "application/openmetrics-text;version=1.0.0;q=0.5,\
         application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    assert_eq!(content_type(prometheus_2), OPENMETRICS);

    let prometheus_3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
         application/openmetrics-text;version=0.0.1;q=0.5,\
         text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    let escaped = format!("{OPENMETRICS}; escaping=allow-utf-8");
    assert_eq!(content_type(prometheus_3), escaped);

    let native = format!("{ASK_PROTOBUF};q=0.6,{prometheus_2}");
    assert_eq!(content_type(&native), PROTOBUF);

    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    assert_eq!(content_type(browser), TEXT);
    assert_eq!(content_type("*/*"), TEXT);
}

#[test]
fn each_member_is_judged_by_type_version_and_quality() {
    let v0_0_1 = "application/openmetrics-text; version=0.0.1; charset=utf-8";
    let dots = format!("{PROTOBUF}; escaping=dots");
    let ask_dots = format!("{ASK_PROTOBUF};escaping=dots");
    let low_protobuf = format!("{ASK_PROTOBUF};q=0.3,text/plain;q=0.4");
    let refused_protobuf = format!("{ASK_PROTOBUF};q=0, */*;q=0.1");
    for (accept, expected) in [
        ("", TEXT),
        ("text/plain", TEXT),
        ("TEXT/Plain ; Version=0.0.4", TEXT),
        ("text/plain;version=1.0.0", TEXT),
        ("application/json", TEXT),
        ("application/openmetrics-text", OPENMETRICS),
        ("application/openmetrics-text;version=0.0.1", v0_0_1),
        ("application/openmetrics-text;version=2.0.0", TEXT),
        ("application/openmetrics-text; version=\"1.0.0\"", OPENMETRICS),
        ("application/openmetrics-text;escaping=nonsense", OPENMETRICS),
        (ASK_PROTOBUF, PROTOBUF),
        (&ask_dots, &dots),
        ("application/vnd.google.protobuf", TEXT),
        (
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
            TEXT,
        ),
        (&low_protobuf, TEXT),
        (&refused_protobuf, TEXT),
        ("text/plain, application/openmetrics-text", TEXT),
        ("application/openmetrics-text, text/plain", OPENMETRICS),
        ("text/plain;q=0.001, application/openmetrics-text;q=1.5", TEXT),
        ("application/*", OPENMETRICS),
        ("text/*, application/openmetrics-text;q=0.9", TEXT),
        ("text/plain;q=0, */*;q=0.1", OPENMETRICS),
        ("text/plain;q=0", TEXT),
        ("*/*;q=0", TEXT),
        ("\u{fffd}\u{1f980};;;=,,q=1;=\",", TEXT),
    ] {
        assert_eq!(content_type(accept), expected, "{accept}");
    }
}

proptest! {
    /// Any bytes that a header can have, and any mixture of meaningful parts.
    #[test]
    fn there_always_is_a_format(
        bytes in prop::collection::vec(prop_oneof![32u8..127, 128u8..=255, Just(b'\t')], 0..6000),
        pieces in prop::collection::vec(prop::sample::select(vec![
            "text/plain", "application/openmetrics-text", ASK_PROTOBUF, "*/*", "*", "/", ";", ",",
            "q=", "q=0", "0.5", "=", "\"", "\\", "version=", "1.0.0", "escaping=dots", " ",
        ]), 0..200),
    ) {
        for value in [bytes, pieces.concat().into_bytes()] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_bytes(&value).unwrap());
            prop_assert!(ExpositionFormat::ALL.contains(&negotiate(&headers).format));
        }
    }
}
