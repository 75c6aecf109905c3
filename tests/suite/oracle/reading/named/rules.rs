//! The clauses of [§16](crate::specification#s16) that can be got wrong, one method each. The methods' own bodies are the
//! specification; [`SpecNamed`] leaves all of them as they are.

use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::life::Folded;
use crate::oracle::reading::rules::Showing;
use crate::oracle::reading::snapshot::Snapshot;

/// [§16](crate::specification#s16), where nothing is overridden.
pub(crate) trait NamedRules {
    /// [§16.1](crate::specification#s16-1): "the first 8 names […]. Empty names and repetitions are left out."
    fn followed(&self, stated: &[String]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in stated {
            if !name.is_empty() && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names.truncate(8);
        names
    }

    /// [§16.1](crate::specification#s16-1): "The gates of a pod are those of the snapshot with which it is discovered"
    fn states_gates<'a>(&self, seen: &'a [Folded]) -> &'a Snapshot {
        &seen[0].pod
    }

    /// [§16.2](crate::specification#s16-2): "passed with the first snapshot of the pod that has it no longer", of those
    /// that have it or not.
    fn place_without(&self, has_it: &[bool]) -> Option<usize> {
        has_it.iter().position(|has_it| !has_it)
    }

    /// [§16.2](crate::specification#s16-2) by [§4.4](crate::specification#s4-4): "Where the snapshot that first shows it
    /// also shows Scheduled, it is the earlier of `o` and Scheduled."
    fn time_without(&self, o: Option<Nanos>, scheduled: Option<Nanos>) -> Option<Nanos> {
        let o = o?;
        Some(scheduled.map_or(o, |scheduled| scheduled.min(o)))
    }

    /// [§16.3](crate::specification#s16-3), [§16.5](crate::specification#s16-5): "latched": the first snapshot in which the
    /// condition is True.
    fn latching(&self, showing: &[Showing]) -> Option<Showing> {
        showing.first().copied()
    }

    /// [§16.3](crate::specification#s16-3), [§16.5](crate::specification#s16-5): "takes `o` in `fused` mode where an earlier
    /// snapshot of the pod was not True", of a condition that is first True in the snapshot at a place.
    fn takes_o_without_a_time(&self, place: usize) -> bool {
        place > 0
    }

    /// [§16.3](crate::specification#s16-3): "It is 0 where the gate was passed before ContainersReady".
    fn held_up(&self, containers_ready: Nanos, passed: Nanos) -> Nanos {
        match passed < containers_ready {
            true => 0,
            false => passed - containers_ready,
        }
    }

    /// [§16.3](crate::specification#s16-3): "judged once per UID", though so many snapshots show it as passed.
    fn times_judged(&self, shown: usize) -> usize {
        shown.min(1)
    }

    /// [§16.3](crate::specification#s16-3): "Those that had ended when a pod was adopted are not observed."
    fn is_observed_of_adopted(&self, had_ended: bool) -> bool {
        !had_ended
    }

    /// [§16.3](crate::specification#s16-3): "only while the pod is in flight or with the snapshot that ends its startup";
    /// [§16.5](crate::specification#s16-5): "What latches until then counts".
    fn last_that_counts(&self, ending: usize, _last: usize) -> usize {
        ending
    }

    /// [§16.4](crate::specification#s16-4): "A scheduling gate holds a pod that has it", "by their newest snapshot".
    fn holds_from_scheduling(&self, has_it: &[bool]) -> bool {
        has_it.last() == Some(&true)
    }

    /// [§16.4](crate::specification#s16-4): "A readiness gate holds a pod that has reached ContainersReady while the
    /// condition is not True, also where it was True before."
    fn holds_from_ready(&self, containers_ready: bool, is_true: bool, _was_true: bool) -> bool {
        containers_ready && !is_true
    }

    /// [§16.4](crate::specification#s16-4): "counts the pods in flight"
    fn holds_pod(&self, is_in_flight: bool) -> bool {
        is_in_flight
    }

    /// [§16.5](crate::specification#s16-5): "A pod that became ready before NAME is followed"
    fn is_followed(&self, outcome: &str) -> bool {
        outcome == "ready"
    }

    /// [§16.5](crate::specification#s16-5): "until 10 minutes after Ready, or until the last deadline of an undecided SLO
    /// that names it, whichever is later"
    fn followed_until(&self, ready: Nanos, deadlines: &[Nanos]) -> Nanos {
        deadlines.iter().copied().fold(ready + 600 * SECOND, Nanos::max)
    }

    /// [§16.5](crate::specification#s16-5): "with the snapshot that shows a terminal phase"
    fn is_over(&self, pod: &Snapshot) -> bool {
        ["Succeeded", "Failed"].contains(&pod.phase.as_str())
    }

    /// [§16.5](crate::specification#s16-5): "nothing but NAME is latched"
    fn last_with_starts(&self, place: usize, ending: usize) -> usize {
        place.min(ending)
    }

    /// [§16.7](crate::specification#s16-7): "From Ready on, a bad event has the stage and the cause `none`"
    fn blames(&self, place: usize, ready: Option<usize>) -> Option<usize> {
        Some(place).filter(|place| ready.is_none_or(|ready| *place < ready))
    }

    /// [§16.6](crate::specification#s16-6): "the snapshot that latches NAME does not latch ContainersStarted, nor has one
    /// before, or the time of NAME is the earlier by more than 1 s". Each is its place with its time.
    fn is_before_the_start(
        &self,
        name: (usize, Option<Nanos>),
        started: Option<(usize, Option<Nanos>)>,
    ) -> bool {
        let Some(started) = started.filter(|started| started.0 <= name.0) else {
            return true;
        };
        let times = started.1.zip(name.1);
        times.is_some_and(|(started, name)| started - name > SECOND)
    }

    /// [§5.8](crate::specification#s5-8): "the pod ended as `ready` or `completed`"
    fn tells_what_never_came(&self, outcome: &str) -> bool {
        matches!(outcome, "ready" | "completed")
    }

    /// [§16.6](crate::specification#s16-6): "`condition_absent` says that the pod's status never had the TYPE."
    fn reason_without(&self, type_stood: bool) -> &'static str {
        match type_stood {
            true => "not_seen",
            false => "condition_absent",
        }
    }

    /// [§16.6](crate::specification#s16-6): "for `created_to_NAME`"
    fn counts_without_time(&self, is_from_created: bool) -> bool {
        is_from_created
    }

    /// [§16.7](crate::specification#s16-7): "a pod that ends as `ready` without NAME is excluded as `condition_absent` if
    /// its status never had the TYPE, else as `not_seen`."
    fn slo_ended(&self, outcome: &'static str, type_stood: bool) -> &'static str {
        match outcome {
            "ready" => self.reason_without(type_stood),
            outcome => outcome,
        }
    }

    /// [§16.7](crate::specification#s16-7): "A pod of which `containers_started_to_NAME` can come no more by 16.6 is
    /// `not_entered`."
    fn excludes_what_can_come_no_more(&self) -> bool {
        true
    }

    /// [§16.8](crate::specification#s16-8): "does not count in `podinit_clock_anomalies_total`"
    fn counts_anomalies(&self) -> bool {
        false
    }
}

/// [§16](crate::specification#s16) as the specification states it.
pub(crate) struct SpecNamed;

impl NamedRules for SpecNamed {}
