//! The Markdown files: their links lead somewhere, the metrics that they name exist, and the README
//! stays short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use podinit::families;

use crate::support::files::{files, parts_of_the_specification, root};

const DIRECTORIES: [&str; 10] =
    ["crates", "docs", "deploy", "dashboards", "benches", "fuzz", "tests", "src", ".github", ".ci"];

/// Every Markdown file of the repository, by its path from the root.
fn documents() -> BTreeMap<String, String> {
    let at_the_top = fs::read_dir(root()).unwrap();
    let at_the_top = at_the_top.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = at_the_top
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    for directory in DIRECTORIES.map(|directory| root().join(directory)) {
        if directory.is_dir() {
            found.extend(files(&directory, "md"));
        }
    }
    assert!(found.len() > 15, "only {} documents were found", found.len());
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        (name.to_owned(), fs::read_to_string(&path).unwrap())
    };
    found.into_iter().map(read).collect()
}

/// The lines outside of fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The line without its spans of code, in double backticks or single ones.
fn without_code(line: &str) -> String {
    let outside: String = line.split("``").step_by(2).collect();
    outside.split('`').step_by(2).collect()
}

/// The anchor that a heading gets where the document is shown.
fn slug(heading: &str) -> String {
    let shown = heading.to_lowercase();
    let kept = shown.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|line| line.strip_prefix('#'));
    let headings = headings.map(|line| slug(line.trim_start_matches('#').trim()));
    let explicit = text.split("<a id=\"").skip(1);
    let explicit = explicit.filter_map(|rest| rest.split_once('"'));
    headings.chain(explicit.map(|(anchor, _)| anchor.to_owned())).collect()
}

fn links(text: &str) -> Vec<String> {
    let lines = prose(text).map(without_code);
    let targets = lines.flat_map(|line| {
        let targets = line.split("](").skip(1);
        let targets = targets.filter_map(|rest| rest.split_once(')'));
        targets.map(|(target, _)| target.to_owned()).collect::<Vec<_>>()
    });
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_relative_link_leads_to_a_file_and_an_anchor() {
    let documents = documents();
    let (mut faults, mut count) = (Vec::new(), 0);
    for (name, text) in &documents {
        for target in links(text) {
            count += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let directory = Path::new(name).parent().unwrap();
            let path = match file {
                "" => root().join(name),
                file => root().join(directory).join(file),
            };
            let there = path.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&path).unwrap()).contains(anchor));
            if !there {
                faults.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(count > 50, "only {count} links were found");
    assert!(faults.is_empty(), "broken links: {faults:#?}");
}

#[test]
fn the_readme_has_at_most_200_lines() {
    let lines = documents()["README.md"].lines().count();
    assert!(lines <= 200, "{lines} lines");
}

#[test]
fn the_index_leads_to_every_page() {
    let documents = documents();
    assert!(links(&documents["README.md"]).contains(&"docs/README.md".to_owned()));
    let linked = links(&documents["docs/README.md"]);
    // Other pages lead to the parts of the specification.
    let part = |page: &str| page.starts_with("specification/");
    let pages = documents.keys().filter_map(|name| name.strip_prefix("docs/"));
    for page in pages.filter(|page| *page != "README.md" && !part(page)) {
        assert!(linked.iter().any(|link| link == page), "docs/README.md does not link to {page}");
    }
}

/// The spans of code that are paths of the repository.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let spans = prose(text).flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| {
        let inside = ["src/", "crates/", "tests/", "docs/", "deploy/", "fuzz/", "benches/"];
        inside.iter().any(|directory| span.starts_with(directory))
            && !span.contains([' ', '*', ':', '<'])
            && !span.contains("TARGET")
    })
}

#[test]
fn the_files_that_documents_name_exist() {
    let (mut faults, mut count) = (Vec::new(), 0);
    let documents = documents().into_iter();
    for (document, text) in documents.filter(|(document, _)| document != "CHANGELOG.md") {
        for path in paths(&text) {
            count += 1;
            if !root().join(path).exists() {
                faults.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(count > 30, "only {count} files were found");
    assert!(faults.is_empty(), "no such files: {faults:#?}");
}

/// The anchors `s5` and `s5-4` of sections and rules in their order, without the `s`, each with what follows it.
fn numbered(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let anchors = text.split("<a id=\"s").skip(1);
    anchors.map(|anchor| anchor.split_once("\"></a>").unwrap())
}

#[test]
fn the_rules_of_the_specification_are_numbered_in_order() {
    let mut sections = BTreeMap::new();
    for (part, text) in parts_of_the_specification() {
        let (mut section, mut rule) = (0, 0);
        for (number, rest) in numbered(&text) {
            let expected = match number.split_once('-') {
                None => {
                    // Other parts have the sections between two of this one.
                    let next: u32 = number.parse().unwrap();
                    assert!(next > section, "{part}: section {next} stands after {section}");
                    (section, rule) = (next, 0);
                    let other = sections.insert(section, part.clone());
                    assert!(other.is_none(), "section {section} is in {part} and {other:?}");
                    assert!(rest.trim_start().starts_with(&format!("## {section}. ")));
                    format!("{section}")
                }
                Some(_) => {
                    rule += 1;
                    let shown = format!("**{section}.{rule}");
                    let after = rest.strip_prefix(&shown).unwrap_or_default();
                    assert!(after.starts_with([' ', '*']), "{part}: s{number} is not {shown}");
                    format!("{section}-{rule}")
                }
            };
            assert_eq!(number, expected, "{part}");
        }
    }
    // A number may be kept free for a section that is not written yet.
    assert!(sections.len() >= 8, "only {sections:?}");
}

/// The title of a section or a rule, from what follows its anchor: the heading, what is bold after the number, or the
/// next cell of a table.
fn title(number: &str, rest: &str) -> String {
    let number = number.replace('-', ".");
    if let Some(heading) = rest.trim_start().strip_prefix("## ") {
        return heading.lines().next().unwrap().to_owned();
    }
    let (bold, after) = rest.strip_prefix("**").unwrap().split_once("**").unwrap();
    let bold = bold.split_whitespace().collect::<Vec<_>>().join(" ");
    match after.strip_prefix(" | ") {
        Some(cells) if bold == number => {
            format!("{number} {}", cells.split_once(" |").unwrap().0)
        }
        _ => bold.trim_end_matches(['.', ':', ',']).to_owned(),
    }
}

/// Links to a rule lead to the index for good, and from there to its part.
#[test]
fn the_index_of_the_specification_leads_to_every_rule() {
    let mut expected = BTreeMap::new();
    for (part, text) in parts_of_the_specification() {
        let part = part.strip_prefix("docs/").unwrap();
        for (number, rest) in numbered(&text) {
            let title = title(number, rest);
            expected.insert(number.to_owned(), format!("[{title}]({part}#s{number})"));
        }
    }
    let index = fs::read_to_string(root().join("docs/specification.md")).unwrap();
    let mut entries = BTreeMap::new();
    for (number, rest) in numbered(&index) {
        let entry = rest.lines().next().unwrap().trim_matches('*');
        let other = entries.insert(number.to_owned(), entry.to_owned());
        assert!(other.is_none(), "the index has s{number} twice");
    }
    assert_eq!(entries, expected);
}

/// The documentation of the core shows all parts on one page, where citations lead.
#[test]
fn the_core_includes_every_part_of_the_specification() {
    let core = fs::read_to_string(root().join("crates/core/src/lib.rs")).unwrap();
    for (part, text) in parts_of_the_specification() {
        let name = part.strip_prefix("docs/").unwrap();
        let include = format!("#[doc = include_str!(\"../{name}\")]");
        assert!(core.contains(&include), "crates/core/src/lib.rs lacks {include}");
        let included = fs::read_to_string(root().join("crates/core").join(name)).unwrap();
        assert!(included == text, "crates/core/{name} is no link to {part}");
    }
}

/// The metric names in `text`. A name after a colon is that of a recording rule.
fn metric_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices("podinit_") {
        let before = text[..at].chars().next_back();
        let inside =
            before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '/' | '-'));
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        if !inside && !name.ends_with('_') && !after.starts_with(['*', ':']) {
            names.insert(name.to_owned());
        }
    }
    names
}

#[test]
fn the_metrics_that_documents_name_exist() {
    let real: BTreeSet<String> = families()
        .iter()
        .flat_map(|family| {
            ["", "_bucket", "_count", "_sum"].map(|suffix| format!("{}{suffix}", family.name))
        })
        .collect();
    let mut faults = Vec::new();
    // The changelog names what there once was.
    let documents = documents().into_iter();
    for (document, text) in documents.filter(|(document, _)| document != "CHANGELOG.md") {
        let names = metric_names(&text).into_iter();
        let unknown = names.filter(|name| !real.contains(name) && name != "podinit_loom");
        faults.extend(unknown.map(|name| format!("{document}: {name}")));
    }
    assert!(faults.is_empty(), "no such metrics: {faults:#?}");
}

/// The filters of `cargo test --test suite FILTER...` in a text.
fn test_filters(text: &str) -> BTreeSet<String> {
    let commands = text.lines().filter_map(|line| {
        let (_, arguments) = line.split_once("--test suite")?;
        let end = arguments.find(['#', '`', '|', '"']);
        Some(&arguments[..end.unwrap_or(arguments.len())])
    });
    let filters = commands.flat_map(|arguments| {
        let words = arguments.split_whitespace();
        words.take_while(|word| !word.starts_with('-')).map(str::to_owned)
    });
    filters.collect()
}

/// A filter that matches nothing would end as a success that has tested nothing.
#[test]
fn every_documented_filter_matches_a_test() {
    let listed = Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .output()
        .unwrap();
    let tests = String::from_utf8(listed.stdout).unwrap();
    let filters: BTreeSet<String> = documents().values().flat_map(|it| test_filters(it)).collect();
    assert!(filters.len() > 5, "{filters:?}");
    for filter in filters {
        assert!(tests.contains(&filter), "no test matches {filter:?}");
    }
}

#[test]
fn filters_are_read_from_commands() {
    let text =
        "| `cargo test --test suite report:: -- --ignored` |\ncargo test --test suite   # all";
    assert_eq!(test_filters(text), BTreeSet::from(["report::".to_owned()]));
}
