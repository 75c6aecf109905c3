//! Who is it? Durations by namespace, workload or node.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target, column};
use super::super::promql::{Histogram, RATE, SHOWN, stages, top};
use super::super::variable::{HISTOGRAM, NAMESPACE_LABEL, SLO, STAGE, Variable, label};
use super::deadlines;
use super::stages::NAMESPACE;

/// The label by which is split. All but the namespace have to be turned on (`--labels`).
const BY: Variable = Variable::Choice {
    name: "by",
    label: "Split by",
    choices: &[
        ("namespace", "namespace"),
        ("exported namespace", "exported_namespace"),
        ("workload kind", "workload_type"),
        ("workload", "workload"),
        ("node", "node"),
        ("host network", "host_network"),
    ],
};

/// The end-to-end duration that is shown.
const INTERVAL: Variable = Variable::Choice {
    name: "interval",
    label: "Startup",
    choices: &[
        ("Scheduled to ready", "scheduled_to_ready"),
        ("Created to ready", "created_to_ready"),
    ],
};

const QUANTILE: Variable = Variable::Choice {
    name: "quantile",
    label: "Quantile",
    choices: &[("0.99", "0.99"), ("0.9", "0.9"), ("0.5", "0.5")],
};

const WORKLOAD: Variable = label(
    "workload",
    (
        r#"{__name__=~"podinit_created_to_ready_duration_seconds(_count)?", cluster=~"$cluster", job=~"$job", instance=~"$instance", $namespace_label=~"$namespace"}"#,
        "workload",
    ),
    ".*",
);

const NODE: Variable = label(
    "node",
    (
        r#"{__name__=~"podinit_created_to_ready_duration_seconds(_count)?", cluster=~"$cluster", job=~"$job", instance=~"$instance", $namespace_label=~"$namespace"}"#,
        "node",
    ),
    ".*",
);

const WHO: &str = r#"$namespace_label=~"$namespace", workload=~"$workload", node=~"$node""#;
const WHO_IN_STAGE: &str =
    r#"stage=~"$stage", $namespace_label=~"$namespace", workload=~"$workload", node=~"$node""#;

const STARTUP: Histogram<'static> =
    Histogram { family: "podinit_${interval}_duration_seconds", matchers: WHO };

pub(super) fn board() -> Board {
    Board {
        file: "drill-down",
        uid: "podinit-drill-down",
        title: "Drill-down",
        description: "Startup by namespace, and by workload or node if podinit exposes those labels",
        variables: vec![
            BY,
            NAMESPACE_LABEL,
            NAMESPACE,
            WORKLOAD,
            NODE,
            STAGE,
            INTERVAL,
            QUANTILE,
            SLO,
            HISTOGRAM,
        ],
        rows: vec![
            row("Startup by $by", vec![ranking(), slowest(), started(), durations()]),
            row("Stages by $by", in_stages()),
        ],
    }
}

fn ranking() -> Panel {
    let columns = vec![
        column("Pods", "short"),
        column("Mean", "s"),
        column("p50", "s"),
        column("p90", "s"),
        column("p99", "s"),
    ];
    let exprs = [
        STARTUP.count("$by", SHOWN),
        STARTUP.mean("$by", SHOWN),
        STARTUP.quantile("0.5", "$by", SHOWN),
        STARTUP.quantile("0.9", "$by", SHOWN),
        STARTUP.quantile("0.99", "$by", SHOWN),
    ];
    Panel::new(
        Kind::Table(columns),
        "Startup by $by",
        "short",
        "Pods that became ready in the selected time range, and how long they took. A single row without a name means that podinit does not expose the label (flag --labels).",
        exprs.map(|expr| Target::new(expr, "")).into(),
    )
    .sized(24, 10)
}

fn slowest() -> Panel {
    Panel::new(
        Kind::Lines,
        "Slowest by $by",
        "s",
        "The selected quantile of the startup, for the ten slowest. Dashed: the deadlines of the selected SLOs on the same duration.",
        vec![
            Target::new(top(&STARTUP.quantile("$quantile", "$by", RATE)), "{{$by}}").with_exemplars(),
            deadlines("${interval}"),
        ],
    )
    .logarithmic()
}

fn started() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods that became ready by $by",
        "short",
        "Pods that became ready in each step of the graph, for the ten with the most.",
        vec![Target::new(top(&format!("(\n{}\n)", STARTUP.count("$by", RATE))), "{{$by}}")],
    )
}

fn durations() -> Panel {
    Panel::new(
        Kind::Heatmap,
        "Startup of the selected pods",
        "s",
        "Distribution of startup durations of pods in the selected namespaces, workloads and nodes.",
        vec![Target::new(STARTUP.distribution("", RATE), "{{le}}").with_exemplars()],
    )
    .sized(24, 8)
}

fn in_stages() -> Vec<Panel> {
    let durations = stages(WHO_IN_STAGE);
    vec![
        Panel::new(
            Kind::Lines,
            "Slowest in the selected stages by $by",
            "s",
            "The selected quantile over all selected stages together, for the ten slowest. Best with a single stage.",
            vec![
                Target::new(top(&durations.quantile("$quantile", "$by", RATE)), "{{$by}}").with_exemplars(),
            ],
        )
        .logarithmic(),
        Panel::new(
            Kind::Lines,
            "Mean time by stage",
            "s",
            "The mean duration of each stage for the selected namespaces, workloads and nodes.",
            vec![Target::new(durations.mean("stage", RATE), "{{stage}}")],
        ),
    ]
}
