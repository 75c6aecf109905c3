//! Bearer tokens before an API server that tests control, on simulated time.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use kube::client::Body;
use podinit_access::kubernetes::{KubernetesAccess, ReviewError};
use podinit_http::{AccessRequest, AccessVerdict};
use podinit_kube::cluster::client::ClusterClient;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::service_fn;

/// Gives reviews as they were given by Kubernetes 1.36, and remembers what it was asked.
struct Api {
    asked: Mutex<Vec<(String, Value)>>,
    /// Instead of a review, if it is not 0
    tokens_fail: AtomicU16,
    accesses_fail: AtomicU16,
    /// Takes one permit for each answer
    answers: Semaphore,
}

const PLENTY: usize = 1_000_000;

impl Api {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            asked: Mutex::default(),
            tokens_fail: AtomicU16::new(0),
            accesses_fail: AtomicU16::new(0),
            answers: Semaphore::new(PLENTY),
        })
    }

    fn kubernetes(self: &Arc<Self>, audiences: &[&str]) -> KubernetesAccess {
        let api = Arc::clone(self);
        let service = service_fn(move |request: Request<Body>| {
            let api = Arc::clone(&api);
            async move { Ok::<_, Infallible>(api.answer(request).await) }
        });
        let cluster = ClusterClient {
            credentials: None,
            client: kube::Client::new(service, "default"),
            server: "https://api".to_owned(),
            origin: "a test".to_owned(),
            authority: Vec::new(),
            proxy: None,
            unverified: false,
        };
        let audiences = audiences.iter().map(|name| (*name).to_owned()).collect();
        KubernetesAccess::new(&cluster, audiences).unwrap()
    }

    async fn answer(&self, request: Request<Body>) -> Response<Full<bytes::Bytes>> {
        assert_eq!(request.method(), "POST");
        let path = request.uri().path().to_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let mut review: Value = serde_json::from_slice(&body).unwrap();
        self.asked.lock().unwrap().push((path.clone(), review.clone()));
        self.answers.acquire().await.unwrap().forget();
        let (fails, status) = if path.ends_with("/tokenreviews") {
            (&self.tokens_fail, token_status(&review["spec"]))
        } else {
            (&self.accesses_fail, access_status(&review["spec"]))
        };
        review["status"] = status;
        let (code, body) = match fails.load(Ordering::SeqCst) {
            0 => (201, review.to_string()),
            // It could well repeat what it was sent.
            code => (code, json!({"kind": "Status", "message": review}).to_string()),
        };
        let body = if code == 200 { "not a review".to_owned() } else { body };
        Response::builder().status(code).body(body.into()).unwrap()
    }

    /// How many requests there were for this kind of review.
    fn count(&self, kind: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(path, _)| path.ends_with(kind)).count()
    }
}

fn token_status(spec: &Value) -> Value {
    let audiences = spec["audiences"].as_array();
    match spec["token"].as_str().unwrap() {
        "unaware" => json!({"authenticated": true, "user": user("prometheus")}),
        known @ ("prometheus" | "stranger" | "denied") => {
            let meant = audiences.is_none_or(|all| all.contains(&json!("podinit")));
            if meant {
                let audiences = audiences.map(|_| json!(["podinit"]));
                json!({"authenticated": true, "user": user(known), "audiences": audiences})
            } else {
                json!({"user": {}, "error": "[invalid bearer token, token audiences are not meant]"})
            }
        }
        _ => json!({"user": {}, "error": "[invalid bearer token]"}),
    }
}

fn user(name: &str) -> Value {
    json!({
        "username": format!("system:serviceaccount:monitoring:{name}"),
        "uid": "7",
        "groups": ["system:serviceaccounts", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/pod-name": ["prometheus-0"]},
    })
}

fn access_status(spec: &Value) -> Value {
    let path = spec["nonResourceAttributes"]["path"].as_str().unwrap();
    assert_eq!(spec["nonResourceAttributes"]["verb"], "get");
    let user = spec["user"].as_str().unwrap();
    if user.ends_with(":denied") {
        return json!({"allowed": true, "denied": true});
    }
    json!({"allowed": user.ends_with(":prometheus") && path == "/metrics"})
}

fn asked(authorization: &str, path: &str) -> AccessRequest {
    AccessRequest {
        path: path.to_owned(),
        has_certificate: false,
        authorization: Some(HeaderValue::from_str(authorization).unwrap()),
    }
}

async fn judged(kubernetes: &KubernetesAccess, token: &str) -> AccessVerdict {
    kubernetes.authorize(asked(&format!("Bearer {token}"), "/metrics")).await
}

fn is_unauthenticated(verdict: AccessVerdict) -> bool {
    matches!(verdict, AccessVerdict::Unauthenticated { challenge } if challenge.starts_with("Bearer "))
}

#[tokio::test(start_paused = true)]
async fn a_token_needs_to_be_known_and_to_have_the_right() {
    let api = Api::new();
    let kubernetes = api.kubernetes(&[]);
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Granted);
    assert_eq!(judged(&kubernetes, "stranger").await, AccessVerdict::Forbidden);
    assert_eq!(judged(&kubernetes, "denied").await, AccessVerdict::Forbidden);
    assert!(is_unauthenticated(judged(&kubernetes, "forged").await));
    let elsewhere = kubernetes.authorize(asked("bearer prometheus", "/")).await;
    assert_eq!(elsewhere, AccessVerdict::Forbidden);
    // The user is passed on unchanged.
    let requests = api.asked.lock().unwrap();
    let sent = user("prometheus");
    let spec = &requests[1].1["spec"];
    assert_eq!(spec["user"], sent["username"]);
    for key in ["uid", "groups", "extra"] {
        assert_eq!(spec[key], sent[key]);
    }
    assert!(requests[0].1["spec"].get("audiences").is_none());
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_about_what_is_no_token() {
    let api = Api::new();
    let kubernetes = api.kubernetes(&[]);
    for text in ["", "Bearer", "Bearer ", "Basic YTpi", "prometheus", "Bearerprometheus"] {
        let verdict = kubernetes.authorize(asked(text, "/metrics")).await;
        assert!(is_unauthenticated(verdict), "{text}");
    }
    let none =
        AccessRequest { path: "/metrics".to_owned(), has_certificate: false, authorization: None };
    assert!(is_unauthenticated(kubernetes.authorize(none).await));
    assert_eq!(api.count("reviews"), 0);
}

#[tokio::test(start_paused = true)]
async fn whatever_is_not_understood_is_refused() {
    let api = Api::new();
    let kubernetes = api.kubernetes(&[]);
    for fails in [&api.tokens_fail, &api.accesses_fail] {
        for code in [200, 204, 301, 400, 401, 403, 404, 409, 429, 500, 503] {
            fails.store(code, Ordering::SeqCst);
            let verdict = judged(&kubernetes, "prometheus").await;
            assert_eq!(verdict, AccessVerdict::Unavailable, "{code}");
        }
        fails.store(0, Ordering::SeqCst);
    }
    // It was not remembered.
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Granted);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_never_answers_is_waited_for_in_vain() {
    let api = Api::new();
    api.answers.forget_permits(PLENTY);
    let kubernetes = api.kubernetes(&[]);
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Unavailable);
    // It answers the first review, and not the second.
    api.answers.add_permits(1);
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Unavailable);
    assert_eq!(api.count("/subjectaccessreviews"), 1);
    api.answers.add_permits(PLENTY);
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Granted);
}

#[tokio::test(start_paused = true)]
async fn decisions_hold_for_their_time() {
    let api = Api::new();
    let kubernetes = api.kubernetes(&[]);
    for (token, seconds) in [("prometheus", 120), ("stranger", 10), ("forged", 10)] {
        let first = judged(&kubernetes, token).await;
        let before = api.count("/tokenreviews");
        tokio::time::advance(Duration::from_secs(seconds - 1)).await;
        assert_eq!(judged(&kubernetes, token).await, first);
        assert_eq!(api.count("/tokenreviews"), before, "{token}");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(judged(&kubernetes, token).await, first);
        assert_eq!(api.count("/tokenreviews"), before + 1, "{token}");
    }
    // Closed, once what is remembered is too old.
    tokio::time::advance(Duration::from_secs(119)).await;
    api.tokens_fail.store(503, Ordering::SeqCst);
    let last = judged(&kubernetes, "stranger").await;
    assert_eq!(last, AccessVerdict::Unavailable);
    tokio::time::advance(Duration::from_secs(120)).await;
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn requests_with_one_token_wait_for_one_answer() {
    let api = Api::new();
    api.answers.forget_permits(PLENTY);
    let kubernetes = api.kubernetes(&[]);
    let mut waiting: Vec<_> = (0..50)
        .map(|_| tokio::spawn(kubernetes.authorize(asked("Bearer prometheus", "/metrics"))))
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    // The one that asked goes away; the others get their answer.
    waiting.remove(0).abort();
    api.answers.add_permits(PLENTY);
    for waiting in waiting {
        assert_eq!(waiting.await.unwrap(), AccessVerdict::Granted);
    }
    assert_eq!(api.count("/tokenreviews"), 1);
    assert_eq!(api.count("/subjectaccessreviews"), 1);
}

#[tokio::test(start_paused = true)]
async fn few_tokens_are_judged_at_a_time() {
    let api = Api::new();
    let kubernetes = api.kubernetes(&[]);
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Granted);
    api.answers.forget_permits(PLENTY);
    let forged = |number: usize| asked(&format!("Bearer forged-{number}"), "/metrics");
    let waiting: Vec<_> = (0..100).map(|number| kubernetes.authorize(forged(number))).collect();
    let at_once: Vec<_> = waiting.into_iter().map(FutureExt::now_or_never).collect();
    let refused = at_once.iter().filter(|verdict| **verdict == Some(AccessVerdict::Unavailable));
    assert_eq!(refused.count(), 84);
    // Who is known is let in.
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Granted);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(api.count("/tokenreviews"), 17);
}

#[tokio::test(start_paused = true)]
async fn a_token_must_be_meant_for_an_audience() {
    let api = Api::new();
    let kubernetes = api.kubernetes(&["podinit", "metrics"]);
    assert_eq!(judged(&kubernetes, "prometheus").await, AccessVerdict::Granted);
    // The API server says for none of them that the token is meant for it.
    assert!(is_unauthenticated(judged(&kubernetes, "unaware").await));
    let sent = api.asked.lock().unwrap()[0].1["spec"]["audiences"].clone();
    assert_eq!(sent, json!(["podinit", "metrics"]));
    let other = api.kubernetes(&["other"]);
    assert!(is_unauthenticated(judged(&other, "prometheus").await));
}

#[tokio::test(start_paused = true)]
async fn rights_that_are_lacking_are_told_at_the_start() {
    let api = Api::new();
    let kubernetes = api.kubernetes(&[]);
    assert_eq!(kubernetes.probe().await, Ok(()));
    for (fails, kind) in
        [(&api.tokens_fail, "tokenreviews"), (&api.accesses_fail, "subjectaccessreviews")]
    {
        fails.store(403, Ordering::SeqCst);
        let error = kubernetes.probe().await.unwrap_err();
        assert_eq!(error, ReviewError::Forbidden(kind));
        assert!(error.is_lasting());
        fails.store(500, Ordering::SeqCst);
        assert!(!kubernetes.probe().await.unwrap_err().is_lasting());
        fails.store(0, Ordering::SeqCst);
    }
    api.answers.forget_permits(PLENTY);
    let error = kubernetes.probe().await.unwrap_err();
    let message = "the API server at https://api gives no access review: no answer for 5 s";
    assert_eq!(error.to_string(), message);
}
