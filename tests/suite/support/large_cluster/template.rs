//! The pod and the node of which a large cluster has many, in the forms in which they are sent.

use std::io::Write;

use podinit_sim::protobuf;
use prost::encoding::decode_varint;
use serde_json::{Value, json};

use super::State;
use crate::memory::node_object::node;

/// Stand in a template where a pod's number belongs.
const NUMBER: &str = "#######";

/// An object with [`NUMBER`] in the place of its number, as an item of a list and as an event of a watch.
#[derive(Default)]
pub(super) struct Template {
    pub(super) json: Vec<u8>,
    pub(super) json_event: Vec<u8>,
    pub(super) protobuf: Vec<u8>,
    pub(super) protobuf_event: Vec<u8>,
}

impl Template {
    /// A pod of which the JSON has so many bytes.
    pub(super) fn of_pod(state: State, bytes: usize) -> Self {
        Self::new("Pod", pod(state, bytes))
    }

    /// A node that is Ready, as kubelets state it.
    pub(super) fn of_node() -> Self {
        Self::new("Node", node(NUMBER).to_string())
    }

    fn new(kind: &str, json: String) -> Self {
        let mut typed: Value = serde_json::from_str(&json).unwrap();
        typed["kind"] = kind.into();
        typed["apiVersion"] = "v1".into();
        let document = protobuf::document(typed.to_string().as_bytes()).unwrap();
        let event = json!({"type": "ADDED", "object": typed}).to_string();
        Self {
            json_event: format!("{event}\n").into(),
            protobuf_event: protobuf::framed(&protobuf::event(event.as_bytes()).unwrap()),
            json: json.into(),
            protobuf: raw(&document).to_vec(),
        }
    }
}

/// Writes a template with this number in it.
pub(super) fn numbered(
    out: &mut impl Write,
    template: &[u8],
    number: usize,
) -> std::io::Result<()> {
    let number = format!("{number:07}");
    let mut rest = template;
    while let Some(at) = memchr::memmem::find(rest, NUMBER.as_bytes()) {
        out.write_all(&rest[..at])?;
        out.write_all(number.as_bytes())?;
        rest = &rest[at + NUMBER.len()..];
    }
    out.write_all(rest)
}

/// The object in a document: field 2, after field 1 with its kind.
fn raw(document: &[u8]) -> &[u8] {
    let rest = document.strip_prefix(b"k8s\0\x0a").unwrap();
    let rest = &rest[1 + usize::from(rest[0])..];
    let mut rest = rest.strip_prefix(b"\x12").unwrap();
    let length = decode_varint(&mut rest).unwrap();
    &rest[..length as usize]
}

/// The JSON of a pod, with [`NUMBER`] in the place of its number and `managedFields` that fill it
/// up, as they do in real pods.
fn pod(state: State, bytes: usize) -> String {
    let time = "2026-11-21T07:56:00Z";
    let ready = match state {
        State::Ready => "True",
        State::InFlight | State::Failing | State::FailingApart => "False",
    };
    let own = match state {
        State::FailingApart => NUMBER,
        State::Ready | State::InFlight | State::Failing => "017",
    };
    let image = format!("registry.example.com/team/app-{own}:1.42.0");
    let message = format!("Back-off pulling image \"{image}\"");
    let statuses = match state {
        State::Ready | State::InFlight => json!([]),
        State::Failing | State::FailingApart => {
            json!([{"name": "app", "image": image, "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": message}}}])
        }
    };
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "lastTransitionTime": time});
    let pod = |filling: &str| -> Value {
        json!({
            "metadata": {
                "name": format!("checkout-{own}-7c9d8f6b5d-{NUMBER}"),
                "namespace": format!("shop-{own}"),
                "uid": format!("6d14ca8c-7af5-46a4-8768-00000{NUMBER}"),
                "resourceVersion": format!("8{NUMBER}"),
                "creationTimestamp": time,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                    "name": format!("checkout-{own}-7c9d8f6b5d"), "uid": "00000000-0000-4000-8000-000000000001"}],
                "managedFields": [{"manager": "kubelet", "fieldsV1": {filling: {}}}],
            },
            "spec": {"nodeName": format!("node-{own}"), "containers": [{"name": "app", "image": image}]},
            "status": {
                "phase": "Running",
                "startTime": time,
                "conditions": [condition("PodScheduled", "True"),
                    condition("PodReadyToStartContainers", "True"),
                    condition("Initialized", "True"),
                    condition("ContainersReady", ready), condition("Ready", ready)],
                "containerStatuses": statuses,
            },
        })
    };
    let bare = pod("").to_string().len();
    let text = pod(&"f".repeat(bytes - bare)).to_string();
    assert_eq!(text.len(), bytes);
    text
}
