//! How an API server is to be.

use serde_json::{Value, json};

/// How the server is.
#[derive(Clone)]
pub struct Settings {
    /// `gitVersion`, or the status and body of /version
    pub version: Result<String, (u16, String)>,
    /// As whom it knows whoever asks; `None` answers 404
    pub user: Option<String>,
    /// Whether it answers reviews of access
    pub reviews: bool,
    /// What is granted: a verb and a namespace, in which `*` is any
    pub granted: Vec<(&'static str, &'static str)>,
    /// Everything is granted
    pub admin: bool,
    pub pods: Vec<Value>,
    /// Names and kubelet versions; `None` answers 403
    pub nodes: Option<Vec<(String, String)>>,
    /// By how many seconds its clock is ahead
    pub ahead: i64,
    /// The page from which on lists fail
    pub fails_at_page: Option<usize>,
    /// It answers nothing
    pub silent: bool,
}

impl Default for Settings {
    /// A cluster in which all is well.
    fn default() -> Self {
        Self {
            version: Ok("v1.36.2".to_owned()),
            user: Some("system:serviceaccount:monitoring:podinit".to_owned()),
            reviews: true,
            granted: vec![("list", "*"), ("watch", "*")],
            admin: false,
            pods: vec![
                pod("web-0", "shop", "node-1", "PodReadyToStartContainers"),
                pod("web-1", "shop", "node-2", "PodReadyToStartContainers"),
                pod("db-0", "data", "node-1", "PodReadyToStartContainers"),
            ],
            nodes: Some(nodes(&["v1.36.2", "v1.36.0"])),
            ahead: 0,
            fails_at_page: None,
            silent: false,
        }
    }
}

/// Nodes of these kubelet versions, from node-1.
pub fn nodes(versions: &[&str]) -> Vec<(String, String)> {
    let versions = versions.iter().zip(1..);
    let nodes = versions.map(|(version, n)| (format!("node-{n}"), (*version).to_owned()));
    nodes.collect()
}

/// A pod that runs, with the network condition under this name.
pub fn pod(name: &str, namespace: &str, node: &str, network: &str) -> Value {
    let holds = |kind| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:05Z"});
    let kinds = ["PodScheduled", network, "Initialized", "ContainersReady", "Ready"];
    json!({
        "metadata": {
            "name": name, "namespace": namespace, "uid": format!("uid-{namespace}-{name}"),
            "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": name.split('-').next()},
        },
        "spec": {"nodeName": node},
        "status": {
            "phase": "Running", "startTime": "2026-01-01T00:00:01Z",
            "conditions": kinds.map(holds),
        },
    })
}
