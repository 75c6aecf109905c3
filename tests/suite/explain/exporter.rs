//! `podinit explain --url`: an exporter that has watched what a recording shows explains it in the same way.

use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use podinit_core::lifecycle::{Backfill, SloRule, Tracker, TrackerConfig};
use podinit_decode::DecodeOptions;
use podinit_decode::node::NodeOptions;
use podinit_http::{AccessControl, AccessRequest, AccessVerdict, ServerLimits};
use podinit_oncall::api;
use podinit_oncall::records;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::{ReplayConfig, replayed};
use serde_json::{Value, json};

use crate::explain::ended::failed;
use crate::explain::recordings::{half_and_half, recording, stuck};
use crate::support::freshness::freshness;
use crate::support::output::{json_of, one_line};
use crate::support::process::run_beside;
use crate::support::server::{Running, Source, start_routes};
use crate::support::sinks::Kept;

fn watched(documents: &[Value]) -> (Kept, Tracker) {
    let has_nodes = documents.iter().any(|one| one["kind"] == "NodeList");
    let tracker = TrackerConfig {
        backfill: Backfill::All,
        events: true,
        nodes: has_nodes,
        slos: Vec::<SloRule>::new().into(),
        ..TrackerConfig::default()
    };
    let config = ReplayConfig { tracker, ..ReplayConfig::default() };
    let options = DecodeOptions {
        nodes: has_nodes.then(NodeOptions::default),
        ..DecodeOptions::of_records()
    };
    let text = std::io::Cursor::new(recording(documents));
    let documents = Recording::from_reader("test", text, options);
    let end = replayed(documents, config, |_| Ok(Kept::default()), |_, _| {}).unwrap();
    (end.sink, end.tracker)
}

/// An exporter that has watched what these documents show.
pub fn start(documents: &[Value], access: Option<Arc<dyn AccessControl>>) -> Running {
    let (client, mut queries) = records::channel();
    queries.begin();
    let (kept, tracker) = watched(documents);
    tokio::spawn(async move {
        loop {
            queries.waiting().await;
            queries.step(&tracker, &kept.0);
        }
    });
    let routes = api::router(client, Vec::new(), freshness(true));
    start_routes(Source::default(), ServerLimits::default(), routes, access)
}

async fn podinit(args: Vec<String>) -> Output {
    let args: Vec<&str> = ["explain"].into_iter().chain(args.iter().map(|arg| &**arg)).collect();
    run_beside(&args).await
}

async fn ask(exporter: &Running, args: &[&str]) -> Output {
    let url = format!("--url=http://{}", exporter.address);
    let args = args.iter().map(|arg| (*arg).to_owned());
    podinit([url].into_iter().chain(args).collect()).await
}

async fn explained(exporter: &Running, args: &[&str]) -> Value {
    let output = ask(exporter, &[args, &["-o", "json"]].concat()).await;
    json_of(&output, args)
}

#[tokio::test]
async fn it_says_what_the_recording_says() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.json");
    let targets: [&[&str]; 5] = [
        &["-n", "shop", "web-1"],
        &["web-1"],
        &["-n", "shop", "web-2"],
        &["pod/web-3"],
        &["-n", "shop", "deploy/web"],
    ];
    for documents in [half_and_half(), stuck()] {
        std::fs::write(&file, recording(&documents)).unwrap();
        let exporter = start(&documents, None);
        for target in targets {
            let of_file = ["--file", file.to_str().unwrap(), "-o", "json"];
            let args = of_file.iter().chain(target).map(|arg| (*arg).to_owned());
            let expected = podinit(args.collect()).await;
            if !expected.status.success() {
                one_line(&ask(&exporter, target).await);
                continue;
            }
            let mut expected: Value = serde_json::from_slice(&expected.stdout).unwrap();
            // Records have no probes, and are as of now.
            expected["probes"] = json!([]);
            assert!(expected.as_object_mut().unwrap().remove("time").is_some());
            assert_eq!(explained(&exporter, target).await, expected, "{target:?}");
        }
    }
}

/// How a pod ended is part of its record.
#[tokio::test]
async fn it_says_how_a_pod_ended() {
    let documents = failed();
    let exporter = start(&documents, None);
    let explanation = explained(&exporter, &["web-1"]).await;
    let verdict = explanation["verdict"].as_str().unwrap();
    assert!(
        verdict.ends_with(": container app exited with code 1 after 6s: no such table."),
        "{verdict}"
    );
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.json");
    std::fs::write(&file, recording(&documents)).unwrap();
    let args = ["--file", file.to_str().unwrap(), "-o", "json", "web-1"];
    let output = podinit(args.map(str::to_owned).to_vec()).await;
    let mut expected = json_of(&output, &args);
    expected["probes"] = json!([]);
    assert!(expected.as_object_mut().unwrap().remove("time").is_some());
    assert_eq!(explanation, expected);
}

#[tokio::test]
async fn a_pod_that_the_exporter_does_not_know_is_one_line_that_says_how_to_mend_it() {
    let exporter = start(&half_and_half(), None);
    for (args, mend) in [
        (&["-n", "shop", "web-77"][..], "check the name and --namespace"),
        (&["web-77"], "name the namespace with --namespace"),
        (&["-n", "shop", "sts/web"], "forgets old startups"),
    ] {
        let line = one_line(&ask(&exporter, args).await);
        assert!(line.contains("knows no startup of "), "{line}");
        assert!(line.contains(mend), "{line}");
        assert!(line.contains(&exporter.address.to_string()), "{line}");
    }
}

/// Each answer of an exporter is newer than the one before.
#[tokio::test]
async fn nothing_is_explained_as_of_an_instant_before_it() {
    let asked = Arc::new(AtomicU32::new(0));
    let answer = move |uri: http::Uri| {
        let second = asked.fetch_add(1, Ordering::Relaxed) + 10;
        let now = format!("2026-03-01T10:00:{second}Z");
        let page = json!({"time": now, "items": []});
        let pod = json!({
            "uid": "web-1", "namespace": "shop", "name": "web-1", "discovered": now,
            "in_flight": {
                "stage": "scheduling", "cause": "queue", "entered": now,
                "stuck_at": "2026-03-01T11:00:00Z", "stuck": false,
            },
            "milestones": [{
                "milestone": "Created", "time": "2026-03-01T10:00:00Z",
                "source": "creation_timestamp",
            }],
            "intervals": [], "pulls": [], "slos": [],
            "causes": [{"stage": "scheduling", "cause": "queue", "began": now}],
        });
        let is_pod = uri.path().starts_with("/api/v1/pods/");
        let document = if is_pod { pod } else { page };
        std::future::ready(document.to_string())
    };
    let routes = axum::Router::new().route("/api/v1/{*path}", axum::routing::get(answer));
    let exporter = start_routes(Source::default(), ServerLimits::default(), routes, None);
    let explanation = explained(&exporter, &["-n", "shop", "web-1"]).await;
    let began = explanation["causes"][0]["after_seconds"].as_f64().unwrap();
    let seconds = explanation["seconds"].as_f64().unwrap();
    assert!(seconds > began, "{explanation}");
}

struct Shut;

impl AccessControl for Shut {
    fn authorize(
        &self,
        _request: AccessRequest,
    ) -> futures::future::BoxFuture<'static, AccessVerdict> {
        Box::pin(async { AccessVerdict::Forbidden })
    }
}

#[tokio::test]
async fn an_exporter_that_does_not_answer_so_is_one_line() {
    let exporter = start(&half_and_half(), Some(Arc::new(Shut)));
    let line = one_line(&ask(&exporter, &["-n", "shop", "web-1"]).await);
    assert!(line.contains("does not let podinit in"), "{line}");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let free = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("--url=http://{free}");
    let line = one_line(&podinit(vec![url, "web-1".to_owned()]).await);
    assert!(line.contains("check --url"), "{line}");

    let exporter = crate::support::server::start(Source::default(), ServerLimits::default());
    let line = one_line(&ask(&exporter, &["web-1"]).await);
    assert!(line.contains("HTTP 404"), "{line}");
    assert!(line.contains("check --url"), "{line}");
}

#[tokio::test]
async fn a_recording_and_an_exporter_together_are_a_usage_error() {
    for args in [
        &["--file", "a", "--url", "http://localhost:1", "web"][..],
        &["--url", "localhost:1", "web"],
        &["--url", "ftp://localhost", "web"],
    ] {
        let output = podinit(args.iter().map(|arg| (*arg).to_owned()).collect()).await;
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty());
    }
}
