//! What scrapes state of when series began, and what a restart makes of it.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model as proto;
use prost::Message;

use super::saved::SavedMetrics;
use super::start_times::{StartTimes, starts_of_sets};
use super::{Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder, SloDoc};
use crate::metrics::SeriesLabel;
use podinit_core::lifecycle::{Interval, Latency, Outcome, PodObservation, PodState, SloRule};
use podinit_core::pod::{PodInfo, PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;

const DURATION: &str = "podinit_created_to_ready_duration_seconds";
const FINISHED: &str = "podinit_pods_finished_total";
const DISCOVERED: &str = "podinit_pods_discovered_total";
const DELIVERY: &str = "podinit_watch_delivery_seconds";
const SLI: &str = "podinit_pod_start_sli_duration_seconds";
const SLI_EXCLUDED: &str = "podinit_pod_start_sli_excluded_total";

const fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_800_000_000 + second)
}

fn pod(namespace: &str) -> PodInfo {
    PodSnapshot::bare(PodUid::from_text(namespace), namespace, "p").info
}

struct Process {
    recorder: Recorder,
    exposition: Arc<Exposition>,
}

impl Process {
    fn new(start: Timestamp, events: bool, labels: LabelConfig) -> Self {
        let rule = SloRule { name: Arc::from("fast"), ..SloRule::default() };
        let slo = SloDoc::new(&rule, 0.99, 604_800.0);
        let builder = ExpositionBuilder::new(labels).starts(start).events(events);
        let (recorder, exposition) = builder.slos(vec![slo]).build().unwrap();
        Self { recorder, exposition }
    }

    fn start(start: Timestamp) -> Self {
        Self::new(start, false, LabelConfig::default())
    }

    fn restored(mut self, saved: &SavedMetrics) -> Self {
        self.recorder.restore(saved, []);
        self
    }

    /// A pod of this namespace becomes ready.
    fn ready(&mut self, now: Timestamp, namespace: &str) {
        let pod = pod(namespace);
        let moved = PodObservation::Moved {
            from: PodState::Undiscovered,
            to: PodState::Finished(Outcome::Ready),
        };
        self.recorder.observe_pod(now, &pod, moved);
        let measured = PodObservation::Measured {
            interval: Interval::CreatedToReady,
            latency: Latency::from_nanos(1),
        };
        self.recorder.observe_pod(now, &pod, measured);
    }

    /// The start of the first series of a family, or of the one with this label value.
    fn shows(&self, family: &str, value: Option<&str>) -> Option<Timestamp> {
        let body = self.exposition.encode(ExpositionFormat::Protobuf).unwrap();
        let mut rest = body.as_slice();
        while !rest.is_empty() {
            let found = proto::MetricFamily::decode_length_delimited(&mut rest).unwrap();
            if found.name != family {
                continue;
            }
            let has = |metric: &&proto::Metric| {
                value.is_none_or(|value| metric.label.iter().any(|pair| pair.value == value))
            };
            let metric = found.metric.iter().find(has).unwrap();
            let counter = metric.counter.as_ref().and_then(|it| it.start_timestamp);
            let histogram = metric.histogram.as_ref().and_then(|it| it.start_timestamp);
            let start = counter.or(histogram)?;
            let nanos = start.seconds * 1_000_000_000 + i64::from(start.nanos);
            return Some(Timestamp::from_nanos(nanos));
        }
        panic!("{family} is not there")
    }
}

#[test]
fn counters_begin_with_the_process_and_label_sets_when_they_are_met() {
    let mut process = Process::start(at(0));
    process.ready(at(5), "a");
    // Of label sets in whole seconds.
    process.ready(Timestamp::from_nanos(at(7).as_nanos() + 999_999_999), "b");
    process.ready(at(9), "a");
    for family in [FINISHED, DISCOVERED, DELIVERY] {
        assert_eq!(process.shows(family, None), Some(at(0)), "{family}");
    }
    assert_eq!(process.shows(DURATION, Some("a")), Some(at(5)));
    assert_eq!(process.shows(DURATION, Some("b")), Some(at(7)));
    // Each SLO begins when it is put in force.
    assert_eq!(process.shows("podinit_slo_events_total", None), None);
}

#[test]
fn a_restart_keeps_the_starts_of_what_continues() {
    let mut process = Process::start(at(0));
    process.ready(at(5), "a");
    let mut process = Process::start(at(20)).restored(&process.recorder.saved());
    process.ready(at(25), "b");
    let process = Process::start(at(40)).restored(&process.recorder.saved());
    for family in [FINISHED, DISCOVERED, DELIVERY] {
        assert_eq!(process.shows(family, None), Some(at(0)), "{family}");
    }
    assert_eq!(process.shows(DURATION, Some("a")), Some(at(5)));
    assert_eq!(process.shows(DURATION, Some("b")), Some(at(25)));
}

#[test]
fn what_an_earlier_podinit_has_saved_has_no_start_even_after_further_restarts() {
    let mut process = Process::start(at(0));
    process.ready(at(5), "a");
    let mut old = process.recorder.saved();
    old.starts = Default::default();
    let mut process = Process::start(at(20)).restored(&old);
    process.ready(at(25), "b");
    let again = Process::start(at(40)).restored(&process.recorder.saved());
    for process in [process, again] {
        for family in [FINISHED, DISCOVERED, DELIVERY] {
            assert_eq!(process.shows(family, None), None, "{family}");
        }
        assert_eq!(process.shows(DURATION, Some("a")), None);
        assert_eq!(process.shows(DURATION, Some("b")), Some(at(25)));
    }
}

#[test]
fn series_that_do_not_continue_begin_with_the_process() {
    let mut process = Process::start(at(0));
    process.ready(at(5), "a");
    let saved = process.recorder.saved();

    let with_events = Process::new(at(20), true, LabelConfig::default()).restored(&saved);
    assert_eq!(with_events.shows(FINISHED, None), Some(at(0)));
    assert_eq!(with_events.shows(SLI, Some("a")), Some(at(20)));
    // It counts the pods of before, too.
    assert_eq!(with_events.shows(SLI_EXCLUDED, None), None);

    let labels = LabelConfig { labels: vec![SeriesLabel::Node], ..LabelConfig::default() };
    let mut other_labels = Process::new(at(20), false, labels).restored(&saved);
    other_labels.recorder.show(&pod("a"), []);
    assert_eq!(other_labels.shows(FINISHED, None), Some(at(0)));
    assert_eq!(other_labels.shows(DURATION, None), Some(at(20)));
}

#[test]
fn an_interval_that_an_earlier_podinit_did_not_measure_has_no_start_in_its_sets() {
    let mut process = Process::start(at(0));
    process.ready(at(5), "a");
    let mut saved = process.recorder.saved();
    saved.intervals.pop();
    for durations in &mut saved.durations {
        durations.pop();
    }
    let process = Process::start(at(20)).restored(&saved);
    assert_eq!(process.shows(DURATION, Some("a")), None);
    assert_eq!(process.shows(FINISHED, None), Some(at(0)));
}

#[test]
fn nothing_begins_later_than_it_counts_when_the_clock_is_set_back() {
    let mut process = Process::start(at(100));
    process.ready(at(110), "a");
    process.ready(at(5), "a");
    assert_eq!(process.shows(FINISHED, None), Some(at(5)));
    assert_eq!(process.shows(DURATION, Some("a")), Some(at(5)));
}

#[test]
fn without_a_time_there_is_no_start() {
    let (recorder, exposition) = ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
    let mut replay = Process { recorder, exposition };
    replay.ready(at(1), "a");
    assert_eq!(replay.shows(FINISHED, None), None);
    assert_eq!(replay.shows(DURATION, Some("a")), None);
    let starts = StartTimes::new(None, [FINISHED].into_iter());
    starts.not_after(at(1));
    assert_eq!((starts.process(), starts.get(FINISHED)), (None, None));
    assert_eq!(StartTimes::new(Some(at(1)), [].into_iter()).get(FINISHED), None);
}

#[test]
fn sets_that_become_one_are_as_old_as_the_oldest() {
    let starts = [(0, Some(3)), (1, Some(7)), (0, Some(2)), (1, None), (1, Some(1))];
    let starts = starts_of_sets(starts.into_iter());
    assert_eq!(starts[&0], Some(Timestamp::from_nanos(2)));
    assert_eq!(starts[&1], None);
}
