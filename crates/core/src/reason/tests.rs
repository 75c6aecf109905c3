#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

/// What components say, a line each, and below it the reason in it. Line breaks and tabs are `\n` and `\t`.
const TEXTS: &str = include_str!("texts.txt");

fn texts() -> Vec<(String, &'static str)> {
    let lines: Vec<&str> = TEXTS.lines().collect();
    let (pairs, rest) = lines.as_chunks::<2>();
    assert!(rest.is_empty(), "a text without a reason: {rest:?}");
    let pair = |[text, reason]: &[&'static str; 2]| {
        let reason = reason.strip_prefix("=> ").unwrap();
        (text.replace("\\n", "\n").replace("\\t", "\t"), reason)
    };
    pairs.iter().map(pair).collect()
}

#[test]
fn the_reason_in_what_components_say() {
    let texts = texts();
    assert!(texts.len() >= 150, "{}", texts.len());
    let wrong = texts.iter().filter(|(text, reason)| extract(text) != *reason);
    let wrong: Vec<String> = wrong
        .map(|(text, reason)| format!("{text}\n  is   {}\n  not  {reason}", extract(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_reason_of_a_reason_is_the_same() {
    for (text, reason) in texts() {
        assert_eq!(extract(reason), reason, "{text}");
    }
}

#[test]
fn a_long_text_is_reduced_before_it_is_cut() {
    let long = format!(
        "failed to pull and unpack image \"{}\": failed to do request: Head \"https://{}/v2/\": dial tcp: lookup \
         registry.example.com on 10.0.0.2:53: no such host",
        "a/".repeat(150),
        "b/".repeat(150)
    );
    let kept = keep(&long, 256);
    assert!(kept.len() <= 256);
    assert_eq!(extract(&kept), extract(&long));
    assert_eq!(extract(&long), "lookup registry.example.com on 10.0.0.2:53: no such host");
    assert_eq!(keep("short: text", 256), "short: text");
}

#[test]
fn a_line_break_inside_quotes_ends_no_line() {
    let text = "keyvault: Failure responding to request: StatusCode=403 -- Original Error: autorest/azure: Service returned \
                an error. Status=403 Code=\"Forbidden\" Message=\"Caller is not authorized to perform action on \
                resource.\nIf role assignments were changed recently, please observe propagation time.\nCaller: \
                appid=1f2e;oid=9a8b\nAction: 'Microsoft.KeyVault/vaults/secrets/getSecret/action'\nAssignment: (not \
                found)\n\" InnerError={\"code\":\"ForbiddenByRbac\"}";
    for text in [text.to_owned(), text.replace('\n', "\\r\\n")] {
        let reason = extract(&text);
        assert!(reason.contains("Caller is not authorized to perform"), "{reason}");
        assert!(extract(&keep(&text, 256)).contains("not authorized to perform"));
    }
    // The end of a log may begin inside quotes.
    let log = "sage\": \"x\"}\n{\"level\": \"error\", \"error\": \"cannot reach the database\"}\n{\"level\": \"info\"}";
    assert_eq!(extract(log), "{\"level\": \"error\", \"error\": \"cannot reach the database\"}");
}

/// Words as they stand in errors.
fn word() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "failed",
        "to",
        "pull",
        "image",
        "rpc error",
        "code = Unknown desc =",
        "unknown",
        "not found",
        "i/o timeout",
        "dial tcp 10.0.0.1:443",
        "connect",
        "https://registry.example.com/v2/",
        "error",
        "\"web\"",
        "(add)",
        "[a]",
        "lookup a on b:53",
        "read udp a->b",
        "exec",
        "(",
        "\"",
        "]",
        "desc = \"x",
        "\n",
        "…",
        "é",
    ]);
    prop_oneof![4 => words.prop_map(str::to_owned), 1 => "\\PC{0,30}"]
}

fn chain() -> impl Strategy<Value = String> {
    let part = prop::collection::vec(word(), 1..6).prop_map(|words| words.join(" "));
    prop::collection::vec(part, 1..9).prop_map(|parts| parts.join(": "))
}

/// Whether each kind of bracket is opened as often as it is closed, and quotes are in pairs.
fn is_closed(text: &str) -> bool {
    let count = |kind: char| text.chars().filter(|one| *one == kind).count();
    let pairs = [('(', ')'), ('[', ']'), ('{', '}')];
    pairs.iter().all(|(open, close)| count(*open) == count(*close)) && count('"') % 2 == 0
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(2_000)
    })]

    #[test]
    fn a_reason_is_there_and_fits(text in chain(), most in 16_usize..400) {
        let reason = extract(&text);
        prop_assert_eq!(reason.is_empty(), text.trim().is_empty(), "{}", text);
        prop_assert!(reason.chars().count() <= MOST_CHARACTERS);
        prop_assert!(!reason.contains(['\n', '\t']), "{}", reason);
        let kept = keep(&text, most);
        prop_assert!(kept.len() <= most);
        prop_assert!(!kept.is_empty() || text.trim().is_empty());
    }

    #[test]
    fn no_bracket_of_a_whole_text_is_left_half(words in prop::collection::vec("[a-z]{1,9}", 1..60), open in 0_usize..60) {
        let open = open % words.len();
        let text = format!("{} (\"{}\")", words[..open].join(" "), words[open..].join(" "));
        let reason = extract(&text);
        prop_assert!(is_closed(&reason), "{} in {}", reason, text);
    }

    /// Pods, IDs and addresses of the same length are told the same.
    #[test]
    fn names_and_addresses_change_nothing_else(
        index in 0_usize..160, name in "[a-z]{3}-[0-9a-f]{5}", id in "[0-9a-f]{4}", octet in 10_u8..99,
    ) {
        let texts = texts();
        let (text, _) = &texts[index % texts.len()];
        let named = |text: &str| {
            let text = text.replace("web-5c98c", &name).replace("6d0c", &id);
            text.replace("10.0.0.", &format!("10.{octet}.0."))
        };
        prop_assume!(extract(text).chars().count() + 8 < MOST_CHARACTERS);
        prop_assert_eq!(extract(&named(text)), named(&extract(text)));
    }
}
