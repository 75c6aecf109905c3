//! Comma-separated header lists whose members have parameters and a quality (RFC 9110, section
//! 12.4.2), such as `Accept` and `Accept-Encoding`.
//!
//! The text comes from untrusted clients: only a bounded part is read, a malformed member is skipped,
//! and nothing in it can fail a request.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::HeaderName;

/// Further members of a list are not read. Prometheus sends five.
const MAX_MEMBERS: usize = 32;

/// Further bytes of a header are not read.
const MAX_BYTES: usize = 4096;

/// The greatest quality, 1.0 in thousandths.
pub(super) const FULL_QUALITY: u16 = 1000;

/// One member of a list: `token;name=value;q=0.5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QualityMember {
    /// The part before the first semicolon, in lower case
    pub(super) token: String,
    /// Parameters other than `q`: the names in lower case, the values unquoted
    pub(super) parameters: Vec<(String, String)>,
    /// Quality in thousandths, 0 to 1000; 0 means "not acceptable"
    pub(super) quality: u16,
}

impl QualityMember {
    /// The value of the first parameter with this name.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = split_outside_quotes(text, b';');
        let token = parts.next()?.trim().to_ascii_lowercase();
        if token.is_empty() {
            return None;
        }
        let mut member = Self { token, parameters: Vec::new(), quality: FULL_QUALITY };
        for part in parts {
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            let name = name.trim().to_ascii_lowercase();
            let value = unquote(value.trim());
            if name == "q" {
                member.quality = parse_quality(&value)?;
            } else {
                member.parameters.push((name, value.into_owned()));
            }
        }
        Some(member)
    }
}

/// The members of every header called `name`, in their order.
pub(super) fn members(headers: &HeaderMap, name: &HeaderName) -> Vec<QualityMember> {
    let mut budget = MAX_BYTES;
    let mut members = Vec::new();
    for value in headers.get_all(name) {
        let bytes = value.as_bytes();
        let read = &bytes[..bytes.len().min(budget)];
        budget -= read.len();
        let text = String::from_utf8_lossy(read);
        let room = MAX_MEMBERS - members.len();
        members
            .extend(split_outside_quotes(&text, b',').take(room).filter_map(QualityMember::parse));
    }
    members
}

/// The quality in thousandths. RFC 9110 allows three digits after the point; further ones are ignored.
/// `None` if it is malformed; its member is then skipped.
fn parse_quality(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    let thousandths = digits.fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    match whole {
        "0" => Some(thousandths),
        "1" => (thousandths == 0).then_some(FULL_QUALITY),
        _ => None,
    }
}

/// Splits at separators outside quoted strings.
fn split_outside_quotes(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        let mut quoted = false;
        let mut escaped = false;
        let end = current.bytes().position(|byte| {
            let here = byte == separator && !quoted;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ => {}
            }
            here
        });
        match end {
            // The separators are ASCII, so both cuts lie on character boundaries.
            Some(end) => {
                rest = Some(&current[end + 1..]);
                Some(&current[..end])
            }
            None => rest.take(),
        }
    })
}

fn unquote(value: &str) -> Cow<'_, str> {
    let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Cow::Borrowed(value);
    };
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use http::HeaderValue;
    use http::header::ACCEPT;

    fn parse(text: &str) -> Vec<QualityMember> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_bytes(text.as_bytes()).unwrap());
        members(&headers, &ACCEPT)
    }

    #[test]
    fn qualities_are_thousandths_and_malformed_ones_drop_their_member() {
        for (text, expected) in [
            ("1", Some(1000)),
            ("1.0", Some(1000)),
            ("1.000", Some(1000)),
            ("0", Some(0)),
            ("0.", Some(0)),
            ("0.5", Some(500)),
            ("0.0019", Some(1)),
            ("1.001", None),
            ("2", None),
            ("-0.5", None),
            ("", None),
            (".5", None),
            ("0.5e1", None),
            ("nan", None),
        ] {
            assert_eq!(parse_quality(text), expected, "{text}");
        }
    }

    #[test]
    fn separators_in_quotes_do_not_separate() {
        let members = parse(r#"a/b;x="1,2;\"3";q=0.5, c/d"#);
        assert_eq!(members.len(), 2);
        assert_eq!(members[0].parameter("x"), Some(r#"1,2;"3"#));
        assert_eq!(members[0].quality, 500);
        assert_eq!(members[1].token, "c/d");
    }

    #[test]
    fn members_of_several_headers_are_joined() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT, HeaderValue::from_static("a/b"));
        headers.append(ACCEPT, HeaderValue::from_static("C/D;V=X"));
        let members = members(&headers, &ACCEPT);
        assert_eq!(members[1].token, "c/d");
        assert_eq!(members[1].parameter("v"), Some("X"));
    }

    #[test]
    fn only_a_bounded_part_is_read() {
        assert_eq!(parse(&"a/b,".repeat(10_000)).len(), MAX_MEMBERS);
        assert_eq!(parse(&"a".repeat(100_000))[0].token.len(), MAX_BYTES);
    }
}
