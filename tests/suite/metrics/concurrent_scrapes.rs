//! Scrapes beside a recorder that never pauses: whatever a scrape shows must add up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::parsed_exposition;
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Interval, Latency, Outcome, PodObservation, PodState, Stage, WaitReason,
};
use podinit_core::pod::{PodInfo, PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder};

const SCRAPES: usize = 100;
const LATENCY_SECONDS: u64 = 2;
const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

/// Ends the recording, also where a scrape fails the test.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One pod from discovery to readiness; each latency is the same, so that every sum is known.
fn live(recorder: &mut Recorder, pod: &PodInfo) {
    let stages = [Stage::Scheduling, Stage::Network, Stage::Containers];
    let mut position = PodState::Undiscovered;
    let mut move_to = |recorder: &mut Recorder, to| {
        let from = std::mem::replace(&mut position, to);
        recorder.observe_pod(NOW, pod, PodObservation::Moved { from, to });
    };
    let latency = Latency::from_nanos(LATENCY_SECONDS * 1_000_000_000);
    for stage in stages {
        move_to(recorder, PodState::InFlight(WaitReason::otherwise(stage), CapacityState::Unknown));
        let interval = Interval::Stage(stage);
        recorder.observe_pod(NOW, pod, PodObservation::Measured { interval, latency });
    }
    for interval in [Interval::ScheduledToReady, Interval::CreatedToReady] {
        recorder.observe_pod(NOW, pod, PodObservation::Measured { interval, latency });
    }
    move_to(recorder, PodState::Finished(Outcome::Ready));
}

#[test]
fn every_scrape_adds_up_while_pods_start() {
    let (mut recorder, exposition) =
        ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
    let pods = ["a", "b", "c", "d"]
        .map(|namespace| PodSnapshot::bare(PodUid::from_text("u"), namespace, "pod").info);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for pod in &pods {
                    live(&mut recorder, pod);
                }
            }
        });
        let _end = EndOnDrop(&done);
        let mut discovered_before = 0.0;
        for _ in 0..SCRAPES {
            let families = parsed_exposition::protobuf(
                &exposition.encode(ExpositionFormat::Protobuf).unwrap(),
            );
            // Checks +Inf against the count, and the native buckets too.
            let samples = parsed_exposition::samples_of_protobuf(&families);
            let sum_of = |prefix: &str| -> f64 {
                let series = samples.iter();
                let own = series.filter(|(name, _)| name.starts_with(prefix));
                own.map(|(_, value)| value).sum()
            };
            let discovered = sum_of("podinit_pods_discovered_total");
            let finished = sum_of("podinit_pods_finished_total");
            assert_eq!(discovered, finished + sum_of("podinit_inflight_pods"));
            assert!(discovered >= discovered_before);
            discovered_before = discovered;

            for family in families.iter().filter(|f| f.name.contains("_duration_")) {
                for metric in &family.metric {
                    let histogram = metric.histogram.as_ref().unwrap();
                    let expected = histogram.sample_count * LATENCY_SECONDS;
                    assert_eq!(histogram.sample_sum, expected as f64);
                    for bucket in &histogram.bucket {
                        assert!(bucket.exemplar.is_none() || bucket.cumulative_count > 0);
                    }
                }
            }
        }
    });
}
