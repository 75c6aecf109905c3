//! What becomes of the documents of a recording.

#![allow(clippy::unwrap_used)]

use std::io::Cursor;

use super::*;
use crate::reader::{DocumentBody, Recording, SoFar};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::DecodeOptions;
use serde_json::{Value, json};
use std::sync::Arc;

/// 2026-03-01T10:00:00Z
const NOON: i64 = 1_772_359_200;

fn at(second: i64) -> String {
    podinit_core::rfc3339::format(Timestamp::from_seconds(NOON + second))
}

fn pod(namespace: &str, name: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}/{name}"),
        "creationTimestamp": at(1)}})
}

/// An Event that is named by when it happened last.
fn event(last: i64) -> Value {
    json!({"kind": "Event", "metadata": {"namespace": "shop", "name": format!("web.{last}")},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": last.to_string(), "uid": "shop/web"},
        "reason": "FailedMount", "lastTimestamp": at(last)})
}

fn list(items: &[Value]) -> Value {
    json!({"kind": "List", "items": items})
}

fn added(pod: Value) -> Value {
    json!({"type": "ADDED", "object": pod})
}

/// Each document in a few words, and whether they are a lone list.
fn read(documents: &[Value]) -> (Vec<String>, bool) {
    let text: Vec<String> = documents.iter().map(Value::to_string).collect();
    let input = Cursor::new(text.join("\n"));
    let recording = Recording::from_reader("test", input, DecodeOptions::default());
    let present = Arc::new(|| Timestamp::from_seconds(NOON + 1_000));
    let mut documents = AtOnce {
        documents: recording.following(&SoFar::new(present)).fuse(),
        see: |_: &RecordingDocument, _| {},
        held: Some(HeldDocuments::new(true)),
        ready: VecDeque::new(),
        lone_list: None,
    };
    let words = documents.by_ref().map(Result::unwrap).map(words).collect();
    (words, documents.lone_list.is_some())
}

fn words(document: RecordingDocument) -> String {
    let events = document.body.events().iter();
    let events: Vec<String> =
        events.map(|event| event.pod.as_ref().unwrap().name.to_string()).collect();
    let observed = document.observed_at;
    let observed = observed.map(|at| at.as_nanos() / NANOS_PER_SECOND - NOON);
    let what = match document.body {
        DocumentBody::List { pods, continue_token, .. } => {
            format!("{} pods{}", pods.len(), continue_token.map_or("", |_| ", more"))
        }
        DocumentBody::Pod(_) => "a pod".to_owned(),
        DocumentBody::Events(_) => "Events".to_owned(),
        DocumentBody::Event(_) => "a watch event".to_owned(),
        DocumentBody::Nodes { .. } | DocumentBody::NodeEvent(_) => "nodes".to_owned(),
    };
    let observed = observed.map_or_else(String::new, |at| format!(" at {at}"));
    format!("{what}{observed}: {}", events.join(" "))
}

#[test]
fn events_follow_the_pods_of_a_lone_list_by_their_last_time() {
    let lone = (vec!["1 pods, more: ".to_owned(), "0 pods at 9: 3 5 9".to_owned()], true);
    let web = pod("shop", "web");
    let [three, five, nine] = [3, 5, 9].map(event);
    assert_eq!(read(&[list(&[five.clone(), web.clone(), nine.clone(), three.clone()])]), lone);
    let by_themselves = [five.clone(), web.clone(), nine.clone(), three.clone()];
    assert_eq!(read(&by_themselves), lone);
    let watched =
        [added(nine.clone()), list(std::slice::from_ref(&web)), added(three), five.clone()];
    assert_eq!(read(&watched), lone);
    // Several of one moment.
    let (words, is_lone) =
        read(&[list(&[web.clone(), nine]), list(&[pod("pay", "web"), five.clone()])]);
    assert_eq!(words, ["1 pods, more: ", "1 pods, more: ", "0 pods at 9: 5 9"]);
    assert!(is_lone);
    // What lies in the future comes last, and tells no time.
    let (words, _) = read(&[list(&[event(2_000), web.clone(), five.clone()])]);
    assert_eq!(words[1], "0 pods at 5: 5 2000");
    let mut observed = list(&[web, five]);
    observed["observedAt"] = at(4).into();
    assert_eq!(read(&[observed]).0[1], "0 pods: 5");
}

#[test]
fn what_something_follows_stays_as_it_is() {
    let [web, five, three] = [pod("shop", "web"), event(5), event(3)];
    let watched =
        [five.clone(), list(&[web.clone(), five.clone()]), three.clone(), added(web.clone())];
    let words = ["Events: 5", "1 pods: 5", "Events: 3", "a watch event: "];
    assert_eq!(read(&watched), (words.map(str::to_owned).to_vec(), false));
    let relist = [list(&[web.clone(), five.clone()]), list(&[web, three])];
    let words = ["1 pods: 5", "1 pods: 3"];
    assert_eq!(read(&relist), (words.map(str::to_owned).to_vec(), false));
    assert_eq!(read(&[five]), (vec!["Events: 5".to_owned()], false));
    assert_eq!(read(&[]), (Vec::new(), false));
}

#[test]
fn an_error_ends_it() {
    let documents = vec![Err::<RecordingDocument, &str>("broken")];
    let end = replayed_to_end(documents, ReplayConfig::default(), || NoSink, |_, _| {});
    assert!(end.is_err());
}

struct NoSink;

impl podinit_core::lifecycle::Observer for NoSink {}
