//! The encodings in which an API server sends objects.

/// An encoding of objects, lists and watch events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ObjectEncoding {
    /// `application/json`; the events of a watch are lines
    #[default]
    Json,
    /// `application/vnd.kubernetes.protobuf`; each event of a watch has its length before it
    Protobuf,
}

impl ObjectEncoding {
    /// Whether a watch event that could not be decoded, or of which only the beginning is known, may be
    /// a DELETED event: unless it begins with another type. API servers write the type first.
    pub fn may_be_deletion(self, event: &[u8]) -> bool {
        let name = match self {
            Self::Json => json_type(event),
            Self::Protobuf => super::protobuf::event_type(event),
        };
        name.is_none_or(|name| name == b"DELETED")
    }
}

/// The type with which the JSON of a watch event begins.
fn json_type(line: &[u8]) -> Option<&[u8]> {
    let name = [b"{".as_slice(), b"\"type\"", b":", b"\""]
        .into_iter()
        .try_fold(line, |rest, token| rest.trim_ascii_start().strip_prefix(token))?;
    let end = memchr::memchr(b'"', name)?;
    Some(&name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_is_known_by_its_beginning() {
        let may_be_deletion = |line: &str| ObjectEncoding::Json.may_be_deletion(line.as_bytes());
        assert!(may_be_deletion(r#"{"type":"DELETED","object":{"#));
        assert!(may_be_deletion(r#"{ "type": "DELETED", "object": nu"#));
        assert!(!may_be_deletion(r#"{"type":"MODIFIED","object":{"kind":"DELETED""#));
        assert!(!may_be_deletion(r#"{"type":"ADDED""#));
        let may_be_deletion = |frame: &[u8]| ObjectEncoding::Protobuf.may_be_deletion(frame);
        assert!(may_be_deletion(b"\x0a\x07DELETED\x12\x05"));
        assert!(!may_be_deletion(b"\x0a\x05ADDED\x12\x07DELETED"));
        assert!(!may_be_deletion(b"\x0a\x08MODIFIED"));
    }

    #[test]
    fn an_event_of_no_type_may_be_a_deletion() {
        for line in ["", "{", r#"{"type":"MOD"#, r#"{"object":{}}"#, "<html>"] {
            assert!(ObjectEncoding::Json.may_be_deletion(line.as_bytes()), "{line}");
        }
        for frame in [&b""[..], b"\x0a", b"\x0a\x05ADD", b"\x12\x02\x0a\x00", b"\x0a\xff"] {
            assert!(ObjectEncoding::Protobuf.may_be_deletion(frame), "{frame:?}");
        }
    }
}
