//! What tells more of why a pod waits than the pod itself ([§10.1](crate::specification#s10-1),
//! [§10.4](crate::specification#s10-4)): its claims, its node, and an autoscaler that chooses again and again.

use std::time::Duration;

use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::{Value, json};

use crate::support::doctor::Kubeconfig;
use crate::support::process::{run, run_with};

const UNBOUND: &str = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 \
                       nodes are available: 3 Preemption is not helpful for scheduling.";
const REFUSED: &str = "failed to provision volume with StorageClass \"gp3\": rpc error: code = ResourceExhausted desc = \
                       the volume quota of this project is used up";
const WAITS: &str = "Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually \
                     by the system administrator. If volume creation is delayed, please verify that the provisioner is \
                     running and correctly registered.";

fn time(second: u32) -> String {
    format!("2026-01-01T00:{:02}:{:02}Z", second / 60, second % 60)
}

/// A pod that fits on no node, with these volumes.
fn unschedulable(name: &str, says: &str, volumes: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
            "creationTimestamp": time(0)},
        "spec": {"containers": [{"name": "main", "image": "web"}], "volumes": volumes},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "lastTransitionTime": time(1), "reason": "Unschedulable",
                "message": says}]},
    })
}

fn claim(name: &str) -> Value {
    json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}])
}

fn event(
    about: [&str; 3],
    kind: &str,
    reason: &str,
    message: &str,
    [first, last]: [u32; 2],
) -> Value {
    let [object, namespace, name] = about;
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{name}.{reason}{last}"), "namespace": "shop"},
        "involvedObject": {"kind": object, "namespace": namespace, "name": name, "uid": format!("uid-{name}")},
        "reason": reason, "message": message, "type": kind, "count": 2,
        "source": {"component": "karpenter"},
        "firstTimestamp": time(first), "lastTimestamp": time(last),
    })
}

fn of_claim(name: &str, kind: &str, reason: &str, message: &str) -> Value {
    event(["PersistentVolumeClaim", "shop", name], kind, reason, message, [2, 3_000])
}

/// What a command prints of these documents.
fn printed(args: &[&str], documents: &[Value]) -> String {
    let text: String = documents.iter().map(|document| format!("{document}\n")).collect();
    let output = run_with(&[args, &["--file", "-"]].concat(), text.as_bytes());
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn list(items: &[&[Value]]) -> Vec<Value> {
    vec![json!({"kind": "List", "apiVersion": "v1", "items": items.concat()})]
}

fn watched(items: &[&[Value]]) -> Vec<Value> {
    let added = items.concat().into_iter().zip(101..).map(
        |(object, second)| json!({"type": "ADDED", "object": object, "observedAt": time(second)}),
    );
    let end = json!({"type": "BOOKMARK", "observedAt": time(3_500),
        "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}});
    added.chain([end]).collect()
}

#[test]
fn what_is_said_of_a_claim_is_told_of_the_pods_that_have_it() {
    let pod = || vec![unschedulable("db-0", UNBOUND, claim("data-db-0"))];
    let refused = of_claim("data-db-0", "Warning", "ProvisioningFailed", REFUSED);
    let waits = of_claim("data-db-0", "Normal", "ExternalProvisioning", WAITS);
    let binds = of_claim("data-db-0", "Normal", "FailedBinding", "no storage class is set");
    let first =
        of_claim("data-db-0", "Normal", "WaitForFirstConsumer", "waiting for first consumer");
    let done = of_claim("data-db-0", "Normal", "ProvisioningSucceeded", "Successfully provisioned");
    let other = of_claim("data-db-1", "Warning", "ProvisioningFailed", REFUSED);
    let quota = "the volume quota of this project is used up";
    let provisioner = "waits for the provisioner ebs.csi.aws.com";
    let unbound = "pod has unbound immediate PersistentVolumeClaims";
    for (events, said) in [
        (vec![refused.clone()], quota),
        (vec![waits.clone()], provisioner),
        (vec![refused.clone(), waits.clone()], quota),
        (vec![binds], "no storage class is set"),
        (vec![first], unbound),
        (vec![refused.clone(), done.clone(), waits], provisioner),
        (vec![refused, done], unbound),
        (vec![other], unbound),
    ] {
        let documents = [
            list(&[&events, &pod()]),
            watched(&[&pod(), &events]),
            // Events that come before the pod.
            watched(&[&events, &pod()]),
        ];
        for documents in documents {
            for args in
                [&["problems"][..], &["stuck", "-o", "wide"], &["explain", "-n", "shop", "db-0"]]
            {
                let text = printed(args, &documents);
                assert!(text.contains(said), "{args:?} lacks {said}: {text}");
            }
        }
    }
}

#[test]
fn an_ephemeral_volume_has_a_claim_of_its_own() {
    let volumes = json!([{"ephemeral": {"volumeClaimTemplate": {}}, "name": "scratch"}]);
    let pod = [unschedulable("db-0", UNBOUND, volumes)];
    let refused = [of_claim("db-0-scratch", "Warning", "ProvisioningFailed", REFUSED)];
    let text = printed(&["problems"], &list(&[&pod, &refused]));
    assert!(text.contains("volume quota"), "{text}");
}

#[test]
fn an_event_of_another_namespace_says_nothing_of_a_claim() {
    let pod = [unschedulable("db-0", UNBOUND, claim("data"))];
    let about = ["PersistentVolumeClaim", "other", "data"];
    let strange = [event(about, "Warning", "ProvisioningFailed", REFUSED, [2, 3_000])];
    let text = printed(&["problems"], &list(&[&pod, &strange]));
    assert!(text.contains("unbound immediate") && !text.contains("volume quota"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_asked_for_events_about_claims() {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    cluster.put_json(unschedulable("db-0", UNBOUND, claim("data-db-0"))).unwrap();
    cluster.step(Duration::from_secs(3 * 3_600));
    let refused = of_claim("data-db-0", "Warning", "ProvisioningFailed", REFUSED);
    cluster.put_event_json(refused).unwrap();
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    for args in [&["problems"][..], &["stuck", "-o", "wide"], &["explain", "-n", "shop", "db-0"]] {
        let args = [args, &["--kubeconfig", file]].concat();
        let output = tokio::task::block_in_place(|| run(&args));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("volume quota"), "{args:?}: {text}");
    }
}

/// A node that is not Ready, and a pod on it whose kubelet says nothing.
fn on_dead_node(status: &str) -> Vec<Value> {
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "node-a0", "uid": "n", "creationTimestamp": time(0)},
        "status": {"nodeInfo": {"kubeletVersion": "v1.36.2"}, "conditions": [
            {"type": "Ready", "status": status, "lastTransitionTime": time(2), "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status."}]},
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web-0", "namespace": "shop", "uid": "uid-web-0", "creationTimestamp": time(0)},
        "spec": {"nodeName": "node-a0", "containers": [{"name": "main", "image": "web"}]},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": time(1)}]},
    });
    let later = event(["Pod", "shop", "other"], "Normal", "Started", "", [400, 400]);
    vec![node, pod, later]
}

#[test]
fn a_node_that_is_not_ready_says_why_its_pods_wait() {
    let said = "Kubelet stopped posting node status";
    for (status, is_said) in [("Unknown", true), ("False", true), ("True", false)] {
        let list = list(&[&on_dead_node(status)]);
        for args in [&["problems"][..], &["explain", "-n", "shop", "web-0"]] {
            let text = printed(args, &list);
            assert_eq!(text.contains(said), is_said, "{status} {args:?}: {text}");
            assert!(text.contains("acknowledge") || text.contains("kubelet accepts"), "{text}");
        }
    }
}

#[test]
fn an_autoscaler_that_chooses_again_and_again_says_how_often() {
    let full = "0/3 nodes are available: 3 Insufficient cpu.";
    let pod = [unschedulable("web-0", full, json!([]))];
    let chosen = |name: &str, at: u32| {
        let message = format!("Pod should schedule on: {name}");
        event(["Pod", "shop", "web-0"], "Normal", "Nominated", &message, [at, at])
    };
    let claims = |times: &[(&str, u32)]| {
        times.iter().map(|(name, at)| chosen(&format!("nodeclaim/{name}"), *at)).collect::<Vec<_>>()
    };
    let node = |name: &str, owner: Value| {
        json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "uid": name, "creationTimestamp": time(0), "ownerReferences": owner},
            "status": {"nodeInfo": {"kubeletVersion": "v1.36.2"}}})
    };
    let owned = node("ip-10-0-0-1", json!([{"kind": "NodeClaim", "name": "b"}]));
    let three = claims(&[("a", 60), ("b", 120), ("c", 180)]);
    let with_node = [&three[..2], &[chosen("nodeclaim/c, node/ip-10-0-0-2", 180)]].concat();
    for (events, said) in [
        (three.clone(), "karpenter has chosen a node 3 times, none came"),
        ([&three[..], &[owned]].concat(), "karpenter has chosen a node 3 times, 1 of them came"),
        (with_node, "karpenter has chosen a node 3 times, 1 of them came"),
        // The same one again is no other.
        (claims(&[("a", 60), ("b", 120), ("a", 180)]), "karpenter has chosen"),
        // Not within 30 minutes.
        (claims(&[("a", 60), ("b", 120), ("c", 1_900)]), "karpenter has chosen"),
    ] {
        let list = list(&[&pod, &events]);
        let counts = said.contains("times");
        for args in [&["problems"][..], &["explain", "-n", "shop", "web-0"]] {
            let text = printed(args, &list);
            assert!(text.contains(said), "{args:?} lacks {said}: {text}");
            assert_eq!(text.contains(" times, "), counts, "{text}");
        }
    }
}

#[test]
fn a_pod_without_readiness_gates_waits_for_none() {
    let condition = |kind: &str, status: &str, second: u32| json!({"type": kind, "status": status, "lastTransitionTime": time(second)});
    let mut ready = condition("Ready", "False", 200);
    ready["message"] = "the node was marked as not ready".into();
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web-0", "namespace": "shop", "uid": "uid-web-0", "creationTimestamp": time(0)},
        "spec": {"nodeName": "node-a0", "containers": [{"name": "main", "image": "web"}]},
        "status": {"phase": "Running", "startTime": time(1), "conditions": [
            condition("PodScheduled", "True", 1), condition("PodReadyToStartContainers", "True", 2),
            condition("Initialized", "True", 2), condition("ContainersReady", "True", 200), ready],
            "containerStatuses": [{"name": "main", "ready": true, "restartCount": 0, "image": "web",
                "state": {"running": {"startedAt": time(200)}}}]},
    });
    let later = event(["Pod", "shop", "other"], "Normal", "Started", "", [800, 800]);
    let list = list(&[&[pod, later]]);
    let text = printed(&["explain", "-n", "shop", "web-0"], &list);
    assert!(text.contains("cause unknown") && !text.contains("readiness gate"), "{text}");
    assert!(text.contains("the node was marked as not ready"), "{text}");
}
