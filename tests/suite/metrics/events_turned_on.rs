//! `--evidence events` where the checkpoint is of a process without: each pod that was discovered before
//! has its one event of the startup SLI too ([§9.4](crate::specification#s9-4)).

use std::collections::BTreeMap;
use std::sync::Arc;

use podinit_checkpoint::{content, frame};
use podinit_core::lifecycle::{
    Delivery, PodEvent, SavedPod, SourceId, SourceSuccessor, Tracker, TrackerConfig,
};
use podinit_core::pod::{
    ConditionStatus, ConditionType, PodPhase, PodSnapshot, PodUid, StatusCondition,
};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder,
};

use crate::support::scrape::Scrape;

const START: i64 = 1_795_334_400;

/// A pod that was created at the start.
fn pod(name: &str) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "shop", name);
    pod.created = Some(Timestamp::from_seconds(START));
    pod
}

fn ready(name: &str) -> PodSnapshot {
    let mut pod = pod(name);
    let condition = StatusCondition {
        status: ConditionStatus::True,
        last_transition: Some(Timestamp::from_seconds(START + 3)),
    };
    for kind in ConditionType::ALL {
        pod.conditions.insert(kind, condition);
    }
    pod
}

fn failed(name: &str) -> PodSnapshot {
    let phase = PodPhase::Failed;
    PodSnapshot { phase, ..pod(name) }
}

fn mirror(name: &str) -> PodSnapshot {
    let is_static = true;
    PodSnapshot { is_static, ..pod(name) }
}

/// A process, with Events or without.
struct Process {
    tracker: Tracker,
    recorder: Recorder,
    exposition: Arc<Exposition>,
}

fn config(events: bool) -> TrackerConfig {
    TrackerConfig { events, ..TrackerConfig::default() }
}

fn counters(events: bool) -> (Recorder, Arc<Exposition>) {
    let builder = ExpositionBuilder::new(LabelConfig::default()).events(events);
    builder.build().unwrap()
}

impl Process {
    fn start(events: bool) -> Self {
        let (recorder, exposition) = counters(events);
        Self { tracker: Tracker::new(config(events)), recorder, exposition }
    }

    /// Another process goes on from its checkpoint.
    fn restart(self, events: bool) -> Self {
        let content = content::CheckpointContent {
            tracker: self.tracker.saved(),
            metrics: self.recorder.saved(),
            ..content::CheckpointContent::default()
        };
        let file = content::encode(&content, self.tracker.saved_pods()).finish();
        let content::DecodedCheckpoint { content, pods, .. } =
            content::decode(&frame::read(&file).unwrap(), podinit::families()).unwrap();
        let (mut recorder, exposition) = counters(events);
        recorder.restore(&content.metrics, pods.iter().filter_map(SavedPod::in_flight));
        let (saved, successor) = (content.tracker, SourceSuccessor::Same);
        let tracker = Tracker::restored(config(events), saved, pods, successor, &mut recorder);
        Self { tracker, recorder, exposition }
    }

    fn apply(&mut self, event: PodEvent) {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: Timestamp::from_seconds(START + 5),
            observed: None,
            version: None,
        };
        self.tracker.apply(delivery, &mut self.recorder);
    }

    fn scrape(&self) -> Scrape {
        let text = self.exposition.encode(ExpositionFormat::Text).unwrap();
        Scrape::parse(&String::from_utf8(text).unwrap())
    }

    /// How many pods were excluded, by reason.
    fn excluded(&self) -> BTreeMap<String, f64> {
        let scrape = self.scrape();
        let series = scrape.of_name("podinit_pod_start_sli_excluded_total");
        let counted = series.filter(|(_, count)| *count > 0.0);
        let counted = counted.map(|(series, count)| {
            let reason = series.split('"').nth(1).unwrap();
            (reason.to_owned(), count)
        });
        counted.collect()
    }
}

/// A first process without Events: two pods that were there before, one of which was adopted in flight, a
/// static one, and three that it has seen from the beginning: one is ready, one has failed, one waits.
fn without_events() -> Process {
    let mut process = Process::start(false);
    process.apply(PodEvent::Listed {
        pods: vec![ready("before"), pod("adopted"), mirror("static")].into(),
        began: Timestamp::from_seconds(START + 4),
    });
    for pod in [pod("ready"), ready("ready"), failed("failed"), pod("waits")] {
        process.apply(PodEvent::Applied(pod));
    }
    process
}

#[test]
fn pods_of_the_time_without_events_have_their_event_too() {
    let process = without_events();
    assert!(process.excluded().is_empty());
    let mut process = process.restart(true);
    let counts = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
        let pairs = pairs.iter();
        pairs.map(|(reason, count)| ((*reason).to_owned(), *count)).collect()
    };
    // All but the one that waits and was not adopted: what it needs may still be seen.
    let before =
        counts(&[("static", 1.0), ("preexisting", 2.0), ("failed", 1.0), ("no_evidence", 1.0)]);
    assert_eq!(process.excluded(), before);
    for name in ["adopted", "waits"] {
        process.apply(PodEvent::Applied(ready(name)));
    }
    let after =
        counts(&[("static", 1.0), ("preexisting", 2.0), ("failed", 1.0), ("no_evidence", 2.0)]);
    assert_eq!(process.excluded(), after);
    let discovered = process.scrape().sum("podinit_pods_discovered_total");
    assert_eq!(discovered, 6.0);

    // From a checkpoint with Events nothing is counted again.
    let process = process.restart(true);
    assert_eq!(process.excluded(), after);
}

#[test]
fn without_events_there_is_no_startup_sli() {
    let process = without_events().restart(false);
    assert!(process.excluded().is_empty());
}
