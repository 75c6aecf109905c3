//! Alerts on pods that have been in one stage for so long that they will not leave it by
//! themselves.
//!
//! They have no floor and need no traffic: one pod is enough, which is why none of them pages. An
//! exporter that is not in sync does not know whether its oldest pod is still there, and is not
//! heard.

use super::model::{Alert, Dashboard, Group, Severity};
use super::options::RenderOptions;
use super::promql::{over_targets, series};
use crate::lifecycle::stage::{Interval, Stage};
use crate::slo::SloFile;
use crate::slo::duration::SloDuration;

/// How much later than the deadline of an SLO a pod counts as stuck: until then it is late, and
/// the SLO's business.
const LATE: u64 = 3;

/// What is said of a stage.
#[derive(Debug)]
struct Limit {
    alert: &'static str,
    /// The least age at which a pod is stuck, where no SLO allows more
    least: SloDuration,
    summary: &'static str,
    /// What usually holds a pod there
    cause: &'static str,
}

const fn limit(stage: Stage) -> Limit {
    match stage {
        // Queues hold gated pods for hours by design; a day is a gate that nobody opens.
        Stage::Gated => Limit {
            alert: "PodinitPodStuckGated",
            least: SloDuration::from_days(1),
            summary: "A pod waits for its scheduling gates.",
            cause: "The controller that owns the gate does not remove it.",
        },
        // A scheduler takes seconds to bind a pod or to call it unschedulable, even in a burst.
        Stage::Scheduling => Limit {
            alert: "PodinitPodStuckScheduling",
            least: SloDuration::from_minutes(5),
            summary: "A pod waits for a scheduler to look at it.",
            cause: "The scheduler is down or far behind, or the pod names one that does not run.",
        },
        // Above the quarter of an hour after which cluster autoscaler gives a node up.
        Stage::Unschedulable => Limit {
            alert: "PodinitPodStuckUnschedulable",
            least: SloDuration::from_hours(1),
            summary: "A pod fits on no node.",
            cause: "Capacity is short and does not come, or what the pod asks for does not exist.",
        },
        // Kubelet and runtime try again within four minutes; volumes are mounted in this stage too.
        Stage::Network => Limit {
            alert: "PodinitPodStuckNetwork",
            least: SloDuration::from_minutes(10),
            summary: "A scheduled pod gets no sandbox with a network.",
            cause: "The network plugin, a volume or the kubelet on its node fails.",
        },
        // Init containers restore data and migrate schemas; their back-off ends at five minutes.
        Stage::Init => Limit {
            alert: "PodinitPodStuckInit",
            least: SloDuration::from_minutes(30),
            summary: "A pod does not get through its init containers.",
            cause: "An init container fails again and again, waits, or its image cannot be pulled.",
        },
        // Large images and startup probes take minutes; back-off ends at five.
        Stage::Containers => Limit {
            alert: "PodinitPodStuckContainers",
            least: SloDuration::from_minutes(30),
            summary: "A pod's containers do not get ready.",
            cause: "An image cannot be pulled, a container crashes, or its probes fail.",
        },
        // Load balancers register a target within a few minutes.
        Stage::Readiness => Limit {
            alert: "PodinitPodStuckReadiness",
            least: SloDuration::from_minutes(15),
            summary: "A pod waits for its readiness gates.",
            cause: "The controller that sets the gate's condition does not, or its target fails.",
        },
    }
}

/// At which age a pod is stuck in a stage: the stage's own limit, or [`LATE`] times the longest
/// threshold that an SLO allows for an interval which contains the stage.
pub(super) fn age(stage: Stage, file: &SloFile) -> SloDuration {
    let covering = file
        .slos
        .iter()
        .filter(|slo| contains(slo.rule.interval, stage));
    let allowed = covering.map(|slo| {
        let seconds = slo.threshold_seconds().ceil() as u64;
        let minutes = (LATE * seconds).div_ceil(60);
        SloDuration::from_minutes(minutes)
    });
    allowed.fold(limit(stage).least, SloDuration::max)
}

fn contains(interval: Interval, stage: Stage) -> bool {
    match interval {
        Interval::Stage(one) => one == stage,
        Interval::ScheduledToReady => !matches!(
            stage,
            Stage::Gated | Stage::Scheduling | Stage::Unschedulable
        ),
        Interval::CreatedToReady => true,
    }
}

/// An alert for each stage.
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
             {{{{ $value | humanizeDuration }}}}; more than {age} is stuck. {cause}"
        ),
        dashboard: Dashboard::Stuck,
    }
}
