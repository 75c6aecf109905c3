//! The rows of a node and of a namespace.

use serde_json::{Value, json};

use super::{Column, age, elements, text};
use podinit_core::timestamp::Timestamp;

pub(super) const NODE_COLUMNS: [Column; 10] = [
    ("Name", 0),
    ("Status", 0),
    ("Roles", 0),
    ("Age", 0),
    ("Version", 0),
    ("Internal-IP", 1),
    ("External-IP", 1),
    ("OS-Image", 1),
    ("Kernel-Version", 1),
    ("Container-Runtime", 1),
];

pub(super) const NAMESPACE_COLUMNS: [Column; 3] = [("Name", 0), ("Status", 0), ("Age", 0)];

/// The cells of a node, with its age at `now`.
pub(super) fn node_cells(node: &Value, now: Timestamp) -> Value {
    let status = &node["status"];
    let info = &status["nodeInfo"];
    let mut conditions = elements(&status["conditions"]).iter();
    let is_ready = conditions.any(|one| one["type"] == "Ready" && one["status"] == "True");
    json!([
        text(&node["metadata"]["name"]),
        if is_ready { "Ready" } else { "NotReady" },
        "<none>",
        age(&node["metadata"]["creationTimestamp"], now),
        text(&info["kubeletVersion"]),
        text(&status["addresses"][0]["address"]),
        "<none>",
        text(&info["osImage"]),
        text(&info["kernelVersion"]),
        text(&info["containerRuntimeVersion"]),
    ])
}

/// The cells of a namespace, with its age at `now`.
pub(super) fn namespace_cells(namespace: &Value, now: Timestamp) -> Value {
    json!([
        text(&namespace["metadata"]["name"]),
        text(&namespace["status"]["phase"]),
        age(&namespace["metadata"]["creationTimestamp"], now),
    ])
}
