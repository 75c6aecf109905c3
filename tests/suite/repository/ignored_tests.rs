//! No test is forgotten: what `cargo test` ignores, `.ci/run full` or the end-to-end suite runs, or a person does.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Ignored tests that `.ci/run full` does not name, and who runs them.
const OTHERS: [(&str, &str); 12] = [
    ("command_line::environment::", "the test beside it"),
    ("command_line::panic_line::", "the test beside it"),
    ("checkpoint::cost::", "a person who measures"),
    ("memory::large_cluster::what_", "a person who measures"),
    ("proof::nothing_is_lost_and_nothing_is_double_of_a_million_pods", "a person, for hours"),
    ("proof::replay", "a person who looks for a fault"),
    ("soak::", "a person, for hours"),
    ("recordings::protobuf::", "tests/e2e/run"),
    ("repository::rules::", "tests/e2e/run"),
    ("simulation::slo_outage::", "tests/e2e/run"),
    ("simulation::scene_alerts::promtool", "tests/e2e/run"),
    ("promtool_fires", "tests/e2e/run"),
];

/// The filters of the step "slow tests".
fn filters() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = fs::read_to_string(root.join(".ci/run")).unwrap();
    let (_, step) = script.split_once("step \"slow tests\"").unwrap();
    let (_, filters) = step.split_once("--ignored ").unwrap();
    let (filters, _) = filters.split_once(" --skip promtool").unwrap();
    filters.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_ignored_test_is_run_somewhere() {
    let program = std::env::current_exe().unwrap();
    let list = ["--list", "--ignored", "--format", "terse"];
    let output = Command::new(program).args(list).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let ignored: Vec<&str> =
        (output.lines()).filter_map(|line| line.strip_suffix(": test")).collect();
    let filters = filters();
    for filter in &filters {
        let found = ignored.iter().any(|name| name.contains(filter));
        assert!(found, "{filter} of .ci/run fits no ignored test");
    }
    let is_run = |name: &str| {
        let in_ci =
            filters.iter().any(|filter| name.contains(filter)) && !name.contains("promtool");
        in_ci || OTHERS.iter().any(|(part, _)| name.contains(part))
    };
    let forgotten: Vec<&&str> = ignored.iter().filter(|name| !is_run(name)).collect();
    assert!(forgotten.is_empty(), "nobody runs {forgotten:?}");
    for (part, who) in OTHERS {
        let found = ignored.iter().any(|name| name.contains(part));
        assert!(found, "{part} fits no ignored test ({who})");
    }
}
