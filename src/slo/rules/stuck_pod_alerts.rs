//! Alerts on pods that have been in one stage for so long that they are unlikely to leave it without
//! help.
//!
//! One stuck pod is enough, even if no other pod starts, so none of these alerts pages. Exporters that
//! are not in sync are left out, because they do not know whether their oldest pod still exists.

use super::options::RenderOptions;
use super::promql::{over_targets, series};
use super::rule_file::{Alert, Dashboard, Group, Severity};
use crate::lifecycle::{Interval, Stage};
use crate::slo::SloFile;
use crate::slo::duration::SloDuration;

/// A pod counts as stuck after this many times the threshold of an SLO. Until then it is only late,
/// and the SLO counts it.
const STUCK_AFTER_THRESHOLDS: u64 = 3;

/// When a pod is stuck in a stage, and what the alert says.
#[derive(Debug)]
struct Limit {
    alert: &'static str,
    /// The time in the stage after which a pod is stuck, unless an SLO allows more
    least: SloDuration,
    summary: &'static str,
    /// What usually keeps a pod there
    cause: &'static str,
}

const fn limit(stage: Stage) -> Limit {
    match stage {
        // Queues hold gated pods for hours by design; after a day, nobody is going to remove the gate.
        Stage::Gated => Limit {
            alert: "PodinitPodStuckGated",
            least: SloDuration::from_days(1),
            summary: "A pod waits for its scheduling gates.",
            cause: "The controller that owns the gate does not remove it.",
        },
        // Even in a burst, a scheduler takes seconds to bind a pod or to mark it unschedulable.
        Stage::Scheduling => Limit {
            alert: "PodinitPodStuckScheduling",
            least: SloDuration::from_minutes(5),
            summary: "A pod waits for its scheduler.",
            cause: "The scheduler is down or far behind, or the pod names one that does not run.",
        },
        // More than the 15 minutes after which cluster-autoscaler gives up on a node.
        Stage::Unschedulable => Limit {
            alert: "PodinitPodStuckUnschedulable",
            least: SloDuration::from_hours(1),
            summary: "A pod fits on no node.",
            cause: "The cluster lacks capacity and gets none, or the pod asks for what no node has.",
        },
        // Kubelet and runtime retry within four minutes; volumes are mounted in this stage too.
        Stage::Network => Limit {
            alert: "PodinitPodStuckNetwork",
            least: SloDuration::from_minutes(10),
            summary: "A scheduled pod gets no sandbox with a network.",
            cause: "The network plugin, a volume or the kubelet on its node is failing.",
        },
        // Init containers restore data and migrate schemas; restarts back off to five minutes.
        Stage::Init => Limit {
            alert: "PodinitPodStuckInit",
            least: SloDuration::from_minutes(30),
            summary: "A pod does not get through its init containers.",
            cause: "An init container keeps failing or waits, or its image cannot be pulled.",
        },
        // Large images and startup probes take minutes; restarts back off to five minutes.
        Stage::Containers => Limit {
            alert: "PodinitPodStuckContainers",
            least: SloDuration::from_minutes(30),
            summary: "A pod's containers do not become ready.",
            cause: "An image cannot be pulled, a container crashes, or its probes fail.",
        },
        // Load balancers register a target within a few minutes.
        Stage::Readiness => Limit {
            alert: "PodinitPodStuckReadiness",
            least: SloDuration::from_minutes(15),
            summary: "A pod waits for its readiness gates.",
            cause: "The controller that owns the gate does not set its condition, or its target is unhealthy.",
        },
    }
}

/// The time in a stage after which a pod is stuck: the stage's own limit, or
/// [`STUCK_AFTER_THRESHOLDS`] times the longest threshold of an SLO whose interval contains the stage.
pub(super) fn age(stage: Stage, file: &SloFile) -> SloDuration {
    let covering = file
        .slos
        .iter()
        .filter(|slo| contains(slo.rule.interval, stage));
    let allowed = covering.map(|slo| {
        let seconds = slo.threshold_seconds().ceil() as u64;
        let minutes = (STUCK_AFTER_THRESHOLDS * seconds).div_ceil(60);
        SloDuration::from_minutes(minutes)
    });
    allowed.fold(limit(stage).least, SloDuration::max)
}

fn contains(interval: Interval, stage: Stage) -> bool {
    match interval {
        Interval::Stage(one) => one == stage,
        // A step ends before its stage does: it allows the stage nothing.
        Interval::Step(_) => false,
        Interval::ScheduledToReady => !matches!(
            stage,
            Stage::Gated | Stage::Scheduling | Stage::Unschedulable
        ),
        Interval::CreatedToReady => true,
    }
}

/// One alert for each stage.
pub(super) fn group(file: &SloFile, options: &RenderOptions) -> Group {
    let rule = |stage| alert(stage, file, &options.job).rule(options);
    Group {
        name: "podinit-stuck-pods".to_owned(),
        interval: None,
        rules: Stage::ALL.map(rule).into(),
    }
}

pub(super) fn alert(stage: Stage, file: &SloFile, job: &str) -> Alert {
    let Limit {
        alert,
        summary,
        cause,
        ..
    } = limit(stage);
    let age = age(stage, file);
    let oldest = series(
        "podinit_oldest_inflight_pod_timestamp_seconds",
        job,
        &format!("stage=\"{}\"", stage.as_str()),
    );
    let synced = series("podinit_synced", job, "");
    let inner = format!("(time() - {oldest})\nand ignoring (stage)\n({synced} == 1)");
    Alert {
        name: alert,
        expr: format!("{} > {}", over_targets("max", &inner), age.as_seconds()),
        hold: None,
        keep: None,
        severity: Severity::Warning,
        labels: vec![],
        summary: summary.to_owned(),
        description: format!(
            "The oldest pod in the stage {{{{ $labels.stage }}}} has been there for \
             {{{{ $value | humanizeDuration }}}}; more than {age} counts as stuck. {cause}"
        ),
        dashboard: Dashboard::Stuck,
    }
}
