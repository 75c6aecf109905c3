//! Did startups wait for a new node, or for images? What needs nodes is empty without `--evidence nodes`.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target};
use super::super::promql::{Histogram, RATE, rate_by, steps, sum_by};
use super::super::variable::HISTOGRAM;

const STARTUPS: Histogram<'static> =
    Histogram { family: "podinit_cold_start_duration_seconds", matchers: "" };
const NODES: Histogram<'static> =
    Histogram { family: "podinit_node_startup_duration_seconds", matchers: "" };

pub(super) fn board() -> Board {
    Board {
        file: "capacity",
        uid: "podinit-capacity",
        title: "Capacity",
        description: "Startups by whether their node was new and their images were there, and how new nodes start; needs --evidence events,nodes",
        variables: vec![HISTOGRAM],
        rows: vec![
            row(
                "New capacity and cold images",
                vec![durations(), shares(), unschedulable(), waits()],
            ),
            row("Nodes", vec![nodes(), starting(), ended(), seen()]),
        ],
    }
}

fn durations() -> Panel {
    Panel::new(
        Kind::Lines,
        "Startup by age of the node and images, 90th percentile",
        "s",
        "Nine pods in ten took no longer than this from their creation until they were ready. new: the node was created after the pod. pulled: at least one image was not on the node.",
        vec![
            Target::new(
                STARTUPS.quantile("0.9", "node_age, images", RATE),
                "{{node_age}}, {{images}}",
            )
            .with_exemplars(),
        ],
    )
    .logarithmic()
}

fn shares() -> Panel {
    let all = STARTUPS.count("", RATE);
    Panel::new(
        Kind::Stack,
        "Startups by age of the node and images",
        "percentunit",
        "Which share of the startups waited for a new node, and which for images.",
        vec![Target::new(
            format!(
                "({})\n/ on () group_left ()\n(({all}) > 0)",
                STARTUPS.count("node_age, images", RATE)
            ),
            "{{node_age}}, {{images}}",
        )],
    )
}

fn unschedulable() -> Panel {
    Panel::new(
        Kind::Stack,
        "Unschedulable pods by capacity",
        "short",
        "Pods that fit on no node, by whether an autoscaler adds one. unknown proves nothing: autoscalers do not send an Event for every pod.",
        vec![Target::new(sum_by("capacity", "podinit_unschedulable_pods", ""), "{{capacity}}")],
    )
}

fn waits() -> Panel {
    Panel::new(
        Kind::Lines,
        "Wait for a new node by step, 90th percentile",
        "s",
        "Of pods that fit on no node: until the node existed, until it was Ready, until the pod was bound. The boot of the machine lies in node_launch.",
        vec![
            Target::new(
                steps(r#"step=~"node_.*""#).quantile("0.9", "step", RATE),
                "{{step}}",
            )
            .with_exemplars(),
        ],
    )
    .logarithmic()
}

fn nodes() -> Panel {
    Panel::new(
        Kind::Lines,
        "Node startup by pool and step, 90th percentile",
        "s",
        "From the creation of a node until it was Ready, until pods could be bound to it, and until its first pod was ready.",
        vec![Target::new(
            NODES.quantile("0.9", "nodepool, step", RATE),
            "{{nodepool}} {{step}}",
        )],
    )
    .logarithmic()
}

fn starting() -> Panel {
    Panel::new(
        Kind::Lines,
        "Nodes that start",
        "short",
        "Nodes to which no pod can be bound yet. Those that are older than 15 minutes are late.",
        vec![
            Target::new(sum_by("cluster", "podinit_starting_nodes", ""), "starting"),
            Target::new(sum_by("cluster", "podinit_late_nodes", ""), "late"),
        ],
    )
}

fn ended() -> Panel {
    Panel::new(
        Kind::Stack,
        "Node startups that ended, per second",
        "short",
        "ready: pods could be bound. deleted and vanished: the node was gone before that.",
        vec![Target::new(
            rate_by("outcome", "podinit_nodes_finished_total", r#"outcome!="preexisting""#),
            "{{outcome}}",
        )],
    )
}

fn seen() -> Panel {
    Panel::new(
        Kind::Lines,
        "Nodes discovered per second",
        "short",
        "Nodes that podinit saw for the first time, those of the first list included.",
        vec![Target::new(rate_by("", "podinit_nodes_discovered_total", ""), "discovered")],
    )
}
