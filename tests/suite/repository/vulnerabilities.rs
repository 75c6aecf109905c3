//! `.ci/deny` with a cargo-deny that answers as the test says: a vulnerability fails, and nothing passes in
//! silence that was not checked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The exit status and the output, where the database can be had or not, with a vulnerability or not.
fn deny(database: bool, vulnerable: bool, on_github: bool) -> (Option<i32>, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = fs::read_to_string(root.join(".ci/deny")).unwrap();
    let (_, version) = script.split_once("need_cargo_tool cargo-deny ").unwrap();
    let version = version.lines().next().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let place = format!("podinit-e2e/cargo-deny-{version}/bin");
    let place = cache.path().join(place);
    fs::create_dir_all(&place).unwrap();
    let program = place.join("cargo-deny");
    let answers = format!(
        "#!/bin/sh\ncase \"$*\" in\n*' fetch db') exit {};;\n*' advisories') exit {};;\nesac\n",
        i32::from(!database),
        i32::from(vulnerable),
    );
    fs::write(&program, answers).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(root.join(".ci/deny"));
    command.env("XDG_CACHE_HOME", cache.path()).env_remove("GITHUB_ACTIONS");
    if on_github {
        command.env("GITHUB_ACTIONS", "true");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text)
}

#[test]
fn a_vulnerability_fails() {
    for on_github in [false, true] {
        assert_eq!(deny(true, true, on_github).0, Some(1));
        assert_eq!(deny(true, false, on_github), (Some(0), String::new()));
    }
}

#[test]
fn what_cannot_be_checked_is_not_passed_in_silence() {
    let (status, said) = deny(false, false, false);
    assert_eq!(status, Some(0));
    assert!(said.contains("NOT CHECKED"), "{said}");
    let (status, said) = deny(false, false, true);
    assert_eq!(status, Some(1));
    assert!(said.contains("::error::"), "{said}");
}
