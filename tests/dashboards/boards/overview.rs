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
        description: "SLOs of pod startup: whether they are met, and how fast their error budgets burn",
        variables: vec![SLO, WINDOW, HISTOGRAM],
        rows: vec![
            row("Now", now()),
            row("Objectives", vec![state()]),
            row("Error budget", vec![budget(), burn(), good(), missed_by_cause()]),
            row("Startup", startup()),
        ],
    }
}

fn now() -> Vec<Panel> {
    let one = |expr: String| vec![Target::new(expr, "")];
    vec![
        Panel::new(
            Kind::Stat,
            "Pod startup",
            "none",
            "Whether pods start as promised. Broken: an SLO burns its budget fast enough to page. At risk: one burns more than its budget, or pods are stuck. Not in sync: podinit cannot know, no deadline passes, and the panels below do not change.",
            one(verdict()),
        )
        .steps("green", &[(1.0, "orange"), (2.0, "red")])
        .words(&[
            ("0", "good", "green"),
            ("1", "at risk", "orange"),
            ("2", "broken", "red"),
            ("3", "not in sync", "red"),
        ]),
        Panel::new(
            Kind::Stat,
            "Pods starting",
            "short",
            "Pods that are starting up now, in any stage.",
            one(format!("sum({})", series("podinit_inflight_pods", ""))),
        )
        .steps("text", &[]),
        Panel::new(
            Kind::Stat,
            "New pods per second",
            "short",
            "Pods discovered per second.",
            one(rate_by("", "podinit_pods_discovered_total", "")),
        )
        .steps("text", &[]),
        Panel::new(
            Kind::Stat,
            "Longest in a stage",
            "s",
            "How long the pod that has waited longest has been in its stage. Orange from 5 minutes, red from 30.",
            one(format!("max(time() - {})", series("podinit_oldest_inflight_pod_timestamp_seconds", ""))),
        )
        .steps("green", &[(300.0, "orange"), (1800.0, "red")])
        .link("Stuck and failed", "/d/podinit-stuck?${__url_time_range}&${datasource:queryparam}&${cluster:queryparam}&${job:queryparam}&${instance:queryparam}"),
        Panel::new(
            Kind::Stat,
            "Deadlines missed, last hour",
            "short",
            "Pods whose deadline passed in the last hour, for all selected SLOs. A pod counts when its deadline passes, whether it becomes ready later or never.",
            one(format!("sum({})", increase_by("slo", "podinit_slo_events_total", r#"slo=~"$slo", result="bad""#, "1h"))),
        )
        .steps("green", &[(0.5, "orange")]),
        Panel::new(
            Kind::Stat,
            "Highest burn rate, 1 h",
            "none",
            "The highest burn rate of the selected SLOs over one hour. A burn rate of 1 spends the error budget exactly in the window; 14.4 and more pages.",
            one(format!("max(\n{}\n)", burn_rate("1h"))),
        )
        .steps("green", &[(1.0, "yellow"), (6.0, "orange"), (14.4, "red")]),
    ]
}

/// The worst of what can be said of pod startup: 0 good, 1 at risk, 2 broken, 3 not known.
fn verdict() -> String {
    let burn = burn_rate("1h");
    let parts = [
        ("sync", format!("3 * (min({}) == bool 0)", series("podinit_synced", ""))),
        ("page", format!("2 * (max(\n{burn}\n) >= bool 14.4)")),
        ("burn", format!("max(\n{burn}\n) > bool 1")),
        ("stuck", format!("sum({}) > bool 0", series("podinit_stuck_pods", ""))),
    ];
    let parts = parts.map(|(of, expr)| format!(r#"label_replace({expr}, "of", "{of}", "", "")"#));
    format!("max(\n{}\n)", parts.join("\nor\n"))
}

fn state() -> Panel {
    let columns = vec![
        column("Objective", "percentunit"),
        column("Deadline", "s"),
        column("Window", "s"),
        column("Judged", "short"),
        column("Good", "percentunit"),
        column("Budget remaining", "percentunit"),
        column("Burn rate, 6 h", "none"),
        column("Burn rate, 1 h", "none"),
    ];
    let exprs = [
        max_by("slo", "podinit_slo_objective_ratio", CHOSEN),
        max_by("slo", "podinit_slo_threshold_seconds", CHOSEN),
        max_by("slo", "podinit_slo_window_seconds", CHOSEN),
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
        "Each SLO over the window selected above, which should be that of the column Window. It shows pods judged, the share that was good, and the error budget that remains (below 0 %: overspent). Prometheus has to keep the whole window (15 days by default).",
        exprs.map(|expr| Target::new(expr, "{{slo}}")).into(),
    )
    .sized(24, 5)
}

fn budget() -> Panel {
    Panel::new(
        Kind::Lines,
        "Error budget remaining",
        "percentunit",
        "The share of the window's error budget that remains. At 0 the objective is just met. It reads the whole window: where Prometheus keeps less (15 days by default), it is the budget over what is there.",
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
        "How many times faster than the objective allows the error budget is being spent, by window. Lines mark the rates that fire alerts. 14.4 over 1 h and 6 over 6 h page; 3 over 1 d and 1 over 3 d open a ticket.",
        targets.into(),
    )
    .steps("green", &[(1.0, "yellow"), (6.0, "orange"), (14.4, "red")])
    .coarse()
}

fn good() -> Panel {
    let bad = rate_by("slo", "podinit_slo_events_total", r#"slo=~"$slo", result="bad""#);
    let all = rate_by("slo", "podinit_slo_events_total", CHOSEN);
    Panel::new(
        Kind::Lines,
        "Good pods",
        "percentunit",
        "The share of judged pods that met the SLO, and its objective. Absent while no pod is judged.",
        vec![
            Target::new(format!("1 - {bad}\n/\n({all} > 0)"), "{{slo}}"),
            Target::new(max_by("slo", "podinit_slo_objective_ratio", CHOSEN), "objective {{slo}}"),
        ],
    )
}

fn missed_by_cause() -> Panel {
    let missed = rate_by("slo, cause", "podinit_slo_bad_causes_total", CHOSEN);
    Panel::new(
        Kind::Stack,
        "Deadlines missed per second, by cause",
        "short",
        "Why the pods waited whose deadline passed, at the moment when it passed. The runbooks have a section for each cause.",
        vec![Target::new(format!("{missed} > 0"), "{{slo}} {{cause}}")],
    )
}

fn startup() -> Vec<Panel> {
    let whole = [
        (
            "Scheduled to ready",
            "scheduled_to_ready",
            "Time from the binding of a pod to a node until it was first ready",
        ),
        (
            "Created to ready",
            "created_to_ready",
            "Time from the creation of a pod until it was first ready",
        ),
    ];
    let panel = |(title, interval, what)| {
        let family = format!("podinit_{interval}_duration_seconds");
        let histogram = Histogram { family: &family, matchers: "" };
        Panel::new(
            Kind::Lines,
            title,
            "s",
            &format!("{what}. Pods that never become ready are not included; the SLOs count them. Dashed: the deadlines of the selected SLOs on it."),
            quantiles_and_deadlines(histogram, interval),
        )
        .logarithmic()
    };
    whole.map(panel).into()
}
