//! Citations of the specification lead to rules that exist, each in one of its parts.
//!
//! In comments a citation is a link, such as [§5.4](crate::specification#s5-4); in the titles of
//! test cases it is the number alone.

use std::collections::BTreeSet;
use std::fs;

use crate::support::files::{files, parts_of_the_specification, root};

/// The section sign. Only citations of podinit's own specification use it.
const SIGN: char = '\u{a7}';

const DIRECTORIES: [&str; 5] = ["src", "crates", "tests", "benches", "fuzz"];

/// The numbers of sections and rules, such as `5` and `5.4`.
fn numbers() -> BTreeSet<String> {
    let mut numbers = BTreeSet::new();
    for (part, text) in parts_of_the_specification() {
        let anchors = text.split("<a id=\"s").skip(1);
        let anchors = anchors.filter_map(|rest| rest.split_once('"'));
        for (anchor, _) in anchors {
            let number = anchor.replace('-', ".");
            assert!(numbers.insert(number), "{part}: another part has the anchor s{anchor} too");
        }
    }
    numbers
}

/// The number at the beginning of `text`, without a full stop that ends a sentence.
fn number(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

/// What is wrong with the citations of a line, if anything.
fn faults(line: &str, numbers: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, _) in line.match_indices(SIGN) {
        let (before, rest) = (&line[..at], &line[at + SIGN.len_utf8()..]);
        let number = number(rest);
        let anchor = number.replace('.', "-");
        let link = format!("{number}](crate::specification#s{anchor})");
        let in_comment = before.trim_start().starts_with("//") || before.contains(" // ");
        if !numbers.contains(number) {
            faults.push(format!("there is no rule {number:?}"));
        } else if in_comment && !(before.ends_with('[') && rest.starts_with(&link)) {
            faults.push(format!("no link: [{SIGN}{link}"));
        }
    }
    faults
}

#[test]
fn every_citation_leads_to_a_rule() {
    let numbers = numbers();
    let sources = DIRECTORIES.map(|directory| files(&root().join(directory), "rs"));
    let (mut count, mut all) = (0, Vec::new());
    for path in sources.into_iter().flatten() {
        let name = path.strip_prefix(root()).unwrap().display();
        let text = fs::read_to_string(&path).unwrap();
        for (line, number) in text.lines().zip(1..) {
            count += line.matches(SIGN).count();
            let found = faults(line, &numbers).into_iter();
            all.extend(found.map(|fault| format!("{name}:{number}: {fault}")));
        }
    }
    assert!(count > 100, "only {count} citations were found");
    assert!(all.is_empty(), "citations: {all:#?}");
}

#[test]
fn a_citation_that_leads_nowhere_is_found() {
    let numbers = numbers();
    let wrong = [
        format!("/// Time ({SIGN}4)"),
        format!("// [{SIGN}5.4](crate::specification#s5-3)"),
        format!("/// [{SIGN}5.44](crate::specification#s5-44)"),
        format!("/// [{SIGN}5](crate::specification#s5) and {SIGN}6"),
        format!("\"{SIGN}77: a title\""),
    ];
    for line in wrong {
        assert_eq!(faults(&line, &numbers).len(), 1, "{line}");
    }
    let right = [
        format!("/// [{SIGN}5.4](crate::specification#s5-4), [{SIGN}4](crate::specification#s4)"),
        format!("\"{SIGN}5.4: a title\""),
    ];
    for line in right {
        assert_eq!(faults(&line, &numbers), Vec::<String>::new());
    }
}
