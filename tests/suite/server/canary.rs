//! Secrets stay secret: the binary, with its log at its most talkative, is sent tokens, passwords
//! and keys in every way that there is, right and wrong; none of them comes out again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::support::PATIENCE;
use crate::support::process::{KilledChild, podinit};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use serde_json::{Value, json};

/// What must never be seen. Also in the part of a JWT that somebody would recognize.
const CANARY: &str = "c4n4ryc4n4ryc4n4ry";

/// The forms in which it is sent.
fn forms() -> [String; 3] {
    let encoded = STANDARD.encode(format!("alice:{CANARY}"));
    [CANARY.to_owned(), encoded, STANDARD.encode(CANARY)]
}

#[track_caller]
fn assert_silent(text: &str) {
    for form in forms() {
        let at = text.find(&form);
        let line = at.and_then(|at| text[..at].lines().next_back());
        assert_eq!(at, None, "{form} was shown after {line:?}");
    }
}

/// podinit, whose whole log is kept. Killed if the test fails.
struct Podinit {
    process: KilledChild,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    address: SocketAddr,
}

impl Podinit {
    fn start(args: &[&str]) -> Self {
        let mut process = podinit(args)
            .args(["--listen", "127.0.0.1:0", "--log-level", "trace"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut listening = None;
        for line in lines.by_ref().map_while(Result::ok) {
            log.lock().unwrap().push_str(&format!("{line}\n"));
            let address = line.contains("listening").then(|| {
                let (_, rest) = line.split_once("address=")?;
                rest.split_whitespace().next()?.parse().ok()
            });
            if let Some(Some(address)) = address {
                listening = Some(address);
                break;
            }
        }
        let address = listening.unwrap_or_else(|| panic!("{}", log.lock().unwrap()));
        let rest = Arc::clone(&log);
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                rest.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Self { process: KilledChild(process), log, reader: Some(reader), address }
    }

    /// Sends bytes as they are; the answer until the server closes.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status of a request with this header and this target.
    fn status(&self, target: &str, authorization: &str) -> String {
        let answer = self.ask(&format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\
             Connection: close\r\n\r\n"
        ));
        assert_silent(&answer);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// Ends it, and returns all that it logged.
    fn log_to_the_end(mut self) -> String {
        assert!(self.process.terminate());
        self.reader.take().unwrap().join().unwrap();
        let log = self.log.lock().unwrap();
        assert!(log.contains("TRACE"), "{log}");
        log.clone()
    }
}

/// An API server without pods, which repeats the token wherever it can, as real ones do.
async fn api(fails: StatusCode) -> SocketAddr {
    let list = json!({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": []});
    let router = Router::new()
        .route(
            "/api/v1/pods",
            get(|uri: http::Uri| async move {
                if uri.query().unwrap_or_default().contains("watch=true") {
                    std::future::pending::<()>().await;
                }
                list.to_string()
            }),
        )
        .route("/apis/authentication.k8s.io/v1/tokenreviews", post(token_review))
        .route("/apis/authorization.k8s.io/v1/subjectaccessreviews", post(access_review))
        .with_state(fails);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Fails for tokens that ask for it.
async fn token_review(State(fails): State<StatusCode>, body: Bytes) -> (StatusCode, String) {
    let mut review: Value = serde_json::from_slice(&body).unwrap();
    let token = review["spec"]["token"].as_str().unwrap().to_owned();
    if token.contains("fail") {
        let message = format!("no review of {token}");
        return (fails, json!({"kind": "Status", "message": message}).to_string());
    }
    let known = token.contains("good");
    let user = json!({"username": "prometheus", "groups": [token]});
    review["status"] = json!({"authenticated": known, "user": user, "error": format!("[{token}]")});
    (StatusCode::CREATED, review.to_string())
}

async fn access_review(body: Bytes) -> (StatusCode, String) {
    let mut review: Value = serde_json::from_slice(&body).unwrap();
    let allowed = review["spec"]["nonResourceAttributes"]["path"] == "/metrics";
    review["status"] = json!({"allowed": allowed, "reason": review["spec"]["groups"][0]});
    (StatusCode::CREATED, review.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_never_shown() {
    for fails in [
        StatusCode::OK,
        StatusCode::BAD_REQUEST,
        StatusCode::FORBIDDEN,
        StatusCode::INTERNAL_SERVER_ERROR,
    ] {
        let server = api(fails).await;
        let directory = tempfile::tempdir().unwrap();
        let kubeconfig = directory.path().join("config");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
             clusters:\n- {{name: c, cluster: {{server: \"http://{server}\"}}}}\n\
             users:\n- {{name: u, user: {{token: {CANARY}}}}}\n\
             contexts:\n- {{name: a, context: {{cluster: c, user: u}}}}\n"
        );
        std::fs::write(&kubeconfig, text).unwrap();
        let log = tokio::task::spawn_blocking(move || {
            let kubeconfig = kubeconfig.to_str().unwrap();
            let podinit =
                Podinit::start(&["serve", "--kubeconfig", kubeconfig, "--auth", "kubernetes"]);
            let userinfo = format!("http://alice:{CANARY}@localhost/metrics");
            let query = format!("/metrics?token={CANARY}");
            for (target, token, status) in [
                ("/metrics", "good", "200"),
                (userinfo.as_str(), "good", "200"),
                (&query, "good", "200"),
                ("/", "good", "403"),
                ("/metrics", "bad", "401"),
                ("/metrics", "fail", "503"),
            ] {
                let authorization = format!("Bearer {token}-{CANARY}");
                assert_eq!(podinit.status(target, &authorization), status, "{target} {token}");
            }
            let basic = format!("Basic {}", forms()[1]);
            assert_eq!(podinit.status("/metrics", &basic), "401");
            assert_eq!(podinit.status("/metrics", CANARY), "401");
            // No HTTP at all.
            let broken = format!("GET /{CANARY}\r\nAuthorization: Bearer\0 {CANARY}\r\n\r\n");
            assert_silent(&podinit.ask(&broken));
            podinit.log_to_the_end()
        });
        let log = log.await.unwrap();
        assert!(log.contains("refusing bearer tokens"), "{log}");
        assert_silent(&log);
    }
}

#[test]
fn passwords_are_never_shown() {
    let directory = tempfile::tempdir().unwrap();
    let web = directory.path().join("web.yaml");
    let hash = bcrypt::hash(CANARY, 4).unwrap();
    std::fs::write(&web, format!("basic_auth_users: {{alice: {hash}}}")).unwrap();
    let podinit = Podinit::start(&["demo", "--web-config", web.to_str().unwrap()]);
    let right = format!("Basic {}", forms()[1]);
    assert_eq!(podinit.status("/metrics", &right), "200");
    let wrong = STANDARD.encode(format!("eve:{CANARY}"));
    assert_eq!(podinit.status("/metrics", &format!("Basic {wrong}")), "401");
    let userinfo = format!("http://alice:{CANARY}@localhost/metrics");
    assert_eq!(podinit.status(&userinfo, "Basic"), "401");
    let log = podinit.log_to_the_end();
    assert_silent(&log);
    assert!(!log.contains(&hash) && !log.contains(&wrong));
}

/// Kubeconfigs whose user has this credential, which the API server never gets to see.
fn kubeconfig_of(user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
         clusters:\n- {{name: c, cluster: {{server: \"http://127.0.0.1:1\"}}}}\n\
         contexts:\n- {{name: a, context: {{cluster: c, user: u}}}}\n\
         users:\n- {{name: u, user: {user}}}\n"
    )
}

/// Everything that the commands which use a kubeconfig show of it.
fn shown_with(kubeconfig: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    std::fs::write(&path, kubeconfig).unwrap();
    let mut shown = String::new();
    for command in
        [&["serve", "--connect-timeout", "1ms"][..], &["doctor"], &["doctor", "-o", "json"]]
    {
        let flags = ["--listen", "127.0.0.1:0", "--log-level", "trace", "--kubeconfig"];
        let output = podinit(command).args(flags).arg(&path).output().unwrap();
        assert!(!output.status.success(), "{kubeconfig}");
        shown += &String::from_utf8(output.stdout).unwrap();
        shown += &String::from_utf8(output.stderr).unwrap();
    }
    shown
}

/// The parser of a plugin's output quoted it, and so did the error of a plugin that failed.
#[test]
fn nothing_that_a_credential_plugin_prints_is_shown() {
    for (script, said) in [
        (format!("echo {CANARY}"), "did not print one ExecCredential"),
        (
            format!("printf '%s' '{{\"status\":{{\"token\":\"{CANARY}'"),
            "did not print one ExecCredential",
        ),
        (
            format!(
                "echo '{{\"status\":{{\"token\":\"{CANARY}\"}}}}'; echo '{{\"a\":\"{CANARY}\"}}'"
            ),
            "did not print one ExecCredential",
        ),
        (format!("echo {CANARY}; echo {CANARY} >&2; exit 7"), "failed (exit status: 7)"),
        (format!("printf '%s' '{{\"status\":{{\"token\":\"a\\n{CANARY}\"}}}}'"), "is not one line"),
    ] {
        let script = serde_json::to_string(&script).unwrap();
        let user = format!(
            "{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, \
             args: [-c, {script}, {CANARY}], interactiveMode: Never, installHint: {CANARY}}}}}"
        );
        let shown = shown_with(&kubeconfig_of(&user));
        assert!(shown.contains(said), "{script}: {shown}");
        assert_silent(&shown);
    }
}

/// Tokens, keys and passwords where they belong, and where they do not.
#[test]
fn nothing_secret_of_a_kubeconfig_is_shown() {
    let key = STANDARD.encode(format!("-----BEGIN {CANARY}-----\n{CANARY}\n"));
    for user in [
        format!("{{token: \"{CANARY}\\n{CANARY}\"}}"),
        format!("{{token: {{a: {CANARY}}}}}"),
        format!("{{tokenFile: {CANARY}}}"),
        format!("{{username: a, password: [{CANARY}]}}"),
        format!("{{client-key: {CANARY}, client-certificate: {CANARY}}}"),
        format!("{{client-key-data: {CANARY}-, client-certificate-data: {CANARY}-}}"),
        format!("{{client-key-data: {key}, client-certificate-data: {key}}}"),
        format!("{{exec: {CANARY}}}"),
        format!("{{exec: {{command: {CANARY}, args: {CANARY}}}}}"),
        format!(
            "{{exec: {{command: no-such-plugin, args: [{CANARY}], env: [{{name: A, value: {CANARY}}}]}}}}"
        ),
        format!("{{auth-provider: {{name: {CANARY}, config: {{access-token: {CANARY}}}}}}}"),
        format!("{{auth-provider: {CANARY}}}"),
        format!("{{as: \"{CANARY}\\n\"}}"),
        format!("[{CANARY}"),
        CANARY.to_owned(),
        format!("\"{CANARY}"),
    ] {
        assert_silent(&shown_with(&kubeconfig_of(&user)));
    }
    for text in [CANARY.to_owned(), format!("users: {CANARY}"), format!("{CANARY}: [")] {
        assert_silent(&shown_with(&text));
    }
}

/// What is wrong with a file is said without what stands in it.
#[test]
fn the_content_of_broken_files_is_never_shown() {
    let directory = tempfile::tempdir().unwrap();
    let web = directory.path().join("web.yaml");
    let key = directory.path().join("tls.key");
    let begin = "-----BEGIN PRIVATE KEY-----";
    std::fs::write(&key, format!("{begin}\n{}\n", forms()[2])).unwrap();
    for text in [
        format!("basic_auth_users:\n  alice: {CANARY}"),
        format!("basic_auth_users:\n  alice:{CANARY}"),
        format!("basic_auth_users: {CANARY}"),
        format!("basic_auth_users: [{CANARY}"),
        format!("basic_auth_users:\n  alice: x\n  alice: {CANARY}"),
        format!("{CANARY}: a"),
        CANARY.to_owned(),
        format!("\"{CANARY}"),
        format!("tls_server_config:\n  cert_file: {CANARY}\n  key_file: tls.key"),
        format!("tls_server_config:\n  key: '{begin} {CANARY}'\n  cert: {CANARY}"),
        format!("tls_server_config:\n  key: |\n    {begin}\n   {CANARY}\n"),
        format!("tls_server_config:\n  key_file: {CANARY}\n  key: {CANARY}\n  cert: {CANARY}"),
        format!("tls_server_config:\n  {CANARY}: 1"),
        format!("tls_server_config:\n  min_version: {CANARY}\n  cert: {CANARY}\n  key: {CANARY}"),
        "tls_server_config:\n  cert_file: tls.key\n  key_file: tls.key".to_owned(),
        format!("rate_limit: {{interval: {CANARY}, burst: {CANARY}}}"),
        format!("http_server_config: {{headers: {{X-Frame-Options: {CANARY}}}}}"),
    ] {
        std::fs::write(&web, &text).unwrap();
        let args = ["demo", "--listen", "127.0.0.1:0", "--log-level", "trace", "--web-config"];
        let output = podinit(args).arg(&web).output().unwrap();
        let shown = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}: {shown}");
        let last = shown.lines().last().unwrap();
        assert!(last.starts_with(&format!("podinit: {}", web.display())), "{shown}");
        assert_silent(&shown);
    }
}

/// All that a command shows, with these variables. It must fail.
fn shown_by(args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = podinit(args);
    command.args(["--log-level", "trace"]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{args:?} {variables:?}");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// A URL may hold a user, a password and a query, wherever URLs are given.
#[test]
fn nothing_secret_of_a_url_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    let config = path.to_str().unwrap();
    for url in [
        format!("http://u:{CANARY}@127.0.0.1:1"),
        format!("http://{CANARY}@127.0.0.1:1/"),
        format!("http://127.0.0.1:1/?token={CANARY}"),
        format!("http://u:{CANARY}@127.0.0.1:99999"),
        format!("http://u:{CANARY}@:1"),
        format!("ftp://u:{CANARY}@127.0.0.1"),
        format!("u:{CANARY}@127.0.0.1:1"),
        format!("http://u:{CANARY} @127.0.0.1:1"),
    ] {
        let url = url.as_str();
        std::fs::write(&path, kubeconfig_of("{}")).unwrap();
        let serve = [
            "serve",
            "--kubeconfig",
            config,
            "--connect-timeout",
            "1ms",
            "--listen",
            "127.0.0.1:0",
        ];
        let doctor = ["doctor", "--kubeconfig", config, "--listen", "127.0.0.1:0"];
        let mut shown = vec![
            shown_by(&["stuck", "--url", url], &[]),
            shown_by(&["explain", "web", "--url", url], &[]),
            shown_by(&["stuck"], &[("PODINIT_URL", url)]),
        ];
        for command in [&serve[..], &doctor] {
            let with_flag = [command, &["--otlp-endpoint", url]].concat();
            shown.push(shown_by(&with_flag, &[]));
            for variable in [
                "PODINIT_OTLP_ENDPOINT",
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            ] {
                shown.push(shown_by(command, &[(variable, url)]));
            }
        }
        let quoted = json!(url).to_string();
        let good = "\"http://127.0.0.1:1\"";
        let proxied = format!("\"http://10.0.0.1:1\", proxy-url: {quoted}");
        for server in [quoted, proxied] {
            std::fs::write(&path, kubeconfig_of("{}").replace(good, &server)).unwrap();
            shown.extend([shown_by(&serve, &[]), shown_by(&doctor, &[])]);
        }
        let foreign = kubeconfig_of("{}").replace("127.0.0.1", "10.0.0.1");
        std::fs::write(&path, foreign).unwrap();
        for variable in ["HTTPS_PROXY", "HTTP_PROXY"] {
            shown.push(shown_by(&serve, &[(variable, url)]));
        }
        shown.iter().for_each(|text| assert_silent(text));
    }
}
