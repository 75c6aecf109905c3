//! Deliveries by hand, and what the tracker says of them: what histories of pods do not reach.

use std::sync::Arc;
use std::time::Duration;

use super::fixtures::{at, delivery};
use super::{Tracker, TrackerConfig, fixtures};
use crate::lifecycle::{
    BadReason, Cause, Interval, Namespaces, Observation, PodEvent, PodObservation, Selection,
    SloId, SloRule, SloVerdict, SourceId, Stage, WaitReason,
};
use crate::pod::{ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition};

fn rule(name: &str, threshold: u64) -> SloRule {
    let interval = Interval::Stage(Stage::Network).into();
    SloRule { interval, ..fixtures::rule(name, threshold) }
}

/// A pod that is bound at the start, on this node.
fn bound(version: u64, node: Option<&str>) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("uid"), "shop", "web");
    pod.created = Some(at(0));
    pod.resource_version = Some(version);
    pod.info.node = node.map(Arc::from);
    let scheduled = StatusCondition { status: ConditionStatus::True, last_transition: Some(at(0)) };
    pod.conditions.insert(ConditionType::PodScheduled, scheduled);
    pod
}

/// A tracker with these SLOs, and what it says.
struct Harness {
    tracker: Tracker,
    said: Vec<PodObservation>,
}

impl Harness {
    fn with(slos: &[SloRule]) -> Self {
        Self {
            tracker: Tracker::new(TrackerConfig { slos: slos.into(), ..TrackerConfig::default() }),
            said: Vec::new(),
        }
    }

    fn deliver(&mut self, pod: PodSnapshot) {
        let delivery = delivery(SourceId(0), 0, PodEvent::Applied(pod));
        let said = &mut self.said;
        self.tracker
            .apply(delivery, &mut |_, observation: Observation<'_>| hear(said, observation));
    }

    /// Lets so many seconds pass since the start.
    fn pass(&mut self, seconds: i64) {
        let said = &mut self.said;
        self.tracker
            .advance(at(seconds), &mut |_, observation: Observation<'_>| hear(said, observation));
    }

    /// The SLOs that have had their event.
    fn verdicts(&self) -> Vec<(u16, SloVerdict)> {
        let verdict = |observation: &PodObservation| match observation {
            PodObservation::Slo { slo, verdict } => Some((slo.0, *verdict)),
            _ => None,
        };
        self.said.iter().filter_map(verdict).collect()
    }
}

fn hear(said: &mut Vec<PodObservation>, observation: Observation<'_>) {
    if let Observation::Pod(_, observation) = observation {
        said.push(observation);
    }
}

/// What the SLO at this place says of a pod that no kubelet acknowledges.
fn missed(slo: u16) -> (u16, SloVerdict) {
    let reason = WaitReason::new(Stage::Network, Cause::Acknowledge);
    (slo, SloVerdict::Bad(BadReason::of_known(reason)))
}

#[test]
fn a_pod_is_reported_as_bound_once_and_not_if_its_first_snapshot_was() {
    let bindings = |harness: &Harness| {
        let bound = |said: &&PodObservation| **said == PodObservation::Bound;
        harness.said.iter().filter(bound).count()
    };
    let mut harness = Harness::with(&[]);
    for (version, node, expected) in
        [(1, None, 0), (2, None, 0), (3, Some("n1"), 1), (4, Some("n1"), 1), (5, None, 1)]
    {
        harness.deliver(bound(version, node));
        assert_eq!(bindings(&harness), expected, "version {version}");
    }
    let mut harness = Harness::with(&[]);
    for version in 1..4 {
        harness.deliver(bound(version, Some("n1")));
        assert_eq!(bindings(&harness), 0);
    }
}

#[test]
fn an_slo_with_another_threshold_judges_the_pods_in_flight_by_that() {
    let mut harness = Harness::with(&[rule("other", 5), rule("slow", 10)]);
    harness.deliver(bound(1, None));
    assert_eq!(harness.tracker.undecided(SloId(0)), 1);
    assert_eq!(harness.tracker.undecided(SloId(1)), 1);
    assert_eq!(harness.tracker.undecided(SloId(2)), 0);
    // It has another place, too.
    harness.tracker.set_slos([rule("slow", 20)].into());
    assert_eq!(harness.tracker.undecided(SloId(0)), 1);
    assert_eq!(harness.tracker.undecided(SloId(1)), 0);
    harness.pass(20);
    assert_eq!(harness.verdicts(), []);
    harness.pass(21);
    assert_eq!(harness.verdicts(), [missed(0)]);
    assert_eq!(harness.tracker.undecided(SloId(0)), 0);
    harness.pass(1_000);
    assert_eq!(harness.verdicts().len(), 1);
}

#[test]
fn an_slo_that_has_had_its_event_of_a_pod_has_no_other_when_it_is_replaced() {
    let mut harness = Harness::with(&[rule("slow", 10)]);
    harness.deliver(bound(1, None));
    harness.pass(11);
    assert_eq!(harness.verdicts(), [missed(0)]);
    harness.tracker.set_slos([rule("slow", 20)].into());
    assert_eq!(harness.tracker.undecided(SloId(0)), 0);
    harness.pass(1_000);
    assert_eq!(harness.verdicts().len(), 1);
}

#[test]
fn a_new_slo_applies_only_to_pods_that_are_discovered_later() {
    let old = rule("slow", 10);
    let interval = SloRule { interval: Interval::ScheduledToReady.into(), ..old.clone() };
    let namespaces =
        SloRule { namespaces: Namespaces::Exclude(vec!["kube-system".into()]), ..old.clone() };
    let owner_kinds = SloRule { owner_kinds: vec!["Job".into()], ..old.clone() };
    let selection = SloRule {
        selection: Selection { existing_capacity: true, present_images: false },
        ..old.clone()
    };
    for new in [rule("quick", 10), interval, namespaces, owner_kinds, selection] {
        assert!(!old.becomes(&new) && !new.becomes(&old), "{new:?}");
        let mut harness = Harness::with(std::slice::from_ref(&old));
        harness.deliver(bound(1, None));
        harness.tracker.set_slos([new].into());
        harness.pass(1_000);
        assert_eq!(harness.verdicts(), []);
        assert_eq!(harness.tracker.undecided(SloId(0)), 0);
    }
    let grace = SloRule { grace: Duration::from_nanos(1), ..rule("slow", 11) };
    assert!(old.becomes(&grace) && grace.becomes(&old));
}
