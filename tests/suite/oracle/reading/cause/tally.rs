//! What the families of [§10.1](crate::specification#s10-1), [§10.2](crate::specification#s10-2) and
//! [§10.4](crate::specification#s10-4) count.

use crate::oracle::figures::Figures;
use crate::oracle::reading::Options;
use crate::oracle::reading::startup::Startup;

const WAITING: &str = "podinit_waiting_pods";
const UNSCHEDULABLE: &str = "podinit_unschedulable_pods";
const CAPACITY: [&str; 5] =
    ["scaling_up", "no_scale_up", "scale_up_failed", "nominated", "unknown"];
const DISRUPTIONS: &str = "podinit_startups_disrupted_total";

/// The causes of a stage, `terminating` aside.
pub(crate) const CAUSES: [(&str, &[&str]); 7] = [
    ("gated", &["gate"]),
    ("scheduling", SCHEDULING),
    ("unschedulable", SCHEDULING),
    (
        "network",
        &[
            "image",
            "config",
            "crash",
            "exited",
            "pull",
            "create",
            "run",
            "probe",
            "readiness_gate",
            "acknowledge",
            "claim",
            "volume",
            "cni",
            "sandbox",
            "no_sandbox",
            "no_ip",
            "unknown",
        ],
    ),
    ("init", &["image", "config", "crash", "pull", "create", "run"]),
    ("containers", &["image", "config", "crash", "exited", "pull", "create", "run", "probe"]),
    ("readiness", &["unknown", "readiness_gate"]),
];
const SCHEDULING: &[&str] = &[
    "acknowledge",
    "binding",
    "queue",
    "gang",
    "preempting",
    "scheduler_error",
    "quota",
    "resources",
    "taint",
    "topology",
    "volume",
    "claim",
    "affinity",
    "other",
];
const DISRUPTION_REASONS: [&str; 7] = [
    "PreemptionByScheduler",
    "DeletionByTaintManager",
    "DeletionByDeviceTaintManager",
    "EvictionByEvictionAPI",
    "DeletionByPodGC",
    "TerminationByKubelet",
    "other",
];

/// [§7](crate::specification#s7): "Every series that can be known is exposed at 0 from the start".
pub(crate) fn known_from_the_start(options: &Options, figures: &mut Figures) {
    for (stage, causes) in CAUSES {
        for cause in causes.iter().chain(&["terminating"]) {
            figures.add(WAITING, &[("stage", stage), ("cause", cause)], 0);
        }
    }
    for state in CAPACITY.into_iter().filter(|_| options.events) {
        figures.add(UNSCHEDULABLE, &[("capacity", state)], 0);
    }
    for reason in DISRUPTION_REASONS {
        figures.add(DISRUPTIONS, &[("reason", reason)], 0);
    }
}

/// Adds what one life says.
pub(crate) fn count(startup: &Startup<'_>, options: &Options, figures: &mut Figures) {
    let Some(end) = startup.end() else {
        let (stage, cause) = super::at(startup, startup.last_place());
        figures.add(WAITING, &[("stage", stage), ("cause", cause)], 1);
        if stage == "unschedulable" && options.events {
            figures.add(UNSCHEDULABLE, &[("capacity", super::capacity(startup))], 1);
        }
        return;
    };
    if end.outcome == "disrupted" {
        let pod = &startup.life.folded[end.place].pod;
        let stated = pod.condition("DisruptionTarget");
        let stated = match stated.filter(|condition| condition.is_true()) {
            Some(condition) => &condition.reason,
            None => "TerminationByKubelet",
        };
        let known = DISRUPTION_REASONS.into_iter().find(|reason| *reason == stated);
        figures.add(DISRUPTIONS, &[("reason", known.unwrap_or("other"))], 1);
    }
}
