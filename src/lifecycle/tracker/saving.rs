//! From a tracker to what is saved of it, and back.

use std::sync::Arc;

use super::{Record, Tracker, TrackerConfig};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::observation::{Outcome, Sink};
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::saved::{SavedDeleted, SavedPod, SavedTracker};
use crate::lifecycle::sources::Successor;

impl Tracker {
    /// All that is known but the pods of [`Tracker::saved_pods`].
    pub fn saved(&self) -> SavedTracker {
        let (sources, resumed) = self.sources.saved();
        SavedTracker {
            now: self.now,
            resumed,
            sources,
            rules: Arc::clone(&self.shared.rules),
            watermark: self.cap.watermark(),
            deleted: self.saved_deleted().collect(),
        }
    }

    fn saved_deleted(&self) -> impl Iterator<Item = SavedDeleted> {
        let deleted = self.deleted.iter();
        deleted.filter_map(|(at, uid)| match self.pods.get(*uid)? {
            Record::Deleted { created } => Some(SavedDeleted {
                uid: *uid,
                at: *at,
                created: *created,
            }),
            Record::InFlight(_) | Record::Finished(_) => None,
        })
    }

    /// The pods that are starting up or done.
    pub fn saved_pods(&self) -> impl Iterator<Item = SavedPod> {
        self.pods.iter().filter_map(|(uid, record)| match record {
            Record::InFlight(pod) => Some(SavedPod::InFlight(Box::new(pod.saved()))),
            Record::Finished(kept) => Some(SavedPod::Finished(uid, kept.seen())),
            Record::Deleted { .. } => None,
        })
    }

    /// A tracker that goes on from what was saved, under `config` and with the sources that
    /// `successor` names. All of them are out of sync, so that no deadline passes until they have
    /// delivered what happened meanwhile.
    ///
    /// `sink` stands at what it held when the tracker was saved. It is told who waits longest, and
    /// of the pods that vanish with their source.
    pub fn restored(
        config: TrackerConfig,
        saved: SavedTracker,
        pods: impl IntoIterator<Item = SavedPod>,
        successor: impl Fn(SourceId) -> Successor,
        sink: &mut impl Sink,
    ) -> Self {
        let rules = Arc::clone(&config.slos);
        let mut tracker = Self::new(TrackerConfig {
            slos: saved.rules,
            ..config
        });
        tracker.now = saved.now;
        if let Some(now) = saved.now {
            sink.at(now);
        }
        tracker
            .sources
            .restore(saved.sources, saved.resumed, &successor);
        let mut vanished = Vec::new();
        for mut pod in pods {
            let uid = pod.uid();
            let seen = pod.seen_mut();
            match successor(seen.source) {
                Successor::Same(source) | Successor::Reselected(source) => seen.source = source,
                Successor::Gone if matches!(pod, SavedPod::InFlight(_)) => vanished.push(uid),
                Successor::Gone => continue,
            }
            let record = match pod {
                SavedPod::InFlight(pod) => {
                    let pod = PodInFlight::restored(*pod, &mut tracker.shared, sink);
                    Record::InFlight(Box::new(pod))
                }
                SavedPod::Finished(_, seen) => Record::Finished(seen.into()),
            };
            tracker.pods.insert(uid, record);
        }
        for SavedDeleted { uid, at, created } in saved.deleted {
            tracker.pods.insert(uid, Record::Deleted { created });
            tracker.deleted.push_back((at, uid));
        }
        tracker.cap.restore(saved.watermark);
        tracker.set_slos(rules);
        for uid in vanished {
            tracker.finish(uid, Outcome::Vanished, sink);
            tracker.pods.remove(uid);
        }
        sink.remembered(tracker.remembered());
        tracker
    }
}
