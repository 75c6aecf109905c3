//! `podinit report` and `podinit replay` as commands, on recordings small enough to check by hand.
//! `INSTA_UPDATE=always cargo test --test suite report::` renews the snapshots.

use std::io::Write;

use crate::comparison::command::{nodes, on_pool_b};
use crate::support::files::recordings;
use crate::support::process::run_with;
use crate::support::scrape::Scrape;
use flate2::Compression;
use flate2::write::GzEncoder;
use podinit_decode::DecodeOptions;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::ReplayConfig;
use podinit_reports::report;
use podinit_text::document::TerminalStyle;
use serde_json::{Value, json};

/// One life of each of some kinds, as watch events with the time of their arrival.
const WATCH: &str = "tests/fixtures/watch.jsonl";
/// Three pods, as `kubectl get pods -A -o yaml` prints them.
const LIST: &str = "tests/fixtures/list.yaml";
/// Six pods, most of which cannot say any more when they started up.
const FLAPPED: &str = "tests/fixtures/flapped.yaml";

/// Standard output of a command that succeeds and has nothing to complain about.
fn printed(args: &[&str], input: &[u8]) -> String {
    let output = run_with(args, input);
    assert!(output.status.success(), "{args:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What `replay` prints, without the build, which is not the recording's.
fn replayed(args: &[&str]) -> String {
    let text = printed(&[&["replay"], args].concat(), b"");
    let kept = text.split_inclusive('\n');
    kept.filter(|line| !line.contains("podinit_build_info")).collect()
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(name).unwrap()
}

#[test]
fn a_report_on_a_watch() {
    insta::assert_snapshot!(printed(&["report", "--timestamps", "fused", WATCH], b""));
}

#[test]
fn a_report_on_a_list() {
    insta::assert_snapshot!(printed(&["report", "--backfill", LIST], b""));
}

#[test]
fn a_lone_list_is_observed_without_being_asked() {
    let asked = printed(&["report", "--backfill", LIST], b"");
    assert_eq!(printed(&["report", LIST], b""), asked);
    let event = br#"{"kind":"EventList","items":[]}"#;
    assert_eq!(printed(&["report", LIST, "-"], event), asked);
}

/// What follows a list shows what happens to new pods, so that those of the list are none.
#[test]
fn the_first_of_several_lists_is_observed_only_when_that_is_asked() {
    let bookmark: &[u8] = br#"{"type":"BOOKMARK","object":{"kind":"Pod"}}"#;
    for more in [bookmark, &file(LIST)] {
        let report = |args: &[&str]| -> serde_json::Value {
            let args = [&["report", "-o", "json"], args, &[LIST, "-"]].concat();
            let output = run_with(&args, more);
            // Of lists only, it says what it has taken the second one for.
            assert_eq!(output.stderr.is_empty(), more == bookmark, "{output:?}");
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let ready = |report: serde_json::Value| report["finished"]["ready"].clone();
        assert_eq!(ready(report(&[])), 0);
        assert_eq!(ready(report(&["--backfill"])), 2);
    }
}

#[test]
fn pods_whose_startup_times_are_lost_are_set_aside() {
    let text = printed(&["report", FLAPPED], b"");
    assert_eq!(printed(&["report", "--backfill", FLAPPED], b""), text);
    insta::assert_snapshot!(text);
    // `replay` does as it is told.
    let replayed = Scrape::parse(&replayed(&["--backfill", FLAPPED]));
    let ready = replayed.sum_where("podinit_pods_finished_total", "outcome", "ready");
    assert_eq!(ready, 3.0);
}

#[test]
fn a_report_for_a_wiki() {
    let args = ["report", "-o", "markdown", "--timestamps", "fused", WATCH];
    insta::assert_snapshot!(printed(&args, b""));
}

#[test]
fn a_report_for_programs() {
    let args = ["report", "-o", "json", "--timestamps", "fused", WATCH];
    let text = printed(&args, b"");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    insta::assert_snapshot!(text);
}

#[test]
fn as_many_of_the_slowest_pods_as_asked_for() {
    for (top, expected) in [("0", 0), ("1", 1), ("2", 2), ("9", 2)] {
        let args = ["report", "--top", top, "-o", "json", WATCH];
        let report: serde_json::Value = serde_json::from_str(&printed(&args, b"")).unwrap();
        assert_eq!(report["slowest"].as_array().unwrap().len(), expected);
        if expected > 0 {
            assert_eq!(report["slowest"][0]["name"], "web-2");
        }
    }
}

#[test]
fn a_slow_pool_is_a_finding() {
    let recording = format!("{}\n{}", nodes("v1.37.0"), on_pool_b("v1", 20));
    let page = printed(&["report", "-o", "html", "-"], recording.as_bytes());
    let finding =
        "<li>Pool b is slow: half of its 120 pods take 24s or more from scheduled to ready";
    assert!(page.contains(finding), "{page}");
    for absent in ["Pool a is slow", "Zone z"] {
        assert!(!page.contains(absent), "{absent}");
    }
    assert!(page.contains("Pools, zones, images, owners, namespaces"));
}

/// A test has no terminal, so what goes to one is asked of the library.
#[test]
fn colours_are_for_terminals_only() {
    let escape = '\u{1b}';
    for format in ["text", "markdown", "json"] {
        let text = printed(&["report", "-o", format, WATCH], b"");
        assert!(!text.contains(escape), "{format}");
    }
    let recording = Recording::open(WATCH.as_ref(), DecodeOptions::default()).unwrap();
    let report = report::summarize(recording, ReplayConfig::default(), 3).unwrap();
    let style = |colour| TerminalStyle { colour, width: 80 };
    assert!(report.to_text(style(true)).contains(escape));
    assert!(!report.to_text(style(false)).contains(escape));
}

#[test]
fn a_narrow_terminal_gets_short_bars() {
    let recording = Recording::open(WATCH.as_ref(), DecodeOptions::default()).unwrap();
    let report = report::summarize(recording, ReplayConfig::default(), 3).unwrap();
    let bar = |width| {
        let text = report.to_text(TerminalStyle { colour: false, width });
        let bars = text.lines().map(|line| line.matches('█').count());
        bars.max().unwrap()
    };
    assert_eq!(bar(40), 20);
    assert!(bar(200) <= 60);
}

#[test]
fn a_replay_as_text() {
    let args = ["--labels", "", "--timestamps", "fused", WATCH];
    insta::assert_snapshot!(replayed(&args));
}

#[test]
fn a_replay_as_openmetrics() {
    let args = ["--labels", "", "--timestamps", "fused", "-o", "openmetrics", WATCH];
    let text = replayed(&args);
    assert!(text.ends_with("# EOF\n"));
    // The buckets are those of the text; what differs is worth a look.
    let kept = text.split_inclusive('\n');
    let kept = kept.filter(|line| !line.contains("_bucket") || line.contains(" # {"));
    insta::assert_snapshot!(kept.collect::<String>());
}

#[test]
fn a_replay_as_json() {
    let args = ["--labels", "", "--timestamps", "fused", "-o", "json", WATCH];
    let text = printed(&[&["replay"], args.as_slice()].concat(), b"");
    let families: serde_json::Value = serde_json::from_str(&text).unwrap();
    let families = families.as_array().unwrap();
    assert!(families.iter().all(|family| family["name"].is_string()));
    let pods = families.iter().filter(|family| {
        let name = family["name"].as_str().unwrap();
        name.contains("_pods") || name.contains("unobserved") || name.contains("created_to")
    });
    let pods: Vec<_> = pods.collect();
    insta::assert_snapshot!(serde_json::to_string_pretty(&pods).unwrap());
}

#[test]
fn it_does_not_matter_how_a_recording_comes() {
    let plain = file(WATCH);
    let expected = printed(&["replay", WATCH], b"");
    assert_eq!(printed(&["replay", "-"], &plain), expected);

    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plain).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(printed(&["replay", "-"], &packed), expected);

    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("whole.gz"), &packed).unwrap();
    assert_eq!(printed(&["replay", &path("whole.gz")], b""), expected);

    let middle = plain.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let middle = middle.map(|(at, _)| at + 1).nth(8).unwrap();
    std::fs::write(path("first.json"), &plain[..middle]).unwrap();
    let parts = ["replay", &path("first.json"), "-"];
    assert_eq!(printed(&parts, &plain[middle..]), expected);

    let pretty: String = (serde_json::Deserializer::from_slice(&plain).into_iter())
        .map(|document| document.unwrap())
        .map(|document: serde_json::Value| serde_json::to_string_pretty(&document).unwrap())
        .collect();
    assert_eq!(printed(&["replay", "-"], pretty.as_bytes()), expected);
}

#[test]
fn until_stops_the_recording_there() {
    let at = |until: &str| Scrape::parse(&printed(&["replay", "--until", until, WATCH], b""));
    let outcome = |scrape: &Scrape, outcome| {
        scrape.sum_where("podinit_pods_finished_total", "outcome", outcome)
    };
    let early = at("2026-03-01T10:00:17Z");
    early.assert_conserved();
    assert_eq!(early.sum("podinit_pods_discovered_total"), 6.0);
    assert_eq!((outcome(&early, "ready"), outcome(&early, "deleted")), (1.0, 0.0));
    assert_eq!(early.sum("podinit_inflight_pods"), 3.0);
    assert_eq!(early.sum("podinit_reentries_total"), 0.0);
    // The DELETED event arrives at this very instant, which is not later.
    let on_time = at("2026-03-01T10:00:18Z");
    assert_eq!(outcome(&on_time, "deleted"), 1.0);
    let late = at("2026-03-01T11:00:00Z");
    assert_eq!(outcome(&late, "ready"), 2.0);
    assert_eq!(late.sum("podinit_reentries_total"), 2.0);
}

/// A pod that was scheduled in second 0, whose network condition is True since `condition`, and whose
/// only container started at `start`.
fn started_pod(name: &str, condition: u32, start: u32) -> Value {
    let at = |second: u32| format!("2026-03-01T10:00:{second:02}Z");
    let held = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"namespace": "shop", "name": name, "uid": name, "creationTimestamp": at(0)},
        "spec": {"nodeName": "n1", "containers": [{"name": "app"}]},
        "status": {
            "phase": "Running", "startTime": at(0),
            "conditions": [held("PodScheduled", 0), held("PodReadyToStartContainers", condition)],
            "containerStatuses": [{"name": "app", "state": {"running": {"startedAt": at(start)}}}],
        },
    })
}

/// On kubelets up to 1.35 the condition comes with the first container's start or after it, so that the
/// time of the network may include image pulls. An Event says when the network was ready.
#[test]
fn a_network_time_that_may_include_image_pulls_is_named_so() {
    let pulling = json!({
        "kind": "Event", "apiVersion": "v1", "metadata": {"name": "by-event.1", "namespace": "shop"},
        "involvedObject": {
            "kind": "Pod", "uid": "by-event", "fieldPath": "spec.containers{app}",
        },
        "reportingComponent": "kubelet", "reason": "Pulling", "message": "Pulling image \"nginx\"",
        "firstTimestamp": "2026-03-01T10:00:03Z",
    });
    let mut bound = started_pod("by-event", 20, 20);
    bound["status"]["conditions"].as_array_mut().unwrap().pop();
    bound["status"].as_object_mut().unwrap().remove("containerStatuses");
    let list = |items: Value| json!({"kind": "PodList", "apiVersion": "v1", "items": items});
    let late = started_pod("late", 20, 20);
    let bounded = started_pod("bounded", 40, 30);
    let exact = started_pod("exact", 1, 20);
    let by_event = started_pod("by-event", 20, 20);
    let documents = [
        list(json!([])),
        json!({"type": "ADDED", "object": bound}),
        pulling,
        json!({"type": "MODIFIED", "object": by_event}),
        json!({"type": "ADDED", "object": late}),
        json!({"type": "ADDED", "object": bounded}),
        json!({"type": "ADDED", "object": exact}),
    ];
    let recording: String = documents.iter().map(|document| format!("{document}\n")).collect();
    let rows = |args: &[&str]| {
        let args = [&["report", "-o", "json"], args, &["-"]].concat();
        let report: Value = serde_json::from_str(&printed(&args, recording.as_bytes())).unwrap();
        let rows = report["intervals"].as_array().unwrap().clone();
        let row = |name: &str| {
            let row = rows.iter().find(|row| row["interval"] == name).unwrap();
            ["count", "min", "max"].map(|column| row[column].as_f64())
        };
        [row("network"), row("network, image pull included"), row("network, image pull excluded")]
    };
    let some = |figures: [f64; 3]| figures.map(Some);
    let with_events = [[4.0, 1.0, 30.0], [2.0, 20.0, 30.0], [2.0, 1.0, 3.0]].map(some);
    assert_eq!(rows(&[]), with_events);
    let without = [[4.0, 1.0, 30.0], [3.0, 20.0, 30.0], [1.0, 1.0, 1.0]].map(some);
    assert_eq!(rows(&["--evidence", "none"]), without);
    let text = printed(&["report", "-"], recording.as_bytes());
    let mut lines = text.lines().skip_while(|line| !line.starts_with("network "));
    let names = [lines.next(), lines.next(), lines.next()].map(|line| line.unwrap());
    let names = names.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    assert!(names[1].starts_with("network, image pull included 2 20s"), "{text}");
    assert!(names[2].starts_with("network, image pull excluded 2 1s"), "{text}");
}

#[test]
fn a_report_as_csv() {
    let text = printed(&["report", "-o", "csv", "--timestamps", "fused", WATCH], b"");
    // RFC 4180 ends lines with CRLF, which a snapshot would not show.
    assert_eq!(text.matches("\r\n").count(), text.matches('\n').count());
    insta::assert_snapshot!(text.replace("\r\n", "\n"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(head, report::columns());
    assert_eq!(reader.records().map(Result::unwrap).count(), 6);
}

#[test]
fn pods_that_are_set_aside_have_a_row_without_durations() {
    let text = printed(&["report", "-o", "csv", FLAPPED], b"");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|one| one == name).unwrap();
    let found: Vec<_> = (reader.records().map(Result::unwrap))
        .map(|row| {
            let cells = ["pod", "outcome", "set_aside", "cause", "created_to_ready_seconds"];
            cells.map(|name| row[at(name)].to_owned()).join(" ")
        })
        .collect();
    let expected = [
        "crashing-0 in_flight restarted crash ",
        "flapped-0 preexisting true_again  ",
        "import-7 completed   ",
        "quick-0 ready   5",
        "restarted-0 preexisting restarted  ",
        "unready-0 preexisting ready_before  ",
    ];
    assert_eq!(found, expected);
    let images: Vec<_> = csv::Reader::from_reader(text.as_bytes())
        .records()
        .map(|row| row.unwrap()[at("images")].to_owned())
        .collect();
    assert_eq!(images[2], "registry.example/import:1");
}

#[test]
fn a_report_as_a_trace() {
    let args = ["report", "-o", "trace", "--timestamps", "fused", WATCH];
    let trace: serde_json::Value = serde_json::from_str(&printed(&args, b"")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    insta::assert_snapshot!(events.iter().map(|event| format!("{event}\n")).collect::<String>());
}

/// Slices of one track that overlap without one holding the other are lost or shown elsewhere.
#[test]
fn slices_of_a_trace_nest() {
    let recordings = recordings().into_iter().map(|file| file.to_str().unwrap().to_owned());
    let mut slices = 0;
    for recording in recordings.chain([WATCH, LIST, FLAPPED].map(str::to_owned)) {
        let text = printed(&["report", "-o", "trace", &recording], b"");
        let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut open: std::collections::HashMap<u64, Vec<(i64, i64)>> = Default::default();
        for event in trace["traceEvents"].as_array().unwrap() {
            if event["ph"] != "X" {
                continue;
            }
            let [from, lasts] = ["ts", "dur"].map(|key| event[key].as_i64().unwrap());
            let to = from + lasts;
            assert!(from > 0 && lasts >= 0, "{recording}: {event}");
            let track = open.entry(event["tid"].as_u64().unwrap()).or_default();
            let apart = |(begin, end): &(i64, i64)| to <= *begin || *end <= from;
            let inside = |(begin, end): &(i64, i64)| *begin <= from && to <= *end;
            assert!(track.iter().all(|one| apart(one) || inside(one)), "{recording}: {event}");
            track.push((from, to));
            slices += 1;
        }
    }
    assert!(slices > 500, "{slices}");
}

#[test]
fn a_report_can_go_to_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pods.csv").to_str().unwrap().to_owned();
    let args = ["report", "-o", "csv", "--output-file", &path, LIST];
    assert_eq!(printed(&args, b""), "");
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, printed(&["report", "-o", "csv", LIST], b""));
    let nowhere = directory.path().join("no/such").to_str().unwrap().to_owned();
    let output = run_with(&["report", "--output-file", &nowhere, LIST], b"");
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), complaint.lines().count()), (Some(1), 1));
    assert!(complaint.contains("no/such"), "{complaint}");
}

#[test]
fn a_report_as_a_page() {
    let page = printed(&["report", "-o", "html", "--timestamps", "fused", WATCH], b"");
    insta::assert_snapshot!(page);
}

/// Its status shows its last two runs; the first one had begun 49 minutes before.
#[test]
fn a_job_that_was_tried_again_has_no_start_that_did_not_happen() {
    let condition = |kind: &str, status: &str, second: u8| {
        serde_json::json!({"type": kind, "status": status,
            "lastTransitionTime": format!("2026-01-01T00:00:{second:02}Z")})
    };
    let conditions = [
        condition("PodScheduled", "True", 1),
        condition("Initialized", "True", 1),
        condition("PodReadyToStartContainers", "True", 2),
        condition("Ready", "False", 1),
    ];
    let run = |minute: u8| {
        let at = format!("2026-01-01T00:{minute}:00Z");
        serde_json::json!({"terminated": {"startedAt": at, "finishedAt": at, "exitCode": 0}})
    };
    let job = serde_json::json!({"kind": "Pod", "metadata": {"uid": "u", "namespace": "n", "name": "p",
        "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": "Succeeded", "startTime": "2026-01-01T00:00:01Z", "conditions": conditions,
            "containerStatuses": [{"name": "c", "restartCount": 5, "state": run(59), "lastState": run(50)}]}});
    for options in [&["report", "-"][..], &["report", "--backfill", "-"]] {
        let report = printed(options, job.to_string().as_bytes());
        assert!(!report.contains("49m58s"), "{report}");
        assert!(report.contains("Set aside, startup times lost: restarted 1"), "{report}");
    }
}

/// It is one file, and runs nothing.
#[test]
fn a_page_needs_nothing_else() {
    for recording in [WATCH, LIST, FLAPPED] {
        let page = printed(&["report", "-o", "html", recording], b"");
        for foreign in [
            "<script", "<link", "src=", "href=", "url(", "@import", "http://", "https://",
            "onclick",
        ] {
            assert!(!page.contains(foreign), "{recording}: {foreign}");
        }
        assert!(page.contains("default-src 'none'"));
        for tag in ["table", "svg", "ul", "ol", "div", "section", "main"] {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
    let flapped = printed(&["report", "-o", "html", FLAPPED], b"");
    assert!(flapped.contains("4 pods are set aside"));
    assert!(flapped.contains("1 pod is still in containers, cause crash: shop/crashing-0"));
    assert!(!flapped.contains("119h"));
}

/// The page of pods whose scheduling, network and containers took so many seconds each.
fn page_of_stages(pods: &[[u8; 3]]) -> String {
    let pod = |(number, stages): (usize, &[u8; 3])| {
        let [scheduled, network, ready] = [1, 2, 3].map(|count| {
            let seconds: u8 = stages[..count].iter().sum();
            format!("2026-01-01T00:00:{seconds:02}Z")
        });
        let conditions = [
            ("PodScheduled", &scheduled),
            ("PodReadyToStartContainers", &network),
            ("ContainersReady", &ready),
            ("Ready", &ready),
        ];
        let conditions = conditions.map(|(kind, at)| {
            serde_json::json!({"type": kind, "status": "True", "lastTransitionTime": at})
        });
        serde_json::json!({"metadata": {"uid": number.to_string(), "namespace": "n", "name": number.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"containers": [{"name": "c"}]},
            "status": {"phase": "Running", "startTime": scheduled, "conditions": conditions}})
    };
    let items: Vec<_> = pods.iter().enumerate().map(pod).collect();
    let list = serde_json::json!({"kind": "PodList", "items": items}).to_string();
    printed(&["report", "-o", "html", "-"], list.as_bytes())
}

#[test]
fn a_page_names_the_longest_stage_only_where_there_is_one() {
    let others = [[1, 2, 1]; 18];
    let as_long = page_of_stages(&[&others[..], &[[2, 2, 2]; 2]].concat());
    assert!(
        as_long.contains("The largest part of the time of these startups is network: 48 %.</li>")
    );
    assert!(!as_long.contains("mostly "));
    let longer = page_of_stages(&[&others[..], &[[1, 2, 5]; 2]].concat());
    let finding =
        "of these startups is network: 45 %. In the slowest tenth it is containers: 62 %.</li>";
    assert!(longer.contains(finding));
    assert_eq!(longer.matches("mostly ").count(), 2);
    assert_eq!(longer.matches("<small>mostly containers 5s</small>").count(), 2);
}

/// Of fewer than 100 pods the 99th percentile is the slowest pod.
#[test]
fn a_page_states_a_99th_percentile_of_a_hundred_pods() {
    let few = page_of_stages(&[[1, 2, 1]; 99]);
    let many = page_of_stages(&[[1, 2, 1]; 100]);
    assert!(few.contains("half of them within 4s of their creation, the slowest after 4s."));
    assert!(many.contains("their creation, 99 % within 4s, the slowest after 4s."));
}

/// Nothing shows where and since when a pod has failed that had failed already when it was first seen.
#[test]
fn a_pod_that_had_failed_at_first_sight_has_no_stage() {
    let pod = |phase: &str| {
        let conditions = serde_json::json!([{"type": "PodScheduled", "status": "True",
            "lastTransitionTime": "2026-01-01T00:00:01Z"}]);
        serde_json::json!({"kind": "Pod", "metadata": {"uid": "u", "namespace": "n", "name": "p",
            "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"containers": [{"name": "c"}]},
            "status": {"phase": phase, "startTime": "2026-01-01T00:00:02Z", "conditions": conditions}})
    };
    let row = |input: &str| {
        let page = printed(&["report", "-o", "html", "-"], input.as_bytes());
        let row = page.split("<th scope=\"row\">n/p</th>").nth(1).unwrap();
        row.split("<td class").next().unwrap().to_owned()
    };
    let failed = pod("Failed");
    let at_first_sight = row(&failed.to_string());
    assert_eq!(at_first_sight, "<td>failed</td><td>-</td><td>-</td><td></td>");
    let event = |kind: &str, second: u8, pod: serde_json::Value| {
        let at = format!("2026-01-01T00:00:0{second}Z");
        serde_json::json!({"type": kind, "observedAt": at, "object": pod}).to_string()
    };
    let watched = event("ADDED", 3, pod("Pending")) + &event("MODIFIED", 5, failed);
    assert_eq!(
        row(&watched),
        "<td>failed</td><td>network</td><td>unknown</td><td>2026-01-01T00:00:05Z</td>"
    );
}

#[test]
fn a_page_of_five_thousand_pods_is_small() {
    let pod = |number: usize| {
        let at =
            |seconds: usize| format!("2026-01-01T00:{:02}:{:02}Z", seconds / 60 % 60, seconds % 60);
        let (ready, name) = (number % 240, format!("an-application-with-a-long-name-{number:05}"));
        let conditions = [
            ("PodScheduled", 0),
            ("PodReadyToStartContainers", ready / 3),
            ("ContainersReady", ready),
            ("Ready", ready),
        ];
        let conditions = conditions.map(|(kind, seconds)| {
            serde_json::json!({
            "type": kind, "status": "True", "lastTransitionTime": at(seconds)})
        });
        serde_json::json!({
            "metadata": {"uid": name, "namespace": format!("namespace-{}", number % 700), "name": name,
                "creationTimestamp": at(0)},
            "spec": {"nodeName": format!("node-{}", number % 900),
                "containers": [{"name": "app", "image": format!("registry.example/team/application:{number}")}]},
            "status": {"phase": if number.is_multiple_of(9) { "Failed" } else { "Running" }, "startTime": at(0),
                "conditions": if number.is_multiple_of(9) { serde_json::json!([]) } else { serde_json::json!(conditions) }}})
    };
    let list =
        serde_json::json!({"kind": "PodList", "items": (0..5_000).map(pod).collect::<Vec<_>>()});
    let page = printed(&["report", "-o", "html", "-"], list.to_string().as_bytes());
    assert!(page.len() < 500_000, "{}", page.len());
}
