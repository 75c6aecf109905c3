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

    /// "Nor have pods of Jobs and static pods.", by the kind of the controller
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

    /// "a pod that is not ending and whose newest snapshot says Ready=True"
    fn is_up(&self, pod: &Snapshot) -> bool {
        pod.is_ready() && !self.is_ending(pod)
    }

    /// "A first snapshot by which the pod was Ready before shows a pod that is down."
    fn was_up_before(&self, first_says_so: bool) -> bool {
        first_says_so
    }

    /// "A label that changes moves the pod […], and begins no rollout."
    fn moved_label_begins(&self) -> bool {
        false
    }

    /// "it is the one revision of all pods that live and are not ending, if they have one"
    fn own_by_moving(&self) -> bool {
        true
    }

    /// [§17.2](crate::specification#s17-2): "or one went less than 10 minutes before that creation"
    fn remembers(&self, ago: Nanos) -> bool {
        ago < 600 * SECOND
    }

    /// "A workload is known for 11 minutes without a pod."
    fn forgets(&self, empty: Nanos) -> bool {
        empty >= 660 * SECOND
    }

    /// "A pod that existed before the first list begins none."
    fn old_pods_begin(&self) -> bool {
        false
    }

    /// "the first pod is created": the pods that a list shows first count by their creation.
    fn order(&self, created: Nanos, _place: usize) -> Nanos {
        created
    }

    /// "Of a StatefulSet and a DaemonSet, and where no pod of another revision is left that is not ending (Recreate)"
    fn moves_begin(&self, kind: &str, others_stay: bool) -> bool {
        kind == "StatefulSet" || kind == "DaemonSet" || !others_stay
    }

    /// "that went less than 10 s before the creation"
    fn just_went(&self, before: Nanos) -> bool {
        before < 10 * SECOND
    }

    /// "Of those that went the last 64 within a minute are remembered.", by how long before the last one that was
    fn keeps_gone(&self, before_last: Nanos) -> bool {
        before_last < 60 * SECOND
    }

    /// `deletionTimestamp` less `deletionGracePeriodSeconds`
    fn asked(&self, deletion: Nanos, grace: Nanos) -> Nanos {
        deletion - grace
    }

    /// "when the deletion of the last of them was asked for"
    fn last_asked(&self, asked: &[Nanos]) -> Option<Nanos> {
        asked.iter().copied().max()
    }

    /// "from 10 minutes before the creation, but not before the last end, until its delivery": whether what stood from
    /// `since` to `until` was so.
    fn in_window(&self, (since, until): (Nanos, Nanos), created: Nanos, ended: Nanos) -> bool {
        since < until && until > ended.max(created - 600 * SECOND)
    }

    /// "that lived and were not ending"
    fn is_wanted(&self, state: &State) -> bool {
        !state.ending
    }

    /// "the greatest number […]; at least 1"
    fn wanted(&self, numbers: &[usize]) -> usize {
        numbers.iter().copied().max().unwrap_or(0).max(1)
    }

    /// "neither the new nor the own one, nor one that had live pods at the begin"
    fn supersedes(&self, revision: &str, (new, own): (&str, &str), lived: &[String]) -> bool {
        revision != new && revision != own && lived.iter().all(|one| one != revision)
    }

    /// "A third revision that comes while an end stands […] makes it count at once. […] An end for want of pods does not"
    fn third_finds_end(&self, end: End) -> bool {
        end != End::Removed
    }

    /// "Then the next rollout begins, and wanted stays."
    fn wanted_of_next(&self, before: usize, _window: usize) -> usize {
        before
    }

    /// "ending ones aside": whether a pod says of which revision the live ones are.
    fn tells_revision(&self, state: &State) -> bool {
        !state.ending
    }

    /// "*Awaited* are the pods that were starting when these became of one revision"
    fn is_awaited(&self, lived_then: bool) -> bool {
        lived_then
    }

    /// "until they have been up, are ending or have gone"
    fn is_settled(&self, state: Option<&State>) -> bool {
        state.is_none_or(|state| state.been_up || state.ending)
    }

    /// "at least as many as wanted have arrived"
    fn are_enough(&self, been_up: usize, _up: usize, wanted: usize) -> bool {
        been_up >= wanted
    }

    /// "If fewer than wanted live, none is awaited and no pod of another revision is ending"
    fn ends_with_fewer(&self, live: usize, wanted: usize, others_ending: bool) -> bool {
        live < wanted && !others_ending
    }

    /// For how long an end has to stand
    fn lasts(&self, end: End) -> Nanos {
        match end {
            End::Enough => 10 * SECOND,
            End::Fewer => 120 * SECOND,
            End::Removed => 600 * SECOND,
        }
    }

    /// "Its time is when it became so."
    fn ended(&self, since: Nanos, _counted: Nanos) -> Nanos {
        since
    }

    /// "`superseded` if it is a third revision, as labels that changed may make it"
    fn outcome(&self, revision: &str, new: &str, is_third: bool) -> &'static str {
        match (revision == new, is_third) {
            (true, _) => "completed",
            (false, true) => "superseded",
            (false, false) => "rolled_back",
        }
    }

    /// "`podinit_rollout_duration_seconds`: a histogram of those that `completed`", and
    /// [§17.4](crate::specification#s17-4) "its duration is not observed"
    fn observes(&self, outcome: &str, found: bool) -> bool {
        outcome == "completed" && !found
    }

    /// "The outcome counts, and no duration is observed, where the end became so with a list, with a pod that vanished"
    fn observes_unknown(&self) -> bool {
        false
    }

    /// [§17.4](crate::specification#s17-4): "It counts as an outcome only if it is `superseded` or `removed`"
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

    /// "Where no live pod of the new revision is left but ending ones, pods of the other revisions stand for it"
    fn holds(&self, is_new: bool, new_ones_live: bool) -> bool {
        is_new == new_ones_live
    }

    /// "Time for which an end stands is divided only if the end does not last."
    fn held_until(&self, since: Nanos, _now: Nanos) -> Nanos {
        since
    }

    /// "No time of a workload counts for two rollouts."
    fn held_since(&self, begin: Nanos, counted_to: Nanos) -> Nanos {
        begin.max(counted_to)
    }

    /// [§17.4](crate::specification#s17-4): whether a rollout can be found in progress at all
    fn finds(&self) -> bool {
        true
    }

    /// "If both are of the same second, none is found."
    fn tells_apart(&self, oldest_of_own: Nanos, oldest_of_new: Nanos) -> bool {
        oldest_of_own != oldest_of_new
    }

    /// "the one whose oldest live pod is the youngest": its place among the revisions, each with its oldest pod.
    fn found_new(&self, oldest: &[Nanos]) -> Option<usize> {
        (0..oldest.len()).max_by_key(|place| oldest[*place])
    }

    /// "The own revision is the one with the oldest pod"
    fn found_own(&self, oldest: &[Nanos]) -> Option<usize> {
        (0..oldest.len()).min_by_key(|place| oldest[*place])
    }
}

/// The rules as the specification states them.
pub(crate) struct SpecRollouts;

impl RolloutRules for SpecRollouts {}
