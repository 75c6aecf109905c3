//! The messages of kubelets and autoscalers, as `docs/measuring.md` and `docs/causes.md` show them, are read as they say.

use std::path::Path;

use crate::support::process::run;
use podinit_core::image_registry;
use podinit_core::kube_event::EventReason;
use podinit_decode::DecodeOptions;
use podinit_decode::event::message::{PullMessage, failed_pull, pulled};
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use serde_json::json;

/// The rows of the table of messages in a document that begins so: who writes it, reason, message, what it is read as.
fn rows(document: &str, head: &str) -> Vec<[String; 4]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(document);
    let text = std::fs::read_to_string(path).unwrap();
    let (_, table) = text.split_once(head).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows = rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, by, reason, message, meaning, _] = cells[..] else {
            panic!("not five cells: {row}");
        };
        [by, reason, message, meaning].map(|cell| cell.trim_matches('`').to_owned())
    });
    rows.collect()
}

/// What the decoder makes of an Event, in the words of the table.
fn read_as(reason: &str, message: &str) -> String {
    let docker = |image| assert_eq!(image_registry::registry_of(image), "docker.io");
    match reason {
        "Pulled" => match pulled(message) {
            Some(PullMessage::Present { image }) => {
                docker(image);
                "present".to_owned()
            }
            Some(PullMessage::Pulled { image, pull }) => {
                docker(image);
                let mut text = format!("pulled, {} s", pull.duration.as_secs_f64());
                if let Some(with_wait) = pull.with_wait {
                    text += &format!(", {} s with wait", with_wait.as_secs_f64());
                }
                if let Some(bytes) = pull.bytes {
                    text += &format!(", {bytes} bytes");
                }
                text
            }
            None => "nothing".to_owned(),
        },
        "Failed" => match failed_pull(message) {
            Some(image) => {
                docker(image);
                "failed".to_owned()
            }
            None => "nothing".to_owned(),
        },
        "Pulling" => "a pull has begun".to_owned(),
        _ => "nothing".to_owned(),
    }
}

#[test]
fn the_messages_that_are_documented_are_read_as_the_table_says() {
    let rows = rows("measuring.md", "| kubelet | reason |");
    assert!(rows.len() >= 10, "{rows:?}");
    for [_, reason, message, meaning] in rows {
        assert_eq!(read_as(&reason, &message), meaning, "{message}");
    }
}

#[test]
fn the_messages_of_autoscalers_are_read_as_the_table_says() {
    let rows = rows("causes.md", "| component | reason |");
    assert!(rows.len() >= 8, "{rows:?}");
    for [by, reason, message, meaning] in rows {
        let event = json!({"kind": "Event", "reason": reason, "message": message,
            "source": {"component": by}, "involvedObject": {"kind": "Pod", "uid": "a"}});
        let line = json!({"type": "ADDED", "object": event}).to_string();
        let mut decoder =
            EventDecoder::new(DecodeOptions { messages: true, ..DecodeOptions::default() });
        let line = decoder.line(line.as_bytes()).unwrap();
        let EventLineKind::Applied(event) = line.kind else {
            panic!("{line:?}");
        };
        let (read, kept) = match &event.reason {
            EventReason::Capacity { state, by: reporter } => {
                assert_eq!(**reporter, by);
                (state.as_str(), Some(&*message))
            }
            // What the scheduler says stands in for a condition that is not there.
            EventReason::FailedScheduling => ("nothing", Some(&*message)),
            _ => ("nothing", None),
        };
        assert_eq!((read, event.message.as_deref()), (&*meaning, kept), "{message}");
    }
}

const AUTOSCALERS: &str = "tests/fixtures/autoscalers.jsonl";

/// Events as cluster-autoscaler and Karpenter write them, with those of the scheduler between them.
#[test]
fn events_of_autoscalers_say_whether_a_node_is_on_its_way() {
    let capacity = |evidence: &str| {
        let replay = run(&["replay", "--evidence", evidence, AUTOSCALERS]);
        let text = String::from_utf8(replay.stdout).unwrap();
        let lines = text.lines().filter_map(|line| {
            let (state, pods) =
                line.strip_prefix("podinit_unschedulable_pods{capacity=\"")?.split_once("\"} ")?;
            Some(format!("{state} {pods}"))
        });
        lines.collect::<Vec<_>>()
    };
    let states = ["scaling_up 1", "no_scale_up 2", "scale_up_failed 0", "nominated 1", "unknown 1"];
    assert_eq!(capacity("events"), states);
    assert_eq!(capacity("none"), Vec::<String>::new());
}

#[test]
fn an_explanation_says_whether_an_autoscaler_helps() {
    let explained = |pod: &str| {
        let output = run(&["explain", "--file", AUTOSCALERS, "--namespace", "shop", pod]);
        String::from_utf8(output.stdout).unwrap()
    };
    let helped = explained("web-a");
    assert!(helped.contains("cause resources; cluster-autoscaler is adding a node."), "{helped}");
    let said = "cluster-autoscaler says scaling_up since 2026-11-20 10:00:01.200: \
                pod triggered scale-up: [{pool-a 3->4 (max: 10)}]";
    assert!(helped.contains(said), "{helped}");
    let reason = "no autoscaler helps: 1 max node group size reached, 2 Insufficient cpu.";
    assert!(explained("web-b").contains(reason));
    assert!(explained("web-c").contains("karpenter has chosen a node for it."));
    assert!(!explained("web-e").contains("autoscaler"));
}
