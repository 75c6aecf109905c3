//! The content of a checkpoint: written, read, and restored from.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use podinit_checkpoint::content::{self, CheckpointContent, DecodedCheckpoint};
use podinit_checkpoint::frame::{self, SectionWriter};
use podinit_core::lifecycle::{
    Delivery, Interval, Namespaces, Observation, PodEvent, SavedPod, SavedTracker, Selection,
    SloRule, SourceId, SourceSuccessor, Tracker, TrackerConfig,
};
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::saved::SavedMetrics;
use podinit_expo::metrics::{ExpositionBuilder, ExpositionFormat, LabelConfig, families_of_pods};

/// One SLO for each interval, for every pod.
pub fn rules() -> Arc<[SloRule]> {
    let rule = |interval: Interval| SloRule {
        name: interval.as_str().into(),
        interval: interval.into(),
        threshold: Duration::from_secs(10),
        grace: Duration::from_secs(5),
        namespaces: Namespaces::All,
        owner_kinds: Vec::new(),
        selection: Selection::default(),
    };
    Interval::ALL.into_iter().map(rule).collect()
}

/// The content of a checkpoint if nothing was counted.
fn content(tracker: SavedTracker) -> CheckpointContent {
    static METRICS: LazyLock<SavedMetrics> = LazyLock::new(|| {
        let (recorder, _) = ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
        recorder.saved()
    });
    CheckpointContent { tracker, metrics: METRICS.clone(), ..CheckpointContent::default() }
}

/// The state of `tracker`, written to a checkpoint and read back.
pub fn saved(tracker: &Tracker) -> (CheckpointContent, Vec<SavedPod>) {
    let content = content(tracker.saved());
    let file = content::encode(&content, tracker.saved_pods()).finish();
    let DecodedCheckpoint { content: read, pods, skipped } =
        content::decode(&frame::read(&file).unwrap(), &families_of_pods()).unwrap();
    assert_eq!((&read, skipped), (&content, 0));
    assert_eq!(content::encode(&read, pods.iter().cloned()).finish(), file);
    (read, pods)
}

/// A checkpoint with SLOs and a pod in flight, and with `payload` in place of the section with `tag`, which
/// it may not have.
pub fn with_section(tag: u32, payload: &[u8]) -> Vec<u8> {
    let content = content(SavedTracker { rules: rules(), ..SavedTracker::default() });
    let mut tracker = Tracker::default();
    let delivery = Delivery {
        source: SourceId(0),
        event: PodEvent::Applied(PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod")),
        now: Timestamp::EPOCH,
        observed: None,
        version: None,
    };
    tracker.apply(delivery, &mut |_, _: Observation<'_>| {});
    let base = content::encode(&content, tracker.saved_pods()).finish();
    let mut file = SectionWriter::begin();
    for (other, bytes) in frame::read(&base).unwrap().iter() {
        if other != tag {
            file.section(other, |to| to.extend(bytes));
        }
    }
    file.section(tag, |to| to.extend(payload));
    file.finish()
}

/// Restores from a checkpoint whose frame is whole, if its content is valid.
pub fn restore(file: &[u8]) {
    let DecodedCheckpoint { content, mut pods, .. } =
        match content::decode(&frame::read(file).unwrap(), &families_of_pods()) {
            Ok(read) => read,
            Err(error) => return assert!(!error.to_string().contains('\n')),
        };
    let again = content::encode(&content, pods.iter().cloned()).finish();
    let read = content::decode(&frame::read(&again).unwrap(), &families_of_pods());
    let expected = DecodedCheckpoint { content: content.clone(), pods: pods.clone(), skipped: 0 };
    assert_eq!(read, Ok(expected));

    let (mut recorder, exposition) =
        ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
    let in_flight = pods.iter().filter_map(SavedPod::in_flight);
    recorder.restore(&content.metrics, in_flight);
    let now = content.tracker.now.unwrap_or(Timestamp::EPOCH);
    recorder.restore_holds(now, &mut pods);
    let config = TrackerConfig { slos: rules(), ..TrackerConfig::default() };
    let successor = |source: SourceId| match source.0 % 3 {
        0 => SourceSuccessor::Same(SourceId(0)),
        1 => SourceSuccessor::SelectionChanged(SourceId(1)),
        _ => SourceSuccessor::Gone,
    };
    let mut tracker = Tracker::restored(config, content.tracker, pods, successor, &mut recorder);
    let mut deliver = |event| {
        let delivery = Delivery { source: SourceId(0), event, now, observed: None, version: None };
        tracker.apply(delivery, &mut recorder);
    };
    deliver(PodEvent::Resumed);
    deliver(PodEvent::SyncLost);
    deliver(PodEvent::Listed { pods: Vec::new().into(), began: now });
    tracker.advance(now, &mut recorder);
    saved(&tracker);
    exposition.encode(ExpositionFormat::Text).unwrap();
}
