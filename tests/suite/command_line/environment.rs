//! Options from the environment. They are parsed in processes of their own, which are started with
//! the variables: a process that has threads must not change its environment.

use std::ffi::OsString;
use std::process;

use podinit::args::{Command, ServeArgs};
use podinit_expo::metrics::SeriesLabel;

fn serve(line: &[&str]) -> ServeArgs {
    match Command::parse(line.iter().map(OsString::from)).unwrap() {
        Command::Serve(args) => args,
        other => panic!("not serve: {other:?}"),
    }
}

/// Runs this binary again, for one of the tests below that are ignored, with these variables.
fn run_with(test: &str, variables: &[(&str, &str)]) {
    let child = process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{output}");
    assert!(output.contains("1 passed"), "{output}");
}

const VARIABLES: [(&str, &str); 5] = [
    ("PODINIT_LISTEN", "127.0.0.1:1"),
    ("PODINIT_NAMESPACE", "b,a"),
    ("PODINIT_LABELS", ""),
    ("PODINIT_POD_LABEL", "app,tier"),
    ("PODINIT_LABEL_CAP", "10,app=20"),
];

#[test]
fn variables_stand_in_for_flags_and_flags_win() {
    run_with("command_line::environment::with_variables", &VARIABLES);
    let mut no_namespace = VARIABLES;
    no_namespace[1] = ("PODINIT_NAMESPACE", "");
    run_with("command_line::environment::with_an_empty_namespace", &no_namespace);
}

#[test]
#[ignore = "needs variables; the test above runs it"]
fn with_variables() {
    let args = serve(&["podinit"]);
    assert_eq!(args.exporter.listen.port(), 1);
    assert_eq!(args.cluster.namespaces.chosen(), ["a", "b"]);
    let labels = args.exporter.labels.config();
    let [app, tier] = ["app", "tier"].map(|key| SeriesLabel::PodLabel(key.to_owned()));
    assert_eq!(labels.labels, [app, tier]);
    assert_eq!([labels.cap_of("app"), labels.cap_of("tier")], [20, 10]);

    let args = serve(&["podinit", "--listen", ":2", "-n", "c", "--labels", "node"]);
    assert_eq!(args.exporter.listen.port(), 2);
    assert_eq!(args.cluster.namespaces.chosen(), ["c"]);
    assert!(args.exporter.labels.config().labels.contains(&SeriesLabel::Node));
}

#[test]
#[ignore = "needs variables; the test above runs it"]
fn with_an_empty_namespace() {
    assert!(serve(&["podinit"]).cluster.namespaces.chosen().is_empty());
}
