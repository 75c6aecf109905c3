//! What `deploy/` has of the rules, or makes of them, is what the program writes, and says nothing that the
//! exporter does not expose or the runbooks do not explain.
//!
//! `UPDATE_GOLDEN=1 cargo test --test suite repository::rules::` writes the files again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use podinit::families;
use podinit_core::lifecycle::Cause;
use podinit_rules::{RenderOptions, RulesFormat, render};
use podinit_slo::SloFile;
use podinit_slo::file::DEFAULT_TEXT;

/// The names of series that a text consists of, among other words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| {
        !(character.is_ascii_alphanumeric() || character == '_' || character == ':')
    })
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn rendered(format: RulesFormat) -> String {
    let options = RenderOptions { format, ..RenderOptions::default() };
    render(&SloFile::built_in(), &options).unwrap()
}

/// The rules with the links that the mixin fills in, or takes away.
pub(crate) fn linked() -> String {
    let options = RenderOptions {
        runbook_url: Some("RUNBOOK_URL".to_owned()),
        dashboard_url: Some("DASHBOARD_URL".to_owned()),
        page_url: Some("PAGE_URL".to_owned()),
        ..RenderOptions::default()
    };
    render(&SloFile::built_in(), &options).unwrap()
}

/// The files that the program writes.
fn written() -> [(&'static str, String); 4] {
    [
        ("deploy/slo-default.yaml", DEFAULT_TEXT.to_owned()),
        // Neither kustomize nor Helm reads files outside of its own directory.
        ("deploy/components/slo/slo.yaml", DEFAULT_TEXT.to_owned()),
        ("deploy/prometheus-rules.yaml", rendered(RulesFormat::Prometheus)),
        ("deploy/openslo.yaml", rendered(RulesFormat::OpenSlo)),
    ]
}

#[test]
fn checked_in_files_are_what_the_program_writes() {
    for (name, text) in written() {
        let path = path(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{name} is out of date: UPDATE_GOLDEN=1 cargo test --test suite repository::rules::"
        );
    }
}

/// Git has one copy of rules and dashboards. A script makes those that Helm, kustomize and Jsonnet need.
#[test]
fn the_copies_that_deploy_needs_can_be_made() {
    let made = tempfile::tempdir().unwrap();
    let script = Command::new(path("deploy/generate"))
        .args([env!("CARGO_BIN_EXE_podinit").as_ref(), made.path()])
        .output()
        .unwrap();
    assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
    let read = |name: &str| fs::read_to_string(made.path().join("deploy").join(name)).unwrap();
    let rules = rendered(RulesFormat::Prometheus);
    assert!(read("chart/podinit/files/prometheus-rules.yaml") == rules);
    let of_operator = rendered(RulesFormat::PrometheusRule);
    assert!(read("components/prometheus-operator/prometheusrule.yaml") == of_operator);
    assert!(read("mixin/prometheus-rules.yaml") == linked());
    let boards = fs::read_dir(path("dashboards")).unwrap().map(|entry| entry.unwrap().path());
    let boards: Vec<PathBuf> =
        boards.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    assert_eq!(boards.len(), 7);
    for board in boards {
        let name = board.file_name().unwrap().to_str().unwrap();
        let copy = read(&format!("chart/podinit/files/dashboards/{name}"));
        assert!(copy == fs::read_to_string(&board).unwrap(), "{name}");
    }
}

#[test]
fn what_is_written_is_yaml() {
    for (name, text) in written() {
        for document in text.split("---\n") {
            let parsed: Result<serde_json::Value, _> = serde_saphyr::from_str(document);
            assert!(parsed.is_ok(), "{name}: {}", parsed.unwrap_err());
        }
    }
}

/// Each alert of the default rules, with its annotations.
fn alerts() -> Vec<(String, serde_json::Value)> {
    let text = linked();
    let rules: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
    let groups = rules["groups"].as_array().unwrap().clone();
    let rules = groups.into_iter().flat_map(|group| group["rules"].as_array().unwrap().clone());
    rules.filter_map(|rule| Some((rule["alert"].as_str()?.to_owned(), rule))).collect()
}

#[test]
fn every_alert_says_what_whoever_is_called_must_know() {
    for (name, rule) in alerts() {
        let severity = rule["labels"]["severity"].as_str().unwrap();
        assert!(["critical", "warning", "info"].contains(&severity), "{name}");
        for key in ["summary", "description", "runbook_url", "dashboard_url"] {
            let text = rule["annotations"][key].as_str();
            assert!(text.is_some_and(|text| !text.is_empty()), "{name}: {key}");
        }
        let summary = rule["annotations"]["summary"].as_str().unwrap();
        // Only an alert of an SLO names in it what its pods share.
        let is_of_slo = name == "PodinitSLOBudgetBurn";
        assert!(summary.ends_with('.') && summary.contains("{{") == is_of_slo, "{name}");
    }
}

#[test]
fn every_alert_has_its_runbook_and_every_runbook_its_alert() {
    let runbooks = fs::read_to_string(path("deploy/runbooks.md")).unwrap();
    let sections: Vec<&str> = runbooks.split("\n## ").skip(1).collect();
    let titles: BTreeSet<String> = sections
        .iter()
        .map(|section| section.lines().next().unwrap().to_owned())
        .filter(|title| title.starts_with("Podinit"))
        .collect();
    let names: BTreeSet<String> = alerts().into_iter().map(|(name, _)| name).collect();
    assert_eq!(titles, names);
    for section in sections.iter().filter(|section| section.starts_with("Podinit")) {
        let title = section.lines().next().unwrap();
        for part in ["**Meaning.**", "**Look.**", "**Do.**", "```promql"] {
            assert!(section.contains(part), "{title} lacks {part}");
        }
    }
    for (name, rule) in alerts() {
        let url = rule["annotations"]["runbook_url"].as_str().unwrap();
        let anchor = format!("RUNBOOK_URL#{}", name.to_lowercase());
        assert_eq!(url, anchor);
    }
}

#[test]
fn alerts_link_to_what_has_an_address_and_to_nothing_else() {
    let with = linked();
    for link in [
        "runbook_url: RUNBOOK_URL#podinitdown",
        "cause_runbook_url: RUNBOOK_URL#cause-{{ $labels.cause }}",
        "dashboard_url: DASHBOARD_URL/podinit-",
        "page_url: PAGE_URL/",
        "explain_command: podinit explain --url PAGE_URL",
    ] {
        assert!(with.contains(link), "no {link}");
    }
    let without = rendered(RulesFormat::Prometheus);
    assert!(!without.contains("_url:") && !without.contains("explain_command"));
}

/// The page of causes is one that alerts link to, with commands for pods in any phase.
#[test]
fn every_cause_has_its_runbook() {
    let runbooks = fs::read_to_string(path("deploy/runbooks.md")).unwrap();
    let sections: Vec<&str> = runbooks.split("\n## Cause: ").skip(1).collect();
    let titles: Vec<&str> =
        (sections.iter()).map(|section| section.lines().next().unwrap()).collect();
    // Alerts have two values more: pods of several causes, and pods that were never seen to wait.
    let causes = Cause::ALL.into_iter().map(Cause::as_str);
    let expected: BTreeSet<&str> = causes.chain(["several", "none"]).collect();
    assert_eq!(titles.len(), expected.len(), "{titles:?}");
    assert_eq!(titles.into_iter().collect::<BTreeSet<_>>(), expected);
    for section in &sections {
        // It has a command or a query, or names the section whose command finds its pods.
        let helps = ["```sh\n", "```promql\n", "](#find-the-pods)", "each has a section below"];
        assert!(helps.iter().any(|help| section.contains(help)), "{section}");
        let title = section.lines().next().unwrap();
        for part in ["**Means.**", "**Mostly.**\n\n1. ", "\n2. ", "\n3. ", "**Find the pods"] {
            assert!(section.contains(part), "{title} lacks {part}");
        }
    }
    let commands = runbooks.split("```sh\n").skip(1);
    for command in commands.map(|rest| rest.split("```").next().unwrap()) {
        assert!(!command.contains("status.phase=Pending"), "{command}");
    }
}

/// The inhibition rules name alerts that exist, and labels that both sides have.
#[test]
fn inhibition_rules_name_alerts_and_their_labels() {
    #[derive(serde::Deserialize)]
    struct File {
        inhibit_rules: Vec<Inhibition>,
    }
    #[derive(serde::Deserialize)]
    struct Inhibition {
        source_matchers: Vec<String>,
        target_matchers: Vec<String>,
        equal: Vec<String>,
    }
    let text = fs::read_to_string(path("deploy/alertmanager-inhibition.yaml")).unwrap();
    let file: File = serde_saphyr::from_str(&text).unwrap();
    let names: BTreeSet<String> = alerts().into_iter().map(|(name, _)| name).collect();
    assert!(!file.inhibit_rules.is_empty());
    for rule in file.inhibit_rules {
        for matchers in [&rule.source_matchers, &rule.target_matchers] {
            let about = &matchers[0];
            let pattern = about.split('"').nth(1).unwrap();
            let known = |name: &String| {
                let prefixes = pattern.split('|');
                prefixes.into_iter().any(|one| {
                    let one = one.split(['.', '(', ')']).next().unwrap();
                    name.starts_with(one)
                })
            };
            assert!(about.starts_with("alertname=") && names.iter().any(known), "{about}");
        }
        let labels = ["cluster", "job", "slo", "stage", "cause"];
        assert!(rule.equal.iter().all(|label| labels.contains(&label.as_str())));
    }
}

/// What the program writes, and what is written about it.
fn texts() -> impl Iterator<Item = (&'static str, String)> {
    let more = ["deploy/runbooks.md", "tests/promtool/rules_test.yaml"];
    let more = more.map(|name| (name, fs::read_to_string(path(name)).unwrap()));
    written().into_iter().chain([("the rules with links", linked())]).chain(more)
}

#[test]
fn only_metrics_are_named_that_are_exposed() {
    for (name, text) in texts() {
        for metric in words(&text).filter(|word| word.starts_with("podinit_")) {
            let family = ["_bucket", "_count", "_sum"]
                .iter()
                .find_map(|suffix| metric.strip_suffix(suffix))
                .unwrap_or(metric);
            let known = families().iter().any(|known| known.name == family);
            assert!(known, "{name} names {metric}");
        }
    }
}

#[test]
fn only_series_are_named_that_are_recorded() {
    let recorded: BTreeSet<String> = rendered(RulesFormat::Prometheus)
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- record: "))
        .map(str::to_owned)
        .collect();
    for (name, text) in texts() {
        for word in words(&text).filter(|word| word.contains(":podinit_")) {
            assert!(recorded.contains(word), "{name} names {word}");
        }
    }
}

fn promtool(arguments: &[&str]) {
    let promtool = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    let output = Command::new(promtool).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
#[ignore = "needs promtool (tests/e2e/run)"]
fn promtool_accepts_the_checked_in_rules_and_they_pass_their_tests() {
    let rules = path("deploy/prometheus-rules.yaml");
    let rules = rules.to_str().unwrap();
    promtool(&["check", "rules", "--lint=all", "--lint-fatal", rules]);
    let tests = path("tests/promtool/rules_test.yaml");
    promtool(&["test", "rules", tests.to_str().unwrap()]);
}

#[test]
#[ignore = "needs promtool (tests/e2e/run)"]
fn promtool_reads_the_queries_of_the_runbooks() {
    let runbooks = fs::read_to_string(path("deploy/runbooks.md")).unwrap();
    let blocks = runbooks.split("```promql\n").skip(1);
    let queries = blocks.map(|block| block.split("```").next().unwrap().trim());
    let rules: String = (0..)
        .zip(queries)
        .map(|(number, query)| format!("  - record: query:{number}\n    expr: {query:?}\n"))
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queries.yaml");
    fs::write(&file, format!("groups:\n- name: queries\n  rules:\n{rules}")).unwrap();
    promtool(&["check", "rules", file.to_str().unwrap()]);
}

/// What the page tells Sloth and Pyrra to read are the events of an SLO that podinit has by itself.
#[test]
fn what_other_writers_of_rules_read_is_an_slo_of_podinit() {
    let page = fs::read_to_string(path("docs/slo.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Sloth")).unwrap();
    let blocks = section.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let blocks: Vec<serde_json::Value> =
        blocks.map(|block| serde_saphyr::from_str(block).unwrap()).collect();
    let [sloth, pyrra] = &blocks[..] else { panic!("{blocks:?}") };
    let slos = SloFile::built_in().slos;
    let own = |name: &serde_json::Value| {
        slos.iter().find(|slo| *slo.rule.name == *name.as_str().unwrap())
    };
    let counted = |result: &str| {
        format!("podinit_slo_events_total{{job=\"podinit\", slo=\"network-ready\"{result}}}")
    };
    let (bad, all) = (counted(", result=\"bad\""), counted(""));

    let slo = &sloth["slos"][0];
    let objective = own(&slo["name"]).unwrap().objective_percent;
    assert_eq!(slo["objective"].as_f64(), Some(objective));
    let over_window = |events: &str| format!("sum(increase({events}[{{{{.window}}}}]))");
    assert_eq!(slo["sli"]["events"]["error_query"], over_window(&bad));
    assert_eq!(slo["sli"]["events"]["total_query"], over_window(&all));

    assert!(own(&pyrra["metadata"]["name"]).is_some());
    assert_eq!(pyrra["spec"]["target"], objective.to_string());
    let ratio = &pyrra["spec"]["indicator"]["ratio"];
    assert_eq!(
        (&ratio["errors"]["metric"], &ratio["total"]["metric"]),
        (&serde_json::json!(bad), &serde_json::json!(all))
    );
}
