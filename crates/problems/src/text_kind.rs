//! Of which kind a reason is ([§13.6](crate::specification#s13-6)): what it says without the names of things.

use super::skeleton::skeleton;

/// What stands in front of an exit code, a signal or an HTTP status code.
const BEFORE_CODES: [&str; 5] = ["code", "status", "statuscode", "signal", "http"];
/// Words with a slash that name nothing.
const PLAIN_WORDS: [&str; 2] = ["i/o", "and/or"];
/// What stands in front of the name of a host.
const BEFORE_HOSTS: [&str; 2] = ["lookup", "host"];

/// The text without what differs from pod to pod; exit codes, signals and HTTP status codes stay. Texts are one where
/// this is the same.
pub(super) fn text_form(text: &str) -> String {
    skeleton(text) + &codes(text)
}

/// The same without names: what stands in quotes or brackets, paths, hosts, images and `NAMESPACE/NAME`. Reasons are of
/// one kind where this is the same.
pub(super) fn kind_form(reason: &str) -> String {
    let bare = without_names(&without_enclosed(reason));
    // What stands in brackets or quotes is all of it.
    let says = |text: &str| text.chars().any(char::is_alphabetic);
    match says(&bare) {
        true => skeleton(&bare) + &codes(reason),
        false => text_form(reason),
    }
}

/// A reason without URLs: what was asked for has names of its own.
pub(super) fn without_urls(reason: &str) -> String {
    let words = reason.split_whitespace().filter(|word| !word.contains("://"));
    words.collect::<Vec<_>>().join(" ")
}

/// A reason without how often its container was restarted.
pub(super) fn without_restarts(reason: &str) -> String {
    let (facts, says) = match reason.split_once(": ") {
        Some((facts, says)) => (facts, Some(says)),
        None => (reason, None),
    };
    let facts: Vec<&str> = facts.split(", ").filter(|fact| !is_of_restarts(fact)).collect();
    let facts = facts.join(", ");
    says.map_or(facts.clone(), |says| format!("{facts}: {says}"))
}

/// Whether the reason of a crash says only how a container ended: an exit code, a signal, or a reason such as `OOMKilled`.
pub(super) fn is_only_end(reason: &str) -> bool {
    let is_end = |fact: &str| {
        let is_code = ["exit code ", "signal "].iter().any(|begin| {
            fact.strip_prefix(begin)
                .is_some_and(|code| code.bytes().all(|one| one.is_ascii_digit()))
        });
        let is_reason = fact.starts_with(|first: char| first.is_ascii_uppercase())
            && fact.bytes().all(|one| one.is_ascii_alphanumeric());
        is_code || is_reason || is_of_restarts(fact)
    };
    reason.split(", ").all(is_end)
}

fn is_of_restarts(fact: &str) -> bool {
    let number = fact.strip_suffix(" restarts").or_else(|| fact.strip_suffix(" restart"));
    number.is_some_and(|number| number.bytes().all(|one| one.is_ascii_digit()))
}

/// The exit codes, signals and HTTP status codes in a text, each behind a character that no text has.
pub(super) fn codes(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric());
    let mut codes = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_apart = !is_word(at + length) && (at == 0 || !is_word(at - 1));
        if (1..=3).contains(&length) && is_apart {
            let (before, rest) = text.split_at(at);
            let (word, after) = rest.split_at(length);
            if is_code(before, word, after) {
                codes.push('\u{1f}');
                codes.push_str(word);
            }
        }
        at += length.max(1);
    }
    codes
}

/// Whether a number of one to three digits is an exit code, a signal or an HTTP status code between these.
fn is_code(before: &str, word: &str, after: &str) -> bool {
    let is_between = |letter: char| !letter.is_ascii_alphanumeric();
    let last = before.trim_end_matches(is_between);
    let is_behind = BEFORE_CODES.iter().any(|one| {
        let from = last.len().checked_sub(one.len());
        let front = from.and_then(|from| last.get(from..).zip(last.get(..from)));
        front.is_some_and(|(end, front)| {
            end.eq_ignore_ascii_case(one) && !front.ends_with(char::is_alphanumeric)
        })
    });
    let is_http = word.len() == 3 && matches!(word.as_bytes()[0], b'4' | b'5');
    let next = after.trim_start_matches(is_between);
    let is_named = next.starts_with(|first: char| first.is_ascii_uppercase());
    is_behind || is_http && (is_named || before.ends_with('['))
}

/// The text without what stands in brackets, and without quoted words. A quoted text of several words is a sentence of a
/// program, and one behind a colon or an equals sign is a value of JSON or logfmt: they stay.
fn without_enclosed(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`', '(', '[', '{', '<']) {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let length = enclosed(kept.chars().next_back(), from);
        // All of these have one byte.
        rest = &from[length.max(1)..];
        kept.push(' ');
    }
    kept + rest
}

/// The length of the name that `text` begins with in quotes or brackets; 0 where it is none. `before` stands in front.
fn enclosed(before: Option<char>, text: &str) -> usize {
    let open = text.as_bytes()[0];
    let (mut depth, mut is_sentence) = (0_usize, false);
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        quote => quote,
    };
    let is_quote = close == open;
    if is_quote
        && before.is_some_and(|before| before.is_alphanumeric() || matches!(before, ':' | '='))
    {
        return 0;
    }
    for (at, byte) in text.bytes().enumerate() {
        is_sentence |= byte == b' ';
        if byte == close && (!is_quote || at > 0) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return if is_quote && is_sentence { 0 } else { at + 1 };
            }
        } else if byte == open {
            depth += 1;
        }
    }
    0
}

/// The text without words that name a path, a host, an image or an object.
fn without_names(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut before = "";
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|end: char| !end.is_alphanumeric() && end != '/');
        if !is_name(bare) && !BEFORE_HOSTS.contains(&before) {
            kept.push(bare);
        }
        before = bare;
    }
    kept.join(" ")
}

fn is_name(word: &str) -> bool {
    let is_plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_.".contains(letter)
    };
    let is_path = word.contains('/') && !PLAIN_WORDS.contains(&word);
    // A class of Java has upper-case letters.
    let is_host = word.contains('.') && word.chars().all(is_plain);
    let is_tagged = word.split_once(':').is_some_and(|(name, tag)| {
        let is_tag = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        !name.is_empty() && !tag.is_empty() && name.chars().all(is_plain) && tag.chars().all(is_tag)
    });
    is_path || is_host || is_tagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_part_of_a_kind() {
        for texts in [
            &["secret \"database\" not found", "secret \"sessions\" not found"][..],
            &[
                "lookup registry.example.com on 10.0.0.10:53: no such host",
                "lookup mirror on 10.0.0.11:53: no such host",
            ],
            &[
                "mkdir /run/containerd/5c17da5ed1d4: no space left on device",
                "mkdir /var/lib/kubelet: no space left on device",
            ],
            &[
                "r.example.com/web:2: not found",
                "docker.io/library/api:typo: not found",
                "nginx:1: not found",
            ],
            &["cannot reach redis:6379: i/o timeout", "cannot reach postgres:5432: i/o timeout"],
            &["open shop/settings failed (try 1 of 3)", "open users/settings failed (last try)"],
        ] {
            for pair in texts.windows(2) {
                assert_eq!(kind_form(pair[0]), kind_form(pair[1]), "{pair:?}");
            }
        }
    }

    #[test]
    fn words_and_codes_are_kinds() {
        for [one, other] in [
            ["exit code 1: no such table", "exit code 2: no such table"],
            ["exit code 1", "exit code 137"],
            ["HTTP probe failed with statuscode: 503", "HTTP probe failed with statuscode: 404"],
            ["unexpected status: 429 Too Many Requests", "unexpected status: 401 Unauthorized"],
            ["[PUT /endpoint/{id}][429] failed", "[PUT /endpoint/{id}][500] failed"],
            ["i/o timeout", "timeout"],
            ["java.lang.OutOfMemoryError", "java.net.ConnectException"],
            ["{\"msg\":\"cannot connect\"}", "{\"msg\":\"no such table\"}"],
            ["{\"error\":\"ENOENT\"}", "{\"error\":\"ECONNREFUSED\"}"],
            ["couldn't open it, didn't try", "couldn't close it, didn't try"],
            ["std::bad_alloc", "std::out_of_range"],
        ] {
            assert_ne!(kind_form(one), kind_form(other));
        }
    }

    #[test]
    fn restarts_say_nothing_and_a_lone_end_is_told_from_words() {
        assert_eq!(
            without_restarts("exit code 1, 3 restarts: no table, 2 restarts"),
            "exit code 1: no table, 2 restarts"
        );
        assert_eq!(
            without_restarts("OOMKilled, exit code 137, 1 restart"),
            "OOMKilled, exit code 137"
        );
        for end in
            ["exit code 1", "OOMKilled, exit code 137, 12 restarts", "exit code 139, signal 11"]
        {
            assert!(is_only_end(end), "{end}");
        }
        for words in [
            "exit code 1: no such table",
            "killed by its startup probe (503), exit code 137",
            "no address",
        ] {
            assert!(!is_only_end(words), "{words}");
        }
    }
}
