//! The clauses of [§10](crate::specification#s10) that can be got wrong, one method each. The
//! methods' own bodies are the specification; [`SpecCauses`] leaves all of them as they are.

use super::scheduler::{self, Clause};
use crate::oracle::reading::container::{Container, Kind, State};
use crate::oracle::reading::kube_event::KubeEvent;
use crate::oracle::reading::snapshot::{Condition, Snapshot};

/// [§10](crate::specification#s10), where nothing is overridden.
pub(crate) trait CauseRules {
    /// The first row of the table
    fn terminating_comes_first(&self) -> bool {
        true
    }

    /// "`spec.nodeName` is set, no PodScheduled condition, no startTime": the first row of `scheduling`
    fn waits_for_the_kubelet(&self, pod: &Snapshot) -> bool {
        !pod.node_name.is_empty()
            && pod.condition("PodScheduled").is_none()
            && pod.started.is_none()
    }

    /// "if no regular container is running in the newest status, and that status has a not restartable init
    /// container that has not ended with exit code 0": those of `init` take the place of the rows of `containers`
    fn runs_init_again(&self, pod: &Snapshot) -> bool {
        let runs = |one: &Container| one.kind == Kind::Regular && one.state == State::Running;
        let is_open = |one: &Container| {
            one.kind == Kind::Init
                && one.state != State::None
                && one.state != State::Terminated(Some(0))
        };
        !pod.containers.iter().any(runs) && pod.containers.iter().any(is_open)
    }

    /// The rows of `binding`, for a pod whose `nominatedNodeName` is set
    fn is_binding(&self, condition: Option<&Condition>) -> bool {
        scheduler::names_a_node_for_binding(condition)
    }

    /// "the whole PodScheduled message contains […], in any case"
    fn is_gang(&self, message: &str) -> bool {
        let message = message.to_lowercase();
        let words = [
            "pod group",
            "podgroup",
            "gang",
            "sibling pods",
            "mincount",
            "minavailable",
            "minmember",
            "mintaskmember",
            "can possibly be assigned",
            "can possibly be assgined",
        ];
        words.iter().any(|name| message.contains(name))
    }

    /// "unless they stand before what is cut off, and a clause with a number is of `resources`"
    fn is_gang_without_room(&self) -> bool {
        false
    }

    /// "a FailedScheduling Event, whoever reports it but an autoscaler"
    fn is_of_scheduler(&self, event: &KubeEvent) -> bool {
        event.reason == "FailedScheduling" && self.capacity(event).is_none()
    }

    /// "and the message contains `volumebinding` or `binding volumes`, in any case"
    fn failed_scheduler(&self, message: &str) -> &'static str {
        let message = message.to_lowercase();
        match message.contains("volumebinding") || message.contains("binding volumes") {
            true => "volume",
            false => "scheduler_error",
        }
    }

    /// "It is cut at the first of […]"
    fn cut<'m>(&self, message: &'m str) -> &'m str {
        let ends = [
            " preemption:",
            " no new claims to deallocate",
            " still not schedulable",
            " deallocation of ResourceClaim",
            " deletion of ResourceClaim",
        ];
        let mut cut = message;
        for end in ends {
            cut = cut.split(end).next().unwrap_or_default();
        }
        cut
    }

    /// "` nodes are available: ` or ` nodes are unavailable: ` (Volcano)"
    fn before_clauses(&self) -> &'static [&'static str] {
        &[" nodes are available: ", " nodes are unavailable: ", " resources were found: "]
    }

    /// "If the text does not begin with a number […], it is one clause."
    fn is_one_clause(&self, text: &str) -> bool {
        scheduler::number(text).is_none()
    }

    /// "the numbers of clauses with the same cause are added"
    fn adds_up(&self) -> bool {
        true
    }

    /// "of `resources` the greatest number counts"
    fn adds_resources(&self) -> bool {
        false
    }

    /// "Left out beside any other clause is `didn't satisfy plugin(s) [`"
    fn is_named_before(&self, clause: &Clause) -> bool {
        scheduler::is_named_before(clause)
    }

    /// "Then clauses of taints of control planes"
    fn is_of_control_plane(&self, clause: &Clause) -> bool {
        scheduler::is_of_control_plane(clause)
    }

    /// "cordons and taints of faults"
    fn is_fault(&self, clause: &Clause) -> bool {
        scheduler::is_fault(clause)
    }

    /// "left out too if another pod of its workload and revision is or was bound"
    fn trusts_others(&self, are_bound: bool) -> bool {
        are_bound
    }

    /// "what was delivered with its newest version or before"
    fn is_known_by(&self, shown: usize, step: usize) -> bool {
        shown <= step
    }

    /// "that of the clause with most nodes, on a tie `taint`"
    fn of_both(&self, taint: u128, affinity: u128) -> &'static str {
        if affinity > taint { "affinity" } else { "taint" }
    }

    /// "clauses of nodes that were not meant for the pod are left out"
    fn is_of_other_nodes(&self, clause: &Clause) -> bool {
        scheduler::is_of_other_nodes(clause)
    }

    /// "the cause with the largest sum decides, on a tie the one whose first clause comes first"
    fn most(&self, sums: &[(&'static str, u128)]) -> Option<&'static str> {
        let most = sums.iter().map(|(_, sum)| *sum).max()?;
        let first = sums.iter().find(|(_, sum)| *sum == most)?;
        Some(first.0)
    }

    /// The warnings "whoever reports it", and the cause that each of them is.
    fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
        match event.reason.as_str() {
            "FailedPrepareDynamicResources" => Some("claim"),
            "FailedMount" | "FailedAttachVolume" | "FailedMapVolume" => Some("volume"),
            "VolumePermissionChangeInProgress" => Some("volume"),
            "NetworkNotReady" => Some("cni"),
            "FailedCreatePodSandBox" if self.is_of_network(&event.message) => Some("cni"),
            "FailedCreatePodSandBox" | "FailedCreatePodContainer" => Some("sandbox"),
            "Failed" if event.message.starts_with("error making pod data directories") => {
                Some("sandbox")
            }
            _ => None,
        }
    }

    /// "whose message contains one of […], and none of […]; all in any case"
    fn is_of_network(&self, message: &str) -> bool {
        let message = message.to_lowercase();
        let has = |words: &&str| message.contains(*words);
        let network = [
            "setup network",
            "networkplugin cni",
            "cni network",
            "plugin type=",
            "pod network sandbox",
            "network is not ready",
            "cni plugin not initialized",
        ];
        let others = ["failed to reserve sandbox name", "failed to pull image"];
        network.iter().any(has) && !others.iter().any(has)
    }

    /// [§10.4](crate::specification#s10-4): the table, "reported by `karpenter` (read as in 9.2)"
    fn capacity(&self, event: &KubeEvent) -> Option<&'static str> {
        let reporter = match event.reporting_component.as_str() {
            "" => &event.source_component,
            reporter => reporter,
        };
        match event.reason.as_str() {
            "TriggeredScaleUp" => Some("scaling_up"),
            "NotTriggerScaleUp" => Some("no_scale_up"),
            "FailedScheduling" if ["karpenter", "eks-auto-mode/compute"].contains(&reporter) => {
                Some("no_scale_up")
            }
            "FailedScaleUp" => Some("scale_up_failed"),
            "Nominated" => Some("nominated"),
            _ => None,
        }
    }

    /// [§10.4](crate::specification#s10-4): "from the last of these Events about it"
    fn which_capacity(&self, delivered: &[&'static str]) -> &'static str {
        delivered.last().copied().unwrap_or("unknown")
    }

    /// [§10.4](crate::specification#s10-4): "that was delivered while it was in flight", in whichever stage
    fn counts_before_unschedulable(&self) -> bool {
        true
    }

    /// "clears a last warning `FailedAttachVolume`"
    fn clears(&self, event: &KubeEvent, warning: &KubeEvent) -> bool {
        event.reason == "SuccessfulAttachVolume" && warning.reason == "FailedAttachVolume"
    }

    /// "and no earlier one comes back"
    fn brings_earlier_back(&self) -> bool {
        false
    }

    /// "with any status": whether a pod with this network condition has none
    fn is_without_network(&self, condition: Option<&Condition>) -> bool {
        condition.is_none()
    }

    /// "has a start or waits with a reason other than […] (no reason is none)"
    fn shows_network(&self, container: &Container, has_start: bool) -> bool {
        has_start
            || match &container.state {
                State::Waiting(reason) => {
                    !["", "ContainerCreating", "PodInitializing"].contains(&reason.as_str())
                }
                _ => false,
            }
    }

    /// "the state of a regular container is `terminated` with exit code 0"
    fn has_exited(&self, container: &Container) -> bool {
        container.kind == Kind::Regular && container.state == State::Terminated(Some(0))
    }

    /// "the last of the warnings named here"
    fn which_warning(&self, delivered: &[&'static str]) -> Option<&'static str> {
        delivered.last().copied()
    }

    /// Not so is "the first init container that has neither ended with exit code 0 nor, if it is
    /// restartable, started".
    fn init_is_over(&self, container: &Container, _has_start: bool) -> bool {
        container.state == State::Terminated(Some(0))
            || (container.kind == Kind::RestartableInit && container.says_started)
    }

    /// "for an interval that was found too long when it ended: those before that delivery, `none`
    /// where the pod was not known before"
    fn blamed_of_delivery(&self, place: usize) -> Option<usize> {
        place.checked_sub(1)
    }

    /// [§10.2](crate::specification#s10-2): "without having been Ready, not as `completed`", "instead
    /// of `failed`, `rejected`, `deleted` or `vanished`"
    fn is_instead_of(&self, outcome: &str) -> bool {
        matches!(outcome, "failed" | "rejected" | "deleted" | "vanished")
    }

    /// [§10.2](crate::specification#s10-2): "also where its container statuses are gone and no condition says so, if its
    /// reason is […]"
    fn was_disrupted(&self, pod: &Snapshot) -> bool {
        let message = pod.message.to_lowercase();
        let says = |text: &str| message.contains(text);
        let of_shutdown = says("shutdown") || says("shutting");
        pod.is_terminal()
            && match pod.reason.as_str() {
                "Evicted" => pod.message.starts_with("The node was low on resource"),
                "Preempting" => true,
                "Terminated" | "Shutdown" => of_shutdown && !says("rejected") && !says("not admit"),
                _ => false,
            }
    }

    /// "A pod without readiness gates never has the cause `readiness_gate`"
    fn behind_containers(&self, has_readiness_gates: bool) -> &'static str {
        match has_readiness_gates {
            true => "readiness_gate",
            false => "unknown",
        }
    }

    /// [§10.3](crate::specification#s10-3): "One that was open at first sight is counted in the gauge
    /// alone."
    fn counts_open_at_first_sight(&self) -> bool {
        false
    }
}

/// [§10](crate::specification#s10) as the specification states it.
pub(crate) struct SpecCauses;

impl CauseRules for SpecCauses {}
