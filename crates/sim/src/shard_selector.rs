//! `shardSelector` (KEP-5866): which part of the objects a LIST or watch is about, by the hash of their
//! UIDs.

use std::ops::Range;

use serde_json::Value;

/// `shardRange(object.metadata.uid,'0x…','0x…')`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShardSelector {
    text: String,
    hashes: Range<u128>,
}

impl ShardSelector {
    /// Parses a selector; the error is the message of the API's answer.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("unable to parse shardSelector {text:?}");
        let arguments = text
            .strip_prefix("shardRange(object.metadata.uid,")
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(wrong)?;
        let (start, end) = arguments.split_once(',').ok_or_else(wrong)?;
        let hashes = bound(start).zip(bound(end)).ok_or_else(wrong)?;
        Ok(Self {
            text: text.to_owned(),
            hashes: hashes.0..hashes.1,
        })
    }

    /// As the answer repeats it.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the object with this JSON is selected. One without a UID is hashed as an empty text.
    pub(super) fn matches(&self, json: &[u8]) -> bool {
        let object: Value = serde_json::from_slice(json).unwrap_or_default();
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        (self.hashes).contains(&u128::from(fnv1a(uid.as_bytes())))
    }
}

/// A number as `'0x` and 16 lower-case hexadecimal digits, or 17 for the end of all.
fn bound(text: &str) -> Option<u128> {
    let digits = text.trim().strip_prefix("'0x")?.strip_suffix('\'')?;
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let formed = digits.bytes().all(lower) && matches!(digits.len(), 16 | 17);
    let number = u128::from_str_radix(digits, 16).ok()?;
    (formed && number <= 1 << 64).then_some(number)
}

/// FNV-1a, as the API server computes it: written here once more, so that the simulation does not agree
/// with the program by construction.
fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 14_695_981_039_346_656_037_u64;
    for byte in bytes {
        hash ^= u64::from(*byte);
        hash = hash.wrapping_mul(1_099_511_628_211);
    }
    hash
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_object_is_selected_by_the_hash_of_its_uid() {
        let matches = |range: &str, uid: &str| {
            let text = format!("shardRange(object.metadata.uid,{range})");
            let json = format!(r#"{{"spec":{{}},"metadata":{{"uid":"{uid}"}}}}"#);
            ShardSelector::parse(&text)
                .unwrap()
                .matches(json.as_bytes())
        };
        // The published hash of `foobar`.
        assert!(matches(
            "'0x85944171f73967e8','0x85944171f73967e9'",
            "foobar"
        ));
        assert!(!matches(
            "'0x85944171f73967e9','0x10000000000000000'",
            "foobar"
        ));
        assert!(!matches(
            "'0x0000000000000000','0x85944171f73967e8'",
            "foobar"
        ));
        assert!(matches("'0xcbf29ce484222325','0x10000000000000000'", ""));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "shardRange(object.metadata.name,'0x0000000000000000','0x8000000000000000')",
            "shardRange(object.metadata.uid,'0x0','0x8000000000000000')",
            "shardRange(object.metadata.uid,'0x0000000000000000','0x800000000000000A')",
            "shardRange(object.metadata.uid,'0x0000000000000000','0x10000000000000001')",
            "shardRange(object.metadata.uid,0x0000000000000000,0x8000000000000000)",
        ] {
            assert!(ShardSelector::parse(text).is_err(), "{text}");
        }
    }
}
