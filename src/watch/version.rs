//! The resource version from which a watch resumes.

use crate::lifecycle::version::Version;

/// Where a list-watch stands in the history of its pods. Moves forward only; a new list starts a
/// new position, whatever its version, since the API server is right about its own state.
///
/// Resource versions of pods compare as decimal integers (KEP-5504). A text that is none is taken
/// as it comes: the API server that sent it knows its own order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    text: String,
    number: Option<u64>,
}

impl Position {
    /// The position after a completed list of this version.
    pub fn of_list(version: String) -> Self {
        let number = version.parse().ok();
        Self {
            text: version,
            number,
        }
    }

    /// The version, as it is sent to the API server.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The version as an integer, if it is one.
    pub const fn number(&self) -> Option<u64> {
        self.number
    }

    /// Where it stands.
    pub fn version(&self) -> Version {
        Version::from_text(&self.text)
    }

    /// Where it will stand after an object of the version `number`.
    pub fn after(&self, number: Option<u64>) -> Version {
        match number {
            Some(number) if self.is_news(number) => Version::Number(number),
            _ => self.version(),
        }
    }

    /// The largest number is what an absurd version saturates to. It is never moved to, since
    /// nothing could ever follow it.
    fn is_news(&self, number: u64) -> bool {
        number != u64::MAX && self.number.is_none_or(|known| known < number)
    }

    /// Whether it lies before `other`, as far as can be told.
    pub fn is_behind(&self, other: &Self) -> bool {
        self.number
            .zip(other.number)
            .is_some_and(|(ours, theirs)| ours < theirs)
    }

    /// Moves on to the version of a bookmark. True if that is news.
    pub fn advance(&mut self, version: &str) -> bool {
        match version.parse() {
            Ok(number) => self.advance_to(number),
            Err(_) if version.is_empty() || version == self.text => false,
            Err(_) => {
                *self = Self::of_list(version.to_owned());
                true
            }
        }
    }

    /// Moves on to the version of an object. True if that is news.
    pub fn advance_to(&mut self, number: u64) -> bool {
        if !self.is_news(number) {
            return false;
        }
        self.number = Some(number);
        self.text = number.to_string();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_forward_only() {
        let mut position = Position::of_list("99".into());
        assert!(position.advance_to(100));
        assert!(!position.advance_to(100));
        assert!(!position.advance("98"));
        assert!(!position.advance(""));
        assert!(!position.advance_to(u64::MAX));
        assert_eq!(position.as_str(), "100");
        for (number, after) in [
            (None, 100),
            (Some(99), 100),
            (Some(u64::MAX), 100),
            (Some(101), 101),
        ] {
            assert_eq!(position.after(number), Version::Number(after));
        }
        assert!(position.advance("101"));
        assert_eq!(position.number(), Some(101));
    }

    #[test]
    fn opaque_versions_are_taken_as_they_come() {
        let mut position = Position::of_list("abc".into());
        assert!(!position.advance("abc"));
        assert!(position.advance("abd"));
        assert_eq!((position.as_str(), position.number()), ("abd", None));
    }
}
