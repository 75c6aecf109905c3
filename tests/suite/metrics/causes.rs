//! The sums over causes ([§10.1](crate::specification#s10-1)), after every delivery of random
//! histories and through restarts, with and without the label `namespace`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::oracle::seeds;
use podinit_checkpoint::{content, frame};
use podinit_core::kube_event::{
    EventOccurrence, EventReason, InvolvedPod, KubeEvent, SandboxWarning,
};
use podinit_core::lifecycle::{
    Delivery, Interval, PodEvent, SavedPod, SloRule, SourceId, SourceSuccessor, Stage, Tracker,
    TrackerConfig,
};
use podinit_core::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState, NotScheduled,
    NotScheduledReason, PodSnapshot, PodUid, StatusCondition, WaitingReason,
};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{Exposition, ExpositionBuilder, LabelConfig, Recorder, SloDoc};
use podinit_instruments::ExpositionFormat;
use proptest::prelude::*;

const INTERVALS: [(&str, Interval, u64); 2] =
    [("network", Interval::Stage(Stage::Network), 3), ("all", Interval::CreatedToReady, 5)];

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_000_000 + second)
}

fn rules() -> [SloRule; 2] {
    INTERVALS.map(|(name, interval, seconds)| SloRule {
        name: name.into(),
        interval: interval.into(),
        threshold: Duration::from_secs(seconds),
        ..SloRule::default()
    })
}

fn config() -> TrackerConfig {
    TrackerConfig { slos: Arc::new(rules()), events: true, ..TrackerConfig::default() }
}

fn counters(by_namespace: bool) -> (Recorder, Arc<Exposition>) {
    let docs = rules().map(|rule| SloDoc::new(&rule, 0.99, 604_800.0));
    let labels =
        LabelConfig { slo_namespace: by_namespace, max_values: 2, ..LabelConfig::default() };
    ExpositionBuilder::new(labels).slos(docs.to_vec()).build().unwrap()
}

/// By the named labels: the sum of the family's series.
fn sums(text: &str, family: &str, by: &[&str]) -> BTreeMap<Vec<String>, u64> {
    let mut sums = BTreeMap::new();
    for line in text.lines() {
        let Some((labels, value)) = line
            .strip_prefix(family)
            .and_then(|rest| rest.strip_prefix('{'))
            .and_then(|rest| rest.split_once("} "))
        else {
            continue;
        };
        let value_of = |name: &&str| {
            let mut labels = labels.split(',').filter_map(|label| label.split_once('='));
            let found = labels.find(|(label, _)| label == name);
            found.map_or(String::new(), |(_, value)| value.trim_matches('"').to_owned())
        };
        let key = by.iter().map(value_of).collect();
        *sums.entry(key).or_default() += value.parse::<u64>().unwrap();
    }
    sums
}

/// Both sums hold; returns the SLO events.
fn conserved(exposition: &Exposition) -> BTreeMap<Vec<String>, u64> {
    let text = String::from_utf8(exposition.encode(ExpositionFormat::Text).unwrap()).unwrap();
    let in_flight = sums(&text, "podinit_inflight_pods", &["stage"]);
    let mut waiting = sums(&text, "podinit_waiting_pods", &["stage"]);
    for stage in in_flight.keys() {
        waiting.entry(stage.clone()).or_default();
    }
    assert_eq!(waiting, in_flight);
    let labels = ["stage", "cause", "namespace"];
    let waiting = sums(&text, "podinit_waiting_pods", &labels);
    let stuck = sums(&text, "podinit_stuck_pods", &labels);
    assert!(stuck.keys().eq(waiting.keys()));
    assert!(stuck.iter().all(|(key, pods)| *pods <= waiting[key]));
    let by_cause = sums(&text, "podinit_slo_bad_causes_total", &["slo", "namespace"]);
    let events = sums(&text, "podinit_slo_events_total", &["slo", "namespace", "result"]);
    for (key, bad) in &by_cause {
        let key = vec![key[0].clone(), key[1].clone(), "bad".to_owned()];
        assert_eq!(events[&key], *bad, "{key:?}");
    }
    sums(&text, "podinit_slo_events_total", &["slo", "result"])
}

/// What happens to one pod.
#[derive(Clone, Debug)]
enum Step {
    Snapshot { pod: u8, version: u64, reached: u8, message: u8, container: u8, terminating: bool },
    Warning { pod: u8 },
    Pulling { pod: u8 },
    Delete { pod: u8 },
    Pass,
    Restart { by_namespace: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let snapshot = (0u8..6, 0u64..50, 0u8..6, 0u8..4, 0u8..5, prop::bool::weighted(0.1));
    prop_oneof![
        12 => snapshot.prop_map(|(pod, version, reached, message, container, terminating)| {
            Step::Snapshot { pod, version, reached, message, container, terminating }
        }),
        2 => (0u8..6).prop_map(|pod| Step::Warning { pod }),
        2 => (0u8..6).prop_map(|pod| Step::Pulling { pod }),
        1 => (0u8..6).prop_map(|pod| Step::Delete { pod }),
        3 => Just(Step::Pass),
        1 => any::<bool>().prop_map(|by_namespace| Step::Restart { by_namespace }),
    ]
}

fn bare(pod: u8) -> PodSnapshot {
    let uid = PodUid::from_text(&pod.to_string());
    let namespace = format!("ns-{}", pod % 4);
    let mut snapshot = PodSnapshot::bare(uid, namespace, format!("pod-{pod}"));
    snapshot.created = Some(at(0));
    snapshot
}

fn snapshot(step: &Step, second: i64) -> Option<PodSnapshot> {
    let Step::Snapshot { pod, version, reached, message, container, terminating } = *step else {
        return None;
    };
    let mut snapshot = bare(pod);
    snapshot.resource_version = Some(version);
    snapshot.terminating = terminating;
    let kinds = [
        ConditionType::PodScheduled,
        ConditionType::PodReadyToStartContainers,
        ConditionType::Initialized,
        ConditionType::ContainersReady,
        ConditionType::Ready,
    ];
    for kind in &kinds[..usize::from(reached)] {
        let condition =
            StatusCondition { status: ConditionStatus::True, last_transition: Some(at(second)) };
        snapshot.conditions.insert(*kind, condition);
    }
    snapshot.started = (reached > 1).then(|| at(second));
    let message = [
        "0/2 nodes are available: 2 Insufficient cpu.",
        "0/2 nodes are available: 2 node(s) had untolerated taint(s).",
        "",
    ]
    .get(usize::from(message));
    if let (0, Some(message)) = (reached, message) {
        snapshot.unschedulable = true;
        snapshot.not_scheduled = Some(Box::new(NotScheduled {
            is_false: true,
            reason: NotScheduledReason::Unschedulable,
            message: (*message).into(),
        }));
    }
    let state = [
        ContainerState::NoStatus,
        ContainerState::Running,
        ContainerState::Failed,
        ContainerState::Waiting(WaitingReason::ErrImagePull),
        ContainerState::Waiting(WaitingReason::Other),
    ][usize::from(container)];
    snapshot.containers =
        [ContainerSpec { state, ..ContainerSpec::new("app".into(), ContainerKind::Regular) }]
            .into();
    Some(snapshot)
}

fn event(pod: u8, reason: EventReason) -> PodEvent {
    let container = podinit_core::kube_event::EventContainer { name: "app".into(), init: false };
    let PodSnapshot { uid, info, .. } = bare(pod);
    PodEvent::Event(KubeEvent {
        pod: Some(InvolvedPod::new(uid, info.namespace, info.name)),
        from_kubelet: true,
        container: Some(container),
        first: None,
        named: None,
        occurred: EventOccurrence::default(),
        reason,
        message: None,
    })
}

/// A process that ends and begins again.
struct Process {
    tracker: Tracker,
    recorder: Recorder,
    exposition: Arc<Exposition>,
}

impl Process {
    fn restart(&mut self, by_namespace: bool) {
        let content = content::CheckpointContent {
            tracker: self.tracker.saved(),
            metrics: self.recorder.saved(),
            ..content::CheckpointContent::default()
        };
        let file = content::encode(&content, self.tracker.saved_pods()).finish();
        let content::DecodedCheckpoint { content, pods, .. } =
            content::decode(&frame::read(&file).unwrap(), podinit::families()).unwrap();
        let (mut recorder, exposition) = counters(by_namespace);
        recorder.restore(&content.metrics, pods.iter().filter_map(SavedPod::in_flight));
        let successor = SourceSuccessor::Same;
        self.tracker = Tracker::restored(config(), content.tracker, pods, successor, &mut recorder);
        (self.recorder, self.exposition) = (recorder, exposition);
    }

    fn apply(&mut self, second: i64, event: PodEvent) {
        let observed = matches!(event, PodEvent::Applied(_) | PodEvent::Deleted(_));
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: at(second),
            observed: observed.then(|| at(second)),
            version: None,
        };
        self.tracker.apply(delivery, &mut self.recorder);
    }
}

proptest! {
    // `.ci/run full` asks for more, as it does of histories.
    #![proptest_config(ProptestConfig::with_cases(seeds::asked().map_or(16, |_| 128)))]

    /// Waiting pods add up to those in flight and causes to bad events, at every moment; a restart
    /// loses nothing and counts nothing twice, whether the label comes, goes or stays.
    #[test]
    fn causes_add_up_at_every_moment_and_through_restarts(
        by_namespace in any::<bool>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let (recorder, exposition) = counters(by_namespace);
        let tracker = Tracker::new(config());
        let mut process = Process { tracker, recorder, exposition };
        let (mut bad, mut restarts) = (0, 0);
        for (second, step) in (1..).zip(&steps) {
            match step {
                Step::Snapshot { .. } => {
                    let snapshot = snapshot(step, second).unwrap();
                    process.apply(second, PodEvent::Applied(snapshot));
                }
                Step::Warning { pod } => {
                    let warning = EventReason::Warning(SandboxWarning::NetworkNotReady);
                    process.apply(second, event(*pod, warning));
                }
                Step::Pulling { pod } => process.apply(second, event(*pod, EventReason::Pulling)),
                Step::Delete { pod } => process.apply(second, PodEvent::Deleted(bare(*pod))),
                Step::Pass => process.tracker.advance(at(second), &mut process.recorder),
                Step::Restart { by_namespace } => {
                    let before = conserved(&process.exposition);
                    process.restart(*by_namespace);
                    let after = conserved(&process.exposition);
                    let counted = |events: &BTreeMap<_, u64>| {
                        let counted = events.iter().filter(|(_, count)| **count > 0);
                        counted.map(|(key, count)| (Vec::clone(key), *count)).collect::<Vec<_>>()
                    };
                    prop_assert_eq!(counted(&after), counted(&before));
                    process.apply(second, PodEvent::Resumed);
                    restarts += 1;
                }
            }
            let events = conserved(&process.exposition);
            let events: u64 = events.iter().filter(|(key, _)| key[1] == "bad").map(|(_, n)| n).sum();
            prop_assert!(events >= bad, "{} after {}, {} restarts", events, bad, restarts);
            bad = events;
        }
    }
}
