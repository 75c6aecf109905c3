#![allow(clippy::unwrap_used)]

use super::*;
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;

const NODE: &str = r#"{"kind":"Node","metadata":{"name":"n1","uid":"a","resourceVersion":"7",
    "creationTimestamp":"2026-01-01T00:00:00Z","labels":{"kops.k8s.io/instancegroup":"kops",
    "eks.amazonaws.com/nodegroup":"group","topology.kubernetes.io/zone":"z1","kubernetes.io/arch":"arm64",
    "node.kubernetes.io/instance-type":"m5","karpenter.sh/capacity-type":"spot"}},
    "spec":{"unschedulable":true,"taints":[{"key":"other"},{"key":"karpenter.sh/unregistered"}]},
    "status":{"conditions":[{"type":"MemoryPressure","status":"False","lastTransitionTime":"2026-01-01T00:00:09Z"},
    {"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:05Z"}],
    "nodeInfo":{"kubeletVersion":"v1.36.2"}}}"#;

fn node(json: &str, options: NodeOptions) -> NodeSnapshot {
    let line = format!(r#"{{"type":"ADDED","object":{json}}}"#);
    let line = NodeDecoder::new(options).line(line.as_bytes()).unwrap();
    match line.kind {
        NodeLineKind::Applied(node) => *node,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_node_has_what_podinit_needs() {
    let found = node(NODE, NodeOptions::default());
    let at = |second: i64| Timestamp::from_seconds(1_767_225_600 + second);
    assert_eq!(found.uid, PodUid::from_text("a"));
    assert_eq!((&*found.name, found.resource_version), ("n1", Some(7)));
    assert_eq!((found.created, found.latest_api_time), (Some(at(0)), Some(at(9))));
    assert_eq!(found.holding_ready().unwrap().last_transition, Some(at(5)));
    assert!(found.unschedulable && !found.startup_taints.is_empty() && !found.is_schedulable());
    let labels = found.labels;
    let texts = [
        &labels.pool,
        &labels.zone,
        &labels.instance_type,
        &labels.arch,
        &labels.capacity_type,
        &labels.kubelet_version,
    ];
    assert_eq!(texts.map(|text| &**text), ["group", "z1", "m5", "arm64", "spot", "v1.36.2"]);
}

#[test]
fn the_first_of_the_labels_names_the_pool() {
    let pool = |labels: &str, chosen: Option<&str>| {
        let json = format!(r#"{{"metadata":{{"uid":"a","labels":{labels}}}}}"#);
        let pool_label = chosen.map(str::to_owned);
        node(&json, NodeOptions { pool_label }).labels.pool
    };
    assert_eq!(&*pool("{}", None), "_none");
    let both = r#"{"cloud.google.com/gke-nodepool":"g","karpenter.sh/nodepool":"k","mine":"m"}"#;
    assert_eq!(&*pool(both, None), "k");
    assert_eq!(&*pool(both, Some("mine")), "m");
    assert_eq!(&*pool(both, Some("other")), "k");
    assert_eq!(&*pool(both, Some("cloud.google.com/gke-nodepool")), "g");
}

#[test]
fn lines_are_told_apart_by_their_type() {
    let line = |text: &str| NodeDecoder::new(NodeOptions::default()).line(text.as_bytes());
    let bookmark =
        line(r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"9"}}}"#);
    assert_eq!(
        bookmark,
        Ok(NodeWatchLine {
            version: Some("9".to_owned()),
            kind: NodeLineKind::Bookmark { initial_events_end: false },
        })
    );
    let deleted = line(r#"{"type":"DELETED","object":{"metadata":{"uid":"a"}}}"#);
    assert!(matches!(deleted.unwrap().kind, NodeLineKind::Deleted(_)));
    let expired = line(r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#);
    assert!(matches!(expired.unwrap().kind, NodeLineKind::Error(status) if status.code == 410));
    for text in [
        "",
        "{",
        "{}",
        r#"{"type":"ADDED","object":{"metadata":{}}}"#,
        r#"{"type":"ADDED","object":{"kind":"Pod","metadata":{"uid":"a"}}}"#,
        r#"{"type":"NEW","object":{"metadata":{"uid":"a"}}}"#,
    ] {
        assert!(line(text).is_err(), "{text}");
    }
}

#[test]
fn a_page_has_its_nodes_whether_they_state_their_kind_or_not() {
    let page = |body: &str| {
        NodeDecoder::new(NodeOptions::default()).list_page(ObjectEncoding::Json, body.as_bytes())
    };
    let body = r#"{"kind":"NodeList","metadata":{"continue":"c","resourceVersion":"5"},"items":[
        {"metadata":{"uid":"a"}}, {"kind":"Node","metadata":{"uid":"b"}},
        {"metadata":{"uid":"c"},"status":{"nodeInfo":{}}}, {"metadata":{}}, {"kind":"Pod","metadata":{"uid":"d"}}]}"#;
    let page_of_all = page(body).unwrap();
    let mut uids: Vec<_> = page_of_all.nodes.iter().map(|node| node.uid).collect();
    uids.sort();
    let mut expected = ["a", "b", "c"].map(PodUid::from_text);
    expected.sort();
    assert_eq!(uids, expected);
    assert_eq!(page_of_all.undecodable, 2);
    assert_eq!(page_of_all.continue_token.as_deref(), Some("c"));
    assert_eq!(page_of_all.resource_version.as_deref(), Some("5"));
    assert_eq!(page(r#"{"kind":"NodeList","items":null}"#), Ok(NodeListPage::default()));
    assert!(page(r#"{"kind":"PodList","items":[]}"#).is_err());
    assert!(page(r#"{"kind":"NodeList"}"#).is_err());
}

/// The fields have the numbers of `generated.proto` of `k8s.io/api`.
#[test]
fn protobuf_says_what_json_says() {
    let json: serde_json::Value = serde_json::from_str(NODE).unwrap();
    let text = |number: u32, text: &str| field(number, text.as_bytes());
    let time = |seconds: u64| [vec![0x08], varint(seconds)].concat();
    let created = 1_767_225_600;
    let label = |(key, value): (&String, &serde_json::Value)| {
        let entry = [text(1, key), text(2, value.as_str().unwrap())].concat();
        field(11, &entry)
    };
    let labels = json["metadata"]["labels"].as_object().unwrap();
    let labels: Vec<u8> = labels.iter().flat_map(label).collect();
    let metadata =
        [text(1, "n1"), text(5, "a"), text(6, "7"), field(8, &time(created)), labels].concat();
    let taint = |key: &str| field(5, &text(1, key));
    let spec = [vec![0x20, 1], taint("other"), taint("karpenter.sh/unregistered")].concat();
    let condition = |kind: &str, status: &str, second: u64| {
        let parts = [text(1, kind), text(2, status), field(4, &time(created + second))];
        field(4, &parts.concat())
    };
    let status = [
        condition("MemoryPressure", "False", 9),
        condition("Ready", "True", 5),
        field(7, &text(7, "v1.36.2")),
    ]
    .concat();
    let raw = [field(1, &metadata), field(2, &spec), field(3, &status)].concat();
    let answer = |kind: &str, raw: &[u8]| {
        [b"k8s\0".to_vec(), field(1, &text(2, kind)), field(2, raw)].concat()
    };
    let frame = [text(1, "ADDED"), field(2, &field(1, &answer("Node", &raw)))].concat();
    let mut decoder = NodeDecoder::new(NodeOptions::default());
    let line = decoder.decode_event(ObjectEncoding::Protobuf, &frame).unwrap();
    let expected = node(NODE, NodeOptions::default());
    assert_eq!(line.kind, NodeLineKind::Applied(Box::new(expected.clone())));
    let list =
        [field(1, &[text(2, "5"), text(3, "c")].concat()), field(2, &raw), field(2, b"\xff")];
    let body = answer("NodeList", &list.concat());
    let page = decoder.list_page(ObjectEncoding::Protobuf, &body).unwrap();
    assert_eq!(page.nodes, [expected]);
    assert_eq!((page.undecodable, page.continue_token.as_deref()), (1, Some("c")));
    let pods = answer("PodList", &[]);
    assert!(decoder.list_page(ObjectEncoding::Protobuf, &pods).is_err());
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn field(number: u32, value: &[u8]) -> Vec<u8> {
    let head = varint(u64::from(number << 3 | 2));
    [head, varint(value.len() as u64), value.to_vec()].concat()
}

#[test]
fn a_node_says_why_it_is_not_ready_and_for_which_claim_it_was_made() {
    let read = |status: &str, owners: &str| {
        node(
            &format!(
                r#"{{"metadata":{{"uid":"a","ownerReferences":{owners}}},"status":{{"conditions":[
                {{"type":"Ready","status":"{status}","message":"PLEG is not healthy"}}]}}}}"#
            ),
            NodeOptions::default(),
        )
    };
    for (status, said) in [("False", true), ("Unknown", true), ("True", false)] {
        assert_eq!(read(status, "[]").not_ready.is_some(), said, "{status}");
    }
    let claim = r#"[{"kind":"Other","name":"b"},{"kind":"NodeClaim","name":"default-x7k2p"}]"#;
    assert_eq!(read("True", claim).claimed_by.as_deref(), Some("default-x7k2p"));
}
