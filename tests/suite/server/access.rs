//! Who is answered, over a real socket: the gate in front of the routes.

use std::sync::Arc;

use crate::support::access::Pki;
use crate::support::server::{Source, start_with};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use podinit_http::Refusal;
use podinit_http::{AccessControl, AccessRequest, AccessVerdict, ServerLimits};

/// Always says the same.
struct Says(AccessVerdict);

impl AccessControl for Says {
    fn authorize(&self, _request: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        ready(self.0).boxed()
    }
}

fn basic(login: &str) -> String {
    format!("Basic {}", STANDARD.encode(login))
}

#[tokio::test]
async fn each_verdict_has_its_status() {
    let challenge = "Bearer realm=\"podinit\"";
    for (verdict, status) in [
        (AccessVerdict::Granted, 200),
        (AccessVerdict::Unauthenticated { challenge }, 401),
        (AccessVerdict::Forbidden, 403),
        (AccessVerdict::TooManyRequests, 429),
        (AccessVerdict::Unavailable, 503),
    ] {
        let server =
            start_with(Source::default(), ServerLimits::default(), Arc::new(Says(verdict)));
        let reply = server.get("/metrics").await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        let challenged = reply.header("www-authenticate");
        assert_eq!(challenged, (status == 401).then_some(challenge));
        assert_eq!(reply.header("retry-after"), (status == 503).then_some("1"));
    }
}

/// What is not a probe is not even said not to exist.
#[tokio::test]
async fn only_the_probes_are_open() {
    let server = start_with(
        Source::default(),
        ServerLimits::default(),
        Arc::new(Says(AccessVerdict::Forbidden)),
    );
    server.health.register_source("a").listed();
    for (method, path, status) in [
        ("GET", "/livez", 200),
        ("GET", "/readyz", 200),
        ("HEAD", "/readyz", 200),
        ("POST", "/livez", 405),
        ("GET", "/", 403),
        ("GET", "/metrics", 403),
        ("HEAD", "/metrics", 403),
        ("POST", "/metrics", 403),
        ("GET", "/nothing", 403),
        ("GET", "/livez/", 403),
        ("GET", "//livez", 403),
        ("GET", "/livez/../metrics", 403),
        ("GET", "/%6Divez", 403),
        ("GET", "/metrics?livez", 403),
        ("GET", "http://alice:secret@podinit/metrics", 403),
        ("OPTIONS", "*", 403),
    ] {
        let reply = server.request(method, path, &[]).await;
        assert_eq!(reply.status, status, "{method} {path}");
    }
    assert_eq!(server.source.begun.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn users_of_the_web_configuration_are_let_in() {
    let pki = Pki::new();
    let hash = bcrypt::hash("right", 4).unwrap();
    let headers = "http_server_config: {headers: {X-Frame-Options: deny}}";
    let (gate, stats) = pki.gate(&format!("basic_auth_users: {{alice: {hash}}}\n{headers}"));
    let server = start_with(Source::default(), ServerLimits::default(), gate.clone());
    for (login, status) in [("alice:right", 200), ("alice:wrong", 401), ("eve:right", 401)] {
        for path in ["/metrics", "/"] {
            let authorization = basic(login);
            let headers = [("Authorization", authorization.as_str())];
            let reply = server.request("GET", path, &headers).await;
            assert_eq!(reply.status, status, "{login} {path}");
            assert_eq!(reply.header("x-frame-options"), Some("deny"));
        }
    }
    let reply = server.get("/metrics").await;
    assert_eq!(reply.status, 401);
    let challenge = reply.header("www-authenticate").unwrap();
    assert!(challenge.starts_with("Basic realm="), "{challenge}");
    // Which of two it should be is not guessed.
    let right = basic("alice:right");
    let twice = [("Authorization", right.as_str()), ("Authorization", right.as_str())];
    assert_eq!(server.request("GET", "/metrics", &twice).await.status, 401);
    assert_eq!(server.get("/livez").await.status, 200);
    assert_eq!(stats.refused(Refusal::Unauthenticated), 6);

    // From the next request on, other users are good.
    let hash = bcrypt::hash("other", 4).unwrap();
    gate.set(pki.config(&format!("basic_auth_users: {{alice: {hash}}}")));
    let headers = [("Authorization", right.as_str())];
    assert_eq!(server.request("GET", "/metrics", &headers).await.status, 401);
}

#[tokio::test]
async fn the_rate_limit_leaves_the_probes_alone() {
    let pki = Pki::new();
    let (gate, stats) = pki.gate("rate_limit: {interval: 1h, burst: 2}");
    let server = start_with(Source::default(), ServerLimits::default(), gate);
    for (path, status) in [
        ("/metrics", 200),
        ("/livez", 200),
        ("/", 200),
        ("/livez", 200),
        ("/metrics", 429),
        ("/nothing", 429),
        ("/livez", 200),
    ] {
        assert_eq!(server.get(path).await.status, status, "{path}");
    }
    assert_eq!(stats.refused(Refusal::RateLimited), 2);
}
