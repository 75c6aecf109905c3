//! What autoscalers say of pods that fit on no node, in words ([§10.4](crate::specification#s10-4)).

use std::borrow::Cow;

use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{NodeChoices, RecordedCapacity};
use podinit_core::reason::{MOST_CHARACTERS, shorten};
use podinit_problems::FoundCapacity;

/// An autoscaler without a name.
const UNNAMED: &str = "an autoscaler";

/// What an autoscaler says of one pod, as a clause; `None` without one.
pub(super) fn of_pod(capacity: &RecordedCapacity) -> Option<String> {
    let by = capacity.by.as_deref();
    if let Some(choices) = capacity.choices {
        return Some(of_choices(by, choices));
    }
    let clause = clause(capacity.state, by, "a node", "has chosen a node for it")?;
    // Where a node is on its way, its name says little.
    let why = (capacity.message.as_deref()).filter(|_| capacity.state.is_refusal());
    Some(with_why(clause, why))
}

/// What an autoscaler says of the pods of a problem since `since`, as a clause.
pub(super) fn of_pods(capacity: &FoundCapacity, since: &str) -> Option<String> {
    let by = capacity.by.as_deref();
    if let Some(choices) = capacity.choices {
        return Some(of_choices(by, choices));
    }
    let clause = clause(capacity.state, by, "nodes", "has chosen nodes for them")?;
    Some(format!("{} since {since}", with_why(clause, capacity.why.as_deref())))
}

/// How often a node was chosen, lately.
fn of_choices(by: Option<&str>, choices: NodeChoices) -> String {
    let came = match choices.came {
        0 => "none came".to_owned(),
        came => format!("{came} of them came"),
    };
    format!("{} has chosen a node {} times, {came}", by.unwrap_or(UNNAMED), choices.chosen)
}

fn with_why(clause: String, why: Option<&str>) -> String {
    match why.map(reason).filter(|why| !why.is_empty()) {
        Some(why) => format!("{clause}: {why}"),
        None => clause,
    }
}

fn clause(state: CapacityState, by: Option<&str>, nodes: &str, placed: &str) -> Option<String> {
    let by = by.unwrap_or(UNNAMED);
    match state {
        CapacityState::ScalingUp => Some(format!("{by} is adding {nodes}")),
        CapacityState::Nominated => Some(format!("{by} {placed}")),
        CapacityState::NoScaleUp => Some("no autoscaler helps".to_owned()),
        CapacityState::ScaleUpFailed => Some(format!("{by} could not add {nodes}")),
        CapacityState::Unknown => None,
    }
}

/// Why an autoscaler does not help: what stands behind the words that say only that.
fn reason(message: &str) -> Cow<'_, str> {
    let heads = ["pod didn't trigger scale-up: ", "Failed to schedule pod, "];
    let after = heads.iter().find_map(|head| message.strip_prefix(head));
    let after = after.unwrap_or(message);
    // GKE: `Node scale up in zones a associated with this pod failed: GCE quota exceeded. Pod is at risk of …`
    let failed = after.split_once(" associated with this pod failed: ");
    let after = failed.map_or(after, |(_, why)| why);
    let after = after.split(". Pod is at risk ").next().unwrap_or(after);
    shorten(after.trim().trim_end_matches('.'), MOST_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::timestamp::Timestamp;

    fn said(state: CapacityState, by: Option<&str>, message: Option<&str>) -> Option<String> {
        of_pod(&RecordedCapacity {
            state,
            by: by.map(Into::into),
            since: None,
            message: message.map(Into::into),
            choices: None,
        })
    }

    #[test]
    fn an_autoscaler_is_named_and_says_why_it_does_not_help() {
        let autoscaler = Some("cluster-autoscaler");
        let adds = Some("pod triggered scale-up: [{pool-a 3->4 (max: 10)}]");
        for (state, by, message, clause) in [
            (CapacityState::ScalingUp, autoscaler, adds, "cluster-autoscaler is adding a node"),
            (CapacityState::ScalingUp, None, None, "an autoscaler is adding a node"),
            (
                CapacityState::Nominated,
                Some("karpenter"),
                None,
                "karpenter has chosen a node for it",
            ),
            (CapacityState::NoScaleUp, autoscaler, None, "no autoscaler helps"),
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
            (
                CapacityState::ScaleUpFailed,
                autoscaler,
                Some(
                    "Node scale up in zones us-west1-b associated with this pod failed: GCE out of resources. Pod is \
                     at risk of not being scheduled.",
                ),
                "cluster-autoscaler could not add a node: GCE out of resources",
            ),
            (CapacityState::ScaleUpFailed, None, None, "an autoscaler could not add a node"),
        ] {
            assert_eq!(said(state, by, message).as_deref(), Some(clause));
        }
        assert_eq!(said(CapacityState::Unknown, None, None), None);
    }

    #[test]
    fn nodes_that_are_chosen_and_do_not_come_are_counted() {
        let by = || Some("karpenter".into());
        for (chosen, came, clause) in
            [(5, 0, " a node 5 times, none came"), (4, 2, " a node 4 times, 2 of them came")]
        {
            let choices = Some(NodeChoices { chosen, came });
            let (state, since) = (CapacityState::Nominated, Timestamp::EPOCH);
            let one = RecordedCapacity { state, by: by(), since: None, message: None, choices };
            assert_eq!(of_pod(&one), Some(format!("karpenter has chosen{clause}")));
            let all = FoundCapacity { state, by: by(), since, why: None, choices };
            assert_eq!(of_pods(&all, "09:00"), of_pod(&one));
        }
    }
}
