//! Texts that strangers could choose as names, images and messages, to act where they are shown, and pods of them.

use serde_json::{Value, json};

/// Each acts on one thing at least that text is written to: terminals, spreadsheets, browsers, Markdown, chats.
pub const HOSTILE: [&str; 31] = [
    // A terminal: clear it, set its title, colours by ESC and by C1, delete, go back, ring
    "\u{1b}[2J\u{1b}[Hgone",
    "\u{1b}]0;title\u{7}x",
    "\u{9b}31mred",
    "a\u{7f}\u{8}\u{8}b",
    "nul\u{0}nul",
    // The direction of text, and its lines
    "\u{202e}gnp.exe",
    "\u{2066}isolated\u{2069}\u{202c}",
    "\u{200f}\u{061c}marks",
    "lines\nof\r\nothers",
    "separators\u{2028}of\u{2029}lines\u{85}end",
    "tab\tbed",
    // A spreadsheet
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=2",
    "a,b;\"=c\"",
    "=HYPERLINK(\"http://evil.example\",\"x\")",
    // A browser
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onload=\"alert(1)",
    "'><b>&lt;",
    "{{ name }}{% raw %}",
    // Markdown
    "| a | b |",
    "`code` ``of`` ```",
    "[link](http://evil.example) ![x](y)",
    "**bold** _low_ ~~gone~~ \\",
    "www.evil.example",
    // A chat
    "<!channel> <@U012AB3CD> <http://evil.example|x>",
    // Metrics
    "a\\\"b\\n{le=\"1\"} 7",
];

/// As many texts that do not act.
pub fn harmless() -> Vec<String> {
    let numbers = 0..HOSTILE.len();
    numbers.map(|number| format!("name-{number:02}")).collect()
}

fn at(second: usize) -> String {
    format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60)
}

/// A pod all of whose texts are `text`, with conditions that are True since the given seconds.
fn pod(uid: &str, text: &str, conditions: &[(&str, usize)], phase: &str) -> Value {
    let conditions = conditions.iter().map(
        |(kind, second)| json!({"type": kind, "status": "True", "lastTransitionTime": at(*second)}),
    );
    json!({
        "metadata": {"namespace": text, "name": text, "uid": uid, "creationTimestamp": at(0),
            "labels": {"team": text},
            "ownerReferences": [{"apiVersion": text, "kind": text, "name": text, "controller": true}]},
        "spec": {"nodeName": text, "containers": [{"name": text, "image": text,
            "readinessProbe": {"initialDelaySeconds": 30, "periodSeconds": 10}}]},
        "status": {"phase": phase, "reason": text, "message": text, "startTime": at(0),
            "conditions": conditions.collect::<Vec<_>>(),
            "containerStatuses": [{"name": text, "image": text,
                "state": {"waiting": {"reason": "ImagePullBackOff", "message": text}}}]},
    })
}

/// A list: of each text six pods that became ready, one in flight, and one that failed.
pub fn recording(texts: &[String]) -> String {
    let pods = texts.iter().enumerate().flat_map(|(number, text)| {
        let ready = (0..6).map(move |copy| {
            let mut pod = pod(
                &format!("ready-{number}-{copy}"),
                text,
                &[
                    ("PodScheduled", 0),
                    ("PodReadyToStartContainers", 1),
                    ("Initialized", 1),
                    ("ContainersReady", 35),
                    ("Ready", 35),
                ],
                "Running",
            );
            let started = json!({"running": {"startedAt": at(2)}});
            pod["status"]["containerStatuses"][0]["state"] = started;
            pod
        });
        let waiting = pod(
            &format!("waiting-{number}"),
            text,
            &[("PodScheduled", 0), ("PodReadyToStartContainers", 1), ("Initialized", 1)],
            "Pending",
        );
        let failed = pod(&format!("failed-{number}"), text, &[("PodScheduled", 0)], "Failed");
        ready.chain([waiting, failed])
    });
    json!({"kind": "PodList", "items": pods.collect::<Vec<_>>()}).to_string()
}

/// For the pods in flight of [`recording`]: an Event of a pulled image.
pub fn events(texts: &[String]) -> String {
    let events = texts.iter().enumerate().map(|(number, text)| {
        json!({"kind": "Event", "metadata": {"name": format!("e{number}"), "namespace": text},
            "involvedObject": {"kind": "Pod", "uid": format!("waiting-{number}"),
                "fieldPath": format!("spec.containers{{{text}}}")},
            "reportingComponent": "kubelet", "reason": "Pulled", "firstTimestamp": at(3),
            "message": format!("Successfully pulled image \"{}\" in 1s (1s including waiting)", text.replace('"', "?"))})
    });
    json!({"kind": "EventList", "items": events.collect::<Vec<_>>()}).to_string()
}

/// The list.
pub fn hostile() -> Vec<String> {
    HOSTILE.map(str::to_owned).to_vec()
}
