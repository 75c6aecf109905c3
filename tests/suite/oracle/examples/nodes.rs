//! [§14.1](crate::specification#s14-1), [§14.2](crate::specification#s14-2) and
//! [§14.7](crate::specification#s14-7): nodes, and how they start.

use super::{Example, FUSED_NODES, NODES, READY_IN_FULL, example, ready};
use crate::oracle::build::*;
use crate::oracle::build_nodes::{end_of_nodes, mixed, node, nodes};
use crate::oracle::reading::Options;
use serde_json::{Value, json};

const STARTING: &str = "nodes discovered 1\nnodes starting 1";
const PREEXISTING: &str = "nodes discovered 1\nnodes preexisting 1";
const STARTED_AT_5: &str = "nodes discovered 1
    nodes ready 1
    node ready _none 1 5
    node schedulable _none 1 5";

/// Figures of a pod that was ready, and others.
fn with_pod(figures: &str) -> &'static str {
    format!("{READY_IN_FULL}\n{figures}").leak()
}

/// A node that is created, and then schedulable at 5 s unless something is wrong with it.
fn with(then: impl Fn(Pod) -> Pod) -> Vec<Value> {
    vec![at(0.5, added(&node("n"))), at(5.5, modified(&then(node("n").ready(5.0))))]
}

pub(super) fn examples() -> Vec<Example> {
    [appearing(), starting(), pools(), first_pods(), documents()].concat()
}

fn appearing() -> Vec<Example> {
    let is_ready = node("n").ready(5.0);
    let other = node("other").created(-40.0);
    vec![
        example(
            "§14.7: \"a node of the first list that is Ready\" is `preexisting`",
            NODES,
            vec![at(6.0, nodes(std::slice::from_ref(&is_ready)))],
            PREEXISTING,
        ),
        example(
            "§14.7: a node of the first list that is not Ready starts",
            NODES,
            vec![at(30.0, nodes(&[node("n")]))],
            STARTING,
        ),
        example(
            "§14.7: \"more than 30 s before the list\"",
            NODES,
            vec![at(30.001, nodes(&[node("n")]))],
            PREEXISTING,
        ),
        example(
            "§14.7: a node of a later list may be Ready; its arrival is unknown",
            NODES,
            vec![at(1.0, nodes(&[])), at(6.0, nodes(std::slice::from_ref(&is_ready)))],
            "nodes discovered 1\nnodes ready 1\nnode ready _none 1 5\nanomaly missing 1",
        ),
        example(
            "§8.4: \"A recording whose first document is an event has no first list\", of nodes",
            NODES,
            vec![at(1.0, added(&other)), at(6.0, nodes(&[other.clone(), is_ready.clone()]))],
            "nodes discovered 2\nnodes preexisting 1\nnodes ready 1\nnode ready _none 1 5\nanomaly missing 1",
        ),
        example(
            "§14.7: \"more than 30 s before the […] event (`o`) in which it first appears\"",
            NODES,
            vec![at(30.5, added(&is_ready))],
            PREEXISTING,
        ),
        example(
            "§14.7: \"A watch event without `o` is of the accounted time\"",
            NODES,
            vec![added(&pod("ticker").created(31.0)), added(&is_ready)],
            "inflight scheduling 1\nnodes discovered 1\nnodes preexisting 1",
        ),
        example(
            "§14.7: \"its arrival is unknown\" without `o`",
            NODES,
            vec![added(&pod("ticker").created(30.0)), added(&is_ready)],
            "inflight scheduling 1
             nodes discovered 1
             nodes ready 1
             node ready _none 1 5
             anomaly missing 1",
        ),
        example(
            "§14.1: \"A list of nodes has the time of its `observedAt`, or else the greatest API time in it\"",
            NODES,
            vec![nodes(&[node("n"), node("late").created(31.0).no(READY, 31.0)])],
            "nodes discovered 2\nnodes preexisting 1\nnodes starting 1",
        ),
        example(
            "§4.6: of a node whose creation is missing every time is, and it is not old",
            NODES,
            vec![
                at(90.0, added(&node("n").put("metadata", "creationTimestamp", Value::Null))),
                at(
                    95.0,
                    modified(
                        &node("n").put("metadata", "creationTimestamp", Value::Null).ready(95.0),
                    ),
                ),
            ],
            "nodes discovered 1\nnodes ready 1\nanomaly missing 2",
        ),
        example(
            "§14.7: `podinit_late_nodes` is of nodes that were created more than 15 minutes ago",
            NODES,
            vec![
                at(1.0, added(&node("n"))),
                at(2.0, added(&node("other").created(2.0))),
                at(3.0, added(&node("none").put("metadata", "creationTimestamp", Value::Null))),
                at(901.0, added(&pod("a").created(901.0))),
            ],
            "inflight scheduling 1\nnodes discovered 3\nnodes starting 3\nnodes late 1",
        ),
    ]
}

fn starting() -> Vec<Example> {
    let mut all = vec![
        example(
            "§14.7: creation to the first Ready=True, and to the arrival of the first schedulable snapshot",
            NODES,
            with(|node| node),
            STARTED_AT_5,
        ),
        example(
            "§14.7, fused: created at 0.5 s and Ready at 5.5 s, as they arrived",
            FUSED_NODES,
            with(|node| node),
            STARTED_AT_5,
        ),
        example(
            "§14.7: \"the later of its arrival […] and the time of the first Ready=True\"",
            FUSED_NODES,
            vec![at(0.25, added(&node("n"))), at(7.75, modified(&node("n").ready(5.0)))],
            "nodes discovered 1
             nodes ready 1
             node ready _none 1 5.25
             node schedulable _none 1 7.5",
        ),
        example(
            "§4.3: `skew`, of the creation and of Ready",
            FUSED_NODES,
            vec![at(-1.0, added(&node("n"))), at(4.0, modified(&node("n").ready(5.0)))],
            "nodes discovered 1
             nodes ready 1
             node ready _none 1 5
             node schedulable _none 1 5
             anomaly skew 2",
        ),
        example(
            "§14.7: \"first Ready=True\", whatever flaps after it",
            NODES,
            vec![
                at(0.5, added(&node("n").tainted(&["karpenter.sh/unregistered"]))),
                at(5.5, modified(&node("n").ready(5.0).tainted(&["karpenter.sh/unregistered"]))),
                at(6.5, modified(&node("n").no(READY, 6.0))),
                at(9.5, modified(&node("n").ready(9.0))),
                at(12.5, modified(&node("n").no(READY, 12.0))),
                at(15.5, modified(&node("n").ready(15.0))),
            ],
            "nodes discovered 1
             nodes ready 1
             node ready _none 1 5
             node schedulable _none 1 9",
        ),
        example(
            "§4.5, §4.6: Ready 1 s and 2 s before the creation",
            NODES,
            vec![
                at(0.5, added(&node("one").ready(-1.0))),
                at(0.5, added(&node("two").ready(-2.0))),
            ],
            "nodes discovered 2
             nodes ready 2
             node ready _none 1 0
             node schedulable _none 2 0
             anomaly rounded 1
             anomaly negative 1",
        ),
        example(
            "§5.1: the object of DELETED is the node's last snapshot",
            NODES,
            vec![at(0.5, added(&node("n"))), at(5.5, deleted(&node("n").ready(5.0)))],
            STARTED_AT_5,
        ),
        example(
            "§14.7: outcomes `deleted` and `vanished`, each only while it starts",
            NODES,
            vec![
                at(0.5, added(&node("n").ready(0.0))),
                at(0.5, added(&node("deleted"))),
                at(0.5, added(&node("vanished"))),
                at(2.0, deleted(&node("deleted"))),
                at(2.0, deleted(&node("stranger"))),
                at(3.0, nodes(&[])),
            ],
            "nodes discovered 3
             nodes ready 1
             nodes deleted 1
             nodes vanished 1
             node ready _none 1 0
             node schedulable _none 1 0",
        ),
        example(
            "§5.1: a deleted node is remembered for ten minutes of the accounted time",
            NODES,
            vec![
                at(0.5, added(&node("n"))),
                at(0.5, added(&pod("a"))),
                deleted(&node("n")),
                at(600.5, modified(&pod("a"))),
                at(2_000.0, added(&node("n"))),
                at(600.6, modified(&pod("a"))),
                at(600.7, added(&node("n").created(600.0))),
            ],
            "inflight scheduling 1\nnodes discovered 2\nnodes deleted 1\nnodes starting 1",
        ),
    ];
    for key in STARTUP_TAINTS {
        all.push(example(
            "§14.7: a startup taint keeps it from being schedulable",
            NODES,
            with(|node| node.tainted(&["dedicated", key])),
            "nodes discovered 1\nnodes starting 1\nnode ready _none 1 5",
        ));
    }
    for key in ["dedicated", "readiness.k8s.io", "node.kubernetes.io/unschedulable"] {
        all.push(example(
            "§14.7: any other taint does not",
            NODES,
            with(|node| node.tainted(&[key])),
            STARTED_AT_5,
        ));
    }
    all.push(example(
        "§14.7: \"not `spec.unschedulable`\"",
        NODES,
        with(|node| node.put("spec", "unschedulable", true.into())),
        "nodes discovered 1\nnodes starting 1\nnode ready _none 1 5",
    ));
    all
}

const STARTUP_TAINTS: [&str; 11] = [
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
];

fn pools() -> Vec<Example> {
    // The last of these that is there is not the first.
    let order = [
        ("kops.k8s.io/instancegroup", "kops"),
        ("kubernetes.azure.com/agentpool", "aks"),
        ("cloud.google.com/gke-nodepool", "gke"),
        ("eks.amazonaws.com/nodegroup", "eks"),
        ("karpenter.sh/nodepool", "karpenter"),
        ("example.com/pool", "own"),
    ];
    let options = Options { pool_label: Some("example.com/pool"), ..NODES };
    let mut labels = json!({"kubernetes.io/hostname": "n"});
    let mut all = Vec::new();
    for (label, pool) in order {
        labels[label] = pool.into();
        let figures = format!(
            "nodes discovered 1\nnodes ready 1\nnode ready {pool} 1 5\nnode schedulable {pool} 1 5"
        );
        all.push(example(
            "§14.2: \"the first of these labels that it has\"",
            options.clone(),
            with(|node| node.labels(labels.clone())),
            figures.leak(),
        ));
    }
    let blue = |node: Pod| node.labels(json!({"karpenter.sh/nodepool": "blue"}));
    all.push(example(
        "§14.7: \"`nodepool` is that of the moment of observation\"",
        NODES,
        vec![
            at(0.5, added(&node("n"))),
            at(3.5, modified(&node("n").ready(3.0).tainted(&["karpenter.sh/unregistered"]))),
            at(5.5, modified(&blue(node("n").ready(3.0)))),
        ],
        "nodes discovered 1\nnodes ready 1\nnode ready _none 1 3\nnode schedulable blue 1 5",
    ));
    all
}

fn first_pods() -> Vec<Example> {
    let of_daemon_set = |pod: Pod, controls: bool| {
        let owner = json!([{"kind": "DaemonSet", "name": "agent", "controller": controls}]);
        pod.put("metadata", "ownerReferences", owner)
    };
    let starts = at(0.5, added(&node("n")));
    let first = "nodes discovered 1\nnodes starting 1\nnode first_pod _none 1 10";
    vec![
        example(
            "§14.7: creation to the Ready of the first pod",
            NODES,
            vec![starts.clone(), at(10.5, added(&ready("a").on("n")))],
            with_pod(first),
        ),
        example(
            "§14.7: \"whose controller is no DaemonSet\"",
            NODES,
            vec![starts.clone(), at(10.5, added(&of_daemon_set(ready("a"), true).on("n")))],
            with_pod(STARTING),
        ),
        example(
            "§14.7: a DaemonSet that does not control it is no controller",
            NODES,
            vec![starts.clone(), at(10.5, added(&of_daemon_set(ready("a"), false).on("n")))],
            with_pod(first),
        ),
        example(
            "§14.7: \"in the order of delivery\", not of Ready",
            NODES,
            vec![
                starts.clone(),
                at(13.5, added(&pod("late").all([1.0, 4.0, 3.0, 9.0, 13.0]).on("n"))),
                at(14.0, added(&ready("a").on("n"))),
            ],
            "finished ready 2
             scheduling 2 2
             network 2 6
             containers 2 10
             scheduled_to_ready 2 21
             created_to_ready 2 23
             nodes discovered 1
             nodes starting 1
             node first_pod _none 1 13",
        ),
        example(
            "§14.7: \"while the node exists\"",
            NODES,
            vec![
                starts.clone(),
                at(2.0, deleted(&node("n"))),
                at(10.5, added(&ready("a").on("n"))),
            ],
            with_pod("nodes discovered 1\nnodes deleted 1"),
        ),
        example(
            "§14.7: \"that ends as `ready`\": not one that was there before",
            NODES,
            vec![starts.clone(), at(11.0, list(&[ready("a").on("n")]))],
            "finished preexisting 1\nnodes discovered 1\nnodes starting 1",
        ),
        example(
            "§14.7: \"only for nodes that were discovered while they started\"",
            NODES,
            vec![at(6.0, nodes(&[node("n").ready(5.0)])), at(10.5, added(&ready("a").on("n")))],
            with_pod(PREEXISTING),
        ),
        example(
            "§14.1: \"a pod's node is the newest of that name\"",
            NODES,
            vec![
                starts.clone(),
                at(3.5, added(&node("n").uid("again").created(3.0))),
                at(10.5, added(&ready("a").on("n"))),
            ],
            with_pod("nodes discovered 2\nnodes starting 2\nnode first_pod _none 1 7"),
        ),
        example(
            "§14.1: of the same second, the one that was delivered last; a newer snapshot of the other changes nothing",
            NODES,
            vec![
                starts.clone(),
                at(
                    0.6,
                    added(&node("n").uid("again").labels(json!({"karpenter.sh/nodepool": "b"}))),
                ),
                at(0.7, modified(&node("n"))),
                at(10.5, added(&ready("a").on("n"))),
            ],
            with_pod("nodes discovered 2\nnodes starting 2\nnode first_pod b 1 10"),
        ),
        example(
            "§14.1: once the newest is deleted, the other is the newest",
            NODES,
            vec![
                starts,
                at(3.5, added(&node("n").uid("again").created(3.0))),
                at(4.5, deleted(&node("n").uid("again").created(3.0))),
                at(10.5, added(&ready("a").on("n"))),
            ],
            with_pod(
                "nodes discovered 2\nnodes starting 1\nnodes deleted 1\nnode first_pod _none 1 10",
            ),
        ),
    ]
}

fn documents() -> Vec<Example> {
    let without_kind = |mut node: Pod| {
        let fields = node.0.as_object_mut();
        fields.and_then(|fields| fields.remove("kind"));
        node
    };
    let page = |items: &[Pod]| {
        let mut page = nodes(items);
        page["metadata"]["continue"] = "more".into();
        page
    };
    vec![
        example(
            "§14.1: a bare Node is a list of one",
            NODES,
            vec![at(1.0, node("n").0), at(2.0, node("other").0)],
            "nodes discovered 2\nnodes vanished 1\nnodes starting 1",
        ),
        example(
            "§14.1: \"one without nodes is no list of nodes\"",
            NODES,
            vec![at(1.0, nodes(&[node("n")])), at(2.0, list(&[])), at(3.0, mixed("List", &[]))],
            STARTING,
        ),
        example(
            "§14.1: \"but for an empty `NodeList`\", which is no list of pods",
            NODES,
            vec![at(1.0, list(&[pod("a")])), at(1.0, nodes(&[node("n")])), at(2.0, nodes(&[]))],
            "inflight scheduling 1\nnodes discovered 1\nnodes vanished 1",
        ),
        example(
            "§14.1: \"A document of nodes only is no list of pods\": the list after it is the first",
            NODES,
            vec![at(1.0, mixed("List", &[node("n")])), at(11.0, list(&[ready("a")]))],
            "finished preexisting 1\nnodes discovered 1\nnodes starting 1",
        ),
        example(
            "§14.1: kinds of items that state none",
            NODES,
            vec![
                at(1.0, mixed("List", &[without_kind(node("n")), without_kind(pod("a"))])),
                at(2.0, nodes(&[without_kind(node("n").put("status", "nodeInfo", Value::Null))])),
            ],
            "inflight scheduling 1\nnodes discovered 1\nnodes starting 1",
        ),
        example(
            "§14.1: \"In a `List` of both, nodes come first\"",
            NODES,
            vec![
                at(0.5, list(&[])),
                at(0.5, nodes(&[])),
                at(11.0, mixed("List", &[ready("a").on("n"), node("n")])),
            ],
            with_pod("nodes discovered 1\nnodes starting 1\nnode first_pod _none 1 10"),
        ),
        example(
            "§14.1: \"nodes do not move time\"",
            NODES,
            vec![
                at(1.0, added(&pod("a"))),
                at(1.0, added(&node("n"))),
                at(2_000.0, modified(&node("n"))),
                at(2_000.0, nodes(&[node("n")])),
            ],
            "inflight scheduling 1\nnodes discovered 1\nnodes starting 1",
        ),
        example(
            "§8.4: pages of nodes are joined",
            NODES,
            vec![at(1.0, page(&[node("n")])), at(1.5, nodes(&[node("other")])), at(2.0, page(&[]))],
            "nodes discovered 2\nnodes starting 2",
        ),
        example(
            "§14.1: the bookmark \"ends the nodes that the stream has not shown since the last list\"",
            NODES,
            vec![
                at(1.0, nodes(&[node("n"), node("other")])),
                at(2.0, added(&node("n"))),
                at(3.0, end_of_nodes()),
            ],
            "nodes discovered 2\nnodes vanished 1\nnodes starting 1",
        ),
        example(
            "§14.1: \"it makes no first list\"",
            NODES,
            vec![at(6.5, added(&node("n").ready(5.0))), at(7.0, end_of_nodes())],
            "nodes discovered 1\nnodes ready 1\nnode ready _none 1 5\nnode schedulable _none 1 6",
        ),
        example(
            "§5.1: an older version of a node is ignored",
            NODES,
            vec![
                at(0.5, added(&node("n").version(10))),
                at(5.5, modified(&node("n").version(9).ready(5.0))),
            ],
            STARTING,
        ),
        example(
            "§14.7: a node before the end of the first streamed list is of the time at which it came",
            NODES,
            vec![added(&node("n")), at(90.0, bookmark(true))],
            STARTING,
        ),
    ]
}
