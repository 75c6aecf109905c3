#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};

use super::*;
use crate::pod::tests::{all_options, full};
use podinit_core::pod::PodUid;
use podinit_core::rfc3339;

fn decode(event: &Value) -> Result<WatchEvent, DecodeError> {
    PodDecoder::new(all_options()).watch_event(event.to_string().as_bytes())
}

fn fault(event: &Value) -> (Option<u64>, ObjectFault) {
    match decode(event).unwrap_err() {
        DecodeError::Object { resource_version, fault } => (resource_version, fault),
        other => panic!("not a fault of the object: {other:?}"),
    }
}

#[test]
fn what_is_no_pod_with_a_uid_is_refused_and_tells_its_version() {
    let event = |object: Value| json!({"object": object, "type": "MODIFIED"});
    for uid in [json!(null), json!(""), json!(7)] {
        let object = json!({"metadata": {"uid": uid, "resourceVersion": "12"}});
        assert_eq!(fault(&event(object)), (Some(12), ObjectFault::NoUid));
    }
    let node = json!({"kind": "Node", "metadata": {"uid": "u", "resourceVersion": 13}});
    assert_eq!(fault(&event(node)), (Some(13), ObjectFault::NotAPod("Node".into())));
    for object in [json!(null), json!(5), json!("x"), json!([])] {
        assert_eq!(fault(&event(object)), (None, ObjectFault::NotAnObject));
    }
    let odd = json!({"type": "RENAMED", "object": {"metadata": {"resourceVersion": "14"}}});
    assert_eq!(fault(&odd), (Some(14), ObjectFault::UnknownType("RENAMED".into())));
    assert_eq!(fault(&json!([])), (None, ObjectFault::NotAnObject));
}

#[test]
fn invalid_json_says_where() {
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    for line in
        [&b""[..], b"{", b"{\"type\":\"ADDED\"", b"{} {}", b"\x00\x01", b"{\"type\":\"\xff\"}"]
    {
        let error = decoder.watch_event(line).unwrap_err();
        assert!(matches!(error, DecodeError::Json { .. }), "{error:?}");
    }
    let text = decoder.watch_event(b"{\"a\" 1}").unwrap_err().to_string();
    assert_eq!(text, "invalid JSON at line 1, column 6: expected `:`");
}

#[test]
fn bookmarks_and_errors_need_no_pod() {
    let bookmark = json!({"object": {"kind": "Pod", "metadata": {
        "annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": "99",
    }}, "type": "BOOKMARK", "observedAt": "2026-01-01T00:00:00.25Z"});
    let event = decode(&bookmark).unwrap();
    assert_eq!(event.observed_at, rfc3339::parse("2026-01-01T00:00:00.25Z"));
    assert_eq!(
        event.kind,
        WatchEventKind::Bookmark { resource_version: Some("99".into()), initial_events_end: true }
    );
    let expired = json!({"type": "ERROR", "object": {
        "kind": "Status", "status": "Failure", "code": 410, "reason": "Expired", "message": "too old",
    }});
    assert_eq!(
        decode(&expired).unwrap().kind,
        WatchEventKind::Error(ApiStatus {
            code: 410,
            reason: "Expired".into(),
            message: "too old".into(),
        })
    );
    assert_eq!(
        decode(&json!({"type": "ERROR"})).unwrap().kind,
        WatchEventKind::Error(ApiStatus::default())
    );
}

#[test]
fn an_odd_item_costs_only_itself() {
    let body = json!({
        "items": [{"metadata": {"uid": "a"}}, 5, {"metadata": {}}, {"metadata": {"uid": "b"}}],
        "metadata": {"resourceVersion": "17", "continue": "next", "remainingItemCount": 3},
        "kind": "PodList",
    });
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let page = decoder.list_page(body.to_string().as_bytes()).unwrap();
    let uids: Vec<_> = page.pods.iter().map(|pod| pod.uid).collect();
    assert_eq!(uids, [PodUid::from_text("a"), PodUid::from_text("b")]);
    assert_eq!(page.undecodable, 2);
    assert_eq!(page.resource_version.as_deref(), Some("17"));
    assert_eq!(page.continue_token.as_deref(), Some("next"));
    assert_eq!(page.remaining, Some(3));
}

#[test]
fn only_a_list_of_pods_is_a_list() {
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let mut list = |body: Value| decoder.list_page(body.to_string().as_bytes());
    let empty = list(json!({"kind": "PodList", "metadata": {"continue": ""}, "items": null}));
    assert_eq!(empty.unwrap(), ListPage::default());
    for body in [
        json!({}),
        json!({"items": []}),
        json!({"kind": "Status", "items": []}),
        json!({"kind": "PodList"}),
        json!({"kind": "PodList", "items": "none"}),
        json!([]),
    ] {
        let error = list(body.clone()).unwrap_err();
        assert!(matches!(error, DecodeError::Object { .. }), "{body}");
    }
}

#[test]
fn pods_share_the_texts_that_they_have_in_common() {
    let mut decoder = PodDecoder::new(all_options());
    let body = json!({"kind": "PodList", "items": [full(), full()]});
    let page = decoder.list_page(body.to_string().as_bytes()).unwrap();
    let [one, two] = &page.pods[..] else {
        panic!("two pods");
    };
    assert!(std::sync::Arc::ptr_eq(&one.info.namespace, &two.info.namespace));
    let workloads = (one.info.workload.clone(), two.info.workload.clone());
    let (Some(one), Some(two)) = workloads else {
        panic!("two workloads");
    };
    assert!(std::sync::Arc::ptr_eq(&one, &two));
}
