//! Which pods never become ready? Histograms of durations cannot show them.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target, column};
use super::super::promql::{Histogram, RATE, SHOWN, increase_by, rate_by, series, sum_by, top};
use super::super::variable::{HISTOGRAM, NAMESPACE_LABEL, SLO, STAGE};
use super::deadlines;

const OLDEST: &str = "podinit_oldest_inflight_pod_timestamp_seconds";
const IN_STAGE: &str = r#"stage=~"$stage""#;

/// The same of unobserved intervals, among which are the stages.
const OF_STAGE: &str = r#"interval=~"$stage""#;

pub(super) fn board() -> Board {
    Board {
        file: "stuck-and-failed",
        uid: "podinit-stuck",
        title: "Stuck and failed",
        description: "Pods that are waiting and why, pods that never became ready, and stages that could not be observed",
        variables: vec![STAGE, NAMESPACE_LABEL, SLO, HISTOGRAM],
        rows: vec![
            row(
                "Waiting",
                vec![waiting(), causes(), stuck(), oldest(), namespaces(), problems(), capacity()],
            ),
            row(
                "Ended",
                vec![outcomes(), not_ready(), relapses(), disruptions(), missed(), excluded()],
            ),
            row("Rollouts", vec![rollouts(), held(), rollout_durations(), rollouts_ended()]),
            row("Not observed, and re-entries", vec![unobserved(), reasons(), reentries()]),
            row("Changes in place, after the startup", vec![resizing(), resizes(), changes()]),
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
    let by_cause = |metric| nonzero(&sum_by("stage, cause", metric, IN_STAGE));
    Panel::new(
        Kind::Table(vec![column("Pods", "short"), column("Stuck", "short")]),
        "Pods by stage and cause, now",
        "short",
        "Pods that are starting up, why they wait, and how many of them are stuck: in their stage for longer than any start should take. The runbooks say for each cause what it means and which command finds its pods.",
        vec![
            Target::new(by_cause("podinit_waiting_pods"), "{{stage}} {{cause}}"),
            Target::new(by_cause("podinit_stuck_pods"), "{{stage}} {{cause}}"),
        ],
    )
    .sized(8, 9)
}

fn problems() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods by problem",
        "short",
        "Pods of the largest problems: by cause, and by the image, registry, workload, node or namespace that they share. podinit problems says more.",
        vec![Target::new(
            sum_by("cause, dimension, value", "podinit_problem_pods", ""),
            "{{cause}}: {{dimension}} {{value}}",
        )],
    )
}

fn capacity() -> Panel {
    Panel::new(
        Kind::Stack,
        "Unschedulable pods by capacity",
        "short",
        "Pods that fit on no node, by what an autoscaler says of a node for them. scaling_up, nominated: one is on its way. no_scale_up: no autoscaler helps. scale_up_failed: the provider refused. unknown: none has spoken. Needs --evidence events.",
        vec![Target::new(sum_by("capacity", "podinit_unschedulable_pods", ""), "{{capacity}}")],
    )
}

fn causes() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods in flight by cause",
        "short",
        "Pods that are starting up, by stage and by why they wait. Where they pile up is the bottleneck.",
        vec![Target::new(
            nonzero(&sum_by("stage, cause", "podinit_waiting_pods", IN_STAGE)),
            "{{stage}} {{cause}}",
        )],
    )
    .sized(8, 9)
}

fn stuck() -> Panel {
    Panel::new(
        Kind::Stack,
        "Stuck pods by cause",
        "short",
        "Pods that have been in their stage for longer than any start should take, by cause. A constant level is abandoned pods; a step is an incident.",
        vec![Target::new(
            nonzero(&sum_by("stage, cause", "podinit_stuck_pods", IN_STAGE)),
            "{{stage}} {{cause}}",
        )],
    )
    .sized(8, 9)
}

fn namespaces() -> Panel {
    let by = |metric| top(&nonzero(&sum_by("$namespace_label", metric, IN_STAGE)));
    Panel::new(
        Kind::Table(vec![column("Pods", "short"), column("Stuck", "short")]),
        "Waiting pods by namespace, now",
        "short",
        "The ten namespaces with the most pods that are starting up, and with the most that are stuck. A single row is podinit's own namespace: the namespaces of pods need --slo-labels namespace.",
        vec![
            Target::new(by("podinit_waiting_pods"), "{{$namespace_label}}"),
            Target::new(by("podinit_stuck_pods"), "{{$namespace_label}}"),
        ],
    )
    .sized(12, 8)
}

fn oldest() -> Panel {
    Panel::new(
        Kind::Lines,
        "Longest wait",
        "s",
        "How long the pod that entered each stage first has been in it. A line that rises steadily is one stuck pod. Dashed: the deadlines of the selected SLOs on these stages.",
        vec![Target::new(age(), "{{stage}}"), deadlines("$stage")],
    )
    .sized(12, 8)
    .logarithmic()
}

fn outcomes() -> Panel {
    Panel::new(
        Kind::Stack,
        "Outcomes per second",
        "short",
        "Pods whose startup ended, by outcome. completed: succeeded before it was seen ready. deleted: before it was ready. disrupted: evicted or preempted before it was ready. vanished: during a gap in the watch. preexisting: ready when first seen.",
        vec![Target::new(
            rate_by("outcome", "podinit_pods_finished_total", ""),
            "{{outcome}}",
        )],
    )
    .sized(8, 8)
}

fn not_ready() -> Panel {
    let lost = rate_by(
        "outcome",
        "podinit_pods_finished_total",
        r#"outcome=~"failed|rejected|deleted|disrupted|vanished""#,
    );
    let all = rate_by("", "podinit_pods_finished_total", r#"outcome!~"preexisting|static""#);
    Panel::new(
        Kind::Stack,
        "Pods that never became ready",
        "percentunit",
        "The share of startups that ended as failed, rejected, deleted, disrupted or vanished, by outcome.",
        vec![Target::new(
            format!("{lost}\n/ ignoring (outcome) group_left ()\n({all} > 0)"),
            "{{outcome}}",
        )],
    )
    .sized(8, 8)
}

fn relapses() -> Panel {
    Panel::new(
        Kind::Lines,
        "Relapses per second",
        "short",
        "Pods that became ready and were in CrashLoopBackOff again less than ten minutes later. Their startup counts as ready.",
        vec![Target::new(
            rate_by("", "podinit_startups_relapsed_total", ""),
            "relapsed",
        )],
    )
    .sized(8, 8)
}

fn disruptions() -> Panel {
    Panel::new(
        Kind::Stack,
        "Disruptions per second",
        "short",
        "Pods that were preempted, evicted or garbage-collected before they were ready, by the reason of their condition DisruptionTarget.",
        vec![Target::new(
            nonzero(&rate_by("reason", "podinit_startups_disrupted_total", "")),
            "{{reason}}",
        )],
    )
    .sized(8, 8)
}

fn missed() -> Panel {
    let missed = rate_by(
        "slo, stage, cause",
        "podinit_slo_bad_causes_total",
        r#"slo=~"$slo", stage=~"$stage""#,
    );
    Panel::new(
        Kind::Stack,
        "Deadlines missed per second",
        "short",
        "Pods whose deadline passed, whether they become ready later or never, by the stage that they were in and why they waited.",
        vec![Target::new(nonzero(&missed), "{{slo}} {{stage}} {{cause}}")],
    )
    .sized(8, 8)
}

fn excluded() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods excluded from SLOs per second",
        "short",
        "Pods that are neither good nor bad for an SLO, by reason. An outcome: they ended first. not_entered: the interval can no longer begin. not_seen: the pod was ready without it. time: unusable times. condition_absent: the cluster does not report it. capacity, images: the SLO does not select the startup.",
        vec![Target::new(
            nonzero(&rate_by(
                "slo, reason",
                "podinit_slo_excluded_total",
                r#"slo=~"$slo""#,
            )),
            "{{slo}} {{reason}}",
        )],
    )
    .sized(8, 8)
}

fn rollouts() -> Panel {
    let by = |labels, metric| {
        nonzero(&sum_by(&format!("$namespace_label, workload{labels}"), metric, ""))
    };
    Panel::new(
        Kind::Table(vec![column("Rollouts", "short"), column("Stuck", "short")]),
        "Rollouts in progress, now",
        "short",
        "Rollouts in progress, by what holds them. starting: pods of the new revision start. not_ready: they were ready and are not. ending: pods of the old revision end, and too few others live. controller: nothing that pods show, such as a pause or a quota. Stuck: pods hold it, and none has become ready for 10 minutes. podinit rollouts says why.",
        vec![
            Target::new(by(", held_by", "podinit_rollouts_in_progress"), "{{workload}} {{held_by}}"),
            Target::new(by("", "podinit_rollouts_stuck"), "{{workload}}"),
        ],
    )
    .sized(12, 8)
}

fn held() -> Panel {
    Panel::new(
        Kind::Stack,
        "What holds rollouts",
        "short",
        "Rollouts in progress on average, by what held them.",
        vec![Target::new(
            nonzero(&rate_by("held_by", "podinit_rollout_held_seconds_total", "")),
            "{{held_by}}",
        )],
    )
    .sized(12, 8)
}

fn rollout_durations() -> Panel {
    let of = Histogram { family: "podinit_rollout_duration_seconds", matchers: "" };
    let quantile = |quantile, legend| Target::new(of.quantile(quantile, "", SHOWN), legend);
    Panel::new(
        Kind::Lines,
        "Duration of rollouts, in the selected time range",
        "s",
        "How long completed rollouts took, from their first pod until all pods were of the new revision and had been ready. A deletion that made room for the first pod counts, too.",
        vec![quantile("0.5", "median"), quantile("0.9", "90th percentile")],
    )
    .sized(12, 8)
    .logarithmic()
}

fn rollouts_ended() -> Panel {
    Panel::new(
        Kind::Stack,
        "Rollouts ended per second",
        "short",
        "Rollouts that ended, by outcome. completed: all pods are of the new revision. rolled_back: of another one. superseded: another rollout began. removed: no pod was left. not followed: workloads past the 50,000 that are.",
        vec![
            Target::new(rate_by("outcome", "podinit_rollouts_total", ""), "{{outcome}}"),
            Target::new(
                nonzero(&rate_by("", "podinit_rollout_workloads_refused_total", "")),
                "not followed",
            ),
        ],
    )
    .sized(12, 8)
}

fn unobserved() -> Panel {
    let columns = vec![column("Pods", "short")];
    Panel::new(
        Kind::Table(columns),
        "Not observed, in the selected time range",
        "short",
        "Stages that apply to a pod but were not observed, by reason. preexisting: ended before the pod was first seen. time: unusable. condition_absent: the cluster does not report it. not_seen: the pod was ready without it.",
        vec![Target::new(
            format!(
                "{} > 0",
                increase_by("interval, reason", "podinit_unobserved_total", OF_STAGE, SHOWN)
            ),
            "{{interval}} {{reason}}",
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
            nonzero(&rate_by("interval, reason", "podinit_unobserved_total", OF_STAGE)),
            "{{interval}} {{reason}}",
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

fn resizing() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods being resized",
        "short",
        "Running pods whose containers are to get other resources in place, by state: infeasible and deferred wait, in_progress moves, error does not.",
        vec![Target::new(
            sum_by("state", "podinit_resizing_pods", ""),
            "{{state}}",
        )],
    )
    .sized(8, 8)
}

fn resizes() -> Panel {
    Panel::new(
        Kind::Stack,
        "Resizes per second",
        "short",
        "Resizes in place that are over, by result: completed, or ended with their pod.",
        vec![Target::new(rate_by("result", "podinit_resizes_total", ""), "{{result}}")],
    )
    .sized(8, 8)
}

fn changes() -> Panel {
    let of = |family| Histogram { family, matchers: "" };
    let quantile = |family, legend| Target::new(of(family).quantile("0.99", "", RATE), legend);
    Panel::new(
        Kind::Lines,
        "Duration of changes in place, 99th percentile",
        "s",
        "How long resizes in place took, and OpenKruise's in-place updates until the pod was ready again.",
        vec![
            quantile("podinit_resize_duration_seconds", "resize"),
            quantile("podinit_inplace_update_duration_seconds", "in-place update"),
        ],
    )
    .sized(8, 8)
    .logarithmic()
}
