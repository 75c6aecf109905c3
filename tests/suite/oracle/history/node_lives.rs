//! What really happens to the nodes of a cluster, version by version.

use serde_json::{Value, json};

use super::rng::Rng;
use crate::oracle::build::time;

/// One version of one node, or its removal.
#[derive(Clone, Debug)]
pub(super) struct NodeVersion {
    /// When it came about, in seconds after the origin
    pub(super) at: f64,
    pub(super) uid: String,
    pub(super) node: Value,
    pub(super) is_deletion: bool,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Ready(&'static str),
    /// A taint goes
    Untaint,
    Taint,
    Cordon(bool),
    Relabel,
    Upgrade,
    Heartbeat,
}

const TAINTS: [&str; 15] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "karpenter.sh/unregistered",
    "node.cluster.x-k8s.io/uninitialized",
    "node.cilium.io/agent-not-ready",
    "ebs.csi.aws.com/agent-not-ready",
    "efs.csi.aws.com/agent-not-ready",
    "readiness.k8s.io/example.com/gpu",
    "startup-taint.cluster-autoscaler.kubernetes.io/warm",
    // No startup taints.
    "dedicated",
    "node.kubernetes.io/unschedulable",
    "readiness.k8s.io",
];

const POOL_LABELS: [&str; 6] = [
    "example.com/pool",
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "kops.k8s.io/instancegroup",
];

/// The versions of some nodes in the order in which they came about. Most are created about when pods are.
pub(super) fn cluster(rng: &mut Rng, pods: &[f64]) -> Vec<NodeVersion> {
    let mut versions = Vec::new();
    for _ in 0..1 + rng.below(5) {
        let of_pod = pods.get(rng.below(pods.len())).copied().unwrap_or(0.0);
        let offset = rng
            .pick(&[-1_000.0, -40.0, -30.0, -5.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 4.0, 9.0, 30.0]);
        let created = of_pod.floor() + offset + rng.fraction();
        versions.extend(life(rng, created));
    }
    versions.sort_by(|one, other| one.at.total_cmp(&other.at));
    let first = rng.pick(&[3, 95, 996]);
    for (place, version) in versions.iter_mut().enumerate() {
        let number = (first + place as u64).to_string();
        version.node["metadata"]["resourceVersion"] = match rng.below(60) {
            // A final state that is older than what has been seen.
            0..6 if version.is_deletion => "1".into(),
            0 => Value::Null,
            1 => "0x1f".into(),
            _ => number.into(),
        };
    }
    versions
}

fn life(rng: &mut Rng, created: f64) -> Vec<NodeVersion> {
    let uid = rng.uid();
    let mut node = newborn(rng, created, &uid);
    let kubelet_clock = rng.pick(&[0.0, 0.0, 0.0, 0.0, -1.0, -2.0, -3.0, 2.0]);
    let mut at = created;
    let version = |at, node: &Value, is_deletion| NodeVersion {
        at,
        uid: uid.clone(),
        node: node.clone(),
        is_deletion,
    };
    let mut versions = Vec::new();
    let coalesced = rng.pick(&[10, 40, 80]);
    if rng.percent(75) {
        versions.push(version(at, &node, false));
    }
    for change in changes(rng) {
        at += match rng.percent(3) {
            true => 950.0,
            false => rng.pick(&[0.0, 0.2, 0.7, 1.0, 1.6, 3.0, 6.0, 12.0, 29.0]),
        };
        node = changed(rng, node, change, (at + kubelet_clock).floor(), created);
        if !rng.percent(coalesced) {
            versions.push(version(at, &node, false));
        }
    }
    versions.push(version(at, &node, false));
    if rng.percent(40) {
        at += rng.pick(&[0.1, 1.0, 8.0]);
        if rng.percent(40) {
            let status = rng.pick(&["True", "False", "Unknown"]);
            node = changed(rng, node, Change::Ready(status), at.floor(), created);
            node["spec"]["taints"] = json!([]);
        }
        versions.push(version(at, &node, true));
    }
    versions
}

fn newborn(rng: &mut Rng, created: f64, uid: &str) -> Value {
    let mut labels = json!({"kubernetes.io/hostname": "x"});
    for label in POOL_LABELS {
        if rng.percent(22) {
            labels[label] = rng.pick(&["blue", "green", "red"]).into();
        }
    }
    for (label, values) in OTHER_LABELS {
        if rng.percent(60) {
            labels[label] = rng.pick(&values).into();
        }
    }
    let taints: Vec<Value> = (0..rng.pick(&[0, 0, 1, 1, 2]))
        .map(|_| json!({"key": rng.pick(&TAINTS), "effect": "NoSchedule"}))
        .collect();
    let mut node = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": rng.pick(&["node-1", "node-1", "node-2", "node-3"]),
            "uid": uid,
            "creationTimestamp": time(created.floor()),
            "labels": labels,
        },
        "spec": {"taints": taints},
        "status": {
            "conditions": [{"type": "MemoryPressure", "status": "False", "lastTransitionTime": time(created.floor())}],
            "nodeInfo": {"kubeletVersion": rng.pick(&["v1.35.1", "v1.36.2"]), "architecture": "amd64"},
        },
    });
    match rng.below(40) {
        0 => node["metadata"]["creationTimestamp"] = Value::Null,
        1 => node["metadata"]["creationTimestamp"] = "1970-01-01T00:00:00Z".into(),
        2 => node["metadata"]["creationTimestamp"] = time(created.floor() - 40.0 * 86_400.0),
        3 => node["metadata"]["labels"] = Value::Null,
        4 => node["status"]["nodeInfo"] = Value::Null,
        _ => {}
    }
    match rng.below(6) {
        0 => node,
        1 => with_ready(rng, node, "True", created.floor(), created),
        2 => with_ready(rng, node, "Unknown", created.floor(), created),
        _ => with_ready(rng, node, "False", created.floor(), created),
    }
}

const OTHER_LABELS: [(&str, [&str; 2]); 4] = [
    ("topology.kubernetes.io/zone", ["zone-a", "zone-b"]),
    ("node.kubernetes.io/instance-type", ["m7g.large", ""]),
    ("kubernetes.io/arch", ["arm64", "amd64"]),
    (
        "karpenter.sh/capacity-type",
        ["spot", "a-value-that-is-much-longer-than-the-sixty-three-bytes-of-a-label-v"],
    ),
];

fn changes(rng: &mut Rng) -> Vec<Change> {
    let mut changes = vec![Change::Ready("True"), Change::Untaint, Change::Untaint];
    if rng.percent(30) {
        changes.insert(rng.below(3), Change::Cordon(true));
        changes.push(Change::Cordon(false));
    }
    if rng.percent(30) {
        rng.shuffle(&mut changes);
    }
    for _ in 0..rng.pick(&[0, 1, 2, 4]) {
        let change = rng.pick(&[
            Change::Relabel,
            Change::Relabel,
            Change::Upgrade,
            Change::Heartbeat,
            Change::Taint,
            Change::Ready("False"),
            Change::Ready("Unknown"),
            Change::Ready("True"),
            Change::Cordon(true),
        ]);
        let place = rng.below(changes.len() + 1);
        changes.insert(place, change);
    }
    if rng.percent(20) {
        // It never comes to be.
        changes.truncate(rng.below(changes.len()));
    }
    changes
}

fn changed(rng: &mut Rng, mut node: Value, change: Change, kubelet: f64, created: f64) -> Value {
    match change {
        Change::Ready(status) => return with_ready(rng, node, status, kubelet, created),
        Change::Untaint => {
            if let Some(taints) = node["spec"]["taints"].as_array_mut() {
                taints.pop();
            }
        }
        Change::Taint => {
            if let Some(taints) = node["spec"]["taints"].as_array_mut() {
                taints.push(json!({"key": rng.pick(&TAINTS), "effect": "NoSchedule"}));
            }
        }
        Change::Cordon(cordoned) => node["spec"]["unschedulable"] = cordoned.into(),
        Change::Relabel => {
            if node["metadata"]["labels"].is_object() {
                let label = match rng.percent(60) {
                    true => rng.pick(&POOL_LABELS),
                    false => "topology.kubernetes.io/zone",
                };
                node["metadata"]["labels"][label] = rng.pick(&["blue", "black"]).into();
            }
        }
        Change::Upgrade => {
            if node["status"]["nodeInfo"].is_object() {
                node["status"]["nodeInfo"]["kubeletVersion"] = "v1.37.0".into();
            }
        }
        Change::Heartbeat => node["metadata"]["annotations"] = json!({"beat": kubelet}),
    }
    node
}

fn with_ready(rng: &mut Rng, mut node: Value, status: &str, at: f64, created: f64) -> Value {
    let since = match rng.below(120) {
        0 => Value::Null,
        1 => "soon".into(),
        2 => time(created.floor() - 1.0),
        3 => time(created.floor() - 2.0),
        4 => time(created.floor() + 31.0 * 86_400.0),
        5 => "1970-01-01T00:00:00Z".into(),
        _ => time(at),
    };
    if let Some(conditions) = node["status"]["conditions"].as_array_mut() {
        let held = conditions.iter().position(|held| held["type"] == "Ready");
        let held = held.map(|place| conditions.remove(place));
        let unchanged = held.filter(|held| held["status"] == status);
        let next = json!({"type": "Ready", "status": status, "lastHeartbeatTime": time(at), "lastTransitionTime": since});
        conditions.push(unchanged.unwrap_or(next));
    }
    node
}
