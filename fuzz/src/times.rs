//! RFC 3339 times, against the parser of another library.

use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;

/// Times before 1971 are invalid ([§4.6](crate::specification#s4-6)).
const FIRST: &str = "1971-01-01T00:00:00Z";

/// Each line is a time, valid or not.
pub fn run(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(text) = std::str::from_utf8(line) {
            assert_eq!(rfc3339::parse(text), expected(text), "{text:?}");
        }
    }
}

fn expected(text: &str) -> Option<Timestamp> {
    let plain = plain(text)?;
    if plain.as_bytes().starts_with(b"9999-12-3") {
        // Beyond the range of the other library.
        return rfc3339::parse(text);
    }
    let instant: jiff::Timestamp = plain.parse().ok()?;
    if instant < FIRST.parse().unwrap() {
        return None;
    }
    let nanos = i64::try_from(instant.as_nanosecond()).unwrap_or(i64::MAX);
    Some(Timestamp::from_nanos(nanos))
}

/// The time with at most nine fractional digits, if it matches the grammar of RFC 3339, section 5.6. The
/// other library accepts more.
fn plain(text: &str) -> Option<String> {
    let text = text.to_ascii_uppercase();
    let (date_time, rest) = text.split_at_checked(19)?;
    let (fraction, offset) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
            let (digits, offset) = rest.split_at(end);
            if digits.is_empty() {
                return None;
            }
            (format!(".{}", &digits[..digits.len().min(9)]), offset)
        }
        None => (String::new(), rest),
    };
    let fits = shape(date_time) == "dddd-dd-ddTdd:dd:dd"
        && matches!(shape(offset).as_str(), "Z" | "+dd:dd" | "-dd:dd")
        // No leap seconds, as in Go.
        && &date_time[17..] < "60"
        && (offset == "Z" || (&offset[1..3] < "24" && &offset[4..] < "60"));
    fits.then(|| format!("{date_time}{fraction}{offset}"))
}

fn shape(text: &str) -> String {
    let letter = |letter: char| match letter {
        '0'..='9' => 'd',
        'd' => '?',
        other => other,
    };
    text.chars().map(letter).collect()
}
