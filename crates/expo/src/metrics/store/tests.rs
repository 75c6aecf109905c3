#![allow(clippy::unwrap_used)]

use super::*;
use crate::metrics::labels::LabelConfig;
use crate::metrics::namespaces::NamespacePlaces;
use podinit_core::lifecycle::{Cause, Latency};
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;

/// Counts the exemplars that it is given.
struct ExemplarCounter {
    wanted: bool,
    given: usize,
}

impl ExpositionEncoder for ExemplarCounter {
    fn family(&mut self, _: FamilyHead<'_>) {}

    fn number(&mut self, _: &[LabelPair<'_>], _: SampleNumber) {}

    fn wants_exemplars(&self) -> bool {
        self.wanted
    }

    fn histogram(&mut self, _: &[LabelPair<'_>], snapshot: &HistogramSnapshot) {
        let buckets = 0..snapshot.buckets().count();
        self.given += buckets.filter_map(|bucket| snapshot.exemplar(bucket)).count();
    }
}

/// Keeps the numbers of one family that are not 0, as text.
struct Nonzero {
    family: &'static str,
    inside: bool,
    found: Vec<String>,
}

impl ExpositionEncoder for Nonzero {
    fn family(&mut self, head: FamilyHead<'_>) {
        self.inside = head.name == self.family;
    }

    fn number(&mut self, labels: &[LabelPair<'_>], number: SampleNumber) {
        if self.inside && number != SampleNumber::Integer(0) {
            self.found.push(format!("{labels:?} {number:?}"));
        }
    }

    fn wants_exemplars(&self) -> bool {
        false
    }

    fn histogram(&mut self, _: &[LabelPair<'_>], _: &HistogramSnapshot) {}
}

#[test]
fn stuck_pods_have_the_namespace_where_waiting_pods_have_it() {
    let config = LabelConfig { slo_namespace: true, ..LabelConfig::default() };
    let mut namespaces = NamespacePlaces::new(config.slo_namespace());
    let names = Arc::clone(&namespaces.names);
    let store = MetricStore::new(
        &config.specs().unwrap(),
        1,
        names,
        NamedMetrics::default(),
        EvidenceMetrics::default(),
        StartTimes::default(),
    );
    let [a, b] = ["a", "b"].map(|name| namespaces.place(name));
    let cni = WaitReason::new(Stage::Network, Cause::Cni);
    let volume = WaitReason::new(Stage::Network, Cause::Volume);
    store.stuck.move_pod(a, None, cni);
    store.stuck.move_pod(b, None, cni);
    store.stuck.move_pod(b, cni, volume);
    store.stuck.move_pod(a, cni, None);
    let mut encoder = Nonzero { family: "podinit_stuck_pods", inside: false, found: Vec::new() };
    store.collect(&mut encoder);
    let expected = r#"[("stage", "network"), ("cause", "volume"), ("namespace", "b")] Integer(1)"#;
    assert_eq!(encoder.found, [expected]);
}

#[test]
fn exemplars_are_copied_only_for_a_format_that_carries_them() {
    let specs = LabelConfig::default().specs().unwrap();
    let namespaces = NamespacePlaces::new(None).names;
    let store = MetricStore::new(
        &specs,
        1,
        namespaces,
        NamedMetrics::default(),
        EvidenceMetrics::default(),
        StartTimes::default(),
    );
    store.add_set(0, ["a".into()].into(), None);
    let pod = PodSnapshot::bare(PodUid::from_text("u"), "a", "p").info;
    let latency = Latency::from_nanos(1);
    let at = Timestamp::from_seconds(1);
    let set = store.set(0).unwrap();
    let histogram = set.interval(Interval::CreatedToReady);
    histogram.observe_pod(latency, &pod, at);
    for wanted in [true, false] {
        let mut encoder = ExemplarCounter { wanted, given: 0 };
        store.collect(&mut encoder);
        assert_eq!(encoder.given, usize::from(wanted));
    }
}
