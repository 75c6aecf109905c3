//! What a person is told who makes a mistake on the command line, in a variable or in a file: what, where, and how
//! to fix it.

use std::path::Path;

use crate::support::output::one_line;
use crate::support::process::{podinit, run, run_with};

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

fn text_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The error of `stuck` with a kubeconfig of this text.
fn refused(kubeconfig: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), kubeconfig).unwrap();
    one_line(&run(&["stuck", "--kubeconfig", text_of(file.path())]))
}

/// What usage errors say besides the usage.
fn usage_error(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_report_of_nothing_is_an_error_and_one_of_no_pods_says_so() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let name = text_of(file.path());
    for format in ["text", "json", "markdown", "csv", "trace", "html"] {
        let line = one_line(&run(&["report", "-o", format, name]));
        says(&line, &[name, "it is empty", "may have failed"]);
        let line = one_line(&run(&["report", "-o", format, name, name]));
        assert_eq!(line.matches(name).count(), 2, "{line}");
    }
    let list = r#"{"kind":"PodList","items":[]}"#;
    for (format, said) in [
        ("text", "No pods (timestamps: api)\n"),
        ("markdown", "# Pod startup\n\nNo pods (timestamps: api).\n"),
        ("html", "There are no pods."),
    ] {
        let args = ["report", "-o", format, name, "-"];
        let output = run_with(&args, list);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn files_of_the_credentials_of_an_exporter_are_named() {
    for (flags, names) in [
        (&["--token-file", "/no/such/token"][..], "/no/such/token"),
        (&["--username", "u", "--password-file", "/no/such/word"], "/no/such/word"),
        (&["--ca-file", "/no/such/ca"], "/no/such/ca"),
        (&["--cert-file", "/no/such/cert", "--key-file", "/no/such/key"], "/no/such/cert"),
    ] {
        let args = [&["stuck", "--url", "https://127.0.0.1:1"], flags].concat();
        let line = one_line(&run(&args));
        says(&line, &[names, "cannot be read"]);
    }
}

#[test]
fn an_entry_of_a_kubeconfig_that_cannot_be_used_is_named_with_its_line() {
    let text = "apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters:\n- name: c\n  cluster: SERVER\n\
                contexts:\n- {name: here, context: {cluster: c, user: u}}\nusers:\n- {name: u, user: USER}\n";
    let good = "{server: \"http://127.0.0.1:1\"}";
    for (server, user, said) in [
        ("{}", "{}", "cluster c (line 5) has no server"),
        ("{server: \"a b\"}", "{}", "the server of cluster c (line 5) is not a URL"),
        (
            "{server: \"https://h:99999\"}",
            "{}",
            "the port of the server of cluster c (line 5) is not from 1 to 65535",
        ),
        (
            "{server: \"https://h\", certificate-authority: /no/such}",
            "{}",
            "cluster c (line 5): the file of certificate-authority cannot be read",
        ),
        (
            good,
            "{client-certificate-data: \"-\", client-key-data: \"-\"}",
            "client-certificate-data is not base64",
        ),
    ] {
        let text = text.replace("SERVER", server).replace("USER", user);
        let line = refused(&text);
        says(&line, &["context here", said]);
    }
    let text =
        text.replace("SERVER", good).replace("USER", "{}").replace("cluster: c,", "cluster: d,");
    let line = refused(&text);
    says(&line, &["context here (line 8) names the cluster d, which is not there"]);
}

#[test]
fn usage_errors_say_what_is_meant() {
    let shell = usage_error(&["completions", "tcsh"]);
    says(&shell, &["tcsh", "bash, zsh, fish"]);
    assert!(!shell.contains("similar"), "{shell}");
    says(&usage_error(&["completions", "bsh"]), &["similar", "bash"]);
    says(&usage_error(&["serve", "--listne", ":1"]), &["--listen"]);
    says(&usage_error(&["serve", "--listen", ":99999"]), &["the port must be from 0 to 65535"]);
    for command in [&["stuck"][..], &["explain", "web"]] {
        let args = [command, &["--url", "http://localhost:99999"]].concat();
        says(&usage_error(&args), &["--url", "the port of a URL is a number from 1 to 65535"]);
    }
    says(&usage_error(&["explain", "--file", "x", "-o", "html"]), &["are of one pod", "name it"]);
}

#[test]
fn a_variable_that_nobody_reads_is_warned_about() {
    let output = podinit(["rules"]).env("PODINIT_LABLE_SELECTOR", "s3cret").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let log = String::from_utf8(output.stderr).unwrap();
    says(&log, &["WARN", "PODINIT_LABLE_SELECTOR", "did you mean PODINIT_LABEL_SELECTOR?"]);
    assert!(!log.contains("s3cret"), "{log}");
    assert!(run(&["rules"]).stderr.is_empty());
}
