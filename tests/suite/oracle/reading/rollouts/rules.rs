//! The clauses of [§17](crate::specification#s17) that can be got wrong, one method each. The methods' own bodies are the
//! specification; [`SpecRollouts`] leaves all of them as they are.

use super::end::End;
use super::workload::State;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::snapshot::Snapshot;

/// [§17](crate::specification#s17), where nothing is overridden.
pub(crate) trait RolloutRules {
    /// [§17.1](crate::specification#s17-1): "the first of these labels that a pod has"
    fn labels(&self) -> [&'static str; 3] {
        ["rollouts-pod-template-hash", "pod-template-hash", "controller-revision-hash"]
    }

    /// "so have pods of Jobs, and static ones", by the kind of the controller
    fn has_part(&self, controller: &str, is_static: bool) -> bool {
        controller != "Job" && !is_static
    }

    /// Of the snapshots of a pod so far, that whose label counts: "that of the pod's newest snapshot"
    fn states_revision(&self, seen: usize) -> usize {
        seen - 1
    }

    /// "a pod that is not terminal and not gone"
    fn is_live(&self, pod: &Snapshot) -> bool {
        !pod.is_terminal()
    }

    fn is_ending(&self, pod: &Snapshot) -> bool {
        pod.is_terminating
    }

    /// "one that is not ending and whose newest snapshot says Ready=True"
    fn is_up(&self, pod: &Snapshot) -> bool {
        pod.is_ready() && !self.is_ending(pod)
    }

    /// "by 5.2 one may be down that podinit never saw up"
    fn was_up_before(&self, first_says_so: bool) -> bool {
        first_says_so
    }

    /// "A label that changes […] begins no rollout"
    fn moved_label_begins(&self) -> bool {
        false
    }

    /// "what all live pods have moved to is the workload's own revision"
    fn own_by_moving(&self) -> bool {
        true
    }

    /// [§17.2](crate::specification#s17-2): "or went less than 10 minutes ago"
    fn remembers(&self, ago: Nanos) -> bool {
        ago < 600 * SECOND
    }

    /// Of a pod that 5.3 takes for an old one: nothing begins by it.
    fn old_pods_begin(&self) -> bool {
        false
    }

    /// "the first pod is created": the pods that a list shows first count by their creation.
    fn order(&self, created: Nanos, _place: usize) -> Nanos {
        created
    }

    /// "Of a StatefulSet and a DaemonSet, and where all pods of other revisions have gone or are ending (Recreate)"
    fn moves_begin(&self, kind: &str, others_stay: bool) -> bool {
        kind == "StatefulSet" || kind == "DaemonSet" || !others_stay
    }

    /// "that went less than 10 s before"
    fn just_went(&self, before: Nanos) -> bool {
        before < 10 * SECOND
    }

    /// `deletionTimestamp` less `deletionGracePeriodSeconds`
    fn asked(&self, deletion: Nanos, grace: Nanos) -> Nanos {
        deletion - grace
    }

    /// "of several the last"
    fn last_asked(&self, asked: &[Nanos]) -> Option<Nanos> {
        asked.iter().copied().max()
    }

    /// "from 10 minutes before the creation until its delivery": whether what stood from `since` to `until` was so.
    fn in_window(&self, since: Nanos, until: Nanos, created: Nanos) -> bool {
        since < until && until > created - 600 * SECOND
    }

    /// "but for ending ones"
    fn is_wanted(&self, state: &State) -> bool {
        !state.ending
    }

    /// "the greatest number […]; at least 1"
    fn wanted(&self, numbers: &[usize]) -> usize {
        numbers.iter().copied().max().unwrap_or(0).max(1)
    }

    /// "neither the new nor the own one, nor one that lived at its begin"
    fn supersedes(&self, revision: &str, (new, own): (&str, &str), lived: &[String]) -> bool {
        revision != new && revision != own && lived.iter().all(|one| one != revision)
    }

    /// An end that stands counts when a third revision comes.
    fn third_finds_end(&self, end: End) -> bool {
        end != End::Removed
    }

    /// "then the next one begins, and wanted stays"
    fn wanted_of_next(&self, before: usize, _window: usize) -> usize {
        before
    }

    /// "ending ones aside": whether a pod says of which revision the live ones are.
    fn tells_revision(&self, state: &State) -> bool {
        !state.ending
    }

    /// "each of those that lived when the live pods became of one revision", of those that had not been up.
    fn is_awaited(&self, lived_then: bool) -> bool {
        lived_then
    }

    /// "has been up or has gone"
    fn is_settled(&self, state: Option<&State>) -> bool {
        state.is_none_or(|state| state.been_up || state.ending)
    }

    /// "at least as many as wanted have been up"
    fn are_enough(&self, been_up: usize, _up: usize, wanted: usize) -> bool {
        been_up >= wanted
    }

    /// "If fewer than wanted live […] without an ending pod of another revision"
    fn ends_with_fewer(&self, live: usize, wanted: usize, others_ending: bool) -> bool {
        live < wanted && !others_ending
    }

    /// How long an end has to stand.
    fn lasts(&self, end: End) -> Nanos {
        match end {
            End::Enough => 10 * SECOND,
            End::Fewer => 120 * SECOND,
            End::Removed => 600 * SECOND,
        }
    }

    /// "its time is when it became so"
    fn ended(&self, since: Nanos, _counted: Nanos) -> Nanos {
        since
    }

    fn outcome(&self, revision: &str, new: &str) -> &'static str {
        match revision == new {
            true => "completed",
            false => "rolled_back",
        }
    }

    /// "`podinit_rollout_duration_seconds`: a histogram of those that `completed`", and
    /// [§17.4](crate::specification#s17-4) "its duration is not observed"
    fn observes(&self, outcome: &str, found: bool) -> bool {
        outcome == "completed" && !found
    }

    /// "Where a time that decides is not known (a pod that vanished), the outcome counts and the duration is not observed."
    fn observes_unknown(&self) -> bool {
        false
    }

    /// [§17.4](crate::specification#s17-4): "its end counts as an outcome only if it is `superseded` or `removed`"
    fn counts(&self, outcome: &str, found: bool) -> bool {
        !found || outcome == "superseded" || outcome == "removed"
    }

    /// "Nothing begins […] while the source is out of sync."
    fn begins(&self, in_sync: bool) -> bool {
        in_sync
    }

    /// "Nothing […] ends while the source is out of sync."
    fn ends(&self, in_sync: bool) -> bool {
        in_sync
    }

    /// [§17.3](crate::specification#s17-3): "the first of these that there is"
    fn held_by(&self, [starting, down, ending]: [bool; 3]) -> &'static str {
        match (starting, down, ending) {
            (true, _, _) => "starting",
            (_, true, _) => "not_ready",
            (_, _, true) => "ending",
            _ => "controller",
        }
    }

    /// "while fewer than wanted live besides"
    fn ending_holds(&self, live: usize, wanted: usize) -> bool {
        live < wanted
    }

    /// Pods of the new revision, while it has live ones that are not ending; else those of all others.
    fn holds(&self, is_new: bool, new_ones_live: bool) -> bool {
        is_new == new_ones_live
    }

    /// Time since an end stands does not count, unless the end falls.
    fn held_until(&self, since: Nanos, _now: Nanos) -> Nanos {
        since
    }

    /// Nothing counts twice for a workload.
    fn held_since(&self, begin: Nanos, counted_to: Nanos) -> Nanos {
        begin.max(counted_to)
    }

    /// [§17.4](crate::specification#s17-4): whether a rollout can be found in progress at all
    fn finds(&self) -> bool {
        true
    }

    /// "the revision whose oldest live pod is the youngest": its place among the revisions, each with its oldest pod.
    fn found_new(&self, oldest: &[Nanos]) -> Option<usize> {
        (0..oldest.len()).max_by_key(|place| oldest[*place])
    }

    /// Of the rest the one whose oldest live pod is the oldest.
    fn found_own(&self, oldest: &[Nanos]) -> Option<usize> {
        (0..oldest.len()).min_by_key(|place| oldest[*place])
    }
}

/// The rules as the specification states them.
pub(crate) struct SpecRollouts;

impl RolloutRules for SpecRollouts {}
