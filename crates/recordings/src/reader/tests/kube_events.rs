//! Events beside pods, in whatever form they were recorded ([§9.5](crate::specification#s9-5)).

use super::*;
use podinit_core::kube_event::{EventReason, KubeEvent};

const POD: &str = r#"{"kind":"Pod","metadata":{"uid":"a"}}"#;

/// An Event about the pod `uid`, with its kind.
fn event(uid: &str) -> String {
    format!(
        r#"{{"kind":"Event","type":"Normal","metadata":{{"name":"x.1","uid":"e"}},"involvedObject":{{"kind":"Pod","uid":"{uid}"}},"reason":"Started"}}"#
    )
}

/// The same as a server writes it into a list, whose items do not state their kind.
fn item(uid: &str) -> String {
    event(uid).replace(r#""kind":"Event","#, "")
}

fn about(events: &[KubeEvent]) -> Vec<Option<PodUid>> {
    assert!(events.iter().all(|event| event.reason == EventReason::Started));
    events.iter().map(KubeEvent::uid).collect()
}

/// The pods that the Events of each document are about.
fn events_of(text: &str) -> Vec<Vec<Option<PodUid>>> {
    let documents = read(text).unwrap();
    assert!(documents.iter().all(RecordingDocument::is_of_events), "{documents:?}");
    documents.iter().map(|document| about(&document.evidence.events)).collect()
}

fn uid(text: &str) -> Option<PodUid> {
    Some(PodUid::from_text(text))
}

#[test]
fn a_document_of_events_only_is_no_list_of_pods() {
    let (one, two) = (event("1"), event("2"));
    let both = vec![uid("1"), uid("2")];
    for (text, events) in [
        (one.clone(), vec![uid("1")]),
        (format!(r#"{{"kind":"List","items":[{one},{two}]}}"#), both.clone()),
        (format!(r#"{{"items":[{one},{two}],"kind":"EventList"}}"#), both.clone()),
        (format!(r#"{{"kind":"EventList","items":[{},{}]}}"#, item("1"), item("2")), both.clone()),
        (r#"{"kind":"EventList","items":[]}"#.into(), vec![]),
        (r#"{"kind":"EventList","items":null}"#.into(), vec![]),
        (format!(r#"{{"type":"ADDED","object":{one}}}"#), vec![uid("1")]),
        (format!(r#"{{"type":"MODIFIED","object":{}}}"#, item("2")), vec![uid("2")]),
        (format!(r#"{{"object":{one},"type":"DELETED"}}"#), vec![]),
        (
            r#"{"type":"BOOKMARK","object":{"kind":"Event","metadata":{"resourceVersion":"7"}}}"#
                .into(),
            vec![],
        ),
    ] {
        assert_eq!(events_of(&text), std::slice::from_ref(&events), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let yaml = serde_saphyr::to_string(&value).unwrap();
        assert_eq!(events_of(&yaml), [events], "{yaml}");
    }
    let stream = format!("{one}{two}");
    assert_eq!(events_of(&stream), [vec![uid("1")], vec![uid("2")]]);
}

#[test]
fn of_a_mixed_list_the_pods_are_the_list_and_the_events_follow() {
    let list = format!(r#"{{"items":[{},{POD},{}],"kind":"List"}}"#, event("1"), event("2"));
    for text in [list.clone(), list.replace("},{", "},\n{")] {
        let documents = bodies(&text);
        let [(Some(pods @ RecordedPods::List { .. }), evidence)] = &documents[..] else {
            panic!("not a list: {documents:?}");
        };
        assert_eq!(uids(pods), [PodUid::from_text("a")]);
        assert_eq!(about(&evidence.events), [uid("1"), uid("2")]);
    }
}

#[test]
fn an_event_that_says_nothing_is_an_event() {
    let documents = bodies(r#"{"kind":"Event"}{"type":"ADDED","object":{"kind":"Event"}}"#);
    for (pods, RecordedEvidence { events, .. }) in documents {
        assert_eq!(pods, None);
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].uid(), &events[0].reason), (None, &EventReason::Other));
    }
}

#[test]
fn a_list_of_one_kind_does_not_hold_the_other() {
    let event = event("1");
    for (text, said) in [
        (format!(r#"{{"kind":"PodList","items":[{POD},{event}]}}"#), "a Event is not a Pod"),
        (
            format!(r#"{{"kind":"EventList","items":[{event},{POD}]}}"#),
            "an EventList contains Events only",
        ),
        (
            format!(r#"{{"kind":"List","items":[{event},{{"kind":"Service"}}]}}"#),
            "item 2 of the list: a Service is not a Pod",
        ),
        (
            format!(r#"{{"type":"RENAMED","object":{event}}}"#),
            "\"RENAMED\" is not a type of watch event",
        ),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
