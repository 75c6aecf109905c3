//! The tables of the documents against the program, in both directions.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use podinit::args::command_line;
use podinit_core::lifecycle::{
    AnomalyKind, EvictedState, ExclusionReason, Milestone, Outcome, RefusalReason, Stage,
    UnobservedReason,
};
use podinit_exporter::families;
use podinit_tools::doctor::report::{Check, Severity};

const README: &str = "README.md";
const METRICS: &str = "docs/metrics.md";
const CONFIGURATION: &str = "docs/configuration.md";
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

const METRICS_HEAD: &str = "| name | type | labels |";

/// `UPDATE_GOLDEN=1` makes the rows from the program, in its order.
#[test]
fn every_metric_is_documented_as_it_is() {
    let rows: Vec<String> = families()
        .iter()
        .map(|family| {
            let own = family.labels.iter().map(|label| format!("`{label}`"));
            let set = family.label_set.then(|| "label set".to_owned());
            let labels: Vec<String> = own.chain(set).collect();
            let (name, kind, labels) = (family.name, family.kind.as_str(), labels.join(", "));
            let stability = family.stability.as_str();
            format!("`{name}` | {kind} | {labels} | {stability} | {}", family.help)
        })
        .collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let text = text_of(METRICS);
        let (before, table) = text.split_at(text.find(METRICS_HEAD).unwrap());
        let (table, after) = table.split_once("\n\n").unwrap();
        let head = table.lines().take(2).map(str::to_owned);
        let rows = rows.iter().map(|row| format!("| {} |", row.replace("|  |", "| |")));
        let table: Vec<String> = head.chain(rows).collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(METRICS);
        std::fs::write(path, format!("{before}{}\n\n{after}", table.join("\n"))).unwrap();
    }
    let documented = table(METRICS, METRICS_HEAD).into_iter();
    let documented = documented.map(|row| row.join(" | ")).collect();
    assert_same(METRICS, &documented, &rows.into_iter().collect());
}

#[test]
fn every_flag_is_documented_as_it_is() {
    let text = text_of(CONFIGURATION);
    let mut documented = BTreeSet::new();
    for row in table(CONFIGURATION, "| flag | default |") {
        let [flag, default, commands, meaning] = row.as_slice() else {
            panic!("not four cells: {row:?}");
        };
        assert!(!meaning.is_empty(), "{flag} has no meaning");
        // What the page says that a word in italics stands for.
        let named = text.lines().find_map(|line| {
            let rest = line.strip_prefix("- ")?.strip_prefix(commands.as_str())?;
            rest.strip_prefix(": ")
        });
        for command in named.unwrap_or(commands).split(", ") {
            documented.insert(format!("{command}: {flag} | {default}"));
        }
    }
    let mut real = BTreeSet::new();
    for command in command_line().get_subcommands() {
        for argument in command.get_arguments() {
            let Some(long) = argument.get_long().filter(|name| *name != "help") else {
                continue;
            };
            let short = argument.get_short();
            let short = short.map_or(String::new(), |short| format!(", `-{short}`"));
            // The page names a variable only where it is not made from the flag.
            let variable = argument.get_env().unwrap().to_str().unwrap();
            let made = format!("PODINIT_{}", long.replace('-', "_").to_uppercase());
            let variable = if variable == made { String::new() } else { format!(", `{variable}`") };
            let default = argument.get_default_values().first();
            let default = default.filter(|_| argument.get_action().takes_values());
            let default =
                default.map_or(String::new(), |value| format!("`{}`", value.to_str().unwrap()));
            let name = command.get_name();
            real.insert(format!("{name}: `--{long}`{short}{variable} | {default}"));
        }
    }
    assert_same(CONFIGURATION, &documented, &real);
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
