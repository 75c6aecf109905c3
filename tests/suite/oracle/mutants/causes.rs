//! Planted bugs in causes, disruption and changes in place ([§10](crate::specification#s10)).

use super::Mutant;
use crate::oracle::reading::{
    CauseRules, Clause, Condition, Container, Kind, KubeEvent, Rules, Snapshot, SpecCauses, State,
};

mutants! {
    CauseRules as causes;
    BlamesTheSchedulerForABoundPod {
        fn waits_for_the_kubelet(&self, _: &Snapshot) -> bool {
            false
        }
    }
    BlamesTheKubeletForWhatItTook {
        fn waits_for_the_kubelet(&self, pod: &Snapshot) -> bool {
            let started = None;
            SpecCauses.waits_for_the_kubelet(&Snapshot { started, ..pod.clone() })
        }
    }
    BlamesTheKubeletForWhatIsSaid {
        fn waits_for_the_kubelet(&self, pod: &Snapshot) -> bool {
            let is_scheduled = pod.condition("PodScheduled").is_some_and(Condition::is_true);
            !pod.node_name.is_empty() && !is_scheduled && pod.started.is_none()
        }
    }
    SeesNoNewSandbox {
        fn runs_init_again(&self, _: &Snapshot) -> bool {
            false
        }
    }
    RunsInitBesideContainers {
        fn runs_init_again(&self, pod: &Snapshot) -> bool {
            let mut pod = pod.clone();
            pod.containers.retain(|one| one.kind != Kind::Regular);
            SpecCauses.runs_init_again(&pod)
        }
    }
    RunsInitOfWhichNothingIsSaid {
        fn runs_init_again(&self, pod: &Snapshot) -> bool {
            let mut pod = pod.clone();
            for one in &mut pod.containers {
                if one.state == State::None {
                    one.state = State::Waiting(String::new());
                }
            }
            SpecCauses.runs_init_again(&pod)
        }
    }
    RunsSidecarsAgain {
        fn runs_init_again(&self, pod: &Snapshot) -> bool {
            let mut pod = pod.clone();
            for one in &mut pod.containers {
                if one.kind == Kind::RestartableInit {
                    one.kind = Kind::Init;
                }
            }
            SpecCauses.runs_init_again(&pod)
        }
    }
    SeesNoFullDisk {
        fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
            SpecCauses.warning(event).filter(|_| event.reason != "Failed")
        }
    }
    TakesEveryFailureForASandbox {
        fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
            match event.reason.as_str() {
                "FailedSync" => Some("sandbox"),
                _ => SpecCauses.warning(event),
            }
        }
    }
    SeesNoSlowVolume {
        fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
            let is_slow = event.reason == "VolumePermissionChangeInProgress";
            SpecCauses.warning(event).filter(|_| !is_slow)
        }
    }
    SeesNoFailedCgroup {
        fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
            let is_of_cgroup = event.reason == "FailedCreatePodContainer";
            SpecCauses.warning(event).filter(|_| !is_of_cgroup)
        }
    }
    SeesNoTermination {
        fn terminating_comes_first(&self) -> bool {
            false
        }
    }
    ReadsOnPastPreemption {
        fn cut<'m>(&self, message: &'m str) -> &'m str {
            message
        }
    }
    ReadsOnPastClaims {
        fn cut<'m>(&self, message: &'m str) -> &'m str {
            message.split(" preemption:").next().unwrap_or_default()
        }
    }
    TakesTheFirstClause {
        fn most(&self, sums: &[(&'static str, u128)]) -> Option<&'static str> {
            sums.first().map(|(cause, _)| *cause)
        }
    }
    TakesTheLastClauseOnATie {
        fn most(&self, sums: &[(&'static str, u128)]) -> Option<&'static str> {
            sums.iter().max_by_key(|(_, sum)| *sum).map(|(cause, _)| *cause)
        }
    }
    AddsNoClauses {
        fn adds_up(&self) -> bool {
            false
        }
    }
    KnowsNoVolcano {
        fn before_clauses(&self) -> &'static [&'static str] {
            &[" nodes are available: ", " resources were found: "]
        }
    }
    KnowsNoKai {
        fn before_clauses(&self) -> &'static [&'static str] {
            &[" nodes are available: ", " nodes are unavailable: "]
        }
    }
    AddsResources {
        fn adds_resources(&self) -> bool {
            true
        }
    }
    CountsNodesOfOthers {
        fn is_of_other_nodes(&self, _: &Clause) -> bool {
            false
        }
    }
    LeavesOutFaultyNodes {
        fn is_of_other_nodes(&self, clause: &Clause) -> bool {
            SpecCauses.is_of_other_nodes(clause) || clause.text.contains("{node.kubernetes.io/")
        }
    }
    TrustsEverySelector {
        fn trusts_others(&self, _: bool) -> bool {
            true
        }
    }
    TrustsNoSelector {
        fn trusts_others(&self, _: bool) -> bool {
            false
        }
    }
    KnowsWhatIsBoundLater {
        fn is_known_by(&self, _: usize, _: usize) -> bool {
            true
        }
    }
    BlamesSelectorsOnATie {
        fn of_both(&self, taint: u128, affinity: u128) -> &'static str {
            if affinity >= taint { "affinity" } else { "taint" }
        }
    }
    BlamesTaintsBesideSelectors {
        fn of_both(&self, _: u128, _: u128) -> &'static str {
            "taint"
        }
    }
    MindsControlPlanes {
        fn is_of_control_plane(&self, _: &Clause) -> bool {
            false
        }
    }
    MindsNodesOfOtherDaemons {
        fn is_named_before(&self, _: &Clause) -> bool {
            false
        }
    }
    TakesCordonsForPurposes {
        fn is_fault(&self, clause: &Clause) -> bool {
            SpecCauses.is_fault(clause) && clause.text.contains('{')
        }
    }
    WaitsForGangsWithoutRoom {
        fn is_gang_without_room(&self) -> bool {
            true
        }
    }
    HearsNoScheduler {
        fn is_of_scheduler(&self, _: &KubeEvent) -> bool {
            false
        }
    }
    HearsAutoscalersAsSchedulers {
        fn is_of_scheduler(&self, event: &KubeEvent) -> bool {
            event.reason == "FailedScheduling"
        }
    }
    SplitsWhatIsSaidOfAllNodes {
        fn is_one_clause(&self, _: &str) -> bool {
            false
        }
    }
    TakesThePromiseForAPreemption {
        fn is_binding(&self, _: Option<&Condition>) -> bool {
            false
        }
    }
    TakesEveryNominationForABinding {
        fn is_binding(&self, condition: Option<&Condition>) -> bool {
            condition.is_none_or(|condition| condition.status == "False")
        }
    }
    TakesAFailedPreemptionForOne {
        fn is_binding(&self, condition: Option<&Condition>) -> bool {
            condition.is_none_or(|condition| {
                condition.status == "False" && condition.reason == "SchedulerError"
            })
        }
    }
    BindsWhileVictimsEnd {
        fn is_binding(&self, condition: Option<&Condition>) -> bool {
            SpecCauses.is_binding(condition)
                || condition.is_some_and(|condition| {
                    condition.reason == "Unschedulable"
                        && condition.message.contains(" preemption:")
                })
        }
    }
    KnowsNoSiblings {
        fn is_gang(&self, message: &str) -> bool {
            let message = message.to_lowercase();
            ["pod group", "podgroup", "gang"]
                .iter()
                .any(|name| message.contains(name))
        }
    }
    BlamesTheSchedulerForVolumes {
        fn failed_scheduler(&self, _: &str) -> &'static str {
            "scheduler_error"
        }
    }
    TakesTheNameOfASandboxForTheNetwork {
        fn is_of_network(&self, message: &str) -> bool {
            let message = message.to_lowercase();
            message.contains("network") || message.contains("cni")
        }
    }
    TakesAPauseImageForTheNetwork {
        fn is_of_network(&self, message: &str) -> bool {
            let message = message.to_lowercase();
            SpecCauses.is_of_network(&message) || message.contains("plugin type=")
        }
    }
    KeepsAWarningForEver {
        fn clears(&self, _: &KubeEvent, _: &KubeEvent) -> bool {
            false
        }
    }
    ClearsEveryWarning {
        fn clears(&self, event: &KubeEvent, _: &KubeEvent) -> bool {
            event.reason == "SuccessfulAttachVolume"
        }
    }
    BringsAnEarlierWarningBack {
        fn brings_earlier_back(&self) -> bool {
            true
        }
    }
    WaitsForTheNetworkCondition {
        fn shows_network(&self, _: &Container, _: bool) -> bool {
            false
        }
    }
    TakesAFalseConditionForNone {
        fn is_without_network(&self, condition: Option<&Condition>) -> bool {
            condition.is_none_or(|condition| condition.status == "False")
        }
    }
    TakesNoReasonForOne {
        fn shows_network(&self, container: &Container, has_start: bool) -> bool {
            has_start || matches!(container.state, State::Waiting(_))
        }
    }
    ProbesWhatHasExited {
        fn has_exited(&self, _: &Container) -> bool {
            false
        }
    }
    TakesAnEndedSidecarForExited {
        fn has_exited(&self, container: &Container) -> bool {
            container.state == State::Terminated(Some(0))
        }
    }
    TakesAStartForStarted {
        fn init_is_over(&self, container: &Container, has_start: bool) -> bool {
            SpecCauses.init_is_over(container, has_start)
                || (container.kind == Kind::RestartableInit && has_start)
        }
    }
    HearsKubeletsOnly {
        fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
            let reporter = match event.reporting_component.as_str() {
                "" => &event.source_component,
                reporter => reporter,
            };
            SpecCauses.warning(event).filter(|_| reporter == "kubelet")
        }
    }
    MindsTheCaseOfWarnings {
        fn is_of_network(&self, message: &str) -> bool {
            message.contains("plugin type=") || message.contains("setup network")
        }
    }
    TakesTheFirstWarning {
        fn which_warning(&self, delivered: &[&'static str]) -> Option<&'static str> {
            delivered.first().copied()
        }
    }
    WaitsForSidecarsToEnd {
        fn init_is_over(&self, container: &Container, _: bool) -> bool {
            container.state == State::Terminated(Some(0))
        }
    }
    TakesFailedInitForOver {
        fn init_is_over(&self, container: &Container, has_start: bool) -> bool {
            matches!(container.state, State::Terminated(_))
                || SpecCauses.init_is_over(container, has_start)
        }
    }
    BlamesWhatTheDeliveryShows {
        fn blamed_of_delivery(&self, place: usize) -> Option<usize> {
            Some(place)
        }
    }
    DisruptsNoFailure {
        fn is_instead_of(&self, outcome: &str) -> bool {
            matches!(outcome, "deleted" | "vanished")
        }
    }
    DisruptsTheCompleted {
        fn is_instead_of(&self, outcome: &str) -> bool {
            outcome != "ready"
        }
    }
    DisruptsTheReady {
        fn is_instead_of(&self, outcome: &str) -> bool {
            outcome != "completed"
        }
    }
    HearsSchedulersOfCapacity {
        fn capacity(&self, event: &KubeEvent) -> Option<&'static str> {
            match event.reason.as_str() {
                "FailedScheduling" => Some("no_scale_up"),
                _ => SpecCauses.capacity(event),
            }
        }
    }
    HearsNoKarpenter {
        fn capacity(&self, event: &KubeEvent) -> Option<&'static str> {
            match event.reason.as_str() {
                "FailedScheduling" => None,
                _ => SpecCauses.capacity(event),
            }
        }
    }
    TakesAFailureForARefusal {
        fn capacity(&self, event: &KubeEvent) -> Option<&'static str> {
            match event.reason.as_str() {
                "FailedScaleUp" => Some("no_scale_up"),
                _ => SpecCauses.capacity(event),
            }
        }
    }
    HearsTheClusterAutoscalerOnly {
        fn capacity(&self, event: &KubeEvent) -> Option<&'static str> {
            let reporter = match event.reporting_component.as_str() {
                "" => &event.source_component,
                reporter => reporter,
            };
            let by_name = ["cluster-autoscaler", "karpenter"].contains(&reporter);
            SpecCauses.capacity(event).filter(|_| by_name)
        }
    }
    ReadsTheSourceOfKarpenterFirst {
        fn capacity(&self, event: &KubeEvent) -> Option<&'static str> {
            match (event.reason.as_str(), event.source_component.as_str()) {
                ("FailedScheduling", "karpenter") => Some("no_scale_up"),
                ("FailedScheduling", component) if !component.is_empty() => None,
                _ => SpecCauses.capacity(event),
            }
        }
    }
    TakesTheFirstWordOnCapacity {
        fn which_capacity(&self, delivered: &[&'static str]) -> &'static str {
            delivered.first().copied().unwrap_or("unknown")
        }
    }
    PrefersGoodNewsOfCapacity {
        fn which_capacity(&self, delivered: &[&'static str]) -> &'static str {
            let good = delivered.iter().find(|state| **state != "no_scale_up");
            good.copied().unwrap_or(SpecCauses.which_capacity(delivered))
        }
    }
    HearsOfCapacityWhileUnschedulable {
        fn counts_before_unschedulable(&self) -> bool {
            false
        }
    }
    KnowsEvictionsByTheConditionAlone {
        fn was_disrupted(&self, _: &Snapshot) -> bool {
            false
        }
    }
    TakesEveryEvictionForADisruption {
        fn was_disrupted(&self, pod: &Snapshot) -> bool {
            pod.reason == "Evicted" || SpecCauses.was_disrupted(pod)
        }
    }
    TakesEveryShutdownForADisruption {
        fn was_disrupted(&self, pod: &Snapshot) -> bool {
            let is_of_shutdown = ["Terminated", "Shutdown"].contains(&pod.reason.as_str());
            pod.is_terminal() && is_of_shutdown || SpecCauses.was_disrupted(pod)
        }
    }
    SeesGatesWhereThereAreNone {
        fn behind_containers(&self, _: bool) -> &'static str {
            "readiness_gate"
        }
    }
    CountsResizesOpenAtFirstSight {
        fn counts_open_at_first_sight(&self) -> bool {
            true
        }
    }
}
