//! What `kubectl cluster-info dump` writes: lists of many kinds, whose items state none, and logs
//! ([§8.3](crate::specification#s8-3)).

use super::*;

const DUMP: &str = r#"{
    "kind": "NodeList",
    "apiVersion": "v1",
    "metadata": {"resourceVersion": "7"},
    "items": [{"metadata": {"uid": "n"}, "status": {"nodeInfo": {"kubeletVersion": "v1.36.0"}}}]
}
{
    "kind": "EventList",
    "apiVersion": "v1",
    "items": [{"metadata": {"name": "x.1"}, "involvedObject": {"kind": "Pod", "uid": "a"}, "reason": "Started"}]
}
{
    "kind": "ReplicationControllerList",
    "apiVersion": "v1",
    "items": null
}
{
    "kind": "ServiceList",
    "apiVersion": "v1",
    "items": [{"metadata": {"name": "without a uid"}, "spec": {"ports": [{"port": 80}]}}, 5]
}
{
    "kind": "DeploymentList",
    "apiVersion": "apps/v1",
    "metadata": {"continue": "x"},
    "items": []
}
{
    "kind": "PodList",
    "apiVersion": "v1",
    "items": [{"metadata": {"uid": "a"}}, {"metadata": {"uid": "b"}}]
}
==== START logs for container app of pod shop/web-0 ====
{"kind": "Pod", "metadata": {"uid": "of a log"}}
}{ ==== END logs for container other of pod shop/web-0 ====
no newline at the end==== END logs for container app of pod shop/web-0 ====
==== START logs for container empty of pod shop/web-0 ====
==== END logs for container empty of pod shop/web-0 ====
{
    "kind": "PodList",
    "apiVersion": "v1",
    "items": null
}
"#;

#[test]
fn other_lists_and_logs_are_skipped() {
    for step in [1, 7, usize::MAX] {
        let documents = read_in_steps(DUMP.as_bytes(), step).unwrap();
        let [nodes, events, pods, empty] = &documents[..] else {
            panic!("four documents: {documents:?}");
        };
        assert!(
            matches!(&nodes.evidence.nodes, Some(RecordedNodes::List { nodes, .. }) if nodes.len() == 1)
        );
        assert!(events.is_of_events() && events.evidence.events.len() == 1);
        assert_eq!(
            uids(pods.pods.as_ref().unwrap()),
            [PodUid::from_text("a"), PodUid::from_text("b")]
        );
        assert!(empty.is_list() && empty.snapshots().next().is_none());
        let numbers = documents.iter().map(|document| document.position.document);
        assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 6, 7]);
    }
    let services = "kind: ServiceList\nitems: []\n---\nmetadata: {uid: a}\n";
    assert_eq!(bodies(services).len(), 1);
    // A list may state its kind behind its items.
    let services =
        r#"{"items":[{"metadata":{"uid":"s"}}],"kind":"ServiceList"}{"metadata":{"uid":"a"}}"#;
    assert_eq!(bodies(services).len(), 1);
}

#[test]
fn a_file_of_other_lists_alone_is_an_error_and_so_is_a_log_without_an_end() {
    let error = |text: &str| read(text).unwrap_err().to_string();
    let services = r#"{"kind":"ServiceList","items":[]}"#;
    let said = error(&format!("\n{services}{services}"));
    assert!(said.contains("line 2, column 1, byte 1 (document 1)"), "{said}");
    assert!(said.contains("not \"ServiceList\""), "{said}");
    let cut = DUMP.find("no newline").unwrap();
    let said = error(&DUMP[..cut]);
    let began = DUMP[..cut].lines().count() - 2;
    assert!(said.contains(&format!("within a document that began at line {began}")), "{said}");
    assert!(
        error("{\"metadata\":{\"uid\":\"a\"}}\n==== START log")
            .contains("a document must begin with `{`")
    );
}
