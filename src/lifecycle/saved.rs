//! The state of a [`Tracker`] as plain values: to be kept while no process runs, and to go on from.
//!
//! Kept is what was learnt: how far each source has been accounted for, and of each pod what was
//! latched and decided. What follows from that is built anew: the order of waiting, the stages,
//! the deadlines. A tracker that goes on from what was saved says what the one that was saved would
//! have said, had it lost the sync of all its sources at that moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::delivery::SourceId;
use super::observation::{Outcome, Sink};
use super::pod_in_flight::PodInFlight;
use super::reentry::to_second;
use super::seen::Seen;
use super::slo::{SloId, SloRule};
use super::sources::SavedSource;
use super::stage::Stage;
use super::startup::{SavedStartup, Startup};
use super::tracker::{Record, Tracker, TrackerConfig};
use crate::pod::{PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// What a tracker knows, the pods that are starting up or done aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedTracker {
    /// The latest time that was accounted for
    pub now: Option<Timestamp>,
    /// When a source last began to catch up
    pub resumed: Option<Timestamp>,
    /// The sources that have delivered something
    pub sources: BTreeMap<SourceId, SavedSource>,
    /// The SLOs that were in force; the pods name them by their positions
    pub rules: Arc<[SloRule]>,
    /// The newest second of creation of any pod that was evicted or refused (see
    /// [`Cap`](super::eviction::Cap))
    pub watermark: Option<u32>,
    /// The pods that are remembered for their deletion, in the order of it
    pub deleted: Vec<SavedDeleted>,
}

impl SavedTracker {
    /// Whether a pod that was created at `created` may have been known and evicted.
    pub fn may_have_evicted(&self, created: Timestamp) -> bool {
        self.watermark
            .is_some_and(|watermark| to_second(created) <= watermark)
    }
}

/// A pod that is remembered for its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedDeleted {
    /// Which one
    pub uid: PodUid,
    /// When it was deleted
    pub at: Timestamp,
    /// The second of its creation, since the epoch
    pub created: u32,
}

/// A pod that is starting up, or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedPod {
    /// Its startup is under way
    InFlight(Box<SavedInFlight>),
    /// Its startup is over
    Finished(PodUid, Seen),
}

/// A pod whose startup is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedInFlight {
    /// Which one
    pub uid: PodUid,
    /// What a later snapshot is held against
    pub seen: Seen,
    /// What names it
    pub info: PodInfo,
    /// What was latched of its startup
    pub startup: SavedStartup,
    /// When it was discovered
    pub discovered: Timestamp,
    /// The SLOs that match it, each with whether it has had its event
    pub slos: Vec<(SloId, bool)>,
}

impl SavedPod {
    /// Which one.
    pub fn uid(&self) -> PodUid {
        match self {
            Self::InFlight(pod) => pod.uid,
            Self::Finished(uid, _) => *uid,
        }
    }

    /// The stage it is in, if its startup is under way.
    pub fn stage(&self) -> Option<Stage> {
        match self {
            Self::InFlight(pod) => Some(Startup::from(pod.startup).stage()),
            Self::Finished(..) => None,
        }
    }

    fn seen_mut(&mut self) -> &mut Seen {
        match self {
            Self::InFlight(pod) => &mut pod.seen,
            Self::Finished(_, seen) => seen,
        }
    }
}

/// What became of a source while nobody watched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// It is watched again, under this number
    Same(SourceId),
    /// Its scope is, under this number, with another selection of pods: its pods stay until a list
    /// says which of them are gone, and that list is its first one (§5 rule 2)
    Reselected(SourceId),
    /// It is watched no longer: its pods in flight vanish, and the others are forgotten
    Gone,
}

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
