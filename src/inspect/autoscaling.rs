//! What autoscalers say of pods that fit on no node, in words ([§10.4](crate::specification#s10-4)).

use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::RecordedCapacity;
use podinit_core::problems::FoundCapacity;

/// What an autoscaler says of one pod, as a clause; `None` where none says anything.
pub(super) fn of_pod(capacity: &RecordedCapacity) -> Option<String> {
    let by = capacity.by.as_deref();
    let clause = clause(capacity.state, by, "a node", "has chosen a node for it")?;
    let why = capacity.message.as_deref().filter(|_| {
        // Where a node is on its way, its name says little.
        capacity.state == CapacityState::NoScaleUp
    });
    let why = why.map(reason).filter(|why| !why.is_empty());
    Some(why.map_or(clause.clone(), |why| format!("{clause}: {why}")))
}

/// What an autoscaler says of the pods of a problem, as a clause.
pub(super) fn of_pods(capacity: &FoundCapacity) -> Option<String> {
    let by = capacity.by.as_deref();
    clause(capacity.state, by, "nodes", "has chosen nodes for them")
}

fn clause(state: CapacityState, by: Option<&str>, nodes: &str, placed: &str) -> Option<String> {
    let by = by.unwrap_or("an autoscaler");
    match state {
        CapacityState::ScalingUp => Some(format!("{by} is adding {nodes}")),
        CapacityState::Nominated => Some(format!("{by} {placed}")),
        CapacityState::NoScaleUp => Some("no autoscaler helps".to_owned()),
        CapacityState::Unknown => None,
    }
}

/// Why an autoscaler does not help: what stands behind the words that say only that.
fn reason(message: &str) -> &str {
    let heads = ["pod didn't trigger scale-up: ", "Failed to schedule pod, "];
    let after = heads.iter().find_map(|head| message.strip_prefix(head));
    after.unwrap_or(message).trim().trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(state: CapacityState, by: Option<&str>, message: Option<&str>) -> Option<String> {
        of_pod(&RecordedCapacity {
            state,
            by: by.map(Into::into),
            since: None,
            message: message.map(Into::into),
        })
    }

    #[test]
    fn an_autoscaler_is_named_and_says_why_it_does_not_help() {
        let autoscaler = Some("cluster-autoscaler");
        let adds = Some("pod triggered scale-up: [{pool-a 3->4 (max: 10)}]");
        for (state, by, message, clause) in [
            (
                CapacityState::ScalingUp,
                autoscaler,
                adds,
                "cluster-autoscaler is adding a node",
            ),
            (
                CapacityState::ScalingUp,
                None,
                None,
                "an autoscaler is adding a node",
            ),
            (
                CapacityState::Nominated,
                Some("karpenter"),
                None,
                "karpenter has chosen a node for it",
            ),
            (
                CapacityState::NoScaleUp,
                autoscaler,
                None,
                "no autoscaler helps",
            ),
            (
                CapacityState::NoScaleUp,
                autoscaler,
                Some("pod didn't trigger scale-up: 1 max node group size reached"),
                "no autoscaler helps: 1 max node group size reached",
            ),
            (
                CapacityState::NoScaleUp,
                Some("karpenter"),
                Some("Failed to schedule pod, no instance type met all requirements."),
                "no autoscaler helps: no instance type met all requirements",
            ),
        ] {
            assert_eq!(said(state, by, message).as_deref(), Some(clause));
        }
        assert_eq!(said(CapacityState::Unknown, None, None), None);
    }
}
