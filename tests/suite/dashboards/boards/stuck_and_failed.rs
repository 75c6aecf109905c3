//! Which pods never become ready? Histograms of durations cannot show them.

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
        description: "Pods that are waiting, pods that never became ready, and stages that could not be observed",
        variables: vec![STAGE, SLO],
        rows: vec![
            row("Waiting", vec![waiting(), in_flight(), oldest()]),
            row("Ended", vec![outcomes(), not_ready(), missed(), excluded()]),
            row(
                "Not observed, and re-entries",
                vec![unobserved(), reasons(), reentries()],
            ),
        ],
    }
}

/// Leaves out reasons that did not occur.
fn nonzero(expr: &str) -> String {
    format!("{expr} > 0")
}

/// How long the pod that entered each stage first has been in it.
fn age() -> String {
    format!("max by (stage) (time() - {})", series(OLDEST, IN_STAGE))
}

fn waiting() -> Panel {
    Panel::new(
        Kind::Table(vec![column("Pods", "short"), column("Longest wait", "s")]),
        "Pods by stage, now",
        "short",
        "Pods in each stage, and how long the one that entered first has been in it. Find it with: kubectl get pods -A --sort-by=.metadata.creationTimestamp --field-selector=status.phase=Pending",
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
        "Pods that are starting up, by stage. A stage in which they pile up is the bottleneck.",
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
        "How long the pod that entered each stage first has been in it. A line that rises steadily is one stuck pod. Dashed: the deadlines of the selected SLOs.",
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
        "Pods whose startup ended, by outcome: ready, completed (succeeded before it was seen ready), failed, deleted (before it was ready), vanished (during a gap in the watch), preexisting (ready when first seen), static.",
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
        "The share of startups that ended as failed, deleted or vanished, by outcome.",
        vec![Target::new(
            format!("{lost}\n/ ignoring (outcome) group_left ()\n({all} > 0)"),
            "{{outcome}}",
        )],
    )
}

fn missed() -> Panel {
    Panel::new(
        Kind::Stack,
        "Deadlines missed per second",
        "short",
        "Pods whose deadline passed, whether they become ready later or never.",
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
        "Pods excluded from SLOs per second",
        "short",
        "Pods that are neither good nor bad for an SLO, by reason: the outcome with which they ended first, not_entered (the interval can no longer begin), not_seen (the pod was ready without it), time (unusable), or condition_absent (the cluster does not report it).",
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
        "Not observed, in the selected time range",
        "short",
        "Stages that apply to a pod but were not observed, by reason: preexisting (ended before the pod was first seen), time (unusable), condition_absent (the cluster does not report it), not_seen (the pod was ready without it).",
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
        "Stages that apply to a pod but were not observed, by reason.",
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
        "Re-entries per second",
        "short",
        "Conditions that became true again, by milestone: sandboxes re-created, nodes rebooted, readiness flapping. They do not count as startups.",
        vec![Target::new(
            rate_by("milestone", "podinit_reentries_total", ""),
            "{{milestone}}",
        )],
    )
    .sized(8, 8)
}
