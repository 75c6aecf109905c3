//! `podinit report --url` and `--baseline URL`: reports on what running exporters have kept.

use std::process::Output;
use std::sync::Arc;

use futures::future::BoxFuture;
use podinit_http::{AccessControl, AccessRequest, AccessVerdict};
use serde_json::{Value, json};

use crate::comparison::command::{nodes, on_node_b, on_pool_b, pods};
use crate::explain::exporter::start;
use crate::explain::recordings::{half_and_half, recording, stuck};
use crate::report::cold_startups;
use crate::support::output::one_line;
use crate::support::process::run_beside;
use crate::support::server::Running;

async fn report(args: &[&str]) -> Output {
    run_beside(&[&["report"], args].concat()).await
}

async fn text(args: &[&str]) -> String {
    let output = report(args).await;
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

async fn figures(args: &[&str]) -> Value {
    let text = text(&[args, &["-o", "json"]].concat()).await;
    serde_json::from_str(&text).unwrap()
}

fn url(exporter: &Running) -> String {
    format!("http://{}", exporter.address)
}

/// An empty list, and each of these pods as it is added.
fn added(list: &Value) -> Vec<Value> {
    let pods = list["items"].as_array().unwrap().iter();
    let added = pods.map(|pod| json!({"type": "ADDED", "object": pod}));
    [json!({"kind": "PodList", "items": []})].into_iter().chain(added).collect()
}

fn file_of(documents: &[Value]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), recording(documents)).unwrap();
    file
}

#[tokio::test]
async fn the_figures_are_those_of_a_recording_of_the_same() {
    for documents in
        [added(&on_node_b("v1", 9)), half_and_half(), stuck(), cold_startups::documents()]
    {
        let exporter = start(&documents, None);
        let file = file_of(&documents);
        let mut of_file = figures(&[file.path().to_str().unwrap()]).await;
        let of_exporter = figures(&["--url", &url(&exporter)]).await;
        assert!(of_exporter["discovered"].as_u64() > Some(0));
        // What records do not say.
        for (key, value) in [
            ("from", of_exporter["from"].clone()),
            ("timestamps", json!("of the exporter")),
            ("only_kept", json!(true)),
            ("clock_anomalies", json!({})),
            ("reentries", json!({})),
            ("probes", of_exporter["probes"].clone()),
        ] {
            of_file[key] = value;
        }
        let probed = &of_exporter["waiting"]["bounds"][3];
        assert_eq!(
            (&probed["without"], &probed["known"]),
            (&json!("probed_every_second"), &json!(0))
        );
        of_file["waiting"]["bounds"][3] = probed.clone();
        assert_eq!(of_exporter, of_file);
    }
}

#[tokio::test]
async fn every_format_shows_the_startups_and_says_which_they_are() {
    let exporter = start(&added(&on_node_b("v1", 9)), None);
    let url = url(&exporter);
    for format in ["text", "markdown", "html"] {
        let text = text(&["--url", &url, "-o", format]).await;
        assert!(text.contains("120 pods from "), "{text}");
        assert!(text.contains("its newest 1,000 startups and the pods in flight"), "{text}");
        assert!(text.contains("shop/web-"), "{text}");
    }
    let csv = text(&["--url", &url, "-o", "csv"]).await;
    assert_eq!(csv.lines().count(), 121);
    assert!(csv.contains("web:v1"), "{csv}");
    let trace = text(&["--url", &url, "-o", "trace"]).await;
    assert!(trace.contains("web-119"), "{trace}");
}

/// Figures of startups that are kept because they were slow would be too high.
#[tokio::test]
async fn the_slowest_are_named_and_count_in_no_figure() {
    let all = pods("v1", 1_100, 60, |number| if number < 100 { 60 + number } else { 3 });
    let exporter = start(&added(&all), None);
    let url = url(&exporter);
    let found = figures(&["--url", &url, "--top", "3"]).await;
    assert_eq!(found["discovered"], 1_000);
    let whole = found["intervals"].as_array().unwrap().iter();
    let whole = whole.clone().find(|row| row["interval"] == "scheduled_to_ready").unwrap();
    assert_eq!(whole["max"], 7.0);
    let slowest: Vec<_> =
        found["slowest"].as_array().unwrap().iter().map(|pod| pod["name"].clone()).collect();
    assert_eq!(slowest, ["web-99", "web-98", "web-97"]);
    let page = text(&["--url", &url, "-o", "html"]).await;
    assert!(page.contains("shop/web-99"), "{page}");
    let found = figures(&["--baseline", &url, "--url", &url]).await;
    assert_eq!(found["before"]["observed"], 1_000);
    assert_eq!(found["answer"]["verdict"], "same", "{found:#}");
}

#[tokio::test]
async fn recordings_and_exporters_are_compared_with_each_other() {
    let (before, after) = (added(&on_node_b("v1", 3)), added(&on_node_b("v2", 9)));
    let (file_before, file_after) = (file_of(&before), file_of(&after));
    let (exporter_before, exporter_after) = (start(&before, None), start(&after, None));
    let (before, after) = (url(&exporter_before), url(&exporter_after));
    let (file_before, file_after) =
        (file_before.path().to_str().unwrap(), file_after.path().to_str().unwrap());
    let all_files = text(&["--baseline", file_before, file_after]).await;
    let answer = all_files.lines().next().unwrap();
    assert!(
        answer.contains("It is the stage network: +2.84s of +2.84s on average, on node b only"),
        "{answer}"
    );
    for args in [
        ["--baseline", &before, "--url", &after],
        ["--baseline", file_before, "--url", &after],
        ["--baseline", &before, "--", file_after],
    ] {
        let text = text(&args).await;
        assert_eq!(text.lines().next(), Some(answer), "{args:?}");
        assert!(text.contains("(of a running exporter: its newest 1,000 startups"), "{text}");
    }
    let broken = ["--baseline", file_before, "--url", &after, "--fail-on", "network:p90>+20%"];
    assert_eq!(report(&broken).await.status.code(), Some(3));
}

#[tokio::test]
async fn exporters_that_know_nodes_name_the_pool() {
    let side = |list: Value, kubelet| {
        let documents = [vec![nodes(kubelet)], added(&list)].concat();
        start(&documents, None)
    };
    let before = side(on_pool_b("v1", 3), "v1.36.1");
    let after = side(on_pool_b("v2", 9), "v1.37.0");
    let text = text(&["--baseline", &url(&before), "--url", &url(&after)]).await;
    assert!(text.contains(", on nodes of pool b only (+6s there)."), "{text}");
    assert!(text.contains("v1.36.1 8 → 4, v1.37.0 0 → 4"), "{text}");
}

#[tokio::test]
async fn exporters_of_one_side_are_taken_together() {
    let half = |name, of: i64| {
        let mut list = on_node_b(name, 9);
        let pods = list["items"].as_array_mut().unwrap();
        let mut number = 0;
        pods.retain(|_| {
            number += 1;
            number % 3 > of
        });
        start(&added(&list), None)
    };
    // Both know a third of the pods.
    let (one, other) = (half("v1", 0), half("v1", 1));
    let found = figures(&["--url", &url(&one), "--url", &url(&other)]).await;
    assert_eq!(found["discovered"], 80);
}

struct Shut;

impl AccessControl for Shut {
    fn authorize(&self, _request: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        Box::pin(async { AccessVerdict::Forbidden })
    }
}

#[tokio::test]
async fn an_exporter_that_refuses_is_one_line() {
    let exporter = start(&half_and_half(), Some(Arc::new(Shut)));
    let line = one_line(&report(&["--url", &url(&exporter)]).await);
    assert!(line.contains("does not let podinit in"), "{line}");
    let line = one_line(&report(&["--baseline", &url(&exporter), "--url", &url(&exporter)]).await);
    assert!(line.contains("does not let podinit in"), "{line}");
}

#[tokio::test]
async fn options_that_do_not_fit_together_are_a_usage_error() {
    let url = "http://localhost:1";
    for args in [
        &["--url", url, "file"][..],
        &[],
        &["--url", "localhost:1"],
        &["--baseline", url, "--baseline", "file", "other"],
        &["--baseline", "http://localhost:1/?a=b", "file"],
        &["--url", url, "--backfill"],
        &["--baseline", url, "--url", url, "--until", "2026-01-01T00:00:00Z"],
        &["--token-file", "token", "file"],
        &["--url", url, "--username", "me"],
    ] {
        let output = report(args).await;
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(output.stdout.is_empty());
    }
}
