//! The nodes and namespaces of a cluster, so that `kubectl get` and `describe` find what pods name.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use super::manifest::ALL_NAMESPACES;
use super::node::{SimulatedNode, nodes};
use super::object::{ObjectKey, SelectableFields, ServedKind};
use super::rng::Rng;
use super::sim_clock::{SECOND, meta_time};
use super::store::ObjectStore;
use podinit_core::timestamp::Timestamp;

/// They are so much older than the cluster's first moment.
const AGE: i64 = 40 * 24 * 3_600 * SECOND;
/// How many events a watch of them can be behind.
const HISTORY: usize = 512;

/// The objects of `resource` in a cluster that begins at `start`.
pub(super) fn store(resource: ServedKind, start: Timestamp, version: u64) -> ObjectStore {
    let created = meta_time(start.plus_nanos(-AGE));
    let objects: Vec<Value> = match resource {
        ServedKind::Nodes => nodes()
            .map(|node| {
                let state = NodeProgress {
                    uid: uid(node.name),
                    created: created.clone(),
                    ready: Some(created.clone()),
                    taint: None,
                };
                node_object(node, &state)
            })
            .collect(),
        _ => (ALL_NAMESPACES.iter()).map(|name| namespace_object(name, &created)).collect(),
    };
    let store = ObjectStore::new(version, HISTORY);
    for object in objects {
        put(&store, object);
    }
    store
}

/// Writes an object that belongs to no namespace.
pub(super) fn put(store: &ObjectStore, mut object: Value) {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let key = ObjectKey::new("", name);
    store.put(key, SelectableFields::of_json(&object), |version| {
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        object.to_string().into_bytes()
    });
}

/// The UID of what is there from the beginning.
pub(super) fn uid(name: &str) -> String {
    let seed =
        name.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    Rng::new(seed).uuid()
}

/// How far a node is.
pub(super) struct NodeProgress {
    pub(super) uid: String,
    pub(super) created: Time,
    /// Since when it is Ready, if it is
    pub(super) ready: Option<Time>,
    /// The key of a taint that keeps pods away
    pub(super) taint: Option<&'static str>,
}

fn namespace_object(name: &str, created: &Time) -> Value {
    let labels = json!({"kubernetes.io/metadata.name": name});
    json!({
        "metadata": {
            "name": name, "uid": uid(name), "creationTimestamp": created, "labels": labels,
        },
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    })
}

/// The object of `node`.
pub(super) fn node_object(node: &SimulatedNode, state: &NodeProgress) -> Value {
    let NodeProgress { uid, created, ready, taint } = state;
    let taints: Vec<Value> =
        (taint.iter()).map(|key| json!({"key": key, "effect": "NoSchedule"})).collect();
    let labels = json!({
        "karpenter.sh/nodepool": node.pool(),
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": node.zone(),
    });
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        let since = ready.as_ref().filter(|_| kind == "Ready").unwrap_or(created);
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": since, "lastTransitionTime": since,
        })
    };
    let is_ready = match ready {
        Some(_) => condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        None => {
            condition("Ready", "False", "KubeletNotReady", "container runtime network not ready")
        }
    };
    let room = json!({"cpu": "64", "memory": "256Gi", "ephemeral-storage": "200Gi", "pods": "110"});
    json!({
        "metadata": {
            "name": node.name, "uid": uid, "creationTimestamp": created, "labels": labels,
        },
        "spec": {"podCIDR": format!("10.{}.0.0/16", node.host), "taints": taints},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                is_ready,
            ],
            "addresses": [
                {"type": "InternalIP", "address": format!("10.0.0.{}", node.host)},
                {"type": "Hostname", "address": node.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "machineID": "", "systemUUID": "", "bootID": "",
                "kernelVersion": "6.18.0", "osImage": "Debian GNU/Linux 13 (trixie)",
                "containerRuntimeVersion": "containerd://2.2.0",
                "kubeletVersion": format!("v1.{}.0", node.kubelet.minor), "kubeProxyVersion": "",
                "operatingSystem": "linux", "architecture": "amd64",
            },
        },
    })
}
