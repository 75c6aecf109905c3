//! Durations of startups by what they had to wait for: a new node, and images
//! ([§14.5](crate::specification#s14-5)).

use serde::{Deserialize, Serialize};

use super::histogram::{Histogram, HistogramEncoder, SavedHistogram, Snapshot};
use super::start_times::StartTimes;
use crate::instruments::Head;
use crate::{computed_families, family_type};
use podinit_core::lifecycle::{Latency, StartupCapacity, StartupImages};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;

family_type! {
    /// A histogram for each capacity and each state of the images.
    struct HistogramByStartup = Histogram [StartupCapacity, StartupImages];
}

computed_families! {
    /// Startups by capacity and images.
    pub(super) const STARTUP_FAMILIES {
        STARTUP_DURATION: HistogramByStartup =
            "podinit_startup_duration_seconds", ["capacity", "images"], experimental, saved,
            "Time from a pod's creation until it was first ready, by whether its node was new and whether its images were on the node.";
    }
}

const IMAGES: usize = StartupImages::ALL.len();

/// What is counted while nodes or Events are a source of evidence. A label whose source is off is `unknown`.
#[derive(Debug, Default)]
pub(super) struct StartupDurations {
    histograms: [[Histogram; IMAGES]; StartupCapacity::ALL.len()],
    /// Whether nodes and whether Events are a source
    sources: (bool, bool),
}

impl StartupDurations {
    /// Nothing counted yet.
    pub(super) fn new(nodes: bool, events: bool) -> Self {
        Self { sources: (nodes, events), ..Self::default() }
    }

    pub(super) fn observe(
        &self,
        at: Timestamp,
        pod: &PodInfo,
        (capacity, images): (StartupCapacity, StartupImages),
        latency: Latency,
    ) {
        self.of(capacity, images).observe_pod(latency, pod, at);
    }

    fn of(&self, capacity: StartupCapacity, images: StartupImages) -> &Histogram {
        &self.histograms[capacity as usize][images as usize]
    }

    /// All series, in their order.
    fn all() -> impl Iterator<Item = (StartupCapacity, StartupImages)> {
        let capacities = StartupCapacity::ALL.into_iter();
        capacities.flat_map(|capacity| StartupImages::ALL.map(|images| (capacity, images)))
    }

    /// What a scrape reads. The series that can be known are there from the start
    /// ([§7.2](crate::specification#s7-2)).
    pub(super) fn collect(&self, out: &mut dyn HistogramEncoder, starts: &StartTimes) {
        let (nodes, events) = self.sources;
        let can_be = |capacity: StartupCapacity, images: StartupImages| {
            (nodes || capacity == StartupCapacity::Unknown)
                && (events || images == StartupImages::Unknown)
        };
        let with_exemplars = out.wants_exemplars();
        let mut buffer = Snapshot::since(starts.of(STARTUP_DURATION.name));
        out.family(Head::from(&STARTUP_DURATION));
        for (capacity, images) in Self::all() {
            let histogram = self.of(capacity, images);
            if !can_be(capacity, images) && histogram.saved().is_empty() {
                continue;
            }
            let labels = [("capacity", capacity.as_str()), ("images", images.as_str())];
            histogram.read(&mut buffer, with_exemplars, |snapshot| {
                out.histogram(&labels, snapshot);
            });
        }
    }

    pub(super) fn saved(&self) -> Vec<SavedStartup> {
        let all = Self::all().map(|(capacity, images)| {
            let durations = self.of(capacity, images).saved();
            SavedStartup { capacity, images, durations }
        });
        all.filter(|startup| !startup.durations.is_empty()).collect()
    }

    pub(super) fn restore(&self, saved: &[SavedStartup], cells: &[usize]) {
        for SavedStartup { capacity, images, durations } in saved {
            self.of(*capacity, *images).restore(durations, cells);
        }
    }

    /// Counts the startups of before nodes or Events were a source.
    pub(super) fn restore_unknown(&self, created_to_ready: &SavedHistogram, cells: &[usize]) {
        let unknown = self.of(StartupCapacity::Unknown, StartupImages::Unknown);
        unknown.restore(created_to_ready, cells);
    }
}

/// One series as it is kept while no process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedStartup {
    pub capacity: StartupCapacity,
    pub images: StartupImages,
    pub durations: SavedHistogram,
}
