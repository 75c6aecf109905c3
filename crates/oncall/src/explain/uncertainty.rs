//! What is uncertain about the times of a startup, in words.

use podinit_core::lifecycle::{
    IntervalResult, LostStartup, Milestone, NetworkTime, Record, RecordedMilestone,
    UnobservedReason,
};

/// What is uncertain about the time of a milestone.
pub(super) fn of_milestone(record: &Record, reached: RecordedMilestone) -> Option<&'static str> {
    if reached.time.is_none() {
        return Some("reached, at an unknown time");
    }
    match reached.milestone {
        Milestone::NetworkReady => match record.network_time? {
            NetworkTime::Exact => None,
            NetworkTime::Bounded => Some(
                "at the latest: the kubelet set the condition only after a container had started",
            ),
            NetworkTime::Late => Some(
                "may be late: the condition came with the first container, image pulls included",
            ),
        },
        Milestone::Ungated => Some("when the watch showed it; Kubernetes states no time"),
        _ => None,
    }
}

/// Why the duration of an interval is not known.
pub(super) const fn of_interval(result: IntervalResult) -> Option<&'static str> {
    match result {
        IntervalResult::Measured { .. } | IntervalResult::Open => None,
        IntervalResult::Unobserved { reason } => Some(match reason {
            UnobservedReason::Preexisting => "over before podinit first saw the pod",
            UnobservedReason::ConditionAbsent => "the pod's status never had the condition",
            UnobservedReason::NotSeen => "its end was never seen",
            UnobservedReason::Time => "its times cannot be used",
        }),
    }
}

/// What a list does not show of a bound pod.
pub(super) const BEFORE_BINDING: &str =
    "a list does not tell whether it was gated, unschedulable or being scheduled before";

/// Why a step or an image pull comes out longer than the stage that it is inside of.
pub(super) const fn beyond_stage(is_pull: bool) -> &'static str {
    match is_pull {
        true => {
            "longer than its stage: the kubelet measured it, and the times of the stage are estimates"
        }
        false => "cut to its stage: its times are estimates, or of another clock",
    }
}

/// What a pod that had ended when it was first seen no longer says.
pub(super) const OVER_AT_FIRST_SIGHT: &str = "the pod had ended before it was first seen: its status no longer says whether and when it was ready";

/// What a pod that was first seen late no longer says.
pub(super) const fn of_lost(lost: LostStartup) -> &'static str {
    match lost {
        LostStartup::Restarted => {
            "a container was restarted before the pod was first seen: its first start may be forgotten"
        }
        LostStartup::ReadyBefore => {
            "the pod has been ready before it was first seen: these times are not those of its startup"
        }
        LostStartup::TrueAgain => {
            "a condition became true long after the containers had started: these times may be later ones"
        }
        LostStartup::EndedLater => {
            "the pod failed long after its containers had started: it may have been ready until then"
        }
    }
}
