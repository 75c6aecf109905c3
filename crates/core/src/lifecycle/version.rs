//! The resourceVersion that a list-watch has reached.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A resourceVersion. Those of pods are decimal integers (KEP-5504); any other text is kept as the
/// API server wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// A decimal integer
    Number(u64),
    /// Anything else
    Opaque(Arc<str>),
}

impl Version {
    /// The version that `text` states. Written again, it is the same text.
    pub fn from_text(text: &str) -> Self {
        match text.parse() {
            Ok(number) if !text.starts_with(['0', '+']) => Self::Number(number),
            _ => Self::Opaque(text.into()),
        }
    }

    /// The decimal integer, if it is one.
    pub const fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Opaque(_) => None,
        }
    }
}

/// As it is sent to an API server.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Opaque(text) => f.write_str(text),
        }
    }
}

/// Saved as it is sent.
impl Serialize for Version {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self::from_text(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_written_as_it_was_read() {
        for text in ["17", "0", "007", "+7", "abc", "", "99999999999999999999"] {
            assert_eq!(Version::from_text(text).to_string(), text);
        }
        assert_eq!(Version::from_text("17"), Version::Number(17));
    }
}
