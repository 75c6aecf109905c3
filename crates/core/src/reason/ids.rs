//! Shortens what programs generate and nobody reads: ids, and paths with an id in them.

use std::borrow::Cow;

/// A hexadecimal word with fewer characters stays as it is.
const LEAST_ID: usize = 12;

/// So many characters of an id stay: enough to find it, and to know it for one.
const KEPT: usize = 8;

/// How long the groups of a UUID are.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// `text` with the beginnings of its UUIDs, and of its hexadecimal words of 12 characters or more. A number without a
/// letter is no such word: it may be an account.
pub(super) fn shorten_ids(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(|character: char| character.is_ascii_alphanumeric()) {
        short.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let id = uuid(rest).or_else(|| hexadecimal(rest));
        let end = id.unwrap_or_else(|| word(rest));
        short.push_str(if id.is_some() { &rest[..KEPT] } else { &rest[..end] });
        if id.is_some() {
            short.push('…');
        }
        rest = &rest[end..];
    }
    short + rest
}

/// `text`, of whose paths with a shortened id only the beginning and the last name are left.
pub(super) fn shorten_paths(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    words.map(|word| short_path(word).map_or(Cow::Borrowed(word), Cow::Owned)).collect()
}

/// `text` without the words in which something was shortened.
pub(super) fn leave_out(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        match word.contains('…') {
            true if kept.last() == Some(&"…") => {}
            true => kept.push("…"),
            false => kept.push(word),
        }
    }
    kept.join(" ")
}

/// `/var/lib/…/data` of `/var/lib/kubelet/pods/a00701ce…/volumes/data`; `None` of what is no such path.
fn short_path(word: &str) -> Option<String> {
    let begin = word.find('/').filter(|begin| !word[..*begin].contains(char::is_alphanumeric))?;
    let (second, _) = word[begin..].match_indices('/').nth(2)?;
    let (head, last) = (&word[..begin + second], word.rfind('/')?);
    let left_out = word.get(begin + second..last)?;
    left_out.contains('…').then(|| format!("{head}/…{}", &word[last..]))
}

/// How long the word is with which `text` begins.
fn word(text: &str) -> usize {
    text.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(text.len())
}

/// How long the UUID is with which `text` begins.
fn uuid(text: &str) -> Option<usize> {
    let mut end = 0;
    for (place, length) in UUID.into_iter().enumerate() {
        if place > 0 {
            text[end..].starts_with('-').then_some(())?;
            end += 1;
        }
        let group = &text[end..end + word(&text[end..])];
        (group.len() == length && is_hexadecimal(group)).then_some(())?;
        end += length;
    }
    Some(end)
}

/// How long the hexadecimal word is with which `text` begins.
fn hexadecimal(text: &str) -> Option<usize> {
    let end = word(text);
    let word = &text[..end];
    let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
    let is_id = end >= LEAST_ID
        && is_hexadecimal(word)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic);
    is_id.then_some(end)
}

fn is_hexadecimal(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_known_by_their_beginning() {
        for (text, short) in [
            (
                "volume pvc-7d2e2124-4b0c-4d79-890a-fcee02a185a1 is not ready",
                "volume pvc-7d2e2124… is not ready",
            ),
            ("digest sha256:0692f38991d53a0c286: not found", "digest sha256:0692f389…: not found"),
            ("container \"37c5b1b2d2f5f7f1c36a\" is gone", "container \"37c5b1b2…\" is gone"),
            // Neither an account nor a word is an id.
            ("account 123456789012 of effaced0facade", "account 123456789012 of effaced0…"),
            ("deadbeefcafe feedfacedeed", "deadbeefcafe feedfacedeed"),
            ("7d2e2124-4b0c-4d79-890a", "7d2e2124-4b0c-4d79-890a"),
            ("", ""),
            ("é…", "é…"),
        ] {
            assert_eq!(shorten_ids(text), short);
        }
    }

    #[test]
    fn a_generated_path_keeps_its_ends() {
        let path = "mkdir '/var/lib/kubelet/pods/a00701ce-9777-40b8-8b39-153e5baf5e11/volumes/x/data': read-only";
        assert_eq!(shorten_paths(&shorten_ids(path)), "mkdir '/var/lib/…/data': read-only");
        for other in
            ["/etc/passwd: not found", "https://r.io/v2/a00701ce…/x", "/var/lib/kubelet/config"]
        {
            assert_eq!(shorten_paths(other), other);
        }
    }
}
