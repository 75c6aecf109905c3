//! A node as the API of a large cloud states it.

use serde_json::{Value, json};

/// A node that is Ready, of this number, with the fifty images that a kubelet states at most.
pub fn node(number: &str) -> Value {
    let time = "2026-11-21T07:56:00Z";
    let name = format!("ip-10-{number}.eu-central-1.compute.internal");
    let condition = |(kind, status): (&str, &str)| {
        json!({"type": kind, "status": status, "reason": format!("Kubelet{kind}"),
            "lastHeartbeatTime": time, "lastTransitionTime": time,
            "message": "kubelet is posting the status of this node"})
    };
    let conditions = [
        ("MemoryPressure", "False"),
        ("DiskPressure", "False"),
        ("PIDPressure", "False"),
        ("Ready", "True"),
    ];
    let images: Vec<Value> = (0..50)
        .map(|image| {
            let repository = format!("registry.example.com/team-{image:02}/service");
            let digest = format!("{repository}@sha256:{image:064x}");
            json!({"names": [digest, format!("{repository}:1.42.{image}")], "sizeBytes": 123_456_789})
        })
        .collect();
    json!({
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": format!("7d14ca8c-7af5-46a4-8768-00000{number}"),
            "resourceVersion": format!("8{number}"),
            "creationTimestamp": time,
            "labels": {
                "karpenter.sh/nodepool": "general-purpose",
                "karpenter.sh/capacity-type": "on-demand",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "node.kubernetes.io/instance-type": "m7i-flex.8xlarge",
                "topology.kubernetes.io/zone": "eu-central-1a",
            },
        },
        "spec": {"podCIDR": "10.244.17.0/24", "providerID": format!("aws:///eu-central-1a/i-{number}")},
        "status": {
            "capacity": {"cpu": "32", "memory": "128Gi", "pods": "110"},
            "conditions": conditions.map(condition),
            "addresses": [{"type": "InternalIP", "address": "10.0.0.7"}],
            "images": images,
            "nodeInfo": {"kubeletVersion": "v1.37.1-eks-1a2b3c4", "architecture": "amd64", "operatingSystem": "linux"},
        },
    })
}
