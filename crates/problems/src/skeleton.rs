//! What texts about one fault have in common ([§13.6](crate::specification#s13-6)).

use std::net::{Ipv4Addr, Ipv6Addr};

use podinit_core::pod::is_generated;

/// A hexadecimal word of fewer characters may be a word of a language.
const LEAST_HEXADECIMAL: usize = 8;
/// The lengths of the parts of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];
/// A MAC address: six numbers of two characters.
const MAC: usize = 17;
/// The units of a duration in Go; a longer one first.
const UNITS: [&str; 7] = ["ms", "us", "µs", "ns", "h", "m", "s"];

/// `text` without what differs from pod to pod and from time to time: digits and durations, hexadecimal words, UUIDs,
/// addresses, and what Kubernetes generates behind a hyphen.
pub(crate) fn skeleton(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut kept = String::with_capacity(text.len());
    let (mut at, mut kept_until, mut before) = (0, 0, b' ');
    while let Some(first) = bytes.get(at).copied() {
        let mut length = usize::from(first.is_ascii_digit());
        // All of it begins with one of these, so that `at` is where a character begins.
        if first.is_ascii_alphanumeric() || matches!(first, b'[' | b':') {
            length = length.max(variable(before, &text[at..]));
        }
        if length > 0 {
            kept.push_str(&text[kept_until..at]);
            kept_until = at + length;
        }
        at += length.max(1);
        before = bytes[at - 1];
    }
    kept.push_str(&text[kept_until..]);
    kept
}

/// `text` without those of `words` that are not part of a longer one.
pub(crate) fn without_words(text: &str, words: &[&str]) -> String {
    let mut left = text.to_owned();
    for word in words {
        if left.contains(word) {
            left = without_word(&left, word);
        }
    }
    left
}

fn without_word(text: &str, word: &str) -> String {
    let goes_on = |next: Option<char>| next.is_some_and(|next| is_of_word(next) || next == '-');
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(word).filter(|_| !word.is_empty()) {
        let last = before.chars().next_back();
        let last = last.or_else(|| kept.chars().next_back());
        kept.push_str(before);
        if goes_on(last) || goes_on(after.chars().next()) {
            kept.push_str(word);
        }
        rest = after;
    }
    kept + rest
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric()
}

/// How many bytes at the beginning of `text` are no part of what is said; the byte `before` stands in front of them.
fn variable(before: u8, text: &str) -> usize {
    let bytes = text.as_bytes();
    let uuid = uuid(bytes);
    // Systems write it behind another word too, such as `pod`.
    if uuid > 0 || before.is_ascii_alphanumeric() {
        return uuid;
    }
    let first = bytes[0];
    let mut length = 0;
    if first.is_ascii_hexdigit() || matches!(first, b'[' | b':') {
        length = address(text);
    }
    if length == 0 && first.is_ascii_hexdigit() {
        length = hexadecimal(text);
    }
    if length == 0 && first.is_ascii_digit() {
        length = duration(text);
    }
    if length == 0 && before == b'-' {
        length = generated(text);
    }
    length
}

/// The length of the word that `text` begins with.
fn word(text: &str) -> usize {
    leading(text, u8::is_ascii_alphanumeric)
}

fn digits(text: &str) -> usize {
    leading(text, u8::is_ascii_digit)
}

/// How many bytes of this kind `text` begins with.
fn leading(text: &str, is_of_kind: impl Fn(&u8) -> bool) -> usize {
    let other = text.bytes().position(|byte| !is_of_kind(&byte));
    other.unwrap_or(text.len())
}

fn uuid(text: &[u8]) -> usize {
    // Names of control groups have underscores in it.
    let is_separator = |place| matches!(text.get(place), Some(b'-' | b'_'));
    let mut length = 0;
    if !is_separator(UUID[0]) {
        return 0;
    }
    for (place, part) in UUID.into_iter().enumerate() {
        let is_separated = place == 0 || is_separator(length);
        length += usize::from(place > 0);
        let part = text.get(length..length + part).unwrap_or_default();
        if !is_separated || part.is_empty() || !part.iter().all(u8::is_ascii_hexdigit) {
            return 0;
        }
        length += part.len();
    }
    let goes_on = text.get(length).is_some_and(u8::is_ascii_hexdigit);
    if goes_on { 0 } else { length }
}

fn hexadecimal(text: &str) -> usize {
    let length = word(text);
    let digits = text[..length].strip_prefix("0x").unwrap_or(&text[..length]);
    let is_long = length >= LEAST_HEXADECIMAL;
    let is_hexadecimal = is_long && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hexadecimal { length } else { 0 }
}

/// A word behind a hyphen that Kubernetes generates ([§13.3](crate::specification#s13-3)).
fn generated(text: &str) -> usize {
    let length = word(text);
    if is_generated(&text[..length]) { length } else { 0 }
}

/// A duration as Go writes it, such as `1m20.5s`.
fn duration(text: &str) -> usize {
    let mut rest = text;
    loop {
        let number = digits(rest);
        if number == 0 {
            break;
        }
        let mut after = &rest[number..];
        if let Some(fraction) = after.strip_prefix('.').filter(|rest| digits(rest) > 0) {
            after = &fraction[digits(fraction)..];
        }
        let unit = UNITS.iter().find_map(|unit| after.strip_prefix(unit));
        match unit {
            Some(left) => rest = left,
            None => break,
        }
    }
    let length = text.len() - rest.len();
    if word(rest) > 0 { 0 } else { length }
}

/// An address of IP with its zone and port, or one of hardware.
fn address(text: &str) -> usize {
    if let Some(inner) = text.strip_prefix('[') {
        let end = inner.find(']').unwrap_or(0);
        return match v6(&inner[..end]) == end && end > 0 {
            true => end + 2 + port(&inner[end + 1..]),
            false => 0,
        };
    }
    let length = match (mac(text.as_bytes()), v4(text)) {
        (0, 0) => v6(text),
        (0, v4) => v4 + port(&text[v4..]),
        (mac, _) => mac,
    };
    if word(&text[length..]) > 0 { 0 } else { length }
}

fn port(text: &str) -> usize {
    match text.strip_prefix(':').map(digits) {
        None | Some(0) => 0,
        Some(digits) => digits + 1,
    }
}

fn mac(text: &[u8]) -> usize {
    let fits = |(place, byte): (usize, &u8)| match place % 3 {
        2 => matches!(byte, b':' | b'-') && *byte == text[2],
        _ => byte.is_ascii_hexdigit(),
    };
    let is_mac = text.len() >= MAC && text[..MAC].iter().enumerate().all(fits);
    // An address of IPv6 may go on.
    let goes_on =
        text.get(MAC) == Some(&b':') && text.get(MAC + 1).is_some_and(u8::is_ascii_hexdigit);
    if is_mac && !goes_on { MAC } else { 0 }
}

fn v4(text: &str) -> usize {
    let run = leading(text, |byte| byte.is_ascii_digit() || *byte == b'.');
    let stated = text[..run].trim_end_matches('.');
    stated.parse::<Ipv4Addr>().map_or(0, |_| stated.len())
}

fn v6(text: &str) -> usize {
    let run = leading(text, |byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
    let run = text[..run].trim_end_matches('.');
    if run.len() < 2 || !run.contains(':') {
        return 0;
    }
    // A chain of errors goes on behind a colon.
    let all = [Some(run), run.strip_suffix(':')];
    let is_address = |one: &&str| one.parse::<Ipv6Addr>().is_ok();
    let Some(stated) = all.into_iter().flatten().find(is_address) else {
        return 0;
    };
    match text[stated.len()..].strip_prefix('%').map(word) {
        None | Some(0) => stated.len(),
        Some(zone) => stated.len() + 1 + zone,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_alike(texts: &[&str], is_alike: bool) {
        for pair in texts.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(skeleton);
            assert_eq!(one == other, is_alike, "{pair:?}: {one:?}, {other:?}");
        }
    }

    #[test]
    fn what_differs_from_pod_to_pod_is_no_part_of_what_is_said() {
        for texts in [
            &["0/5 nodes are available", "0/12 nodes are available"][..],
            &[
                "network for sandbox \"45a8830f0155\": no address",
                "network for sandbox \"deadbeef\": no address",
                "network for sandbox \"0123456789abcdef0123456789ABCDEF0123456789abcdef\": no address",
            ],
            &[
                "kubepods-pod6d14ca8c_7af5_46a4_8768_a7b5b9e1f2c3.slice",
                "kubepods-podaaaaaaaa_bbbb_cccc_dddd_eeeeeeeeeeee.slice",
            ],
            &[
                "volume 6d14ca8c-7af5-46a4-8768-a7b5b9e1f2c3 is gone",
                "volume aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee is gone",
            ],
            &[
                "dial tcp 10.0.0.1:443: connection refused",
                "dial tcp 192.168.12.250: connection refused",
                "dial tcp [fd00::ab:1]:6443: connection refused",
                "dial tcp fd00::ab:1: connection refused",
                "dial tcp fe80::c0ff:ee%eth0: connection refused",
                "dial tcp ::ffff:10.0.0.1: connection refused",
                "dial tcp 2001:db8:0:1:a:b:c:d: connection refused",
            ],
            &["address 02:42:ac:11:00:02 is in use", "address 0A-FF-de-ad-be-ef is in use"],
            &["link 02:42:ac:11:00:02: in use", "link 02:42:ab:cd:ef:02: in use"],
            &["back-off 10s restarting", "back-off 1m20s restarting", "back-off 2.5s restarting"],
            &["no kube-api-access-x7k2p here", "no kube-api-access-zbvjq here"],
            &["goroutine at 0xc000123abc", "goroutine at 0x7ffe01234abc"],
            &["reads 10.0.0.1:40000->34.1.2.3:443", "reads 10.0.0.9:1->[fd00::9]:443"],
        ] {
            assert_alike(texts, true);
        }
    }

    #[test]
    fn words_are_what_is_said() {
        for texts in [
            ["secret \"database\" not found", "secret \"sessions\" not found"],
            ["file abcdefa", "file fabcdea"],
            ["exit code 1: no such table", "exit code 1: out of memory"],
            ["add: no such link", "dad: no such link"],
            ["std::fd::open failed", "std::ab::open failed"],
            ["volume web-cache", "volume web-state"],
            ["a [add] b", "a [del] b"],
            ["in 5ms", "in 5Mi"],
        ] {
            assert_alike(&texts, false);
        }
        assert_eq!(skeleton("é 1 … µs 2µs ñ3"), "é  … µs  ñ");
        assert_eq!(skeleton(""), "");
    }

    #[test]
    fn names_are_left_out_where_they_are_words() {
        let names = ["web-1", "shop"];
        assert_eq!(
            without_words("pod web-1_shop(web-10) of shop, my-shop and shops", &names),
            "pod _(web-10) of , my-shop and shops"
        );
        assert_eq!(without_words("shopshop shop", &names), "shopshop ");
        assert_eq!(without_words("a", &["", "a"]), "");
    }

    proptest! {
        #[test]
        fn whatever_is_said_has_a_skeleton(text in "([0-9a-fA-F:.\\[\\]%_-]|0x|ms|µs|[ é\"]){0,60}") {
            let kept = skeleton(&text);
            prop_assert!(!kept.contains(|next: char| next.is_ascii_digit()));
            prop_assert!(kept.len() <= text.len());
        }
    }
}
