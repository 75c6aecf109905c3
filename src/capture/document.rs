//! What is read of an event of a watch, to go on after it.

use std::borrow::Cow;

use serde::Deserialize;

/// What is read of a line of a watch, to go on after it.
#[derive(Debug, Deserialize)]
pub(super) struct WatchLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    object: WatchedObject<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct WatchedObject<'a> {
    #[serde(borrow, default)]
    metadata: ObjectMetadata<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMetadata<'a> {
    #[serde(borrow)]
    resource_version: Option<Cow<'a, str>>,
}

impl<'a> WatchLine<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Whether an object was added or modified.
    pub(super) fn is_applied(&self) -> bool {
        matches!(&*self.kind, "ADDED" | "MODIFIED")
    }

    /// Whether an object was deleted.
    pub(super) fn is_deleted(&self) -> bool {
        self.kind == "DELETED"
    }

    /// Whether the watch ends with this event, and cannot be resumed.
    pub(super) fn is_error(&self) -> bool {
        self.kind == "ERROR"
    }

    /// Whether it says no more than how far the watch has come.
    pub(super) fn is_bookmark(&self) -> bool {
        self.kind == "BOOKMARK"
    }

    /// The version that the watch has reached with this event.
    pub(super) fn version(&self) -> Option<&str> {
        let version = self.object.metadata.resource_version.as_deref();
        version.filter(|version| !version.is_empty() && !self.is_error())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    #[test]
    fn an_error_has_no_version() {
        let error = br#"{"type":"ERROR","object":{"metadata":{"resourceVersion":"9"},"code":410}}"#;
        let error = WatchLine::parse(error).expect("a line");
        assert!(error.is_error() && error.version().is_none());
        let added = br#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"9"}}}"#;
        let added = WatchLine::parse(added).expect("a line");
        assert_eq!((added.is_applied(), added.version()), (true, Some("9")));
    }
}
