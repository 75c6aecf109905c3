//! Where does the time go? How long pods take for each stage.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target};
use super::super::promql::{Histogram, RATE, rate_by, stages, steps, sum_by, top};
use super::super::variable::{HISTOGRAM, NAMESPACE_LABEL, SLO, STAGE, Variable, label};
use super::{deadlines, quantiles_and_deadlines};

const DURATION: &str = r#"stage=~"$stage", $namespace_label=~"$namespace""#;

/// The namespaces of pods that became ready, from the classic or the native histogram.
pub(super) const NAMESPACE: Variable = label(
    "namespace",
    (
        r#"{__name__=~"podinit_created_to_ready_duration_seconds(_count)?", cluster=~"$cluster", job=~"$job", instance=~"$instance"}"#,
        "$namespace_label",
    ),
    ".*",
);

const DRILL_DOWN: &str = "/d/podinit-drill-down?${__url_time_range}&${datasource:queryparam}&${cluster:queryparam}&${job:queryparam}&${instance:queryparam}&${namespace_label:queryparam}&${namespace:queryparam}&${histogram:queryparam}&var-stage=${__field.labels.stage}";

pub(super) fn board() -> Board {
    Board {
        file: "stages",
        uid: "podinit-stages",
        title: "Stages",
        description: "How long pods take for each stage of their startup, for the steps inside network and containers, and for gates and milestones by name",
        variables: vec![STAGE, NAMESPACE_LABEL, NAMESPACE, SLO, HISTOGRAM],
        rows: vec![
            row("All stages", all_stages()),
            row("Inside network", inside_network()),
            row("Inside containers", inside_containers()),
            row(
                "Gates and milestones of your own",
                vec![held(), gates(), milestones(), unobserved_milestones()],
            )
            .collapsed(),
            row("Whole startup", whole_startup()),
            row("Stage $stage", one_stage()).repeated("stage"),
        ],
    }
}

fn all_stages() -> Vec<Panel> {
    let durations = stages(DURATION);
    let mut panels = vec![
        Panel::new(
            Kind::Lines,
            "Mean time by stage",
            "s",
            "The mean duration of each stage, over the pods that went through it. Not every pod goes through every stage.",
            vec![Target::new(durations.mean("stage", RATE), "{{stage}}")],
        ),
        Panel::new(
            Kind::Stack,
            "Stages completed",
            "short",
            "Observed durations by stage, in each step of the graph.",
            vec![Target::new(durations.count("stage", RATE), "{{stage}}")],
        ),
    ];
    let quantiles = [
        ("0.5", "Median by stage", "Half of the pods took no longer than this."),
        ("0.99", "99th percentile by stage", "One pod in a hundred took longer than this."),
    ];
    panels.extend(quantiles.map(|(quantile, title, description)| {
        Panel::new(
            Kind::Lines,
            title,
            "s",
            &format!("{description} Dashed: the deadlines of the selected SLOs on these stages."),
            vec![
                Target::new(durations.quantile(quantile, "stage", RATE), "{{stage}}")
                    .with_exemplars(),
                deadlines("$stage"),
            ],
        )
        .logarithmic()
        .link("Drill down", DRILL_DOWN)
    }));
    panels
}

const NETWORK_STEPS: &str = r#"step=~"acknowledge|sandbox", $namespace_label=~"$namespace""#;
const CONTAINERS_STEPS: &str = r#"step=~"start|probe", $namespace_label=~"$namespace""#;

fn inside_network() -> Vec<Panel> {
    let what = "acknowledge is the wait for the kubelet to accept the pod. sandbox is volumes, resource claims, the sandbox and its network.";
    let mut panels = inside(NETWORK_STEPS, what);
    panels.push(
        Panel::new(
            Kind::Stack,
            "What the network times rest on",
            "short",
            "Pods per second, by what gave the time of their network. condition: kubelets before 1.36 set it late, so the stage may include an image pull. container: the earliest start of a container. event: exact to the second or better, with --evidence events.",
            vec![Target::new(
                rate_by("source", "podinit_network_evidence_total", ""),
                "{{source}}",
            )],
        )
        .sized(8, 8),
    );
    panels
}

fn inside_containers() -> Vec<Panel> {
    let what = "start is image pulls and the creation of containers, until the last one has started. probe is startup and readiness probes, until all are ready.";
    inside(CONTAINERS_STEPS, what)
}

/// The mean and the 99th percentile of steps.
fn inside(matchers: &str, what: &str) -> Vec<Panel> {
    let durations = steps(matchers);
    vec![
        Panel::new(
            Kind::Lines,
            "Mean time by step",
            "s",
            &format!("The mean duration of each step: {what}"),
            vec![Target::new(durations.mean("step", RATE), "{{step}}")],
        )
        .sized(8, 8),
        Panel::new(
            Kind::Lines,
            "99th percentile by step",
            "s",
            &format!("One pod in a hundred took longer than this: {what}"),
            vec![
                Target::new(durations.quantile("0.99", "step", RATE), "{{step}}").with_exemplars(),
            ],
        )
        .sized(8, 8)
        .logarithmic(),
    ]
}

/// The time that each gate took. It has no label set, so the variable of namespaces does not choose among its pods.
const GATES: Histogram<'static> =
    Histogram { family: "podinit_gate_duration_seconds", matchers: "" };
const MILESTONES: Histogram<'static> = Histogram {
    family: "podinit_milestone_duration_seconds",
    matchers: r#"$namespace_label=~"$namespace""#,
};

fn held() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods that a gate holds",
        "short",
        "Pods that wait for a gate, for the ten gates with the most, in all namespaces. scheduling: no scheduler considers the pod before its controller removes the gate. readiness: all containers are ready, and a condition that a controller sets is not true. A pod that several gates hold counts for each. Empty without pods that have gates.",
        vec![Target::new(
            top(&sum_by("kind, gate", "podinit_gated_pods", "")),
            "{{kind}} {{gate}}",
        )],
    )
}

fn gates() -> Panel {
    let quantile = |quantile, legend| {
        let slowest = top(&GATES.quantile(quantile, "kind, gate", RATE));
        Target::new(slowest, legend).with_exemplars()
    };
    Panel::new(
        Kind::Lines,
        "Time that gates took",
        "s",
        "Median and 99th percentile by gate, for the ten slowest of each, in all namespaces. scheduling: from the creation of the pod until the gate was gone. readiness: from the time at which all containers were ready; 0 if the condition was true before. Empty without pods that have gates.",
        vec![
            quantile("0.5", "p50 {{gate}}"),
            quantile("0.99", "p99 {{gate}}"),
        ],
    )
    .logarithmic()
}

fn milestones() -> Panel {
    let quantile = |quantile, legend| {
        Target::new(MILESTONES.quantile(quantile, "milestone, from", RATE), legend).with_exemplars()
    };
    Panel::new(
        Kind::Lines,
        "Time until milestones of your own",
        "s",
        "Median and 99th percentile by milestone, from the creation of the pod (created) or from the start of all its containers (containers_started). Empty without --milestone.",
        vec![
            quantile("0.5", "p50 {{milestone}} from {{from}}"),
            quantile("0.99", "p99 {{milestone}} from {{from}}"),
        ],
    )
    .logarithmic()
}

fn unobserved_milestones() -> Panel {
    let unobserved = rate_by("milestone, reason", "podinit_milestone_unobserved_total", "");
    Panel::new(
        Kind::Lines,
        "Milestones of your own not observed, per second",
        "short",
        "Pods of which a milestone was not observed, in all namespaces, by reason. condition_absent: the pod never had the condition, as all pods that are not meant to. not_seen: it was ready before the condition was true. preexisting: the condition was true before the pod was first seen. time: unusable. Other reasons are how the pod ended. Empty without --milestone.",
        vec![Target::new(format!("{unobserved} > 0"), "{{milestone}} {{reason}}")],
    )
    .logarithmic()
}

fn whole_startup() -> Vec<Panel> {
    let whole = [
        ("Scheduled to ready", "podinit_scheduled_to_ready_duration_seconds"),
        ("Created to ready", "podinit_created_to_ready_duration_seconds"),
    ];
    whole
        .map(|(title, family)| {
            let histogram = Histogram { family, matchers: r#"$namespace_label=~"$namespace""# };
            Panel::new(
                Kind::Heatmap,
                title,
                "s",
                "Distribution of startup durations over time. Two bands are two kinds of pods: tell them apart in the drill-down.",
                vec![Target::new(histogram.distribution("", RATE), "{{le}}").with_exemplars()],
            )
        })
        .into()
}

fn one_stage() -> Vec<Panel> {
    let durations = stages(DURATION);
    vec![
        Panel::new(
            Kind::Heatmap,
            "Durations of $stage",
            "s",
            "Distribution of this stage's durations over time.",
            vec![Target::new(durations.distribution("", RATE), "{{le}}").with_exemplars()],
        ),
        Panel::new(
            Kind::Lines,
            "Quantiles of $stage",
            "s",
            "Median, 90th and 99th percentile of this stage. Dashed: the deadlines of the selected SLOs on it.",
            quantiles_and_deadlines(durations, "$stage"),
        )
        .logarithmic(),
    ]
}
