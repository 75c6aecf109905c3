//! The `Date` of an HTTP answer.

use crate::decode::rfc3339;
use crate::timestamp::Timestamp;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The second that an IMF-fixdate states (RFC 9110, §5.6.7), as in `Sun, 06 Nov 1994 08:49:37 GMT`.
/// `None` for anything else: no server of this century writes the older forms.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let (_weekday, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let (time, zone) = (words.next()?, words.next()?);
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    if zone != "GMT" || words.next().is_some() {
        return None;
    }
    rfc3339::parse(&format!("{year}-{month:02}-{day}T{time}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_or_refused() {
        let at = |text| parse(text).map(Timestamp::as_nanos);
        assert_eq!(
            at("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(784_111_777_000_000_000)
        );
        assert_eq!(
            at("Thu, 01 Jan 2026 00:00:00 GMT"),
            Some(1_767_225_600_000_000_000)
        );
        for nonsense in [
            "",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
            "Sun, 31 Feb 1994 08:49:37 GMT",
        ] {
            assert_eq!(at(nonsense), None, "{nonsense}");
        }
    }
}
