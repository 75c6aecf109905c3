//! Durations of startups by whether they were cold: on a new node, or with images to pull
//! ([§14.5](crate::specification#s14-5)).

use serde::{Deserialize, Serialize};

use super::histogram::{Histogram, HistogramEncoder, SavedHistogram, Snapshot};
use super::start_times::StartTimes;
use crate::instruments::Head;
use crate::{computed_families, family_type};
use podinit_core::lifecycle::{Latency, NodeAge, StartupImages};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;

family_type! {
    /// A histogram for each age of the node and each state of the images.
    struct HistogramByColdStart = Histogram [NodeAge, StartupImages];
}

computed_families! {
    /// Startups by the age of their nodes and by images.
    pub(super) const COLD_START_FAMILIES {
        COLD_START_DURATION: HistogramByColdStart =
            "podinit_cold_start_duration_seconds", ["node_age", "images"], experimental, saved,
            "Time from a pod's creation until it was first ready, by whether its node was new and whether its images were on the node.";
    }
}

const IMAGES: usize = StartupImages::ALL.len();

/// What is counted while nodes or Events are a source of evidence. A label whose source is off is `unknown`.
#[derive(Debug, Default)]
pub(super) struct ColdStarts {
    histograms: [[Histogram; IMAGES]; NodeAge::ALL.len()],
    /// Whether nodes and whether Events are a source
    sources: (bool, bool),
}

impl ColdStarts {
    /// Nothing counted yet.
    pub(super) fn new(nodes: bool, events: bool) -> Self {
        Self { sources: (nodes, events), ..Self::default() }
    }

    pub(super) fn observe(
        &self,
        at: Timestamp,
        pod: &PodInfo,
        (age, images): (NodeAge, StartupImages),
        latency: Latency,
    ) {
        self.of(age, images).observe_pod(latency, pod, at);
    }

    fn of(&self, age: NodeAge, images: StartupImages) -> &Histogram {
        &self.histograms[age as usize][images as usize]
    }

    /// All series, in their order.
    fn all() -> impl Iterator<Item = (NodeAge, StartupImages)> {
        let ages = NodeAge::ALL.into_iter();
        ages.flat_map(|age| StartupImages::ALL.map(|images| (age, images)))
    }

    /// What a scrape reads. The series that can be known are there from the start
    /// ([§7.2](crate::specification#s7-2)).
    pub(super) fn collect(&self, out: &mut dyn HistogramEncoder, starts: &StartTimes) {
        let (nodes, events) = self.sources;
        let can_be = |age: NodeAge, images: StartupImages| {
            (nodes || age == NodeAge::Unknown) && (events || images == StartupImages::Unknown)
        };
        let with_exemplars = out.wants_exemplars();
        let mut buffer = Snapshot::since(starts.of(COLD_START_DURATION.name));
        out.family(Head::from(&COLD_START_DURATION));
        for (age, images) in Self::all() {
            let histogram = self.of(age, images);
            if !can_be(age, images) && !histogram.is_used() {
                continue;
            }
            let labels = [("node_age", age.as_str()), ("images", images.as_str())];
            histogram.read(&mut buffer, with_exemplars, |snapshot| {
                out.histogram(&labels, snapshot);
            });
        }
    }

    pub(super) fn saved(&self) -> Vec<SavedColdStart> {
        let all = Self::all().map(|(age, images)| {
            let durations = self.of(age, images).saved();
            SavedColdStart { node_age: age, images, durations }
        });
        all.filter(|startup| !startup.durations.is_empty()).collect()
    }

    pub(super) fn restore(&self, saved: &[SavedColdStart], cells: &[usize]) {
        for SavedColdStart { node_age, images, durations } in saved {
            self.of(*node_age, *images).restore(durations, cells);
        }
    }

    /// Counts the startups of before nodes or Events were a source.
    pub(super) fn restore_unknown(&self, created_to_ready: &SavedHistogram, cells: &[usize]) {
        let unknown = self.of(NodeAge::Unknown, StartupImages::Unknown);
        unknown.restore(created_to_ready, cells);
    }
}

/// One series as it is kept while no process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedColdStart {
    pub node_age: NodeAge,
    pub images: StartupImages,
    pub durations: SavedHistogram,
}
