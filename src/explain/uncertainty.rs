//! What is uncertain about the times of a startup, in words.

use crate::lifecycle::{
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
        IntervalResult::Measured(_) | IntervalResult::Open => None,
        IntervalResult::Unobserved(reason) => Some(match reason {
            UnobservedReason::Preexisting => "over before podinit first saw the pod",
            UnobservedReason::ConditionAbsent => "the pod's status never had the condition",
            UnobservedReason::NotSeen => "its end was never seen",
            UnobservedReason::Time => "its times cannot be used",
        }),
    }
}

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
    }
}
