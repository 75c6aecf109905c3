//! Events that a resumed watch delivers after it has reported that it is resumed.

use std::collections::BTreeMap;
use std::sync::Arc;

use podinit_core::lifecycle::{
    BadReason, Cause, Delivery, Observation, PodEvent, PodObservation, SloId, SloVerdict, SourceId,
    Stage, TimestampMode, Tracker, TrackerConfig, WaitReason,
};
use podinit_core::pod::{ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition};
use podinit_core::timestamp::Timestamp;
use podinit_slo::SloFile;

const NETWORK: SloId = SloId(0);
const START: i64 = 1_767_225_600;
const BOUND: i64 = START + 60;
/// When the watch goes on.
const RESUMED: i64 = START + 3_600;

struct Harness {
    tracker: Tracker,
    /// The events of the SLO on `network`, by the pod's name
    verdicts: BTreeMap<String, Vec<SloVerdict>>,
}

impl Harness {
    fn new() -> Self {
        let slos = SloFile::built_in().slos;
        let config = TrackerConfig {
            timestamps: TimestampMode::Fused,
            slos: slos.iter().map(|slo| slo.rule.clone()).collect(),
            ..TrackerConfig::default()
        };
        Self { tracker: Tracker::new(config), verdicts: BTreeMap::new() }
    }

    fn apply(&mut self, second: i64, event: PodEvent, is_watch_event: bool) {
        let now = Timestamp::from_seconds(second);
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now,
            observed: is_watch_event.then_some(now),
            version: None,
        };
        let verdicts = &mut self.verdicts;
        let mut sink = |_, observation: Observation<'_>| Self::note(verdicts, observation);
        self.tracker.apply(delivery, &mut sink);
    }

    fn advance(&mut self, second: i64) {
        let verdicts = &mut self.verdicts;
        let mut sink = |_, observation: Observation<'_>| Self::note(verdicts, observation);
        let now = Timestamp::from_seconds(second);
        self.tracker.advance(now, &mut sink);
    }

    fn note(verdicts: &mut BTreeMap<String, Vec<SloVerdict>>, observation: Observation<'_>) {
        if let Observation::Pod(pod, PodObservation::Slo { slo: NETWORK, verdict }) = observation {
            verdicts.entry(pod.name.to_string()).or_default().push(verdict);
        }
    }

    fn of(&self, name: &str) -> &[SloVerdict] {
        self.verdicts.get(name).map_or(&[], Vec::as_slice)
    }
}

/// A pod as it stood when it was bound, or when its network came up.
fn pod(name: &str, network: Option<i64>) -> PodSnapshot {
    let at = Timestamp::from_seconds;
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), Arc::from("shop"), name);
    let condition = |second| StatusCondition {
        status: ConditionStatus::True,
        last_transition: Some(at(second)),
    };
    pod.created = Some(at(BOUND));
    pod.latest_api_time = Some(at(network.unwrap_or(BOUND)));
    pod.resource_version = Some(network.unwrap_or(BOUND).unsigned_abs());
    pod.conditions.insert(ConditionType::PodScheduled, condition(BOUND));
    if let Some(network) = network {
        pod.started = Some(at(BOUND));
        pod.conditions.insert(ConditionType::PodReadyToStartContainers, condition(network));
    }
    pod
}

#[test]
fn what_was_missed_is_judged_by_api_times_when_it_comes_after_the_watch_has_resumed() {
    let mut harness = Harness::new();
    let began = Timestamp::from_seconds(START);
    let pods = vec![];
    harness.apply(START, PodEvent::Listed { pods: pods.into(), began }, false);
    for name in ["swift", "late", "stuck"] {
        harness.apply(BOUND, PodEvent::Applied(pod(name, None)), true);
    }
    harness.apply(BOUND + 1, PodEvent::SyncLost, false);
    for second in BOUND + 1..RESUMED {
        harness.advance(second);
    }
    harness.apply(RESUMED, PodEvent::Resumed, false);
    for name in ["newcomer", "lost"] {
        harness.apply(RESUMED + 1, PodEvent::Applied(pod(name, None)), true);
    }
    for (name, after, verdict) in [
        // Its binding was seen to the instant, its network is known to the second: 9.5 s.
        ("swift", 9, SloVerdict::Good),
        ("newcomer", 10, SloVerdict::Good),
        (
            "late",
            11,
            SloVerdict::Bad(BadReason::of_known(WaitReason::new(
                Stage::Network,
                Cause::Acknowledge,
            ))),
        ),
    ] {
        harness.advance(RESUMED + 4);
        assert_eq!(harness.of(name), [], "{name}");
        let event = PodEvent::Applied(pod(name, Some(BOUND + after)));
        harness.apply(RESUMED + 4, event, true);
        assert_eq!(harness.of(name), [verdict], "{name}");
    }
    harness.advance(RESUMED + 5);
    assert_eq!(harness.verdicts.len(), 3, "{:?}", harness.verdicts);
    harness.advance(RESUMED + 3_600);
    for name in ["stuck", "lost"] {
        assert_eq!(
            harness.of(name),
            [SloVerdict::Bad(BadReason::of_known(WaitReason::new(
                Stage::Network,
                Cause::Acknowledge
            )))],
            "{name}"
        );
    }
    let events: usize = harness.verdicts.values().map(Vec::len).sum();
    assert_eq!(events, 5, "{:?}", harness.verdicts);
    assert_eq!(harness.tracker.undecided(NETWORK), 0);
}
