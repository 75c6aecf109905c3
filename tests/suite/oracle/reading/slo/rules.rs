//! The clauses of [§6](crate::specification#s6) that can be got wrong, one method each. The
//! methods' own bodies are the specification; [`SpecSlo`] leaves all of them as they are.

use super::objective::SloInterval;
use super::passing::Moment;
use super::{Slo, SloEvent};
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::container::{Container, Kind, State};
use crate::oracle::reading::rules::{Entry, Verdict};
use crate::oracle::reading::snapshot::Snapshot;
use crate::oracle::reading::view::View;
use crate::oracle::reading::vocabulary::{Interval, Milestone, Traits};

/// [§6](crate::specification#s6), where nothing is overridden.
pub(crate) trait SloRules {
    fn matches(&self, slo: &Slo, pod: &Snapshot) -> bool {
        slo.matches(pod)
    }

    /// "the deadline […] (threshold plus a delivery grace, default 5 s)"
    fn deadline(&self, start: Nanos, threshold: Nanos) -> Nanos {
        start + threshold + 5 * SECOND
    }

    /// "A deadline passes strictly after its instant."
    fn has_passed(&self, deadline: Nanos, now: Nanos) -> bool {
        deadline < now
    }

    /// [§8](crate::specification#s8): "Without `observedAt`, […] a snapshot is folded before
    /// deadlines fire; with it, deadlines that passed before the event fire first." What an event
    /// has made overdue fires then; lists are folded first.
    fn moments_of_event(&self, is_observed: bool) -> &'static [Moment] {
        match is_observed {
            true => &[Moment::Before, Moment::After],
            false => &[Moment::After],
        }
    }

    fn moments_of_list(&self) -> &'static [Moment] {
        &[Moment::After]
    }

    /// "While the watch is not in sync no deadline passes".
    fn fires(&self, in_sync: bool) -> bool {
        in_sync
    }

    /// Sync is regained by "a completed list" alone.
    fn event_regains_sync(&self) -> bool {
        false
    }

    /// [§4.10](crate::specification#s4-10): "of a pod that earlier snapshots showed without a node"
    fn is_binding(&self, was_without_node: bool) -> bool {
        was_without_node
    }

    /// [§4.10](crate::specification#s4-10): "the last 16 creations of the last minute tell, if they are 4 or more"
    fn creations_tell(&self, creations: usize) -> bool {
        creations >= 4
    }

    /// [§4.10](crate::specification#s4-10): "of an even number the lesser of the middle two"
    fn median(&self, sorted: &[Nanos]) -> Option<Nanos> {
        sorted.get(sorted.len().checked_sub(1)? / 2).copied()
    }

    /// [§4.10](crate::specification#s4-10): "nor anything that states a time before the source last came into sync"
    fn states_since_sync(&self, stated: Nanos, since: Nanos) -> bool {
        stated >= since
    }

    /// [§4.10](crate::specification#s4-10): "A source whose lag is above 5 s is late, until that of the last 4 is below
    /// 2.5 s"
    fn is_late(&self, was_late: bool, lag: Nanos, newest: Nanos) -> bool {
        2 * newest >= 5 * SECOND && (was_late || lag > 5 * SECOND)
    }

    /// [§6.7](crate::specification#s6-7): "twice the greatest of the differences that tell its lag, and at most 10 minutes"
    fn hold(&self, greatest: Nanos) -> Nanos {
        (2 * greatest).clamp(0, 600 * SECOND)
    }

    /// [§8](crate::specification#s8): "`--until` […] moves time there", and deadlines pass.
    fn fires_at_until(&self) -> bool {
        true
    }

    /// "also `preexisting` and `static` pods"
    fn excluded_on_entry(&self, entry: Entry) -> Option<SloEvent> {
        match entry {
            Entry::Preexisting => Some(SloEvent::Excluded("preexisting")),
            Entry::Static => Some(SloEvent::Excluded("static")),
            Entry::Full | Entry::Adopted => None,
        }
    }

    /// "and (`preexisting`) pods adopted in flight whose interval or deadline lay before they were
    /// first seen"
    fn lay_before_first_sight(&self, interval_did: bool, deadline_did: bool) -> bool {
        interval_did || deadline_did
    }

    /// "when it can no longer enter the interval (`not_entered`; e.g. `scheduling` for a pod once
    /// Unschedulable)", by [§3](crate::specification#s3), column "observed for".
    fn not_entered(&self, interval: SloInterval, traits: Traits, is_scheduled: bool) -> bool {
        match interval {
            SloInterval::Scheduling => traits.unschedulable,
            SloInterval::Unschedulable => is_scheduled && !traits.unschedulable,
            SloInterval::Other(Interval::Gated) => !traits.gated,
            SloInterval::Other(Interval::Init) => !traits.init_containers,
            SloInterval::Other(Interval::Readiness) => !traits.readiness_gates,
            SloInterval::Other(_) | SloInterval::Own(_) => false,
        }
    }

    /// `unschedulable` runs for pods seen so; every other interval from its start on.
    fn has_entered(&self, interval: SloInterval, traits: Traits) -> bool {
        interval != SloInterval::Unschedulable || traits.unschedulable
    }

    /// "**good** when the interval ends within the threshold"; "An interval found longer than the
    /// threshold is bad at once"; "when the interval's times are unusable (`time`; too long is
    /// bad)".
    fn event(&self, verdict: Verdict, threshold: Nanos) -> SloEvent {
        match verdict {
            Verdict::Observe(duration) if duration > threshold => SloEvent::Bad,
            Verdict::Observe(_) | Verdict::Rounded => SloEvent::Good,
            Verdict::Unusable("too_long") => SloEvent::Bad,
            Verdict::Unusable(_) => SloEvent::Excluded("time"),
        }
    }

    /// "when the milestone cannot be seen on this cluster (`condition_absent`: the type is absent
    /// from a status with startTime, a kubelet condition and a phase that is not terminal)"
    fn tells_what_is_absent(&self, pod: &Snapshot) -> bool {
        const KUBELET: [&str; 5] = [
            "PodReadyToStartContainers",
            "PodHasNetwork",
            "Initialized",
            "ContainersReady",
            "Ready",
        ];
        let a_kubelet_condition = KUBELET.iter().any(|kind| pod.condition(kind).is_some());
        pod.started.is_some() && a_kubelet_condition && !pod.is_terminal()
    }

    /// The milestones that an interval needs: those that bound it.
    fn needed(&self, interval: Interval, traits: Traits) -> Vec<Milestone> {
        match interval {
            Interval::Gated => vec![],
            Interval::UntilScheduled => vec![Milestone::Scheduled],
            Interval::Network => vec![Milestone::Scheduled, Milestone::NetworkReady],
            Interval::Init => vec![Milestone::NetworkReady, Milestone::Initialized],
            Interval::Containers if traits.init_containers => {
                vec![Milestone::NetworkReady, Milestone::Initialized, Milestone::ContainersReady]
            }
            Interval::Containers => vec![Milestone::NetworkReady, Milestone::ContainersReady],
            Interval::Readiness => vec![Milestone::ContainersReady, Milestone::Ready],
            Interval::ScheduledToReady => vec![Milestone::Scheduled, Milestone::Ready],
            Interval::CreatedToReady => vec![Milestone::Ready],
            Interval::Acknowledge => vec![Milestone::Scheduled],
            Interval::Sandbox => vec![Milestone::NetworkReady],
            Interval::Start => {
                let mut needed = self.needed(Interval::Containers, traits);
                needed.retain(|milestone| *milestone != Milestone::ContainersReady);
                needed
            }
            Interval::Probe => vec![Milestone::ContainersReady],
        }
    }

    /// A milestone that is not reached and of which no condition type stands in the snapshot.
    fn is_absent(&self, view: &View<'_>, pod: &Snapshot, milestone: Milestone) -> bool {
        let mut types = milestone.condition_types().iter();
        !milestone.condition_types().is_empty()
            && view.milestone(milestone).is_none()
            && types.all(|kind| pod.condition(kind).is_none())
    }

    /// [§6.12](crate::specification#s6-12): "intervals that end with ContainersReady or Ready"
    fn cannot_end(&self, interval: Interval) -> bool {
        matches!(interval.to(), Milestone::ContainersReady | Milestone::Ready)
    }

    /// [§6.12](crate::specification#s6-12): "a regular container whose state is `terminated` with exit code 0, and that
    /// will not run again"
    fn never_is_ready(&self, pod: &Snapshot) -> bool {
        let ended = pod
            .containers
            .iter()
            .filter(|one| one.kind == Kind::Regular && one.state == State::Terminated(Some(0)));
        let mut ended = ended.filter(|one| !self.runs_again(pod, one));
        ended.next().is_some() && !self.may_restart_all(pod)
    }

    /// "the first of these that there is: a matching rule of its own `restartPolicyRules` (it does), its own
    /// `restartPolicy`, the pod's (`Always` if none)"
    fn runs_again(&self, pod: &Snapshot, container: &Container) -> bool {
        if container.rules.iter().any(|rule| rule.matches(0)) {
            return true;
        }
        match container.policy.as_deref() {
            Some(own @ ("Always" | "OnFailure" | "Never")) => own == "Always",
            _ => !["OnFailure", "Never"].contains(&pod.restart_policy.as_str()),
        }
    }

    /// "any container, init containers included, has a rule with the action `RestartAllContainers`"
    fn may_restart_all(&self, pod: &Snapshot) -> bool {
        let mut rules = pod.containers.iter().flat_map(|one| &one.rules);
        rules.any(|rule| rule.action == "RestartAllContainers")
    }

    /// "`capacity: existing` and `images: present`"
    fn selects_by(&self, slo: &Slo) -> [bool; 2] {
        [slo.existing_capacity, slo.present_images]
    }

    /// "As long as that is not known, a good or bad event is held"
    fn holds_until_known(&self) -> bool {
        true
    }

    /// "What is not known when the startup ends is not selected."
    fn leaves_out_what_is_never_known(&self) -> bool {
        true
    }

    /// [§6.11](crate::specification#s6-11): "those whose interval has begun, at a known time or not, are `bad` […] The
    /// others exclude it as `not_entered`."
    fn rejected(&self, start: Option<Option<Nanos>>) -> SloEvent {
        match start {
            Some(_) => SloEvent::BadByRejection,
            None => SloEvent::Excluded("not_entered"),
        }
    }

    /// "when the pod ends first with the interval open (reason: the outcome; `not_seen` where it
    /// ended as ready)"
    fn ended(&self, outcome: &'static str) -> SloEvent {
        SloEvent::Excluded(match outcome {
            "ready" => "not_seen",
            outcome => outcome,
        })
    }
}

/// [§6](crate::specification#s6) as the specification states it.
pub(crate) struct SpecSlo;

impl SloRules for SpecSlo {}
