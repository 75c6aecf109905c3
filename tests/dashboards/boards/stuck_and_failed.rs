//! Who never arrives? Pods that histograms of durations cannot show.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target, column};
use super::super::promql::{SHOWN, increase_by, rate_by, series, sum_by};
use super::super::variable::{SLO, STAGE};
use super::deadlines;

const OLDEST: &str = "podinit_oldest_inflight_pod_timestamp_seconds";
const IN_STAGE: &str = r#"stage=~"$stage""#;

pub(super) fn board() -> Board {
    Board {
        file: "stuck-and-failed",
        uid: "podinit-stuck",
        title: "Stuck and failed",
        description: "Pods that wait, pods that never become ready, and what could not be observed",
        variables: vec![STAGE, SLO],
        rows: vec![
            row("Waiting", vec![waiting(), in_flight(), oldest()]),
            row("Ended", vec![outcomes(), not_ready(), missed(), excluded()]),
            row(
                "Not observed, and again",
                vec![unobserved(), reasons(), reentries()],
            ),
        ],
    }
}

/// Without the many reasons that never occur.
fn nonzero(expr: &str) -> String {
    format!("{expr} > 0")
}

/// How long the oldest pod of each stage has been in it.
fn age() -> String {
    format!("max by (stage) (time() - {})", series(OLDEST, IN_STAGE))
}

fn waiting() -> Panel {
    Panel::new(
        Kind::Table(vec![column("Pods", "short"), column("Longest wait", "s")]),
        "Stages now",
        "short",
        "Pods in each stage, and for how long the one that has waited longest has been in it. Find it with: kubectl get pods -A --sort-by=.metadata.creationTimestamp --field-selector=status.phase=Pending",
        vec![
            Target::new(sum_by("stage", "podinit_inflight_pods", IN_STAGE), "{{stage}}"),
            Target::new(age(), "{{stage}}"),
        ],
    )
    .sized(8, 9)
}

fn in_flight() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods in flight",
        "short",
        "Pods that are starting up, by the stage they are in. What piles up shows where.",
        vec![Target::new(
            sum_by("stage", "podinit_inflight_pods", IN_STAGE),
            "{{stage}}",
        )],
    )
    .sized(8, 9)
}

fn oldest() -> Panel {
    Panel::new(
        Kind::Lines,
        "Longest wait",
        "s",
        "For how long the pod that has been longest in each stage has been there. A line that rises evenly is one pod that is stuck. Dashed: the deadlines of the chosen SLOs.",
        vec![Target::new(age(), "{{stage}}"), deadlines()],
    )
    .sized(8, 9)
    .logarithmic()
}

fn outcomes() -> Panel {
    Panel::new(
        Kind::Stack,
        "Outcomes per second",
        "short",
        "Pods whose startup ended, by how: ready, completed (before it was seen ready), failed, deleted (before it was ready), vanished (in a gap of the watch), preexisting (was ready when first seen), static.",
        vec![Target::new(
            rate_by("outcome", "podinit_pods_finished_total", ""),
            "{{outcome}}",
        )],
    )
}

fn not_ready() -> Panel {
    let lost = rate_by(
        "outcome",
        "podinit_pods_finished_total",
        r#"outcome=~"failed|deleted|vanished""#,
    );
    let all = rate_by(
        "",
        "podinit_pods_finished_total",
        r#"outcome!~"preexisting|static""#,
    );
    Panel::new(
        Kind::Stack,
        "Pods that never became ready",
        "percentunit",
        "The share of startups that ended without ready or completed, by how.",
        vec![Target::new(
            format!("{lost}\n/ ignoring (outcome) group_left ()\n({all} > 0)"),
            "{{outcome}}",
        )],
    )
}

fn missed() -> Panel {
    Panel::new(
        Kind::Stack,
        "Deadlines passed per second",
        "short",
        "Pods whose deadline passed, per second, whether they arrive later or never.",
        vec![Target::new(
            rate_by(
                "slo",
                "podinit_slo_events_total",
                r#"slo=~"$slo", result="bad""#,
            ),
            "{{slo}}",
        )],
    )
}

fn excluded() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods that count for no SLO",
        "short",
        "Pods per second that are neither good nor bad for an SLO, by why: the outcome with which they ended first, or not_entered, not_seen, time, condition_absent.",
        vec![Target::new(
            nonzero(&rate_by(
                "slo, reason",
                "podinit_slo_excluded_total",
                r#"slo=~"$slo""#,
            )),
            "{{slo}} {{reason}}",
        )],
    )
}

fn unobserved() -> Panel {
    let columns = vec![column("Pods", "short")];
    Panel::new(
        Kind::Table(columns),
        "Not observed, in the time shown",
        "short",
        "Stages that apply to a pod but were not observed, by why: preexisting (ended before the pod was first seen), time (unusable), condition_absent (the cluster does not report it), not_seen (the pod was ready without it).",
        vec![Target::new(
            format!(
                "{} > 0",
                increase_by("stage, reason", "podinit_unobserved_total", IN_STAGE, SHOWN)
            ),
            "{{stage}} {{reason}}",
        )],
    )
    .sized(8, 8)
}

fn reasons() -> Panel {
    Panel::new(
        Kind::Stack,
        "Not observed per second",
        "short",
        "Stages per second that apply to a pod but were not observed, by why.",
        vec![Target::new(
            nonzero(&rate_by(
                "stage, reason",
                "podinit_unobserved_total",
                IN_STAGE,
            )),
            "{{stage}} {{reason}}",
        )],
    )
    .sized(8, 8)
}

fn reentries() -> Panel {
    Panel::new(
        Kind::Stack,
        "Milestones reached again per second",
        "short",
        "Conditions that became true again after they had been: sandboxes made anew, nodes rebooted, readiness that flaps. None of it counts as startup.",
        vec![Target::new(
            rate_by("milestone", "podinit_reentries_total", ""),
            "{{milestone}}",
        )],
    )
    .sized(8, 8)
}
