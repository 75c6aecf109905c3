//! What a person sees when something is wrong with the input: one clear line on standard error,
//! the right exit code (1; 2 for usage), and nothing on standard output.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;

use crate::support::process::{podinit, run};

const POD: &str = r#"{"kind":"Pod","metadata":{"name":"p","uid":"u"}}"#;

/// Runs podinit with standard input made by `write`, which may find that nobody reads to its end.
fn run_with_input(args: &[&str], write: impl FnOnce(&mut dyn Write)) -> Output {
    let mut child = podinit(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    write(&mut child.stdin.take().unwrap());
    child.wait_with_output().unwrap()
}

/// Asserts that the command failed with `code` and nothing on standard output, and returns its one
/// line of explanation.
#[track_caller]
fn one_line(output: &Output, code: i32) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(output.stdout.is_empty(), "half-printed: {error}");
    assert!(error.ends_with('\n'), "{error:?}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let line = error.trim_end().to_owned();
    assert!(line.starts_with("podinit: "), "{line}");
    assert!(!line.contains("panicked"), "{line}");
    assert!(!line.chars().any(char::is_control), "{line:?}");
    line
}

/// [§6.10](crate::specification#s6-10): "Without its source, the file is refused."
#[test]
fn an_slo_that_selects_startups_needs_the_evidence_that_tells_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("slo.yaml");
    let slo = "{name: a, interval: network, threshold: 1s, objective: 99, window: 7d, capacity: existing}";
    std::fs::write(&file, format!("slos:\n- {slo}\n")).unwrap();
    let file = file.to_str().unwrap();
    let with = |evidence: &str, command: &[&str]| {
        run(&[command, &["--slo", file, "--evidence", evidence]].concat())
    };
    for (evidence, add) in [("none", "nodes"), ("events", "events,nodes")] {
        let expected =
            format!("podinit: {file}:2:84: capacity needs nodes as evidence; add --evidence {add}");
        for command in [&["replay", "-"][..], &["demo", "--listen", "127.0.0.1:0"]] {
            assert_eq!(one_line(&with(evidence, command), 1), expected);
        }
    }
    let rules = run(&["rules", "--slo", file]);
    assert!(rules.status.success());
}

/// Feeds `input` to every command that reads recordings, in each of its formats, and returns the
/// line that all of them fail with.
#[track_caller]
fn refused(input: &[u8]) -> String {
    let commands: [&[&str]; 6] = [
        &["replay", "-"],
        &["replay", "-o", "openmetrics", "-"],
        &["replay", "-o", "json", "-"],
        &["report", "-"],
        &["report", "-o", "json", "-"],
        &["report", "-o", "markdown", "-"],
    ];
    let lines = commands.map(|command| {
        let output = run_with_input(command, |stdin| drop(stdin.write_all(input)));
        one_line(&output, 1)
    });
    assert!(lines.iter().all(|line| *line == lines[0]), "{lines:#?}");
    lines[0].clone()
}

#[track_caller]
fn says(line: &str, parts: &[&str]) {
    for part in parts {
        assert!(line.contains(part), "{part:?} is missing in: {line}");
    }
}

#[test]
fn truncated_json_is_told_with_its_place() {
    let line = refused(format!("{POD}\n{}", &POD[..POD.len() - 3]).as_bytes());
    says(&line, &["line 2", "cut off", "began at line 2"]);
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    let line = refused(b"{\"kind\":\"Pod\",,}");
    says(&line, &["line 1, column 15", "invalid JSON"]);
}

#[test]
fn an_object_that_is_no_pod_is_named() {
    let line = refused(br#"{"kind":"Service","metadata":{"name":"n","uid":"u"}}"#);
    says(&line, &["line 1", "a Service is not a Pod", "kubectl get pods"]);
    let line = refused(br#"{"kind":"List","items":[{"kind":"Service","metadata":{"uid":"u"}}]}"#);
    says(&line, &["item 1 of the list", "a Service is not a Pod"]);
}

#[test]
fn binary_garbage_is_called_binary() {
    let mut state = 1u64;
    let mut garbage = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    for begin in [&b"\x7fELF\x02\x01\0"[..], b"\0\0\0\0", b"\xff\xd8\xff\xe0"] {
        let mut input = begin.to_vec();
        input.extend((0..4096).map(|_| garbage()));
        says(&refused(&input), &["binary data", "JSON or YAML"]);
    }
    let mut input = POD.as_bytes().to_vec();
    input.extend((0..4096).map(|_| garbage()));
    says(&refused(&input), &["standard input"]);
}

#[test]
fn a_damaged_gzip_file_is_reported() {
    let line = refused(&[0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 1, 2, 3, 4, 5]);
    says(&line, &["cannot be read"]);
}

#[test]
fn a_line_of_100_mib_is_refused() {
    for command in ["replay", "report"] {
        let output = run_with_input(&[command, "-"], |stdin| {
            let part = vec![b'x'; 1 << 20];
            let mut written = stdin.write_all(br#"{"kind":"Pod","metadata":{"name":""#);
            for _ in 0..100 {
                written = written.and_then(|()| stdin.write_all(&part));
            }
            // A reader that has seen enough closes the pipe.
            drop(written.and_then(|()| stdin.write_all(br#""}}"#)));
        });
        says(&one_line(&output, 1), &["longer than", "MiB"]);
    }
}

#[test]
fn a_good_beginning_is_not_half_printed() {
    let line = refused(format!("{POD}\n{POD}\nnonsense: [\n").as_bytes());
    says(&line, &["line 3"]);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let good = directory.path().join("good.json");
    std::fs::write(&good, POD).unwrap();
    let missing = directory.path().join("missing.json");
    for command in ["replay", "report"] {
        let [good, missing, folder] = [&good, &missing, directory.path()].map(text_of);
        let line = one_line(&run(&[command, missing]), 1);
        says(&line, &[missing, "cannot be opened", "No such file"]);
        // What was read before does not show.
        let line = one_line(&run(&[command, good, missing]), 1);
        says(&line, &[missing, "No such file"]);
        let line = one_line(&run(&[command, folder]), 1);
        says(&line, &[folder, "directory"]);
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().join("secret.json");
    std::fs::write(&secret, POD).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&secret).is_ok() {
        // Whoever runs as root may read everything.
        return;
    }
    let line = one_line(&run(&["replay", text_of(&secret)]), 1);
    says(&line, &[text_of(&secret), "cannot be opened", "Permission denied"]);
}

/// What a pipe from a command that failed brings.
#[test]
fn empty_standard_input_is_refused() {
    for input in ["", "\n\n  \n"] {
        says(&refused(input.as_bytes()), &["standard input", "empty", "failed"]);
    }
}

#[test]
fn a_list_without_pods_and_an_empty_file_are_recordings_of_no_pods() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let inputs = [(text_of(file.path()), ""), ("-", r#"{"kind":"PodList","items":[]}"#)];
    for (name, input) in inputs {
        let output = run_with_input(&["replay", name], |stdin| {
            drop(stdin.write_all(input.as_bytes()));
        });
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("\npodinit_pods_discovered_total 0\n"), "{text}");
    }
}

#[test]
fn usage_errors_exit_with_2() {
    let wrong: [&[&str]; 12] = [
        &["replay"],
        &["report"],
        &["replay", "-", "-"],
        &["replay", "--until", "yesterday", "-"],
        &["replay", "-o", "xml", "-"],
        &["replay", "--timestamps", "best", "-"],
        &["--no-such-flag"],
        &["no-such-command"],
        &["serve", "--listen", "nowhere"],
        &["serve", "--label-cap", "none"],
        &["serve", "--log-format", "xml"],
        &["demo", "--rate", "fast"],
    ];
    for args in wrong {
        let output = run(args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(output.stdout.is_empty(), "{args:?}");
        // What is wrong, and then how the command is used.
        assert!(error.starts_with("error: "), "{args:?}: {error}");
        assert!(!error.contains("panicked"), "{args:?}: {error}");
    }
}

#[test]
fn a_variable_is_refused_as_its_flag_is() {
    let output = podinit(["replay", "-"]).env("PODINIT_UNTIL", "soon").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    says(&String::from_utf8(output.stderr).unwrap(), &["soon", "--until"]);
}

/// One variable for all commands would break those that do not have the format.
#[test]
fn each_command_has_a_variable_of_its_own_for_its_format() {
    let formats =
        ["REPLAY", "REPORT", "DOCTOR"].map(|name| (format!("PODINIT_{name}_OUTPUT"), "json"));
    let output = podinit(["rules"]).envs(formats).env("PODINIT_OUTPUT", "json").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let output = podinit(["rules"]).env("PODINIT_RULES_OUTPUT", "openslo").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("apiVersion: openslo") || text.contains("\napiVersion: openslo"),
        "{text}"
    );
}

#[test]
fn a_port_in_use_is_told_with_the_address() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for command in ["serve", "demo"] {
        let line = one_line(&run(&[command, "--listen", &address]), 1);
        says(&line, &[&address, "in use", "--listen"]);
    }
}

/// Runs `serve` with a kubeconfig of this text.
fn serve_with(kubeconfig: &str, more: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kubeconfig");
    std::fs::write(&path, kubeconfig).unwrap();
    serve_from(&path, more)
}

fn serve_from(kubeconfig: &Path, more: &[&str]) -> Output {
    let args = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log-level",
        "error",
        "--connect-timeout",
        "1ms",
        "--kubeconfig",
    ];
    podinit(args).arg(kubeconfig).args(more).output().unwrap()
}

fn kubeconfig_of(server: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters: [{{name: c, cluster: {{server: \"{server}\"}}}}]\n\
         contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
    )
}

fn text_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_wrong_kubeconfig_is_told_with_what_is_wrong_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let line = one_line(&serve_from(&missing, &[]), 1);
    says(&line, &[text_of(&missing), "No such file", "--kubeconfig"]);

    let line = one_line(&serve_with("clusters: [", &[]), 1);
    says(&line, &["is not a kubeconfig"]);

    let good = kubeconfig_of("http://127.0.0.1:1");
    let line = one_line(&serve_with(&good, &["--context", "there"]), 1);
    says(&line, &["no context \"there\"", "--context", "here"]);

    let line = one_line(&serve_with(&good.replace("cluster: c,", "cluster: d,"), &[]), 1);
    says(&line, &["context here cannot be used"]);

    let line = one_line(&serve_with(&kubeconfig_of("nowhere at all"), &[]), 1);
    says(&line, &["kubeconfig"]);
}

#[test]
fn a_missing_cluster_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let mut serve = podinit(["serve", "--listen", "127.0.0.1:0"]);
    let line = one_line(&serve.env("HOME", home.path()).output().unwrap(), 1);
    says(&line, &["no cluster to watch", "--kubeconfig", "podinit demo"]);
}

#[test]
fn an_unreachable_cluster_is_told_with_its_address() {
    // A port that was free a moment ago: nobody listens there.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = format!("http://{address}");
    let line = one_line(&serve_with(&kubeconfig_of(&server), &[]), 1);
    says(&line, &["cannot reach the API server", &server, "refused"]);
}

/// Answers every request with `status` and `body`, and returns the server's URL.
fn answering(status: &'static str, body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        loop {
            let (mut connection, _) = listener.accept().unwrap();
            let mut request = BufReader::new(connection.try_clone().unwrap());
            let mut line = String::new();
            while request.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            let length = body.len();
            let head = "Content-Type: application/json\r\nConnection: close";
            write!(
                connection,
                "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    url
}

fn status_body(code: u16, message: &str) -> String {
    format!(r#"{{"kind":"Status","code":{code},"message":"{message}"}}"#)
}

#[test]
fn an_api_server_that_refuses_is_quoted() {
    let server = answering("401 Unauthorized", status_body(401, "Unauthorized"));
    let line = one_line(&serve_with(&kubeconfig_of(&server), &[]), 1);
    says(&line, &[&server, "does not accept the credentials", "401"]);

    let answer = "pods is forbidden: User cannot list resource";
    let server = answering("403 Forbidden", status_body(403, answer));
    let line = one_line(&serve_with(&kubeconfig_of(&server), &[]), 1);
    says(&line, &["not allowed to list pods", &server, answer, "-n default", "ClusterRole"]);

    let server = answering("400 Bad Request", status_body(400, "unable to parse"));
    let line = one_line(&serve_with(&kubeconfig_of(&server), &["-l", "a in"]), 1);
    says(&line, &["unable to parse", "--label-selector"]);

    let server = answering("200 OK", "<html>It works!</html>".to_owned());
    let line = one_line(&serve_with(&kubeconfig_of(&server), &[]), 1);
    says(&line, &[&server, "does not answer like a Kubernetes API server"]);
}
