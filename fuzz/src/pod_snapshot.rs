//! Tracks pods with arbitrary contents: whatever they contain, the counts add up.

use std::collections::HashMap;

use podinit_core::lifecycle::{
    Delivery, Latency, Observation, PodEvent, PodObservation, PodState, SloId, SourceId,
    SourceSuccessor, TimestampMode, Tracker, TrackerConfig,
};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};

use super::checkpoint_content;

const DAY_NANOS: i64 = 86_400 * NANOS_PER_SECOND;

/// The first byte chooses the options; each line after it is a watch event or a list. After an empty line
/// another process continues from the checkpoint; any other line lets an hour pass.
pub fn run(bytes: &[u8]) {
    let Some((choice, body)) = bytes.split_first() else {
        return;
    };
    let config = TrackerConfig {
        timestamps: TimestampMode::ALL[usize::from(*choice) % TimestampMode::ALL.len()],
        backfill: (choice & 0x80 != 0).into(),
        slos: checkpoint_content::rules(),
        max_pods: if choice & 0x40 != 0 { 2 } else { usize::MAX },
        events: choice & 0x20 != 0,
        ..TrackerConfig::default()
    };
    let mut tracker = Tracker::new(config.clone());
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let mut books = Books::default();
    let mut now = Timestamp::from_seconds(1_772_359_200);
    for line in body.split(|byte| *byte == b'\n') {
        let (event, observed) = event(&mut decoder, line, now);
        if let Some(observed) = observed {
            now = now.max(observed);
        }
        match event {
            Some(event) => tracker.apply(
                Delivery {
                    source: SourceId(0),
                    event,
                    now,
                    observed: observed.map(|_| now),
                    version: None,
                },
                &mut books,
            ),
            None if line.is_empty() => {
                let (content, pods) = checkpoint_content::saved(&tracker);
                let same = |_| SourceSuccessor::Same(SourceId(0));
                let saved = content.tracker;
                tracker = Tracker::restored(config.clone(), saved, pods, same, &mut books);
            }
            None => {
                now = Timestamp::from_nanos(now.as_nanos().saturating_add(DAY_NANOS / 24));
                tracker.advance(now, &mut books);
            }
        }
        books.check(&tracker, config.slos.len());
    }
}

/// The delivery that the line contains, and its `observedAt`.
fn event(
    decoder: &mut PodDecoder,
    line: &[u8],
    now: Timestamp,
) -> (Option<PodEvent>, Option<Timestamp>) {
    if let Ok(event) = decoder.watch_event(line) {
        let observed = event.observed_at;
        let event = match event.kind {
            WatchEventKind::Added(pod) | WatchEventKind::Modified(pod) => PodEvent::Applied(pod),
            WatchEventKind::Deleted(pod) => PodEvent::Deleted(pod),
            WatchEventKind::Bookmark { initial_events_end: true, .. } => PodEvent::Resumed,
            WatchEventKind::Bookmark { .. } => PodEvent::Bookmark,
            WatchEventKind::OtherShard { .. } => PodEvent::OtherShard,
            WatchEventKind::Error(_) => PodEvent::SyncLost,
        };
        return (Some(event), observed);
    }
    let listed = decoder
        .list_page(line)
        .ok()
        .map(|page| PodEvent::Listed { pods: page.pods.into(), began: now });
    (listed, None)
}

#[derive(Default)]
struct Books {
    discovered: u64,
    standing: HashMap<PodState, u64>,
    verdicts: HashMap<SloId, u64>,
}

impl podinit_core::lifecycle::Observer for Books {
    fn observe(&mut self, _: Timestamp, observation: Observation<'_>) {
        let observation = match observation {
            Observation::Pod(_, observation) => observation,
            Observation::Pull(..)
            | Observation::Gate(..)
            | Observation::Gates(..)
            | Observation::Node(_)
            | Observation::Rollout(..)
            | Observation::Tracker(_) => return,
        };
        match observation {
            PodObservation::Moved { from, to } => {
                match from {
                    PodState::Undiscovered => self.discovered += 1,
                    PodState::Finished(_) => panic!("{from:?} to {to:?}: counted twice"),
                    PodState::InFlight(..) => {
                        let standing = self.standing.get_mut(&from);
                        let standing = standing.filter(|standing| **standing > 0);
                        *standing.expect("a pod leaves where none was") -= 1;
                    }
                }
                *self.standing.entry(to).or_default() += 1;
            }
            PodObservation::Measured { latency, .. } => {
                assert!(latency <= Latency::from_nanos(30 * DAY_NANOS as u64));
            }
            PodObservation::Slo { slo, .. } => *self.verdicts.entry(slo).or_default() += 1,
            _ => {}
        }
    }
}

impl Books {
    fn check(&self, tracker: &Tracker, slos: usize) {
        assert_eq!(self.standing.values().sum::<u64>(), self.discovered);
        for slo in (0..slos).map(|id| SloId(id as u16)) {
            let decided = self.verdicts.get(&slo).copied().unwrap_or_default();
            let undecided = tracker.undecided(slo) as u64;
            assert_eq!(decided + undecided, self.discovered, "{slo:?}");
        }
    }
}
