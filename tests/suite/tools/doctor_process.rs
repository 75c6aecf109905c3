//! `podinit doctor` as a process: the machine that it runs on, what it keeps to itself, and how it
//! ends.

use std::io::Read;
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use podinit_checkpoint::CheckpointStore;

use crate::command_line::traces::Collector;
use crate::support::doctor::server::Server;
use crate::support::doctor::settings::Settings;
use crate::support::doctor::{CANARY, Findings, Kubeconfig, doctor, said};

#[test]
fn the_port_is_tried_and_let_go_of() {
    let server = Server::start(Settings::default());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let listen = address.to_string();
    // The last --listen counts: Findings has one of its own before.
    let kubeconfig = Kubeconfig::of(&server.url);
    let run = || {
        let mut command = doctor(&["-o", "json", "--listen", &listen, "--kubeconfig"]);
        let said = said(command.arg(kubeconfig.path()));
        let report: Value = serde_json::from_str(&said.text).unwrap();
        (said.status, report["findings"][0].clone())
    };
    let (status, finding) = run();
    assert_eq!((status, &finding["severity"]), (4, &Value::from("error")));
    assert!(finding["found"].as_str().unwrap().contains("already in use"));
    assert!(finding["fix"].as_str().unwrap().contains("--listen"));
    drop(taken);
    let (status, finding) = run();
    assert_eq!((status, &finding["severity"]), (0, &Value::from("ok")));
    TcpListener::bind(address).unwrap();
}

#[test]
fn a_podinit_that_has_the_port_is_no_error_and_its_demo_is_a_cluster() {
    let mut demo = std::process::Command::new(env!("CARGO_BIN_EXE_podinit"))
        .args(["demo", "--listen", "127.0.0.1:0", "--rate", "0.1"])
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut printed = String::new();
    let mut output = demo.stdout.take().unwrap();
    while !printed.contains("all pods") {
        let mut some = [0; 256];
        let length = output.read(&mut some).unwrap();
        assert!(length > 0, "{printed}");
        printed.push_str(std::str::from_utf8(&some[..length]).unwrap());
    }
    let after = |start: &str, end: char| {
        let (_, rest) = printed.split_once(start).unwrap();
        rest.split(end).next().unwrap().to_owned()
    };
    let (address, kubeconfig) = (after("http://", '/'), after("KUBECONFIG=", '\n'));
    let mut command = doctor(&["--listen", &address, "--kubeconfig", &kubeconfig]);
    let said = said(&mut command);
    demo.kill().unwrap();
    demo.wait().unwrap();
    assert!(said.text.starts_with("note    listen"), "{}", said.text);
    // The simulated cluster gives no reviews, but has enough pods.
    for part in ["skipped permissions", "ok      pods", "ok      watch", "ok      labels"] {
        assert!(said.text.contains(part), "{part}: {}", said.text);
    }
}

#[test]
fn the_slo_file_is_read_as_serve_reads_it() {
    let server = Server::start(Settings::default());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slo.yaml");
    let with = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Findings::of(&server.url, &["--slo", path.to_str().unwrap()])
    };
    let slo = "slos:\n- {name: n, interval: network, threshold: 10s, objective: 99, window: 30d}\n";
    let findings = with(slo);
    findings.says("slo-file", "ok", &["1 SLO (n)"]);
    let findings = with(&slo.replace("network", "netwrok"));
    findings.says("slo-file", "error", &["slo.yaml:2:23: unknown interval; did you mean network?"]);
    assert_eq!(findings.status(), 4);
    let findings = with(&slo.replace("99", "90"));
    findings.says("slo-file", "warning", &["podinit rules refuses it"]);
}

#[test]
fn the_web_configuration_is_read_as_serve_reads_it() {
    let server = Server::start(Settings::default());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("web.yaml");
    let with = |text: &str, more: &[&str]| {
        std::fs::write(&path, text).unwrap();
        let args = [&["--web-config", path.to_str().unwrap()], more].concat();
        Findings::of(&server.url, &args)
    };
    let findings = with("{}\n", &[]);
    findings.says("web-config", "ok", &["plain HTTP", "everybody"]);
    let findings = with("tls_server_config: {cert_file: none.crt, key_file: none.key}\n", &[]);
    findings.says("web-config", "error", &["web.yaml:1:32: the file of cert_file"]);
    assert_eq!(findings.status(), 4);
    let hash = bcrypt::hash(CANARY, 4).unwrap();
    let users = format!("basic_auth_users: {{me: {hash}}}\n");
    let findings = with(&users, &[]);
    findings.says("web-config", "warning", &["in clear text"]);
    let findings = with(&users, &["--auth", "kubernetes"]);
    findings.says("web-config", "error", &["exclude each other"]);
    assert!(!findings.report.to_string().contains(&hash));
}

#[test]
fn the_state_directory_is_looked_at_and_left_alone() {
    let server = Server::start(Settings::default());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state");
    let look = || Findings::of(&server.url, &["--state-dir", path.to_str().unwrap()]);
    look().says("state-dir", "ok", &["would be created"]);
    assert!(!path.exists());
    let store = CheckpointStore::open(&path).unwrap();
    let findings = look();
    findings.says("state-dir", "error", &["used by another process"]);
    assert_eq!(findings.status(), 4);
    drop(store);
    look().says("state-dir", "ok", &["writable", "without a checkpoint"]);
    std::fs::write(path.join("checkpoint"), "not a checkpoint").unwrap();
    let findings = look();
    findings.says("state-dir", "warning", &["cannot be used", "not a checkpoint"]);
    assert_eq!(findings.status(), 3);
    assert_eq!(std::fs::read_to_string(path.join("checkpoint")).unwrap(), "not a checkpoint");
    let findings = Findings::of(&server.url, &["--state-dir", "/dev/null"]);
    findings.says("state-dir", "error", &["not a directory"]);
}

#[test]
fn the_collector_of_traces_is_asked_whether_it_takes_them() {
    let server = Server::start(Settings::default());
    let collector = Collector::start();
    let url = collector.url();
    let look = || Findings::of(&server.url, &["--otlp-endpoint", &url]);
    let without = Findings::of(&server.url, &[]);
    without.says("traces", "ok", &["no collector given"]);
    look().says("traces", "ok", &[&url, "takes traces"]);
    collector.kill();
    let findings = look();
    findings.says("traces", "warning", &["does not take traces", "refused"]);
    assert_eq!(findings.status(), 3);
}

#[test]
fn nothing_is_changed_and_no_secret_is_shown() {
    let server =
        Server::start(Settings { reviews: false, granted: Vec::new(), ..Settings::default() });
    let kubeconfig = Kubeconfig::of(&server.url);
    for format in ["text", "json"] {
        let mut command = doctor(&["-o", format, "--log-level", "trace", "--kubeconfig"]);
        let output =
            command.arg(kubeconfig.path()).args(["--listen", "127.0.0.1:0"]).output().unwrap();
        for shown in [output.stdout, output.stderr] {
            assert!(!String::from_utf8(shown).unwrap().contains(CANARY));
        }
    }
    let requests = server.requests();
    assert!(requests.len() > 4, "{requests:?}");
    for request in requests {
        let review = request.starts_with("POST /apis/auth") && request.ends_with("reviews");
        assert!(request.starts_with("GET ") || review, "{request}");
    }
}

#[test]
fn a_proxy_is_named_without_its_credentials() {
    let kubeconfig = Kubeconfig::text(&format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters:\n\
         - name: c\n  cluster:\n    server: https://192.0.2.1:6443\n    \
         proxy-url: http://user:{CANARY}@127.0.0.1:1\n    insecure-skip-tls-verify: true\n\
         contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
    ));
    let findings = Findings::with(kubeconfig.path(), &[]);
    findings.says("cluster", "ok", &["through the proxy http://127.0.0.1:1/"]);
    findings.says("cluster", "warning", &["insecure-skip-tls-verify"]);
    findings.says("api-server", "error", &["does not answer"]);
    assert!(!findings.report.to_string().contains(CANARY));
}

#[test]
fn a_server_that_never_answers_takes_no_longer_than_allowed() {
    let server = Server::start(Settings { silent: true, ..Settings::default() });
    let findings = Findings::of(&server.url, &["--timeout", "3s"]);
    findings.says("api-server", "error", &["does not answer"]);
    assert_eq!(findings.status(), 4);
}

#[test]
fn a_credential_plugin_that_never_ends_is_not_waited_for() {
    let kubeconfig = Kubeconfig::text(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters: [{name: c, cluster: {server: \"http://127.0.0.1:1\"}}]\n\
         users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1,\n\
         command: /bin/sleep, args: [\"30\"], interactiveMode: Never}}}]\n\
         contexts: [{name: here, context: {cluster: c, user: u}}]\n",
    );
    let mut command = doctor(&["--timeout", "3s", "--listen", "127.0.0.1:0", "--kubeconfig"]);
    // The plugin may have inherited it.
    command.arg(kubeconfig.path()).stderr(Stdio::null());
    let output = command.stdout(Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("could not be read within --timeout"), "{text}");
}

#[test]
fn an_interruption_ends_it_with_what_was_found() {
    let server = Server::start(Settings { silent: true, ..Settings::default() });
    let kubeconfig = Kubeconfig::of(&server.url);
    let child = doctor(&["--listen", "127.0.0.1:0", "--log-level", "off", "--kubeconfig"])
        .arg(kubeconfig.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server.wait_for_request();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("ok      listen"), "{text}");
    assert!(text.contains("interrupted, not checked: api-server,"), "{text}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "podinit: interrupted before all checks were made\n");
}
