//! The nodes and namespaces of a cluster: objects that stay as they are, so that `kubectl get` and `describe`
//! find what pods name.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use super::manifest::ALL_NAMESPACES;
use super::node::{Node, nodes};
use super::object::{ObjectKey, Resource, Selectable};
use super::rng::Rng;
use super::sim_clock::{SECOND, meta_time};
use super::store::Store;
use podinit_core::timestamp::Timestamp;

/// They are so much older than the cluster's first moment.
const AGE: i64 = 40 * 24 * 3_600 * SECOND;

/// The objects of `resource` in a cluster that begins at `start`.
pub(super) fn store(resource: Resource, start: Timestamp, version: u64) -> Store {
    let created = meta_time(start.plus_nanos(-AGE));
    let objects: Vec<Value> = match resource {
        Resource::Nodes => nodes().map(|node| node_object(node, &created)).collect(),
        _ => (ALL_NAMESPACES.iter())
            .map(|name| namespace_object(name, &created))
            .collect(),
    };
    let store = Store::new(version, objects.len());
    for mut object in objects {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let key = ObjectKey::new("", name);
        store.put(key, Selectable::of_json(&object), |version| {
            object["metadata"]["resourceVersion"] = json!(version.to_string());
            object.to_string().into_bytes()
        });
    }
    store
}

fn metadata(name: &str, labels: &Value, created: &Time) -> Value {
    let seed = name.bytes().fold(7, |seed: u64, byte| {
        seed.wrapping_mul(31).wrapping_add(byte.into())
    });
    json!({
        "name": name,
        "uid": Rng::new(seed).uuid(),
        "creationTimestamp": created,
        "labels": labels,
    })
}

fn namespace_object(name: &str, created: &Time) -> Value {
    let labels = json!({"kubernetes.io/metadata.name": name});
    json!({
        "metadata": metadata(name, &labels, created),
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    })
}

fn node_object(node: &Node, created: &Time) -> Value {
    let labels = json!({
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": node.zone(),
    });
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": created, "lastTransitionTime": created,
        })
    };
    let room = json!({"cpu": "64", "memory": "256Gi", "ephemeral-storage": "200Gi", "pods": "110"});
    json!({
        "metadata": metadata(node.name, &labels, created),
        "spec": {"podCIDR": format!("10.{}.0.0/16", node.host)},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
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
