//! The clauses of [§9](crate::specification#s9) that can be got wrong, one method each. The methods'
//! own bodies are the specification; [`SpecEvidence`] leaves all of them as they are.

use super::Source;
use super::pull::Found;
use super::scheduled::is_fused;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::Timestamps;
use crate::oracle::reading::container::{Container, Kind};
use crate::oracle::reading::kube_event::KubeEvent;
use crate::oracle::reading::rules::Entry;
use crate::oracle::reading::snapshot::Snapshot;

/// [§9](crate::specification#s9), where nothing is overridden.
pub(crate) trait EvidenceRules {
    /// [§9.1](crate::specification#s9-1): "a container's start is the earliest of […] that is not
    /// absurd"
    fn start_of(&self, container: &Container) -> Option<Nanos> {
        container.starts.iter().min().copied()
    }

    /// [§9.1](crate::specification#s9-1): "every container of `spec.containers` has […] a start;
    /// […] the milestone's API time is the latest start over the containers. No containers in the
    /// spec: never reached."
    fn containers_started(&self, pod: &Snapshot) -> Option<Nanos> {
        let regular = pod.containers.iter().filter(|container| !container.is_init());
        let starts: Option<Vec<Nanos>> =
            regular.map(|container| self.start_of(container)).collect();
        starts?.into_iter().max()
    }

    /// [§9.5](crate::specification#s9-5): "An Event counts for a pod only if `metadata.namespace`,
    /// `involvedObject.namespace` and `involvedObject.name` are the pod's too", those that are stated
    fn is_about(&self, event: &KubeEvent, pod: &Snapshot) -> bool {
        let is_in_namespace = event.namespaces.iter().all(|namespace| *namespace == pod.namespace);
        is_in_namespace && event.object.as_ref().is_none_or(|name| *name == pod.name)
    }

    /// [§9.2](crate::specification#s9-2): "from the kubelet (`reportingComponent`, or where that is
    /// empty `source.component`, is `kubelet`)"
    fn is_from_kubelet(&self, event: &KubeEvent) -> bool {
        let reporter = match event.reporting_component.as_str() {
            "" => &event.source_component,
            reporter => reporter,
        };
        reporter == "kubelet"
    }

    /// [§9.2](crate::specification#s9-2): "`spec.containers{NAME}` or `spec.initContainers{NAME}` of
    /// a container in the pod's spec", by a kubelet's event.
    fn container_of<'p>(&self, event: &KubeEvent, pod: &'p Snapshot) -> Option<&'p Container> {
        if !self.is_from_kubelet(event) {
            return None;
        }
        let (list, name) = event.field_path.strip_suffix('}')?.split_once('{')?;
        let is_init = match list {
            "spec.containers" => false,
            "spec.initContainers" => true,
            _ => return None,
        };
        let mut containers = pod.containers.iter();
        containers.find(|container| container.name == name && container.is_init() == is_init)
    }

    /// [§9.2](crate::specification#s9-2): "with reason `Pulling`, `Pulled`, `Created` or `Started`"
    fn is_evidence(&self, event: &KubeEvent, pod: &Snapshot) -> bool {
        let reasons = ["Pulling", "Pulled", "Created", "Started"];
        reasons.contains(&event.reason.as_str()) && self.container_of(event, pod).is_some()
    }

    /// [§9.2](crate::specification#s9-2): "Its time is `firstTimestamp` (a truncated second). In
    /// `fused` mode it is the instant in the event's name […] where that lies in the second, else
    /// the second plus 0.5 s"
    fn time_of(&self, event: &KubeEvent, timestamps: Timestamps) -> Option<Nanos> {
        let second = event.first?;
        if timestamps == Timestamps::Api {
            return Some(second);
        }
        let named = event.instant_in_name();
        let within = named.filter(|named| (second..second + SECOND).contains(named));
        Some(within.unwrap_or(second + SECOND / 2))
    }

    /// [§9.2](crate::specification#s9-2): "a container start is its second plus 0.5 s" (`fused`)
    fn time_of_start(&self, start: Nanos, timestamps: Timestamps) -> Nanos {
        match timestamps {
            Timestamps::Api => start,
            Timestamps::Fused => start + SECOND / 2,
        }
    }

    /// [§9.2](crate::specification#s9-2): "Evidence that is delivered before Scheduled is latched
    /// implies nothing: the first is kept, and latches NetworkReady in the snapshot that latches
    /// Scheduled": where it latches.
    fn latches_at(&self, event: usize, scheduled: Option<usize>) -> Option<usize> {
        scheduled.map(|scheduled| scheduled.max(event))
    }

    /// [§9.2](crate::specification#s9-2): "latched by what is delivered first", and kept evidence
    /// "before that snapshot's own conditions are looked at".
    fn event_comes_first(&self, event: usize, condition: usize) -> bool {
        event <= condition
    }

    /// [§9.2](crate::specification#s9-2): "the earliest of the condition's and the earliest
    /// start of a container or init container in that snapshot"; "on a tie the first of these"
    fn earliest(&self, condition: Option<Nanos>, start: Option<Nanos>) -> (Option<Nanos>, Source) {
        match (condition, start) {
            (Some(condition), Some(start)) if start < condition => (Some(start), Source::Container),
            (None, Some(start)) => (Some(start), Source::Container),
            (condition, _) => (condition, Source::Condition),
        }
    }

    /// [§9.2](crate::specification#s9-2): "Where the time of Scheduled is known then, and NetworkReady is earlier by
    /// at most 1 s, it is raised to it. Further below it stays as it is"
    fn raised(&self, time: Nanos, scheduled: Option<Nanos>) -> Nanos {
        match scheduled {
            Some(scheduled) if time < scheduled && scheduled - time <= SECOND => scheduled,
            _ => time,
        }
    }

    /// [§9.2](crate::specification#s9-2): "latched after its adoption or discovery, or in the
    /// snapshot that discovered it as new"
    fn counts_source(&self, entry: Entry, at_first_sight: bool) -> bool {
        entry == Entry::Full || (entry == Entry::Adopted && !at_first_sight)
    }

    /// [§9.2](crate::specification#s9-2): "With events on, no SLO excludes a pod as
    /// `condition_absent` for NetworkReady before the pod ends".
    fn waits_for_the_end(&self) -> bool {
        true
    }

    /// [§9.2](crate::specification#s9-2): "(then it does, before the outcome's reason, where the
    /// last status meets" the condition of [§6](crate::specification#s6))
    fn misses_the_network_at_the_end(&self) -> bool {
        true
    }

    /// [§4.8](crate::specification#s4-8): "an Event with the reason `Scheduled` […] Its `eventTime`"
    fn binding(&self, event: &KubeEvent) -> Option<Nanos> {
        event.event_time.filter(|_| event.reason == "Scheduled")
    }

    /// [§4.8](crate::specification#s4-8): "In `fused` mode"
    fn sharpens_in(&self, timestamps: Timestamps) -> bool {
        is_fused(timestamps)
    }

    /// [§4.8](crate::specification#s4-8): "Where it lies in the same second as the estimate of 4.3"
    fn sharpens(&self, told: Nanos, estimate: Nanos) -> bool {
        told.div_euclid(SECOND) == estimate.div_euclid(SECOND)
    }

    /// [§4.8](crate::specification#s4-8): "as long as none of these intervals has ended"
    fn is_in_time(&self, event: usize, ended: Option<usize>) -> bool {
        ended.is_none_or(|ended| event < ended)
    }

    /// [§9.3](crate::specification#s9-3): "at most once for each container": which of the events
    /// that say so counts.
    fn counted(&self, of_container: &[Found]) -> Option<usize> {
        (!of_container.is_empty()).then_some(0)
    }

    /// [§9.4](crate::specification#s9-4): the runs "that the snapshot states in which ContainersStarted is
    /// reached", and not those of the snapshot with which the pod is judged
    fn place_of_runs(&self, reached: usize, _judged: usize) -> usize {
        reached
    }

    /// [§9.4](crate::specification#s9-4): "`state.terminated` and `lastState.terminated` of every init container
    /// that is not restartable […] 0 where that is negative […] added up"
    fn time_of_init(&self, pod: &Snapshot) -> Nanos {
        let init = pod.containers.iter().filter(|one| one.kind == Kind::Init);
        init.flat_map(|one| &one.runs).map(|run| (*run).max(0)).sum()
    }

    /// [§9.4](crate::specification#s9-4): "the length of the union of the intervals"
    fn union(&self, intervals: &[(Nanos, Nanos)]) -> Nanos {
        let mut sorted = intervals.to_vec();
        sorted.sort_unstable();
        let mut length = 0;
        let mut reached = Nanos::MIN;
        for (from, to) in sorted {
            length += (to - from.max(reached)).max(0);
            reached = reached.max(to);
        }
        length
    }

    /// [§9.4](crate::specification#s9-4): "as far as they lie between NetworkReady and ContainersStarted"
    fn clipped(&self, interval: (Nanos, Nanos), between: (Nanos, Nanos)) -> (Nanos, Nanos) {
        let from = interval.0.max(between.0);
        (from, interval.1.min(between.1).max(from))
    }

    /// [§9.4](crate::specification#s9-4): the pulls "of all containers"
    fn counts_for_sli(&self, _: &Container) -> bool {
        true
    }

    /// [§9.4](crate::specification#s9-4): the reasons that are no outcome, "the first that holds"
    fn sli_reasons(&self) -> [&'static str; 3] {
        ["gated", "unschedulable", "stateful"]
    }
}

/// [§9](crate::specification#s9) as the specification states it.
pub(crate) struct SpecEvidence;

impl EvidenceRules for SpecEvidence {}
