//! The tables of the documents against the program, in both directions.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use podinit::args::command_line;
use podinit::families;
use podinit_core::lifecycle::{
    AnomalyKind, EvictedState, ExclusionReason, Milestone, Outcome, RefusalReason, Stage,
    UnobservedReason,
};
use podinit_doctor::report::{Check, Severity};

const README: &str = "README.md";
const METRICS: &str = "docs/metrics.md";
const ALL_METRICS: &str = "docs/reference/metrics.md";
const ALL_FLAGS: &str = "docs/reference/flags.md";
const DOCTOR: &str = "docs/troubleshooting.md";
const STAGES: &str = "docs/specification/measuring.md";
const DEFINED_METRICS: &str = "docs/specification/metrics.md";
const REPORTS: &str = "docs/reports.md";

fn text_of(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    std::fs::read_to_string(path).unwrap()
}

/// The rows of the document's table whose head begins with these cells, cell by cell.
fn table(document: &str, head: &str) -> Vec<Vec<String>> {
    let text = text_of(document);
    let mut lines = text.lines().skip_while(|line| !line.starts_with(head));
    assert!(lines.next().is_some(), "no table in {document} begins with {head}");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let inner = line.trim_matches('|');
        inner.split('|').map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// The two sets are the same; otherwise the message says what the document lacks and what it has
/// that the program does not.
fn assert_same(document: &str, documented: &BTreeSet<String>, real: &BTreeSet<String>) {
    let mut faults = String::new();
    for missing in real.difference(documented) {
        let _ = writeln!(faults, "{document} lacks:      {missing}");
    }
    for stale in documented.difference(real) {
        let _ = writeln!(faults, "{document} has, wrongly: {stale}");
    }
    assert!(faults.is_empty(), "\n{faults}");
}

/// The generated document has this text; `UPDATE_GOLDEN=1` writes it.
fn assert_generated(document: &str, title: &str, intro: &str, head: &[&str], rows: &[String]) {
    let line = "|---".repeat(head.len());
    let text = format!(
        "# {title}\n\n{intro}\n`make golden` makes this page from the program.\n\n| {} |\n{line}|\n{}\n",
        head.join(" | "),
        rows.join("\n")
    );
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
        std::fs::write(path, &text).unwrap();
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    assert_same(document, &lines(&text_of(document)), &lines(&text));
    assert!(text_of(document) == text, "{document}: lines are in another order");
}

/// A row of a table; an empty cell is one space.
fn row(cells: &[&str]) -> String {
    let cells =
        cells.iter().map(|cell| if cell.is_empty() { String::new() } else { format!(" {cell}") });
    format!("|{} |", cells.collect::<Vec<_>>().join(" |"))
}

#[test]
fn the_page_of_metrics_is_that_of_the_program() {
    let rows = families().iter().map(|family| {
        let own = family.labels.iter().map(|label| format!("`{label}`"));
        let set = family.label_set.then(|| "label set".to_owned());
        let labels: Vec<String> = own.chain(set).collect();
        let name = format!("`{}`", family.name);
        let (kind, stability) = (family.kind.as_str(), family.stability.as_str());
        row(&[&name, kind, &labels.join(", "), stability, family.help])
    });
    assert_generated(
        ALL_METRICS,
        "All metrics",
        "Every metric that podinit exposes. [Metrics](../metrics.md) explains labels, histograms and stability.",
        &["name", "type", "labels", "stability", "meaning"],
        &rows.collect::<Vec<_>>(),
    );
}

/// A text of the command line as one of Markdown.
fn escaped(text: &str) -> String {
    let text = text.replace('<', "&lt;").replace('|', "\\|");
    text.replace('*', "\\*").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The flag with its short form, its other names and its variable, which is named only where it is not made from the
/// flag.
fn names_of(argument: &clap::Arg) -> Option<String> {
    let long = argument.get_long().filter(|name| *name != "help")?;
    let short = argument.get_short().map(|short| format!("`-{short}`"));
    let aliases = argument.get_visible_aliases().unwrap_or_default().into_iter();
    let aliases = aliases.map(|alias| format!("`--{alias}`"));
    let variable = argument.get_env().unwrap().to_str().unwrap();
    let made = format!("PODINIT_{}", long.replace('-', "_").to_uppercase());
    let variable = (variable != made).then(|| format!("`{variable}`"));
    let names = [format!("`--{long}`")].into_iter().chain(short).chain(aliases).chain(variable);
    Some(names.collect::<Vec<_>>().join(", "))
}

/// Whether the text has this word, between others and signs.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, after) =
            (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        ![before, after].into_iter().flatten().any(|c| c.is_alphanumeric() || c == '-')
    })
}

/// Its default, and its meaning with its values unless that names them all.
fn default_and_meaning(argument: &clap::Arg) -> [String; 2] {
    let help = argument.get_help().unwrap().to_string();
    let (mut meaning, mut default) = (help.clone(), String::new());
    if let Some((before, rest)) = help.split_once(" [default: ") {
        let (stated, after) = rest.split_once(']').unwrap();
        (meaning, default) = (format!("{before}{after}"), escaped(stated));
    }
    if argument.get_action().takes_values() {
        if let Some(value) = argument.get_default_values().first() {
            default = format!("`{}`", value.to_str().unwrap());
        }
        let values = argument.get_possible_values();
        let names: Vec<_> = values.iter().map(|value| value.get_name()).collect();
        if !names.iter().all(|name| has_word(&help, name)) {
            meaning = format!("{meaning}: `{}`", names.join("`, `"));
        }
    }
    [default, escaped(&meaning)]
}

#[test]
fn the_page_of_flags_is_that_of_the_program() {
    let mut flags: Vec<([String; 3], Vec<String>)> = Vec::new();
    for command in command_line().get_subcommands() {
        for argument in command.get_arguments() {
            let Some(names) = names_of(argument) else {
                continue;
            };
            let [default, meaning] = default_and_meaning(argument);
            let flag = [names, default, meaning];
            let command = command.get_name().to_owned();
            match flags.iter_mut().find(|(known, _)| *known == flag) {
                Some((_, commands)) => commands.push(command),
                None => flags.push((flag, vec![command])),
            }
        }
    }
    let rows = flags.iter().map(|([names, default, meaning], commands)| {
        row(&[names, default, &commands.join(", "), meaning])
    });
    assert_generated(
        ALL_FLAGS,
        "All flags",
        "Every flag of every command. [Flags](../configuration.md) explains variables, files and signals.",
        &["flag", "default", "commands", "meaning"],
        &rows.collect::<Vec<_>>(),
    );
}

#[test]
fn every_command_is_documented() {
    let documented = table(README, "| command | what it does |").into_iter();
    let documented = documented.map(|row| row[0].clone()).collect();
    let commands = command_line();
    let real = commands.get_subcommands();
    let real = real.map(|command| format!("`podinit {}`", command.get_name()));
    assert_same(README, &documented, &real.collect());
}

#[test]
fn every_column_of_a_report_is_documented_in_its_order() {
    let documented = table(REPORTS, "| column | meaning |").into_iter();
    let documented = documented.flat_map(|row| {
        let names = row[0].split(", ").map(|name| name.trim_matches('`').to_owned());
        names.collect::<Vec<_>>()
    });
    assert_eq!(documented.collect::<Vec<_>>(), podinit_reports::report::columns());
}

#[test]
fn every_check_of_doctor_is_documented() {
    let documented = table(DOCTOR, "| check | what it looks at |").into_iter();
    let documented = documented.map(|row| row[0].clone()).collect();
    let real = Check::ALL.map(|check| format!("`{}`", check.as_str()));
    assert_same(DOCTOR, &documented, &real.into());
}

#[test]
fn the_exit_statuses_of_doctor_are_documented() {
    let [note, warning, error] =
        [Severity::Note, Severity::Warning, Severity::Error].map(Severity::exit_code);
    let text = text_of(DOCTOR).replace('\n', " ");
    let stated = format!(
        "The exit status is {note} where nothing is worse than a note, {warning} with warnings, \
         {error} with errors"
    );
    assert!(text.contains(&stated), "{stated}");
}

#[test]
fn the_values_of_labels_are_documented() {
    let rows = table(METRICS, "| label | values |");
    let check = |label: &str, values: &[&str]| {
        let row = rows.iter().find(|row| row[0] == label).expect(label);
        let documented = row[1].split('`').skip(1).step_by(2);
        let documented = documented.map(str::to_owned).collect();
        assert_same(
            METRICS,
            &documented,
            &values.iter().map(|value| (*value).to_owned()).collect(),
        );
    };
    check("`stage`", &Stage::ALL.map(Stage::as_str));
    check("`outcome`", &Outcome::ALL.map(Outcome::as_str));
    let reasons = UnobservedReason::ALL.map(UnobservedReason::as_str);
    check("`reason` of `podinit_unobserved_total`", &reasons);
    let exclusions = ExclusionReason::ALL.map(ExclusionReason::as_str);
    check("`reason` of `podinit_slo_excluded_total`", &exclusions);
    check("`state` of `podinit_pods_evicted_total`", &EvictedState::ALL.map(EvictedState::as_str));
    let refusals = RefusalReason::ALL.map(RefusalReason::as_str);
    check("`reason` of `podinit_snapshots_refused_total`", &refusals);
    check("`kind`", &AnomalyKind::ALL.map(AnomalyKind::as_str));
    check("`milestone`", &Milestone::REENTERABLE.map(Milestone::as_str));
}

/// The stages that a table names in the given column.
fn stages_in(document: &str, head: &str, column: usize) -> BTreeSet<String> {
    let rows = table(document, head).into_iter();
    rows.map(|row| row[column].trim_matches('`').to_owned()).collect()
}

#[test]
fn every_stage_is_documented() {
    let real = Stage::ALL.map(|stage| stage.as_str().to_owned()).into();
    let tables = [(README, "| stage | from | to |", 0), (STAGES, "| rule | stage |", 1)];
    for (document, head, column) in tables {
        assert_same(document, &stages_in(document, head, column), &real);
    }
}

#[test]
fn what_the_specification_defines_is_exposed() {
    let rows = table(DEFINED_METRICS, "| name | type | labels |");
    let defined = rows.iter().flat_map(|row| {
        let names = row[0].split(", ");
        names.map(|name| format!("{name} | {}", row[1]))
    });
    let real: BTreeSet<String> = families()
        .iter()
        .map(|family| format!("`{}` | {}", family.name, family.kind.as_str()))
        .collect();
    for family in defined {
        assert!(real.contains(&family), "there is no {family}");
    }
}
