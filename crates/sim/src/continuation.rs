//! Continue tokens: opaque to clients, bound to the version of the list that they continue.

use super::object::ObjectKey;

/// Where a list continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Continuation {
    /// The version of the list; `None` continues at the newest one, inconsistently
    pub(super) version: Option<u64>,
    /// How many objects are left, where the part before has counted them
    pub(super) remaining: Option<usize>,
    /// The last key of the part before
    pub(super) after: ObjectKey,
}

impl Continuation {
    /// The token.
    pub(super) fn to_token(&self) -> String {
        let version = self.version.unwrap_or_default();
        let remaining = self
            .remaining
            .map_or(String::new(), |count| count.to_string());
        let ObjectKey { namespace, name } = &self.after;
        let text = format!("v1/{version}/{remaining}/{namespace}/{name}");
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads a token.
    pub(super) fn from_token(token: &str) -> Option<Self> {
        let bytes: Option<Vec<u8>> = (token.as_bytes().chunks(2))
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let text = String::from_utf8(bytes?).ok()?;
        let mut parts = text.splitn(5, '/');
        if parts.next() != Some("v1") {
            return None;
        }
        let version: u64 = parts.next()?.parse().ok()?;
        let remaining = parts.next()?.parse().ok();
        let after = ObjectKey::new(parts.next()?, parts.next()?);
        Some(Self {
            version: Some(version).filter(|version| *version > 0),
            remaining,
            after,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_trip_and_nonsense_is_refused() {
        for (version, remaining) in [(None, None), (Some(17), Some(3))] {
            let continuation = Continuation {
                version,
                remaining,
                after: ObjectKey::new("shop", "web-1"),
            };
            let token = continuation.to_token();
            assert_eq!(Continuation::from_token(&token), Some(continuation));
        }
        for nonsense in ["", "zz", "7631", "é"] {
            assert_eq!(Continuation::from_token(nonsense), None);
        }
    }
}
