use super::*;
use crate::lifecycle::slo::Namespaces;
use crate::lifecycle::stage::Interval;
use crate::pod::PodInfo;

#[test]
fn a_finished_pod_takes_at_most_48_bytes_of_the_table() {
    assert!(size_of::<Option<(PodUid, Record)>>() <= 48);
}

#[test]
fn deadlines_of_pods_that_are_gone_do_not_pile_up() {
    let rule = SloRule {
        name: "slow".into(),
        interval: Interval::CreatedToReady,
        threshold_nanos: 3600 * NANOS_PER_SECOND,
        grace_nanos: 0,
        namespaces: Namespaces::All,
        owner_kinds: Vec::new(),
    };
    let mut tracker = Tracker::new(TrackerConfig {
        slos: [rule].into(),
        ..TrackerConfig::default()
    });
    let mut missed = 0;
    let mut sink = |_: &PodInfo, observation| {
        missed += usize::from(matches!(observation, Observation::Slo { .. }));
    };
    let now = Timestamp::from_seconds(1_000_000);
    let mut deliver = |event| {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now,
            observed: None,
            version: None,
        };
        tracker.apply(delivery, &mut sink);
    };
    for number in 0..2_000 {
        let uid = PodUid::from_text(&number.to_string());
        let mut pod = PodSnapshot::bare(uid, "ns", "pod");
        pod.created = Some(now);
        deliver(PodEvent::Applied(pod.clone()));
        // One in twenty stays.
        if number % 20 > 0 {
            deliver(PodEvent::Deleted(pod));
        }
    }
    let waiting = tracker.shared.timers.waiting();
    assert!((100..600).contains(&waiting), "{waiting}");
    tracker.advance(now.plus_nanos(3601 * NANOS_PER_SECOND), &mut sink);
    assert_eq!(missed, 2_000);
}
