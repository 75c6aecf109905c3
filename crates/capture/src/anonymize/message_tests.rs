#![allow(clippy::unwrap_used)]

use super::*;

fn message(text: &str) -> String {
    Anonymizer::with_key([7; 32]).message(text)
}

/// What Kubernetes writes, of every kind that a rule reads and of those that people look for.
const OF_KUBERNETES: [&str; 33] = [
    "",
    "0/12 nodes are available: 3 Insufficient cpu, 9 node(s) had untolerated taint \
     {node.kubernetes.io/unreachable: }. preemption: 0/12 nodes are available: 3 No preemption victims \
     found for incoming pod, 9 Preemption is not helpful for scheduling.",
    "0/5 nodes are available: 2 Too many pods, 3 node(s) were unschedulable. no new claims to deallocate, \
     preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
    "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required label).",
    "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
    "0/3 nodes are available: 1 node(s) had volume node affinity conflict, 2 node(s) did not have enough free \
     storage.",
    "0/3 nodes are available: cannot allocate all claims. still not schedulable, preemption: 0/3 nodes are \
     available: 3 Preemption is not helpful for scheduling.",
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
    "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.",
    "0/2 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim",
    "0/2 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).",
    "0/2 nodes are unavailable: 2 Insufficient cpu.",
    "pod group is not ready, 2 Pending, 3 minAvailable; Pending: 2 Unschedulable",
    "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining",
    "waiting for minCount pods from a gang to appear in scheduling queue",
    "running PreBind plugin \"VolumeBinding\": binding volumes: timed out waiting for the condition",
    "not eligible due to a terminating pod on the nominated node.",
    "back-off 5m0s restarting failed container",
    "containers with incomplete status: []",
    "containers with unready status: []",
    "Successfully assigned",
    "(combined from similar events): Failed to create pod sandbox",
    "(combined from similar events): Readiness probe failed: HTTP probe failed with statuscode: 503",
    "Container image \"\" already present on machine and can be accessed by the pod",
    "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox",
    "network is not ready: container runtime network not ready: NetworkReady=false \
     reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized",
    "failed to reserve sandbox name",
    "failed to pull image",
    "rpc error: code = NotFound desc = failed to pull and unpack image",
    "pod sandbox has no IP address",
    "there is no pod sandbox",
    "Error: ErrImagePull",
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 88Mi.",
];

#[test]
fn what_kubernetes_writes_stays_readable() {
    for text in OF_KUBERNETES {
        assert_eq!(message(text), text);
    }
}

#[test]
fn the_messages_of_pulls_keep_their_form() {
    let text = "Successfully pulled image \"registry.acme.example:5000/pay/roll:v7\" in 1.5s \
                (2.25s including waiting). Image size: 1234 bytes.";
    let hidden = message(text);
    assert!(hidden.starts_with("Successfully pulled image \"x"), "{hidden}");
    assert!(hidden.ends_with("\" in 1.5s (2.25s including waiting). Image size: 1234 bytes."));
    assert!(!hidden.contains("acme") && !hidden.contains("roll"), "{hidden}");
}

/// A name may look like a number, an address, a duration or a word.
#[test]
fn numbers_and_addresses_that_are_names_are_hashed() {
    for (text, names) in [
        ("persistentvolumeclaim \"4711\" not found at 10.1.2.3:443", &["4711", "10.1", "443"][..]),
        ("pod 4711 not found on node ip-10-1-2-3 or 10-244-7-9", &["4711", "10-1", "244"]),
        ("Successfully assigned 4711/4712 to 4713", &["4711", "4712", "4713"]),
        ("Created container: 4711", &["4711"]),
        ("back-off 5m0s restarting failed container=4711 pod=4712_4713(4714)", &["471"]),
        ("0/3 nodes are available: 3 node(s) had untolerated taint {4711: 4712}.", &["471"]),
        (
            "MountVolume.SetUp failed for volume \"data\" : secret \"4711\" not found",
            &["data", "4711"],
        ),
        ("couldn't find key 4711 in ConfigMap 4712/4713", &["471"]),
        ("dial tcp [2001:db8::4711]:443: i/o timeout", &["2001", "4711", "443"]),
        ("exec /srv/4711/run: no such file", &["4711", "srv"]),
        (
            "container \"init\" of \"5m\" waits for 'node' and `server`",
            &["init", "5m", "node", "server"],
        ),
        ("version 1.2.3 of 4711.4712, order 4713 is 20 % more", &["1.2", "471", "20"]),
    ] {
        let hidden = message(text);
        for name in names {
            assert!(!hidden.contains(name), "{name}: {hidden}");
        }
    }
}

/// The rules look for parts of words too, so that these stay where a name holds them.
#[test]
fn a_phrase_of_a_rule_stays_within_a_name() {
    let hidden =
        message("0/3 nodes are available: 3 node(s) lack acme.io/FastDisk-9, 2 acmeStorage.");
    assert!(hidden.starts_with("0/3 nodes are available: 3 node(s) x"), "{hidden}");
    assert!(
        hidden.contains("Diskx") && hidden.contains(", 2 x") && hidden.ends_with("Storage."),
        "{hidden}"
    );
    assert!(!hidden.contains("acme"), "{hidden}");
}
