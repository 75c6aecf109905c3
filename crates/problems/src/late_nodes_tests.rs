//! Nodes that do not become schedulable, against a plain reading of [§13.13](crate::specification#s13-13).
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::tests::{NOW, at, cause, pod, waits};
use super::{FindingResult, OverTime, ProblemFinding};
use podinit_core::dimension::Dimension;
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Cause, LateNode, NodeFaults, NodeHold, Record, RecordedCapacity, Stage,
};
use podinit_core::node::{NO_POOL, NodeLabels};

const CILIUM: &str = "node.cilium.io/agent-not-ready";
const EBS: &str = "ebs.csi.aws.com/agent-not-ready";
const NOT_READY: &str = "node.kubernetes.io/not-ready";

fn node(name: &str, pool: &str, age: i64, is_ready: bool, taints: &[&str]) -> LateNode {
    let pool_label = (pool != NO_POOL).then(|| "karpenter.sh/nodepool".into());
    let labels = NodeLabels { pool: pool.into(), pool_label, ..NodeLabels::default() };
    let taints = taints.iter().map(|taint| (*taint).into()).collect();
    LateNode {
        name: name.into(),
        labels: labels.into(),
        created: at(NOW - age),
        hold: NodeHold { is_ready, taints },
    }
}

/// A pod that has been unschedulable for five minutes.
fn waiting(
    name: &str,
    why: Cause,
    message: &str,
    autoscaler: Option<(CapacityState, &str)>,
) -> Record {
    let entered = NOW - 300;
    let why = cause(Stage::Unschedulable, why, entered);
    let mut record = waits(pod(name, "x"), entered, &[why]);
    record.message = Some(message.into());
    record.unschedulable = autoscaler.map(|(state, said)| RecordedCapacity {
        state,
        by: Some("cluster-autoscaler".into()),
        since: Some(at(entered)),
        message: Some(said.into()),
        choices: None,
    });
    record
}

fn find(nodes: &[LateNode], pods: &[Record], over_time: &mut OverTime, now: i64) -> FindingResult {
    let faults = NodeFaults { late: nodes.to_vec(), ..NodeFaults::default() };
    let mut finding = ProblemFinding::new(&[], at(now)).with_faults(&faults);
    pods.iter().for_each(|pod| finding.add(pod));
    finding.finish(over_time)
}

/// The problems: cause, dimension and value, pods; and of late nodes how many, what holds most and how many of them.
fn told(found: &FindingResult) -> Vec<String> {
    let line = |(problem, places): &(super::FoundProblem, Vec<u32>)| {
        assert_eq!(problem.pods, places.len());
        let (dimension, value) = problem.shared_texts();
        let nodes = problem.kind.late_nodes().map_or_else(String::new, |nodes| {
            let taint = nodes.taint.as_deref().unwrap_or("not Ready");
            format!(" {}/{} {taint}", nodes.held, nodes.nodes)
        });
        format!("{} {dimension} {value} {}{nodes}", problem.cause.as_str(), problem.pods)
    };
    found.problems.iter().map(line).collect()
}

fn tainted(taint: &str) -> String {
    format!(
        "0/11 nodes are available: 1 node(s) had untolerated taint {{{taint}: }}, 10 Insufficient cpu. preemption: x"
    )
}

const UNNAMED: &str =
    "0/11 nodes are available: 10 Insufficient cpu, 1 node(s) had untolerated taint(s).";

#[test]
fn only_pods_wait_of_which_that_is_said() {
    let nodes = [
        node("n1", "pool-a", 1_200, true, &[CILIUM]),
        node("n2", "pool-a", 1_100, true, &[CILIUM]),
    ];
    let adds = |message| Some((CapacityState::ScalingUp, message));
    let volume = "0/11 nodes are available: 1 node(s) had untolerated taint {node.cilium.io/agent-not-ready: }, \
                  10 node(s) had volume node affinity conflict.";
    for (pod, waits) in [
        (waiting("a", Cause::Resources, &tainted(CILIUM), None), true),
        (waiting("a", Cause::Taint, &tainted(CILIUM), None), true),
        // The words of schedulers up to 1.23.
        (
            waiting(
                "a",
                Cause::Taint,
                "0/1 nodes are available: 1 node(s) had taint {node.cilium.io/agent-not-ready: x}, that the pod didn't tolerate.",
                None,
            ),
            true,
        ),
        (waiting("a", Cause::Resources, &tainted(EBS), None), false),
        (waiting("a", Cause::Volume, volume, None), false),
        (
            waiting(
                "a",
                Cause::Resources,
                "0/11 nodes are available: 11 Insufficient cpu.",
                adds("[{pool-a 3->4 (max: 9)}]"),
            ),
            false,
        ),
        (waiting("a", Cause::Resources, UNNAMED, None), false),
        (
            waiting(
                "a",
                Cause::Resources,
                UNNAMED,
                adds("pod triggered scale-up: [{pool-a 3->4 (max: 9)}]"),
            ),
            true,
        ),
        (
            waiting(
                "a",
                Cause::Resources,
                UNNAMED,
                adds("pod triggered scale-up: [{pool-ab 3->4 (max: 9)}]"),
            ),
            false,
        ),
        (
            waiting(
                "a",
                Cause::Resources,
                UNNAMED,
                Some((CapacityState::Nominated, "Pod should schedule on: nodeclaim/x, node/n2")),
            ),
            true,
        ),
        (
            waiting(
                "a",
                Cause::Resources,
                UNNAMED,
                Some((CapacityState::NoScaleUp, "pool-a: max node group size reached")),
            ),
            false,
        ),
    ] {
        let found = find(&nodes, std::slice::from_ref(&pod), &mut OverTime::default(), NOW);
        let (problem, _) = &found.problems[0];
        assert_eq!(found.problems.len(), 1);
        match waits {
            true => {
                assert_eq!(told(&found), [format!("node_startup nodepool pool-a 1 2/2 {CILIUM}")])
            }
            false => assert!(
                problem.cause != Cause::NodeStartup && problem.kind.late_nodes().is_none(),
                "{pod:?}"
            ),
        }
    }
    // One that has waited for less than a minute is in no problem.
    let entered = NOW - 30;
    let new = waits(pod("b", "x"), entered, &[cause(Stage::Unschedulable, Cause::Taint, entered)]);
    let new = Record { message: Some(tainted(CILIUM).into()), ..new };
    assert_eq!(told(&find(&nodes, &[new], &mut OverTime::default(), NOW)), Vec::<String>::new());
}

/// What the nodes share and what holds most of them, read as 13.13 states it: sets of nodes, without any index.
fn read(nodes: &[LateNode]) -> BTreeMap<String, (usize, usize)> {
    let hold = |node: &LateNode| {
        let taints = &node.hold.taints;
        let own = taints.iter().find(|taint| !taint.starts_with("node.kubernetes.io/"));
        match (own, node.hold.is_ready) {
            (Some(own), _) => own.to_string(),
            (None, false) => "not Ready".to_owned(),
            (None, true) => taints[0].to_string(),
        }
    };
    let mut sets: BTreeMap<String, Vec<&LateNode>> = BTreeMap::new();
    for node in nodes {
        sets.entry(hold(node)).or_default().push(node);
    }
    let mut by_value: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for set in sets.values() {
        let pool = &set[0].labels.pool;
        let value = match set.iter().all(|node| node.labels.pool == *pool) {
            false => " ".to_owned(),
            true if **pool == *NO_POOL && set.len() == 1 => format!("node {}", set[0].name),
            true => format!("nodepool {pool}"),
        };
        let (all, most) = by_value.entry(value).or_default();
        (*all, *most) = (*all + set.len(), set.len().max(*most));
    }
    by_value
}

#[test]
fn nodes_are_grouped_as_a_plain_reading_groups_them() {
    let mut random = fastrand::Rng::with_seed(13);
    let mut shapes = BTreeMap::new();
    for _ in 0..2_000 {
        let taints: [&[&str]; 5] = [
            &[CILIUM],
            &[NOT_READY, CILIUM],
            &[EBS],
            &[NOT_READY],
            &["node.kubernetes.io/network-unavailable"],
        ];
        let nodes: Vec<_> = (0..random.i64(1..6))
            .map(|number| {
                let pool = ["pool-a", "pool-b", NO_POOL][random.usize(..3)];
                let taints = taints[random.usize(..5)];
                let is_ready = !taints.contains(&NOT_READY);
                node(&format!("n{number}"), pool, 2_000 - number, is_ready, taints)
            })
            .collect();
        // One pod for each taint: each names one group, so that all groups are seen whose taint nobody else has.
        let all = [CILIUM, EBS, NOT_READY, "node.kubernetes.io/network-unavailable"];
        let pods = [0, 1, 2, 3].map(|number: usize| {
            waiting(&format!("p{number}"), Cause::Taint, &tainted(all[number]), None)
        });
        let found = find(&nodes, &pods, &mut OverTime::default(), NOW);
        let expected = read(&nodes);
        for (problem, _) in &found.problems {
            let Some(late) = problem.kind.late_nodes() else { continue };
            let (dimension, value) = problem.shared_texts();
            let key = format!("{dimension} {value}");
            assert_eq!(expected.get(&key), Some(&(late.nodes, late.held)), "{key}: {nodes:#?}");
            *shapes.entry(dimension).or_insert(0) += 1;
        }
        // A pod whose taint no late node has keeps its own problem.
        let has = |taint: &str| {
            nodes.iter().any(|node| node.hold.taints.iter().any(|one| **one == *taint))
        };
        let waits = all.iter().filter(|taint| has(taint)).count();
        let of_nodes = found.problems.iter().filter(|(one, _)| one.kind.late_nodes().is_some());
        assert_eq!(of_nodes.map(|(one, _)| one.pods).sum::<usize>(), waits, "{nodes:#?}");
    }
    assert!(
        ["", "node", "nodepool"].iter().all(|shape| shapes.get(shape) > Some(&50)),
        "{shapes:?}"
    );
}

#[test]
fn sets_of_nodes_are_joined_before_pods_are_given_to_them() {
    let own = ["a1", "a2"].map(|name| node(name, "pool-a", 1_000, false, &[NOT_READY, CILIUM]));
    let others = ["a3", "a4"].map(|name| node(name, "pool-a", 1_000, false, &[NOT_READY, EBS]));
    let pool_b = ["b1", "b2", "b3"].map(|name| node(name, "pool-b", 1_000, false, &[NOT_READY]));
    // Each set of pool-a has fewer nodes than that of pool-b, and both together have more.
    let nodes: Vec<_> = own.into_iter().chain(others).chain(pool_b).collect();
    let pods = [waiting("p", Cause::Taint, &tainted(NOT_READY), None)];
    let expected = format!("node_startup nodepool pool-a 1 2/4 {EBS}");
    assert_eq!(told(&find(&nodes, &pods, &mut OverTime::default(), NOW)), [expected]);
}

#[test]
fn a_problem_that_becomes_that_of_nodes_has_not_ended_and_one_of_nodes_ends() {
    let pods: Vec<_> = (0..4)
        .map(|number| waiting(&format!("p{number}"), Cause::Resources, &tainted(CILIUM), None))
        .collect();
    let nodes = [node("n1", "pool-a", 950, true, &[CILIUM])];
    let mut over_time = OverTime::default();
    assert_eq!(
        told(&find(&[], &pods, &mut over_time, NOW))[0].split(' ').next(),
        Some("resources")
    );
    let found = find(&nodes, &pods, &mut over_time, NOW + 5);
    assert_eq!(told(&found), [format!("node_startup nodepool pool-a 4 1/1 {CILIUM}")]);
    assert_eq!(found.ended, []);
    let (problem, _) = &found.problems[0];
    let late = problem.kind.late_nodes().unwrap();
    assert_eq!((problem.since, &*late.names[0]), (at(NOW - 950), "n1"));
    assert_eq!(problem.shared.as_ref().map(|shared| shared.0), Some(Dimension::Nodepool));
    let found = find(&[], &[], &mut over_time, NOW + 10);
    let ended: Vec<_> = found.ended.iter().map(|one| one.problem.cause).collect();
    assert_eq!(ended, [Cause::NodeStartup]);
}
