use super::by_hand::{at, delivery, rule};
use super::*;
use crate::lifecycle::observation::Observation;

#[test]
fn a_finished_pod_takes_at_most_48_bytes_of_the_table() {
    assert!(size_of::<Option<(PodUid, Record)>>() <= 48);
}

#[test]
fn deadlines_of_pods_that_are_gone_do_not_pile_up() {
    let mut tracker = Tracker::new(TrackerConfig {
        slos: [rule("slow", 3600)].into(),
        ..TrackerConfig::default()
    });
    let mut missed = 0;
    let mut sink = |_, observation: Observation<'_>| {
        let event = matches!(observation, Observation::Pod(_, PodObservation::Slo { .. }));
        missed += usize::from(event);
    };
    let mut deliver = |event| tracker.apply(delivery(SourceId(0), 0, event), &mut sink);
    for number in 0..2_000 {
        let uid = PodUid::from_text(&number.to_string());
        let mut pod = PodSnapshot::bare(uid, "ns", "pod");
        pod.created = Some(at(0));
        deliver(PodEvent::Applied(pod.clone()));
        // One in twenty stays.
        if number % 20 > 0 {
            deliver(PodEvent::Deleted(pod));
        }
    }
    let waiting = tracker.shared.timers.waiting();
    assert!((100..600).contains(&waiting), "{waiting}");
    tracker.advance(at(3601), &mut sink);
    assert_eq!(missed, 2_000);
}
