//! The resource version at which a watch resumes.

use std::fmt::Write;

use podinit_core::lifecycle::Version;

/// How far a list-watch has come in the history of its pods. It only moves forward; a new list starts
/// a new one, whatever its version, since the API server is right about its own state.
///
/// Resource versions of pods compare as decimal integers (KEP-5504). Any other text is accepted as it
/// is, without comparing, where no number is known. Whether such a watch misses something cannot be told, so it is
/// given up soon ([§5.4](crate::specification#s5-4)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    text: String,
    number: Option<u64>,
}

impl ResumePoint {
    /// The resume point after a completed list of this version.
    pub fn of_list(version: String) -> Self {
        let number = version.parse().ok();
        Self { text: version, number }
    }

    /// The version, as it is sent to the API server.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The version as an integer, if it is one.
    pub const fn number(&self) -> Option<u64> {
        self.number
    }

    /// The version as accounting uses it.
    pub fn version(&self) -> Version {
        Version::from_text(&self.text)
    }

    /// The version after an object of the version `number`.
    pub fn after(&self, number: Option<u64>) -> Version {
        match number {
            Some(number) if self.is_news(number) => Version::Number(number),
            _ => self.version(),
        }
    }

    /// An absurd version saturates to the largest number. It is never accepted, since nothing could
    /// follow it.
    fn is_news(&self, number: u64) -> bool {
        number != u64::MAX && self.number.is_none_or(|known| known < number)
    }

    /// Whether it is older than `other`; false when the two cannot be compared.
    pub fn is_behind(&self, other: &Self) -> bool {
        self.number.zip(other.number).is_some_and(|(ours, theirs)| ours < theirs)
    }

    /// Whether the version of a bookmark is no number, though one is known.
    pub(super) fn is_lost_with(&self, version: &str) -> bool {
        self.number.is_some() && !version.is_empty() && version.parse::<u64>().is_err()
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
        self.text.clear();
        // Writing to a text does not fail.
        let _ = write!(self.text, "{number}");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_forward_only() {
        let mut resume_point = ResumePoint::of_list("99".into());
        assert!(resume_point.advance_to(100));
        assert!(!resume_point.advance_to(100));
        assert!(!resume_point.advance("98"));
        assert!(!resume_point.advance(""));
        assert!(!resume_point.advance_to(u64::MAX));
        assert_eq!(resume_point.as_str(), "100");
        for (number, after) in
            [(None, 100), (Some(99), 100), (Some(u64::MAX), 100), (Some(101), 101)]
        {
            assert_eq!(resume_point.after(number), Version::Number(after));
        }
        assert!(resume_point.advance("101"));
        assert_eq!(resume_point.number(), Some(101));
    }

    #[test]
    fn opaque_versions_are_taken_as_they_come() {
        let mut resume_point = ResumePoint::of_list("abc".into());
        assert!(!resume_point.advance("abc"));
        assert!(resume_point.advance("abd"));
        assert_eq!((resume_point.as_str(), resume_point.number()), ("abd", None));
    }
}
