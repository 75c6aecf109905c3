//! Pods that the kubelet rejects ([§5.9](crate::specification#s5-9)), beyond the oracle.

use super::fixtures::{at, delivery};
use super::*;
use crate::lifecycle::observation::{Observation, PodObservation, PodState};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::pod::PodPhase;

#[test]
fn a_restart_keeps_that_a_container_has_run() {
    let applied = |has_run, phase| {
        let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "pod");
        pod.created = Some(at(0));
        (pod.has_run, pod.phase, pod.is_bound) = (has_run, phase, true);
        delivery(SourceId(0), 1, PodEvent::Applied(pod))
    };
    for (has_run, expected) in [(false, Outcome::Rejected), (true, Outcome::Failed)] {
        let mut outcome = None;
        let mut sink = |_, observation: Observation<'_>| {
            if let Observation::Pod(_, PodObservation::Moved { to, .. }) = observation
                && let PodState::Finished(finished) = to
            {
                outcome = Some(finished);
            }
        };
        let mut before = Tracker::new(TrackerConfig::default());
        before.apply(applied(has_run, PodPhase::Active), &mut sink);
        let (saved, pods) = (before.saved(), read_back(&before));
        let config = TrackerConfig::default();
        let mut after = Tracker::restored(config, saved, pods, SourceSuccessor::Same, &mut sink);
        after.apply(applied(false, PodPhase::Failed), &mut sink);
        assert_eq!(outcome, Some(expected));
    }
}

/// What a pod in flight takes is multiplied by the pods of an outage.
#[test]
fn what_has_run_takes_no_room() {
    assert_eq!(size_of::<PodInFlight>(), 408);
}
