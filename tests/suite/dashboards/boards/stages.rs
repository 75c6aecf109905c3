//! Where does the time go? How long pods take for each stage.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target};
use super::super::promql::{Histogram, RATE, stages};
use super::super::variable::{HISTOGRAM, SLO, STAGE, Variable, label};
use super::{deadlines, quantiles_and_deadlines};

const DURATION: &str = r#"stage=~"$stage", namespace=~"$namespace""#;

/// The namespaces of pods that became ready, from the classic or the native histogram.
pub(super) const NAMESPACE: Variable = label(
    "namespace",
    (
        r#"{__name__=~"podinit_created_to_ready_duration_seconds(_count)?", cluster=~"$cluster", job=~"$job", instance=~"$instance"}"#,
        "namespace",
    ),
    ".*",
);

const DRILL_DOWN: &str = "/d/podinit-drill-down?${__url_time_range}&${datasource:queryparam}&${cluster:queryparam}&${job:queryparam}&${instance:queryparam}&${namespace:queryparam}&${histogram:queryparam}&var-stage=${__field.labels.stage}";

pub(super) fn board() -> Board {
    Board {
        file: "stages",
        uid: "podinit-stages",
        title: "Stages",
        description: "How long pods take for each stage of their startup",
        variables: vec![STAGE, NAMESPACE, SLO, HISTOGRAM],
        rows: vec![
            row("All stages", all_stages()),
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
        (
            "0.5",
            "Median by stage",
            "Half of the pods took no longer than this.",
        ),
        (
            "0.99",
            "99th percentile by stage",
            "One pod in a hundred took longer than this.",
        ),
    ];
    panels.extend(quantiles.map(|(quantile, title, description)| {
        Panel::new(
            Kind::Lines,
            title,
            "s",
            &format!("{description} Dashed: the deadlines of the selected SLOs."),
            vec![
                Target::new(durations.quantile(quantile, "stage", RATE), "{{stage}}")
                    .with_exemplars(),
                deadlines(),
            ],
        )
        .logarithmic()
        .link("Drill down", DRILL_DOWN)
    }));
    panels
}

fn whole_startup() -> Vec<Panel> {
    let whole = [
        (
            "Scheduled to ready",
            "podinit_scheduled_to_ready_duration_seconds",
        ),
        (
            "Created to ready",
            "podinit_created_to_ready_duration_seconds",
        ),
    ];
    whole
        .map(|(title, family)| {
            let histogram = Histogram { family, matchers: r#"namespace=~"$namespace""# };
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
            "Median, 90th and 99th percentile of this stage. Dashed: the deadlines of the selected SLOs.",
            quantiles_and_deadlines(durations),
        )
        .logarithmic(),
    ]
}
