//! Is it us? The state of the objectives.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target, column};
use super::super::promql::{Histogram, bad_ratio, burn_rate, increase_by, max_by, rate_by, series};
use super::super::variable::{HISTOGRAM, SLO, Variable};
use super::quantiles_and_deadlines;

/// Objectives are stated over a window; the file that states it is not exposed.
const WINDOW: Variable = Variable::Choice {
    name: "window",
    label: "SLO window",
    choices: &[("30d", "30d"), ("28d", "28d"), ("7d", "7d"), ("1d", "1d")],
};

const CHOSEN: &str = r#"slo=~"$slo""#;

pub(super) fn board() -> Board {
    Board {
        file: "overview",
        uid: "podinit-overview",
        title: "Overview",
        description: "Objectives of pod startup: whether they are met, and how fast error budgets burn",
        variables: vec![SLO, WINDOW, HISTOGRAM],
        rows: vec![
            row("Now", now()),
            row("Objectives", vec![state()]),
            row("Error budget", vec![budget(), burn(), good(), events()]),
            row("Startup", startup()),
        ],
    }
}

fn now() -> Vec<Panel> {
    let one = |expr: String| vec![Target::new(expr, "")];
    vec![
        Panel::new(
            Kind::Stat,
            "In sync",
            "none",
            "Whether the exporter sees the cluster. While it does not, no deadline passes and nothing below changes.",
            one(format!("min({})", series("podinit_synced", ""))),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "blind", "red"), ("1", "in sync", "green")]),
        Panel::new(
            Kind::Stat,
            "Pods starting",
            "short",
            "Pods that are starting up now, in whatever stage.",
            one(format!("sum({})", series("podinit_inflight_pods", ""))),
        ),
        Panel::new(
            Kind::Stat,
            "New pods per second",
            "short",
            "Pods that were seen for the first time, per second.",
            one(rate_by("", "podinit_pods_discovered_total", "")),
        ),
        Panel::new(
            Kind::Stat,
            "Longest in a stage",
            "s",
            "For how long the pod that has waited longest has been in the stage it is in. Orange from 5 minutes on, red from 30.",
            one(format!("max(time() - {})", series("podinit_oldest_inflight_pod_timestamp_seconds", ""))),
        )
        .steps("green", &[(300.0, "orange"), (1800.0, "red")])
        .link("Stuck and failed", "/d/podinit-stuck?${__url_time_range}&${datasource:queryparam}&${cluster:queryparam}&${job:queryparam}&${instance:queryparam}"),
        Panel::new(
            Kind::Stat,
            "Missed in the last hour",
            "short",
            "Pods whose deadline passed in the last hour, for all chosen SLOs together. Late and lost pods count alike, at the moment of the deadline.",
            one(format!("sum({})", increase_by("slo", "podinit_slo_events_total", r#"slo=~"$slo", result="bad""#, "1h"))),
        )
        .steps("green", &[(0.5, "orange")]),
        Panel::new(
            Kind::Stat,
            "Worst burn rate, 1 h",
            "none",
            "The greatest burn rate of the chosen SLOs over one hour. 1 uses up the budget exactly at the end of the window; from 14.4 on it pages.",
            one(format!("max(\n{}\n)", burn_rate("1h"))),
        )
        .steps("green", &[(1.0, "yellow"), (6.0, "orange"), (14.4, "red")]),
    ]
}

fn state() -> Panel {
    let columns = vec![
        column("Objective", "percentunit"),
        column("Deadline", "s"),
        column("Judged", "short"),
        column("Good", "percentunit"),
        column("Budget left", "percentunit"),
        column("Burn rate, 6 h", "none"),
        column("Burn rate, 1 h", "none"),
    ];
    let exprs = [
        max_by("slo", "podinit_slo_objective_ratio", CHOSEN),
        max_by("slo", "podinit_slo_threshold_seconds", CHOSEN),
        increase_by("slo", "podinit_slo_events_total", CHOSEN, "$window"),
        format!("1 - (\n{}\n)", bad_ratio("$window")),
        format!("1 - {}", burn_rate("$window")),
        burn_rate("6h"),
        burn_rate("1h"),
    ];
    Panel::new(
        Kind::Table(columns),
        "SLO state",
        "short",
        "Each SLO over its window, which is chosen above and has to be that of the SLO file: pods judged, the share of them that was good, and how much of the error budget is left (below 0 %: overspent).",
        exprs.map(|expr| Target::new(expr, "{{slo}}")).into(),
    )
    .sized(24, 5)
}

fn budget() -> Panel {
    Panel::new(
        Kind::Lines,
        "Error budget left",
        "percentunit",
        "The share of the error budget of the window that is left. At 0 the objective is just met.",
        vec![Target::new(
            format!("1 - {}", burn_rate("$window")),
            "{{slo}}",
        )],
    )
    .steps("red", &[(0.0, "orange"), (0.25, "green")])
    .coarse()
}

fn burn() -> Panel {
    let targets = ["5m", "1h", "6h", "3d"]
        .map(|window| Target::new(burn_rate(window), format!("{{{{slo}}}} {window}")));
    Panel::new(
        Kind::Lines,
        "Burn rates",
        "none",
        "How many times faster than the objective allows the error budget is used, by window. Lines mark the rates that alert: 14.4 over 1 h and 6 over 6 h page, 3 over 1 d and 1 over 3 d open a ticket.",
        targets.into(),
    )
    .steps("green", &[(1.0, "yellow"), (6.0, "orange"), (14.4, "red")])
    .coarse()
}

fn good() -> Panel {
    let bad = rate_by(
        "slo",
        "podinit_slo_events_total",
        r#"slo=~"$slo", result="bad""#,
    );
    let all = rate_by("slo", "podinit_slo_events_total", CHOSEN);
    Panel::new(
        Kind::Lines,
        "Good pods",
        "percentunit",
        "The share of judged pods that met the SLO, beside its objective. Absent while no pod is judged.",
        vec![
            Target::new(format!("1 - {bad}\n/\n({all} > 0)"), "{{slo}}"),
            Target::new(
                max_by("slo", "podinit_slo_objective_ratio", CHOSEN),
                "objective {{slo}}",
            ),
        ],
    )
}

fn events() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods judged per second",
        "short",
        "Pods that met an SLO (good) or whose deadline passed (bad), per second.",
        vec![Target::new(
            rate_by("slo, result", "podinit_slo_events_total", CHOSEN),
            "{{slo}} {{result}}",
        )],
    )
}

fn startup() -> Vec<Panel> {
    let whole = [
        (
            "Scheduled to ready",
            "podinit_scheduled_to_ready_duration_seconds",
            "From a pod's binding to a node until it was first ready",
        ),
        (
            "Created to ready",
            "podinit_created_to_ready_duration_seconds",
            "From a pod's creation until it was first ready",
        ),
    ];
    let panel = |(title, family, what)| {
        let histogram = Histogram {
            family,
            matchers: "",
        };
        Panel::new(
            Kind::Lines,
            title,
            "s",
            &format!("{what}. Pods that never get there are missing here: see the objectives. Dashed: the deadlines of the chosen SLOs."),
            quantiles_and_deadlines(histogram),
        )
        .logarithmic()
    };
    whole.map(panel).into()
}
