//! What schedulers and kubelets say, well and badly formed: [§9.3](crate::specification#s9-3),
//! [§10.1](crate::specification#s10-1).

use super::rng::Rng;

/// The clauses of a scheduler.
const CLAUSES: [&str; 32] = [
    "Insufficient cpu",
    "Insufficient ephemeral-storage",
    "Too many pods",
    "node(s) had untolerated taint {node.kubernetes.io/unreachable: }",
    "node(s) had taint {dedicated: batch}, that the pod didn't tolerate",
    "node(s) were unschedulable",
    "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }",
    "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    "node(s) were unschedulable",
    "Insufficient memory",
    "node(s) had untolerated taint(s)",
    "node(s) had untolerated taint {node.cilium.io/agent-not-ready: }",
    "node(s) resource fit failed",
    "node(s) didn't have enough resources: GPUs",
    "CSI driver a is not installed on the node",
    "pods are over the ElasticQuota of shop",
    "pods wait in the scheduling Queue",
    "node(s) didn't match pod topology spread constraints",
    "node(s) had volume node affinity conflict",
    "pod has unbound immediate PersistentVolumeClaims",
    "node(s) did not have enough free storage",
    "cannot allocate all claims",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) had 3 devices, no more",
    "PodGroup web is waiting for its members",
    "the pod group is incomplete",
    "waiting for the rest of the Gang",
    "optimistic rejection: less than 3 Sibling pods, 2 are there",
];

/// What PostFilter plugins say after the clauses.
const ENDS: [&str; 12] = [
    "",
    "",
    "",
    " preemption: 0/5 nodes are available: 9 Insufficient memory.",
    " preemption: not eligible due to preemptionPolicy=Never.",
    " preemption: not eligible due to a terminating pod on the nominated node.",
    " preemption: workload aware preemption found 2 victims",
    " no new claims to deallocate, preemption: 0/5 nodes are available: 5 No preemption victims found.",
    " no new claims to deallocate, 9 node(s) had untolerated taint(s)",
    " still not schedulable, 7 Insufficient cpu",
    " deallocation of ResourceClaim completed, 8 node(s) were unschedulable",
    " deletion of ResourceClaim completed",
];

/// A message of the condition PodScheduled.
pub(super) fn scheduler(rng: &mut Rng) -> String {
    match rng.below(18) {
        0 => "no nodes available to schedule pods".to_owned(),
        1 => rng.pick(&CLAUSES).to_owned(),
        2 => "running PreBind plugin \"VolumeBinding\": Binding Volumes: timed out".to_owned(),
        3 => String::new(),
        4 => {
            "1/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.".to_owned()
        }
        5 => "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining".to_owned(),
        7 => "Pod ml/eval-2 can possibly be assigned to node-2, once resource is released".to_owned(),
        8 => "pod group is not ready, 6 Pending, 6 minAvailable. Origin reason is eval-6: 0/3 nodes are unavailable: 1 \
              node(s) pod number exceeded, 2 node(s) had untolerated taint(s)."
            .to_owned(),
        9..12 => {
            let clauses = ["node(s) were unschedulable", "node(s) didn't match node selector"];
            let clauses = clauses.map(|clause| format!("{} {clause}", rng.pick(&[1, 1, 2, 3])));
            format!("0/4 nodes are available: {}.", clauses.join(", "))
        }
        6 => "3 Insufficient cpu, 5 node(s) had untolerated taint".to_owned(),
        _ => {
            let nodes = rng.pick(&[1, 3, 5, 5_000]);
            let clauses: Vec<String> = (0..1 + rng.below(4))
                .map(|_| {
                    // The last ones make a gang of the whole message.
                    let most = CLAUSES.len() - rng.below(5);
                    let clause = rng.pick(&CLAUSES[..most]);
                    match rng.percent(12) {
                        true => clause.to_owned(),
                        false => format!("{} {clause}", rng.pick(&[1, 1, 2, 2, 3, 10])),
                    }
                })
                .collect();
            let clauses = clauses.join(", ");
            let end = rng.pick(&ENDS);
            match rng.below(100) {
                0..15 => format!("all nodes are unavailable: {clauses}.{end}"),
                15..25 => {
                    let lines = clauses.replace(", ", ". \n");
                    format!("no nodes with free resources were found: {lines}.{end}")
                }
                _ => format!("0/{nodes} nodes are available: {clauses}.{end}"),
            }
        }
    }
}

/// An image reference.
pub(super) fn image(rng: &mut Rng) -> &'static str {
    rng.pick(&[
        "nginx:1.27",
        "library/nginx",
        "index.docker.io/library/nginx:1",
        "docker.io/bitnami/redis@sha256:0123",
        "registry.k8s.io/pause:3.10",
        "ghcr.io/a/b/c:1",
        "localhost/app",
        "localhost:5000/app:2",
        "registry:5000/team/app",
        "team/app:2.1",
    ])
}

/// A duration as Go prints it, and now and then a text that is none.
fn go_duration(rng: &mut Rng) -> (&'static str, u64) {
    rng.pick(&[
        ("0s", 0),
        ("350ms", 350),
        ("412.75ms", 412),
        ("1.5s", 1_500),
        ("2.045s", 2_045),
        ("4s", 4_000),
        ("11.2s", 11_200),
        ("1m2.5s", 62_500),
        ("1h0m1s", 3_601_000),
    ])
}

/// A message of a `Pulled` Event.
pub(super) fn pulled(rng: &mut Rng) -> String {
    let image = image(rng);
    let (duration, millis) = go_duration(rng);
    let size = rng.pick(&["", "", ". Image size: 71230412 bytes.", ". Image size: many bytes."]);
    match rng.below(12) {
        0..2 => format!("Successfully pulled image \"{image}\" in {duration}"),
        2..5 => format!(
            "Container image \"{image}\" already present on machine{}",
            rng.pick(&["", "", " and can be accessed by the pod"])
        ),
        5 => format!("Successfully pulled image \"{image}\" in a moment"),
        6 => "Image pulled".to_owned(),
        _ => {
            let (longer, least) = go_duration(rng);
            let with_wait = if least > millis { longer } else { duration };
            format!(
                "Successfully pulled image \"{image}\" in {duration} ({with_wait} including waiting){size}"
            )
        }
    }
}

/// A message of a `Failed` Event.
pub(super) fn failed(rng: &mut Rng) -> String {
    match rng.below(10) {
        0..6 => format!("Failed to pull image \"{}\": not found", image(rng)),
        6..9 => "Error: ErrImagePull".to_owned(),
        _ => "error making pod data directories: mkdir: no space left on device".to_owned(),
    }
}

/// A message of a warning about a sandbox.
pub(super) fn sandbox(rng: &mut Rng) -> &'static str {
    rng.pick(&[
        "Failed to create pod sandbox: rpc error: plugin type=\"calico\" failed: CNI is not ready",
        "Failed to create pod sandbox: rpc error: failed to Setup Network for sandbox",
        "Failed to create pod sandbox: rpc error: NetworkPlugin cni failed to set up pod",
        "Failed to create pod sandbox: rpc error: context deadline exceeded",
        "Failed to create pod sandbox: failed to reserve sandbox name \"network-check_0\"",
        "Failed to create pod sandbox: Failed to pull image \"pause\": plugin type=\"mirror\" is down",
    ])
}
