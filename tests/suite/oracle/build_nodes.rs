//! Short ways to write nodes, beside those of [`super::build`], whose conditions and times they share.

use serde_json::{Value, json};

use super::build::{Pod, READY, time};

/// A node of that name, created at the origin, that is not Ready yet.
pub(crate) fn node(name: &str) -> Pod {
    Pod(json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": format!("node-{name}"), "creationTimestamp": time(0.0)},
        "spec": {},
        "status": {"conditions": [], "nodeInfo": {"kubeletVersion": "v1.36.2"}},
    }))
}

impl Pod {
    /// Of a node: taints with these keys.
    pub(crate) fn tainted(self, keys: &[&str]) -> Self {
        let taints = keys.iter();
        let taints = taints.map(|key| json!({"key": key, "effect": "NoSchedule"}));
        self.put("spec", "taints", taints.collect())
    }

    pub(crate) fn labels(self, labels: Value) -> Self {
        self.put("metadata", "labels", labels)
    }

    /// Of a node: Ready since this second.
    pub(crate) fn ready(self, seconds: f64) -> Self {
        self.yes(READY, seconds)
    }

    /// Of a pod: bound to a node.
    pub(crate) fn on(self, node: &str) -> Self {
        self.put("spec", "nodeName", node.into())
    }
}

/// A `NodeList`.
pub(crate) fn nodes(nodes: &[Pod]) -> Value {
    mixed("NodeList", nodes)
}

/// A list of this kind.
pub(crate) fn mixed(kind: &str, items: &[Pod]) -> Value {
    let items: Vec<&Value> = items.iter().map(|item| &item.0).collect();
    json!({"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "1000"}, "items": items})
}

/// The bookmark that ends a streamed list of nodes.
pub(crate) fn end_of_nodes() -> Value {
    json!({"type": "BOOKMARK", "object": {"kind": "Node", "metadata": {
        "resourceVersion": "2000", "annotations": {"k8s.io/initial-events-end": "true"}}}})
}
