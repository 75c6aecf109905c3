//! What people give for a recording that is none: one line with file, position and what to do, status 1, and nothing on
//! standard output, in every command that reads recordings.

use crate::support::process::podinit;
use std::path::PathBuf;

fn fixture(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/fixtures/field", name].iter().collect();
    path.to_str().unwrap().to_owned()
}

/// The line with which all commands refuse a file.
#[track_caller]
fn refused(file: &str) -> String {
    let commands: [&[&str]; 7] = [
        &["replay"],
        &["report"],
        &["report", "-o", "html"],
        &["report", "--baseline", file],
        &["problems", "-f"],
        &["explain", "-f"],
        &["explain", "web-0", "-f"],
    ];
    let lines = commands.map(|command| {
        let output = podinit(command).arg(file).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {error}");
        assert!(output.stdout.is_empty(), "{command:?}");
        assert_eq!(error.lines().count(), 1, "{command:?}: {error}");
        error
    });
    assert!(lines.iter().all(|line| *line == lines[0]), "{lines:#?}");
    lines[0].clone()
}

#[test]
fn an_audit_log_and_objects_of_client_libraries_are_refused_by_name() {
    let cases = [
        ("audit-log.jsonl", "a line of an audit log"),
        ("python-to-dict.json", "sanitize_for_serialization"),
        ("go-struct.json", "a struct with the names of Go"),
    ];
    for (name, expected) in cases {
        let file = fixture(name);
        let line = refused(&file);
        for part in [&*file, "line 1, column", expected, "kubectl get pods"] {
            assert!(line.contains(part), "{part:?} is missing in: {line}");
        }
    }
}

#[test]
fn texts_for_people_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        ("page.html", "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n", "a web page"),
        ("metrics.txt", "# HELP up x\n# TYPE up gauge\nup{job=\"a\"} 1\n", "metrics of Prometheus"),
        (
            "pods.txt",
            "NAME    READY   STATUS    RESTARTS   AGE\nweb-0   1/1     Running   0          5m\n",
            "a table",
        ),
        ("names.txt", "pod/web-0\npod/web-1\n", "names of pods"),
        (
            "describe.txt",
            "Name:             web-0\nEvents:\n  Type  Reason  Message\n  ----  ------  -------\n  Normal  A  b: c: d\n",
            "kubectl describe",
        ),
        (
            "error.txt",
            "Error from server (Forbidden): pods is forbidden: no\n",
            "pods is forbidden",
        ),
        ("empty.json", "{}\n", "without a kind"),
    ];
    for (name, text, expected) in cases {
        let file = directory.path().join(name);
        std::fs::write(&file, text).unwrap();
        let line = refused(file.to_str().unwrap());
        for part in [name, "line 1, column 1", expected, "kubectl get pods,events -A -o json"] {
            assert!(line.contains(part), "{part:?} is missing in: {line}");
        }
    }
}

/// The kubelet's own list has static pods that no mirror annotation marks.
#[test]
fn static_pods_of_the_kubelets_own_list_are_static() {
    let output = podinit(["report", "-o", "json", &fixture("kubelet-pods.json")]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["finished"]["static"], 2, "{report:#}");
    assert_eq!(report["finished"]["ready"], 1, "{report:#}");
}
