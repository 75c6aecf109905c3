//! [§10.1](crate::specification#s10-1): which clauses of a scheduler count, and its Events.

use super::causes::{unscheduled, waits};
use super::{EVENTS, Example, example, ready};
use crate::oracle::build::*;
use crate::oracle::build_evidence::heard;
use serde_json::{Value, json};

pub(super) fn examples() -> Vec<Example> {
    [counted(), others(), heard_of()].into_iter().flatten().collect()
}

const SELECTOR: &str = "node(s) didn't match Pod's node affinity/selector";
const CORDONED: &str = "node(s) were unschedulable";
const UNREACHABLE: &str = "node(s) had untolerated taint {node.kubernetes.io/unreachable: }";
const CONTROL_PLANE: &str =
    "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }";
const NAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/// The message that counts nodes by clauses.
fn message(clauses: &[(u32, &str)]) -> String {
    let clauses: Vec<String> =
        clauses.iter().map(|(nodes, clause)| format!("{nodes} {clause}")).collect();
    format!("0/9 nodes are available: {}. preemption: 0/9 nodes are available.", clauses.join(", "))
}

fn counted() -> Vec<Example> {
    let says = |says, clauses: &[(u32, &str)], cause| {
        let pod = unscheduled("Unschedulable", &message(clauses));
        waits(says, vec![added(&pod)], "unschedulable", cause)
    };
    vec![
        says(
            "§10.1: a cordon beside selectors: \"that of the clause with most nodes\"",
            &[(1, CORDONED), (3, SELECTOR)],
            "affinity",
        ),
        says("§10.1: the same where the cordon has most", &[(3, CORDONED), (1, SELECTOR)], "taint"),
        says(
            "§10.1: a cordon beside selectors: \"on a tie `taint`\"",
            &[(2, SELECTOR), (2, CORDONED)],
            "taint",
        ),
        says(
            "§10.1: \"the clause with most nodes\", not the sum of faults",
            &[(2, CORDONED), (2, UNREACHABLE), (3, SELECTOR)],
            "affinity",
        ),
        says(
            "§10.1: \"untolerated taint(s)\" beside selectors: most nodes",
            &[(4, "node(s) had untolerated taint(s)"), (5, SELECTOR)],
            "affinity",
        ),
        says(
            "§10.1: \"untolerated taint(s)\" beside selectors: a tie",
            &[(5, SELECTOR), (5, "node(s) had untolerated taint(s)")],
            "taint",
        ),
        says(
            "§10.1: \"beside a clause of a later filter\": ports",
            &[(8, SELECTOR), (1, "node(s) didn't have free ports for the requested pod ports")],
            "other",
        ),
        says(
            "§10.1: a later filter beside a fault: the numbers decide",
            &[(8, SELECTOR), (2, UNREACHABLE), (1, "Insufficient cpu")],
            "taint",
        ),
        says(
            "§10.1: \"taints of control planes\" beside resources",
            &[(8, CONTROL_PLANE), (1, "Insufficient cpu")],
            "resources",
        ),
        says(
            "§10.1: \"taints of control planes\" beside selectors",
            &[(8, CONTROL_PLANE), (1, SELECTOR)],
            "affinity",
        ),
        says("§10.1: taints of control planes alone", &[(3, CONTROL_PLANE)], "taint"),
        says(
            "§10.1: \"didn't satisfy plugin(s) [NodeAffinity]\" beside a cordon",
            &[(1, CORDONED), (8, NAMED)],
            "taint",
        ),
        says(
            "§10.1: \"didn't satisfy plugin(s) [NodeAffinity]\" beside the taint of a control plane",
            &[(1, CONTROL_PLANE), (8, NAMED)],
            "taint",
        ),
        says("§10.1: \"didn't satisfy plugin(s) [NodeAffinity]\" alone", &[(9, NAMED)], "affinity"),
        says(
            "§10.1: gang: \"unless … a clause … is of `resources`\"",
            &[(2, "of a pod group: Insufficient cpu"), (1, CORDONED)],
            "resources",
        ),
        waits(
            "§10.1: gang: \"`can possibly be assigned`\" (Volcano)",
            vec![added(&unscheduled(
                "Unschedulable",
                "Pod ml/eval-2 can possibly be assigned to node-2, once resource is released",
            ))],
            "unschedulable",
            "gang",
        ),
    ]
}

/// With a controller and a revision.
fn of(pod: Pod, controller: &str, revision: &str) -> Pod {
    let owner = json!([{"kind": "StatefulSet", "name": controller, "controller": true}]);
    let labels = json!({"controller-revision-hash": revision});
    pod.put("metadata", "ownerReferences", owner).put("metadata", "labels", labels)
}

fn others() -> Vec<Example> {
    let unreachable = message(&[(1, UNREACHABLE), (8, SELECTOR)]);
    let waiting = || of(unscheduled("Unschedulable", &unreachable), "web", "1");
    let bound = |controller: &str, revision: &str| {
        of(ready("b").put("spec", "nodeName", "node-1".into()), controller, revision)
    };
    let after = |says, before: Pod, cause: &str| {
        let expected = format!(
            "inflight unschedulable 1\nwaiting unschedulable {cause} 1\nfinished preexisting 1"
        );
        example(says, EVENTS, vec![list(&[before]), added(&waiting())], expected.leak())
    };
    vec![
        after(
            "§10.1: \"if another pod of its workload and revision is or was bound\"",
            bound("web", "1"),
            "taint",
        ),
        after("§10.1: \"of its … revision\"", bound("web", "2"), "affinity"),
        after("§10.1: \"of its workload\"", bound("api", "1"), "affinity"),
        after("§10.1: \"is or was bound\"", of(ready("b"), "web", "1"), "affinity"),
        example(
            "§10.1: \"All pods of a list are known with each of them\"",
            EVENTS,
            vec![list(&[waiting(), bound("web", "1")])],
            "inflight unschedulable 1
             waiting unschedulable taint 1
             finished preexisting 1",
        ),
        example(
            "§10.1: \"what is known with its newest version\"",
            EVENTS,
            vec![
                list(&[]),
                added(&waiting()),
                added(&of(pod("b").put("spec", "nodeName", "node-1".into()), "web", "1")),
            ],
            "inflight unschedulable 1
             inflight scheduling 1
             waiting unschedulable affinity 1
             waiting scheduling acknowledge 1",
        ),
    ]
}

fn heard_of() -> Vec<Example> {
    let by = |reporter: &str, message: &str| -> Value {
        let mut event = heard(&pod("a"), "FailedScheduling", message, 1.0);
        event["reportingComponent"] = reporter.into();
        event["involvedObject"]["fieldPath"] = "".into();
        event
    };
    let refused = |reporter| by(reporter, "Fargate capacity is unavailable at this time.");
    let waits_after = |says, pod: Pod, events: Vec<Value>, cause| {
        let documents = [added(&pod)].into_iter().chain(events).collect();
        waits(says, documents, "scheduling", cause)
    };
    vec![
        waits_after(
            "§10.1: \"In place of `queue`, a FailedScheduling Event gives … cause\"",
            pod("a"),
            vec![refused("fargate-scheduler")],
            "other",
        ),
        waits_after(
            "§10.1: by the same rules as a message",
            pod("a"),
            vec![refused("default-scheduler"), by("", &message(&[(1, "Insufficient cpu")]))],
            "resources",
        ),
        waits_after(
            "§10.1: \"whoever reports it but an autoscaler\"",
            pod("a"),
            vec![refused("karpenter")],
            "queue",
        ),
        waits_after(
            "§10.1: \"while the pod has no condition PodScheduled\"",
            unscheduled("SchedulingGated", "Scheduling is blocked"),
            vec![refused("fargate-scheduler")],
            "queue",
        ),
        waits_after(
            "§10.1: \"In place of `queue`\", and of no other row",
            pod("a").put("status", "nominatedNodeName", json!("node-1")),
            vec![refused("fargate-scheduler")],
            "binding",
        ),
    ]
}
