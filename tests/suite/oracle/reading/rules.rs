//! The clauses of the specification that can be got wrong, one method each. The methods' own
//! bodies are the specification; [`Spec`] leaves all of them as they are.

use super::Timestamps;
use super::cause::{CauseRules, SpecCauses};
use super::container::{Container, Kind, State};
use super::evidence::{EvidenceRules, SpecEvidence};
use super::life::Folded;
use super::named::{NamedRules, SpecNamed};
use super::node::{NodeRules, SpecNodes};
use super::rollouts::{RolloutRules, SpecRollouts};
use super::slo::{SloRules, SpecSlo};
use super::snapshot::{Condition, Snapshot};
use super::vocabulary::{Interval, Milestone, Traits};
use crate::oracle::instant::{Nanos, SECOND};

/// A snapshot that shows a condition True: its place in the pod's history and the LTT it states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Showing {
    pub(crate) place: usize,
    pub(crate) last_transition: Option<Nanos>,
}

/// How a pod came into the books ([§5.2](crate::specification#s5-2) and
/// [§5.3](crate::specification#s5-3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Full,
    Adopted,
    Preexisting,
    Static,
}

/// What decides how a pod comes into the books.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classification<'a> {
    pub(crate) pod: &'a Snapshot,
    pub(crate) in_first_list: bool,
    pub(crate) backfill: bool,
    pub(crate) first_list_began: Option<Nanos>,
}

/// What becomes of an interval both of whose milestones are reached
/// ([§4](crate::specification#s4)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Observe(Nanos),
    Rounded,
    Unusable(&'static str),
}

/// The specification, where nothing is overridden.
pub(crate) trait Rules {
    /// [§6](crate::specification#s6)
    fn slo(&self) -> &dyn SloRules {
        &SpecSlo
    }

    /// [§9](crate::specification#s9)
    fn evidence(&self) -> &dyn EvidenceRules {
        &SpecEvidence
    }

    /// [§10](crate::specification#s10)
    fn causes(&self) -> &dyn CauseRules {
        &SpecCauses
    }

    /// [§14](crate::specification#s14)
    fn nodes(&self) -> &dyn NodeRules {
        &SpecNodes
    }

    /// [§16](crate::specification#s16)
    fn named(&self) -> &dyn NamedRules {
        &SpecNamed
    }

    /// [§17](crate::specification#s17)
    fn rollouts(&self) -> &dyn RolloutRules {
        &SpecRollouts
    }

    /// [§2](crate::specification#s2): "A pod is its UID; a new UID under an old name is a new pod."
    fn identity(&self, pod: &Snapshot) -> String {
        pod.uid.clone()
    }

    /// [§1](crate::specification#s1): "Both names are one milestone. RTSC wins where both stand."
    fn network_condition<'a>(&self, pod: &'a Snapshot) -> Option<&'a Condition> {
        pod.condition("PodReadyToStartContainers").or_else(|| pod.condition("PodHasNetwork"))
    }

    /// [§2](crate::specification#s2): "A milestone is reached at the LTT of the first snapshot in
    /// which its condition is True, and is latched: nothing later moves it."
    fn latching(&self, _milestone: Milestone, showing: &[Showing]) -> Option<Showing> {
        showing.first().copied()
    }

    /// [§1](crate::specification#s1): "when a later milestone is reached without it, Scheduled
    /// counts as reached at an unknown time."
    fn scheduled_is_implied(&self) -> bool {
        true
    }

    /// [§3](crate::specification#s3), column "observed for".
    fn applies(&self, interval: Interval, traits: Traits) -> bool {
        match interval {
            Interval::Gated => traits.gated,
            Interval::Init => traits.init_containers,
            Interval::Readiness => traits.readiness_gates,
            _ => true,
        }
    }

    /// [§3](crate::specification#s3) and [§9.1](crate::specification#s9-1), column "from": the later
    /// of these.
    fn from(&self, interval: Interval, traits: Traits) -> Vec<Milestone> {
        match interval {
            Interval::Gated | Interval::CreatedToReady => vec![Milestone::Created],
            Interval::UntilScheduled if traits.gated => vec![Milestone::Ungated],
            Interval::UntilScheduled => vec![Milestone::Created],
            Interval::Network | Interval::ScheduledToReady => vec![Milestone::Scheduled],
            Interval::Init => vec![Milestone::NetworkReady],
            Interval::Containers if traits.init_containers => {
                vec![Milestone::NetworkReady, Milestone::Initialized]
            }
            Interval::Containers => vec![Milestone::NetworkReady],
            Interval::Readiness => vec![Milestone::ContainersReady],
            Interval::Acknowledge => vec![Milestone::Scheduled],
            Interval::Sandbox => vec![Milestone::Acknowledged],
            Interval::Start => self.from(Interval::Containers, traits),
            Interval::Probe => vec![Milestone::ContainersStarted],
        }
    }

    /// [§3](crate::specification#s3): an interval is judged with "the snapshot that ends the
    /// startup included; never after it": how many of the snapshots count.
    fn snapshots_judged(&self, ending: usize, _all: usize) -> usize {
        ending + 1
    }

    /// [§4.3](crate::specification#s4-3), fused: "`o` in `[t, t+1s)`: use `o`. `o` before `t` by at
    /// most 1 s: use `t`. […] `o` earlier still: use `o` […]. `o` later, or no `o` (a list): use
    /// `t + 0.5 s`."
    fn estimate(&self, t: Nanos, o: Option<Nanos>) -> Nanos {
        match o {
            Some(o) if t - o > SECOND => o,
            Some(o) if o < t => t,
            Some(o) if o < t + SECOND => o,
            _ => t + SECOND / 2,
        }
    }

    /// [§4.6](crate::specification#s4-6): "A Ready that has no usable time takes `o` in `fused`
    /// mode", and no other milestone does.
    fn takes_o_without_a_time(&self, milestone: Milestone, timestamps: Timestamps) -> bool {
        milestone == Milestone::Ready && timestamps == Timestamps::Fused
    }

    /// [§4](crate::specification#s4): "`Ungated` has no API time: it is `o`, in `api` mode cut to
    /// the second".
    fn ungated_in_api_mode(&self, o: Nanos) -> Nanos {
        o.div_euclid(SECOND) * SECOND
    }

    /// [§4](crate::specification#s4): "A duration below zero by at most 1 s is noise of the
    /// truncation: observe 0 […]. Further below zero, or above 30 days, […]: observe nothing and
    /// count".
    fn verdict(&self, duration: Nanos) -> Verdict {
        match duration {
            ..0 if duration < -SECOND => Verdict::Unusable("negative"),
            ..0 => Verdict::Rounded,
            _ if duration > 30 * 86_400 * SECOND => Verdict::Unusable("too_long"),
            _ => Verdict::Observe(duration),
        }
    }

    /// The same of two times, one of which may be missing.
    fn verdict_of(&self, times: Option<(Nanos, Nanos)>) -> Verdict {
        times.map_or(Verdict::Unusable("missing"), |(from, to)| self.verdict(to - from))
    }

    /// [§5.1](crate::specification#s5-1): "A snapshot whose resourceVersion is older (as a decimal
    /// integer) than the newest one held for the UID is ignored." A version that is none is never
    /// older.
    fn is_older(&self, version: Option<u64>, newest: Option<u64>) -> bool {
        matches!((version, newest), (Some(version), Some(newest)) if version < newest)
    }

    /// Whether an event or a list entry of a known UID is the next one of the same life.
    fn is_same_life(&self, _pod: &Snapshot, _is_added: bool) -> bool {
        true
    }

    /// [§5.1](crate::specification#s5-1): "A DELETED event's object is the pod's last snapshot
    /// (unless it is an older version)".
    fn folds_deleted(&self, is_older: bool) -> bool {
        !is_older
    }

    /// [§5.1](crate::specification#s5-1): "A deleted UID stays remembered for ten minutes".
    fn remembers_deleted(&self, deleted_at: Nanos, now: Nanos) -> bool {
        now <= deleted_at + 600 * SECOND
    }

    /// [§5.4](crate::specification#s5-4) and [§5.5](crate::specification#s5-5): a completed list
    /// ends or forgets what is absent from it.
    fn forgets_absent(&self, _is_finished: bool) -> bool {
        true
    }

    /// [§5.4](crate::specification#s5-4): "The pod in flight ends as vanished at once …, if that one was created in a
    /// later second." `before` is when the pod in flight was created, or first seen.
    fn vanishes_for_namesake(&self, before: Nanos, created: Option<Nanos>) -> bool {
        created.is_some_and(|created| created.div_euclid(SECOND) > before.div_euclid(SECOND))
    }

    /// [§5.2](crate::specification#s5-2) and [§5.3](crate::specification#s5-3).
    fn entry(&self, sight: Classification<'_>) -> Entry {
        let began = sight.first_list_began;
        let is_old = sight
            .pod
            .created
            .zip(began)
            .is_some_and(|(created, began)| created < began - 30 * SECOND);
        let in_full = match sight.in_first_list {
            true => sight.backfill,
            false => !is_old,
        };
        if sight.pod.is_static {
            Entry::Static
        } else if in_full {
            Entry::Full
        } else if sight.pod.is_ready()
            || sight.pod.is_terminal()
            || self.was_ready_before(sight.pod)
        {
            Entry::Preexisting
        } else {
            Entry::Adopted
        }
    }

    /// [§5.2](crate::specification#s5-2): "Pods not Ready whose Ready=False LTT is more than 5 s
    /// after `status.startTime` have been Ready before".
    fn was_ready_before(&self, pod: &Snapshot) -> bool {
        let unready = pod.condition("Ready").filter(|ready| ready.status == "False");
        let since = unready.and_then(|ready| ready.last_transition);
        since.zip(pod.started).is_some_and(|(since, started)| since > started + 5 * SECOND)
    }

    /// [§5](crate::specification#s5), outcomes. Ready comes first: it was seen.
    fn outcome(&self, pod: &Snapshot) -> Option<&'static str> {
        if pod.is_ready() { Some("ready") } else { self.terminal(pod) }
    }

    /// [§5.9](crate::specification#s5-9): what a terminal phase says
    fn terminal(&self, pod: &Snapshot) -> Option<&'static str> {
        match pod.phase.as_str() {
            "Succeeded" | "Failed" if self.is_ended_by_deletion(pod) => Some("deleted"),
            "Succeeded" => Some("completed"),
            "Failed" => Some("failed"),
            _ => None,
        }
    }

    /// [§5.9](crate::specification#s5-9): of a terminal pod, "has a `deletionTimestamp` and no `status.reason`", and "would
    /// end as `failed` or `rejected`, or, with the restart policy `Always`, as `completed`"
    fn is_ended_by_deletion(&self, pod: &Snapshot) -> bool {
        let ends_for_good = ["OnFailure", "Never"].contains(&pod.restart_policy.as_str());
        let is_stopped = pod.phase == "Failed" || !ends_for_good;
        pod.is_terminating && pod.reason.is_empty() && is_stopped
    }

    /// [§5.9](crate::specification#s5-9): "Any other message of `Evicted` is of the pod's own limits"
    fn exceeded_its_limits(&self, pod: &Snapshot) -> bool {
        let of_node = ["The node was low on resource", "The node had condition"];
        pod.reason == "Evicted" && !of_node.iter().any(|begin| pod.message.starts_with(begin))
    }

    /// [§5.9](crate::specification#s5-9): a pod that failed "was bound to a node (`spec.nodeName`), and no snapshot
    /// showed a container of it, init containers included, with a start or as `terminated`"; the last of `seen` is the
    /// one with which it failed.
    fn is_rejected(&self, seen: &[Folded]) -> bool {
        let ran = |container: &Container| self.has_run(container);
        let was_refused =
            |last: &Folded| !last.pod.node_name.is_empty() && !self.exceeded_its_limits(&last.pod);
        seen.last().is_some_and(was_refused)
            && !seen.iter().any(|folded| folded.pod.containers.iter().any(ran))
    }

    fn has_run(&self, container: &Container) -> bool {
        container.was_terminated || !container.starts.is_empty()
    }

    /// [§6.11](crate::specification#s6-11): "Scheduled is reached with it at an unknown time"
    fn rejection_schedules(&self) -> bool {
        true
    }

    /// [§5.10](crate::specification#s5-10): "less than 10 minutes after its first Ready"
    fn may_relapse(&self, ready: Nanos, now: Nanos) -> bool {
        now - ready < 600 * SECOND
    }

    /// [§5.10](crate::specification#s5-10): "a regular or restartable init container that waits with
    /// CrashLoopBackOff"
    fn shows_relapse(&self, container: &Container) -> bool {
        container.kind != Kind::Init
            && container.state == State::Waiting("CrashLoopBackOff".to_owned())
    }

    /// [§5.10](crate::specification#s5-10): "once"
    fn counted_relapses(&self, shown: usize) -> usize {
        shown.min(1)
    }

    /// Which of the snapshots that could end the startup does.
    fn ending(&self, places: &[usize]) -> Option<usize> {
        places.first().copied()
    }

    /// [§5](crate::specification#s5), reasons: `condition_absent` "(a condition type it needs never
    /// stood in the pod's status) or else `not_seen`".
    fn reason_not_judged(&self, all_types_stood: bool) -> &'static str {
        match all_types_stood {
            true => "not_seen",
            false => "condition_absent",
        }
    }

    /// [§5.2](crate::specification#s5-2): the stages of an adopted pod whose end lay before first
    /// sight.
    fn excuses_adopted(&self, _interval: Interval, end_is_reached: bool) -> bool {
        end_is_reached
    }

    /// [§5.6](crate::specification#s5-6): "A condition (PodScheduled aside)".
    fn reentry_types(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("PodReadyToStartContainers", "PodReadyToStartContainers"),
            ("PodHasNetwork", "PodReadyToStartContainers"),
            ("Initialized", "Initialized"),
            ("ContainersReady", "ContainersReady"),
            ("Ready", "Ready"),
        ]
    }

    /// [§5.6](crate::specification#s5-6): "the last one seen for the same condition type while
    /// True".
    fn last_seen(&self, _before: Option<Nanos>, now: Nanos) -> Nanos {
        now
    }

    /// [§5.6](crate::specification#s5-6): "(also after the pod has finished, `static` pods aside)".
    fn counts_reentries(&self, entry: Entry, _after_the_end: bool) -> bool {
        entry != Entry::Static
    }

    /// [§8.4](crate::specification#s8-4): whether the list of bare pods, which has so many, ends before the next: "before
    /// the first UID that occurs a second time".
    fn ends_bare_list(&self, is_listed: bool, _pods: usize) -> bool {
        is_listed
    }

    /// [§8.4](crate::specification#s8-4): whether a watch without a list has had its first pods before an event of this type,
    /// of a pod that came before or not, with the same resourceVersion or not.
    fn ends_first_pods(&self, kind: &str, comes_again: bool, is_duplicate: bool) -> bool {
        kind != "ADDED" || (comes_again && !is_duplicate)
    }

    /// [§8.4](crate::specification#s8-4): such a recording "begins at the `observedAt` of the first, or else at the greatest
    /// API time that these state".
    fn began_without_list(&self, observed: Option<Nanos>, stated: Option<Nanos>) -> Option<Nanos> {
        observed.or(stated)
    }

    /// [§8.7](crate::specification#s8-7): "An `observedAt` bounds the document that has it": of one with this `observedAt`,
    /// and with this greatest one so far, that which does.
    fn bound(&self, own: Option<Nanos>, _greatest: Option<Nanos>) -> Option<Nanos> {
        own
    }

    /// [§8.7](crate::specification#s8-7): the latest API time that tells the time.
    fn latest_that_tells_time(&self, observed: Option<Nanos>) -> Nanos {
        observed.unwrap_or(super::PRESENT) + 5 * SECOND
    }

    /// [§8](crate::specification#s8): "pages with `metadata.continue` are joined", and
    /// [§5.4](crate::specification#s5-4): "Nothing is inferred from a list that did not complete":
    /// how many of the pages count, `None` where the list does not.
    fn pages_that_count(&self, pages: usize, is_complete: bool) -> Option<usize> {
        is_complete.then_some(pages)
    }

    /// [§8](crate::specification#s8): "A BOOKMARK annotated `k8s.io/initial-events-end` closes a
    /// streamed list".
    fn closes_streamed_list(&self, is_annotated: bool) -> bool {
        is_annotated
    }
}

/// The rules as the specification states them.
pub(crate) struct Spec;

impl Rules for Spec {}
