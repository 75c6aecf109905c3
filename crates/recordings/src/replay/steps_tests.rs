//! What becomes of the documents of what may be a lone list.

#![allow(clippy::unwrap_used)]

use std::io::Cursor;

use super::*;
use crate::reader::{RecordedPods, Recording, SoFar};
use crate::replay::replayed;
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

/// A line for each page of the lone list; `None` if the documents are no lone list.
fn read(documents: &[Value]) -> Option<Vec<String>> {
    let text: Vec<String> = documents.iter().map(Value::to_string).collect();
    let input = Cursor::new(text.join("\n"));
    let recording = Recording::from_reader("test", input, DecodeOptions::default());
    let present = Arc::new(|| Timestamp::from_seconds(NOON + 1_000));
    let (mut shape, mut held) = (ShapeReader::default(), HeldDocuments::default());
    let mut end = None;
    for document in recording.following(&SoFar::new(present)) {
        let mut document = document.unwrap();
        shape.place_bare_pod(&mut document);
        shape.read(&document);
        end = Some(document.position);
        held.push_of_list(document, Timestamp::EPOCH, true);
    }
    let is_lone_list = shape.is_one_moment() && shape.is_complete();
    let (last, _) = held.gather(end.filter(|_| is_lone_list)?);
    let pages = held.into_documents().into_iter().map(|(document, _)| document.into_page());
    Some(pages.chain([last]).map(words).collect())
}

fn words(document: RecordingDocument) -> String {
    let events = document.evidence.events.iter();
    let events: Vec<String> =
        events.map(|event| event.pod.as_ref().unwrap().name.to_string()).collect();
    let observed = document.observed_at;
    let observed = observed.map(|at| at.as_nanos() / NANOS_PER_SECOND - NOON);
    let observed = observed.map_or_else(String::new, |at| format!(" at {at}"));
    let Some(RecordedPods::List { pods, goes_on }) = document.pods else { unreachable!() };
    let more = if goes_on { ", more" } else { "" };
    format!("{} pods{more}{observed}: {}", pods.len(), events.join(" "))
}

#[test]
fn events_follow_the_pods_of_a_lone_list_by_their_last_time() {
    let lone = Some(vec!["1 pods, more: ".to_owned(), "0 pods at 9: 3 5 9".to_owned()]);
    let web = pod("shop", "web");
    let [three, five, nine] = [3, 5, 9].map(event);
    assert_eq!(read(&[list(&[five.clone(), web.clone(), nine.clone(), three.clone()])]), lone);
    let by_themselves = [five.clone(), web.clone(), nine.clone(), three.clone()];
    assert_eq!(read(&by_themselves), lone);
    let watched =
        [added(nine.clone()), list(std::slice::from_ref(&web)), added(three), five.clone()];
    assert_eq!(read(&watched), lone);
    // Several of one moment.
    let several = read(&[list(&[web.clone(), nine]), list(&[pod("pay", "web"), five.clone()])]);
    assert_eq!(several.unwrap(), ["1 pods, more: ", "1 pods, more: ", "0 pods at 9: 5 9"]);
    // What lies in the future comes last, and tells no time.
    let future = read(&[list(&[event(2_000), web.clone(), five.clone()])]);
    assert_eq!(future.unwrap()[1], "0 pods at 5: 5 2000");
    let mut observed = list(&[web, five]);
    observed["observedAt"] = at(4).into();
    assert_eq!(read(&[observed]).unwrap()[1], "0 pods: 5");
}

#[test]
fn what_something_follows_is_no_lone_list() {
    let [web, five, three] = [pod("shop", "web"), event(5), event(3)];
    let watched =
        [five.clone(), list(&[web.clone(), five.clone()]), three.clone(), added(web.clone())];
    assert_eq!(read(&watched), None);
    let relist = [list(&[web.clone(), five.clone()]), list(&[web, three])];
    assert_eq!(read(&relist), None);
    assert_eq!(read(&[five]), None);
    assert_eq!(read(&[]), None);
}

#[test]
fn an_error_ends_it() {
    let documents = vec![Err::<RecordingDocument, &str>("broken")];
    let end = replayed(documents, ReplayConfig::default(), |_| Ok(NoSink), |_, _| {});
    assert!(end.is_err());
}

struct NoSink;

impl Observer for NoSink {}
