//! The credentials of `explain --url` and `stuck --url`: an exporter with access control lets them in, and
//! no secret is shown.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use futures::future::BoxFuture;
use http::HeaderValue;
use podinit_http::{AccessControl, AccessRequest, AccessVerdict, ServerLimits};

use crate::explain::exporter::start;
use crate::explain::recordings::half_and_half;
use crate::support::access::{Pki, TLS};
use crate::support::process::run_beside;
use crate::support::server::{Source, start_routes};

/// What must never be seen.
const CANARY: &str = "c4n4ryc4n4ryc4n4ry";

/// The token of another exporter.
const OTHER: &str = "0th3r0th3r0th3r";

/// Lets in who shows the token, and knows who has shown it something else.
struct ByToken {
    token: &'static str,
    saw_another: AtomicBool,
}

impl ByToken {
    fn of(token: &'static str) -> Arc<Self> {
        let saw_another = AtomicBool::new(false);
        Arc::new(Self { token, saw_another })
    }
}

impl AccessControl for ByToken {
    fn authorize(&self, request: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        let expected = format!("Bearer {}", self.token);
        let shown = request.authorization;
        let is_another = |shown: &HeaderValue| shown.as_bytes() != expected.as_bytes();
        if shown.as_ref().is_some_and(is_another) {
            self.saw_another.store(true, Ordering::Relaxed);
        }
        Box::pin(async move {
            match shown.is_some_and(|shown| shown.as_bytes() == expected.as_bytes()) {
                true => AccessVerdict::Granted,
                false => AccessVerdict::Unauthenticated { challenge: "Bearer" },
            }
        })
    }
}

async fn run(args: &[&str]) -> Output {
    let output = run_beside(&[args, &["--log-level", "trace"]].concat()).await;
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(CANARY) && !text.contains(OTHER), "{text}");
    }
    output
}

/// Asks with both commands; whether they are let in, and what they say if not.
async fn ask(url: &str, access: &[&str]) -> Result<(), String> {
    let url = ["--url", url];
    let explain = ["explain", "-n", "shop", "web-1"];
    let explain = run(&[&explain, &url[..], access].concat()).await;
    let stuck = run(&[&["stuck"], &url[..], access].concat()).await;
    let said = [&explain, &stuck].map(|one| String::from_utf8_lossy(&one.stderr).into_owned());
    assert_eq!(explain.status.code(), stuck.status.code(), "{said:?}");
    match explain.status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(said.concat()),
        status => panic!("{status:?}: {said:?}"),
    }
}

fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bearer_token_is_taken_from_its_file() {
    let exporter = start(&half_and_half(), Some(ByToken::of(CANARY)));
    let url = format!("http://{}", exporter.address);
    let directory = tempfile::tempdir().unwrap();
    let token = write(directory.path(), "token", &format!("{CANARY}\n"));
    assert_eq!(ask(&url, &["--token-file", &token]).await, Ok(()));
    let refused = ask(&url, &[]).await.unwrap_err();
    assert_eq!(refused.matches("--token-file").count(), 2, "{refused}");
    let wrong = write(directory.path(), "wrong", "other");
    assert!(ask(&url, &["--token-file", &wrong]).await.is_err());
    let broken = write(directory.path(), "broken", &format!("{CANARY}\nmore"));
    let said = ask(&url, &["--token-file", &broken]).await.unwrap_err();
    assert!(said.contains("not one line"), "{said}");
}

/// A token belongs to one server: that of the first URL, or the one that is named with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_goes_to_one_server() {
    let (own, other) = (ByToken::of(CANARY), ByToken::of(OTHER));
    let first = start(&half_and_half(), Some(own.clone()));
    let second = start(&half_and_half(), Some(other.clone()));
    let [first, second] =
        [first.address, second.address].map(|address| format!("http://{address}"));
    let directory = tempfile::tempdir().unwrap();
    let token = write(directory.path(), "token", CANARY);
    let others = write(directory.path(), "other=token", OTHER);
    for asked in ["--url", "--baseline"] {
        let args = ["report", "--url", &first, asked, &second, "--token-file", &token];
        let output = run(&args).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&second) && said.contains("--token-file URL=FILE"), "{said}");
        assert!(!other.saw_another.load(Ordering::Relaxed), "{asked}");

        let named = format!("{second}/={others}");
        let output = run(&[&args[..], &["--token-file", &named]].concat()).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        // The same server is not another one.
        let again = format!("{first}/again");
        let output = run(&["report", "--url", &first, asked, &again, "--token-file", &token]).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("HTTP 404"), "{said}");
    }
    assert!(![own, other].iter().any(|access| access.saw_another.load(Ordering::Relaxed)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_does_not_follow_a_redirect() {
    let other = ByToken::of(OTHER);
    let second = start(&half_and_half(), Some(other.clone()));
    let target = format!("http://{}/api/v1/stuck", second.address);
    let redirect = move || std::future::ready(Redirect::temporary(&target));
    let routes = Router::new().route("/api/v1/{*path}", get(redirect));
    let first = start_routes(Source::default(), ServerLimits::default(), routes, None);
    let directory = tempfile::tempdir().unwrap();
    let token = write(directory.path(), "token", CANARY);
    let said = ask(&format!("http://{}", first.address), &["--token-file", &token]).await;
    assert_eq!(said.unwrap_err().matches("HTTP 307").count(), 2);
    assert!(!other.saw_another.load(Ordering::Relaxed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_and_certificates_are_taken_from_their_files() {
    let pki = Pki::new();
    let hash = bcrypt::hash(CANARY, 4).unwrap();
    let client = "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n";
    let (gate, _) = pki.gate(&format!("{TLS}{client}basic_auth_users: {{alice: {hash}}}\n"));
    let exporter = start(&half_and_half(), Some(gate));
    let url = format!("https://localhost:{}", exporter.address.port());
    let path = |name: &str, text: &str| pki.write(name, text).to_str().unwrap().to_owned();
    let identity = pki.authority.issue("oncall.example");
    let ca = path("ca.crt", &pki.authority.certificate);
    let certificate = path("client.crt", &identity.certificate);
    let key = path("client.key", &identity.key);
    let password = path("password", &format!("{CANARY}\n"));
    let basic = ["--username", "alice", "--password-file", &password];
    let tls = ["--ca-file", &ca];
    let shown = ["--cert-file", &certificate, "--key-file", &key];
    let all = [&basic[..], &tls, &shown].concat();
    assert_eq!(ask(&url, &all).await, Ok(()));

    let wrong = path("wrong", "other");
    let basic_wrong = ["--username", "alice", "--password-file", &wrong];
    let without_trust = [&basic[..], &shown].concat();
    for some in [
        [&basic_wrong[..], &tls, &shown].concat(),
        [&tls[..], &shown].concat(),
        [&basic[..], &tls].concat(),
        without_trust,
    ] {
        assert!(ask(&url, &some).await.is_err(), "{some:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_is_said_without_repeating_it() {
    let directory = tempfile::tempdir().unwrap();
    let empty = write(directory.path(), "empty", " \n");
    let url = "http://127.0.0.1:1";
    let user = ["--username", "alice", "--password-file"];
    for (password, says) in [(&*empty, "is empty"), ("/none", "cannot be read")] {
        let access = [&user[..], &[password]].concat();
        let said = ask(url, &access).await.unwrap_err();
        assert!(said.contains("the password file "), "{said}");
        assert!(said.contains(says), "{said}");
    }
    let with_user = format!("http://alice:{CANARY}@127.0.0.1:1");
    for (args, says) in [
        (&["--url", &*with_user][..], "--url must not hold a user"),
        (&["--url", url, "--username", "a"], "need each other"),
        (&["--url", url, "--key-file", "k"], "need each other"),
        (&["--username", "a"], "need --url"),
        (
            &["--url", url, "--token-file", "t", "--username", "a", "--password-file", "p"],
            "cannot both",
        ),
        (&["--url", url, "--token-file", "http://localhost=t"], "no URL names"),
        (&["--url", url, "--token-file", "http://localhost"], "expected FILE or URL=FILE"),
        (&["--url", url, "--token-file", "a", "--token-file", "b"], "has one --token-file"),
        (
            &["--url", url, "--token-file", "a", "--token-file", "http://127.0.0.1:1=b"],
            "has one --token-file",
        ),
    ] {
        for command in [&["explain", "web-1"][..], &["stuck"]] {
            let output = run(&[command, args].concat()).await;
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(says), "{said}");
        }
    }
}
