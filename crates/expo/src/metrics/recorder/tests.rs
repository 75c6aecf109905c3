#![allow(clippy::unwrap_used)]

use super::*;
use crate::metrics::labels::{LabelConfig, WHOLE_SET};
use crate::metrics::slo::SloBoard;
use crate::metrics::start_times::StartTimes;
use crate::metrics::store::{EvidenceMetrics, NamedMetrics};
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{Cause, Stage, WaitReason};
use podinit_core::pod::{PodSnapshot, PodUid};

pub(super) fn discovered() -> PodObservation {
    let queued = WaitReason::new(Stage::Scheduling, Cause::Queue).unwrap();
    PodObservation::Moved {
        from: PodState::Undiscovered,
        to: PodState::InFlight(queued, CapacityState::Unknown),
    }
}

pub(super) fn recorder(max_values: usize, max_sets: usize) -> Recorder {
    let config = LabelConfig {
        labels: vec![SeriesLabel::Namespace, SeriesLabel::Node],
        max_values,
        max_sets,
        ..LabelConfig::default()
    };
    let specs = config.specs().unwrap();
    let namespaces = NamespacePlaces::new(config.slo_namespace());
    let names = Arc::clone(&namespaces.names);
    let starts = StartTimes::default();
    let evidence = EvidenceMetrics::default();
    let store = MetricStore::new(
        &specs,
        max_sets,
        Arc::clone(&names),
        NamedMetrics::default(),
        evidence,
        starts,
    );
    let store = Arc::new(store);
    let sets = LabelSets::new(specs, max_sets);
    let slos = SloCounter::new(Arc::new(SloBoard::new(names)));
    Recorder::new(store, sets, namespaces, slos, Arc::new([]))
}

pub(super) fn pod(namespace: &str, node: Option<&str>) -> PodInfo {
    PodInfo {
        node: node.map(Arc::from),
        ..PodSnapshot::bare(PodUid::from_text("u"), namespace, "p").info
    }
}

pub(super) fn dropped(recorder: &Recorder) -> Vec<(&str, u64)> {
    recorder.store.dropped().collect()
}

#[test]
fn a_discovered_pod_brings_its_series_at_zero() {
    let mut recorder = recorder(10, 10);
    recorder.observe_pod(Timestamp::EPOCH, &pod("a", None), discovered());
    let sets = recorder.store.sorted_sets();
    assert_eq!(sets.len(), 1);
    for interval in Interval::ALL {
        assert_eq!(sets[0].interval(interval).snapshot().count(), 0);
    }
}

#[test]
fn each_dropped_value_is_counted_once_per_pod_and_the_node_when_known() {
    let mut recorder = recorder(1, 100);
    recorder.observe_pod(Timestamp::EPOCH, &pod("a", Some("n1")), discovered());
    recorder.observe_pod(Timestamp::EPOCH, &pod("b", None), discovered());
    assert_eq!(dropped(&recorder), [("namespace", 1), ("node", 0), (WHOLE_SET, 0)]);
    recorder.observe_pod(Timestamp::EPOCH, &pod("b", Some("n2")), PodObservation::Bound);
    let measured = PodObservation::Measured {
        interval: Interval::CreatedToReady,
        latency: Latency::from_nanos(1),
    };
    recorder.observe_pod(Timestamp::EPOCH, &pod("b", Some("n2")), measured);
    assert_eq!(dropped(&recorder), [("namespace", 1), ("node", 1), (WHOLE_SET, 0)]);
    recorder.observe_pod(Timestamp::EPOCH, &pod("c", Some("n2")), discovered());
    assert_eq!(dropped(&recorder), [("namespace", 2), ("node", 2), (WHOLE_SET, 0)]);
}

#[test]
fn a_dropped_set_is_counted_once_per_pod() {
    let mut recorder = recorder(100, 2);
    recorder.observe_pod(Timestamp::EPOCH, &pod("a", None), discovered());
    recorder.observe_pod(Timestamp::EPOCH, &pod("b", None), discovered());
    recorder.observe_pod(Timestamp::EPOCH, &pod("a", Some("n")), PodObservation::Bound);
    assert_eq!(dropped(&recorder)[2], (WHOLE_SET, 1));
    recorder.observe_pod(Timestamp::EPOCH, &pod("c", None), discovered());
    recorder.observe_pod(Timestamp::EPOCH, &pod("c", Some("n")), PodObservation::Bound);
    assert_eq!(dropped(&recorder)[2], (WHOLE_SET, 2));
    assert_eq!(recorder.store.sorted_sets().len(), 3);
}
