//! Durations of startups by whether they were cold: on a new node, or with images to pull
//! ([§14.5](crate::specification#s14-5)).

use podinit_core::lifecycle::{NodeAge, StartupImages};
use podinit_instruments::{Histogram, HistogramVec, PerValue, SavedFamilies, families};

families! {
    /// What is counted while nodes or Events are a source of evidence. A label whose source is off is `unknown`.
    pub(super) struct ColdStarts {
        pub(super) durations: PerValue<NodeAge, HistogramVec<StartupImages>> =
            "podinit_cold_start_duration_seconds", ["node_age", "images"], experimental, saved,
            "Time from a pod's creation until it was first ready, by whether its node was new and whether its images were on the node.";
    }
}

impl ColdStarts {
    /// Nothing counted yet. The series that can be known are there from the start
    /// ([§7.2](crate::specification#s7-2)).
    pub(super) fn new(nodes: bool, events: bool) -> Self {
        let starts = Self::default();
        for age in NodeAge::ALL.into_iter().filter(|age| nodes || *age == NodeAge::Unknown) {
            let images = StartupImages::ALL.into_iter();
            let images = images.filter(|images| events || *images == StartupImages::Unknown);
            images.for_each(|images| _ = starts.histogram(age, images));
        }
        starts
    }

    pub(super) fn histogram(&self, age: NodeAge, images: StartupImages) -> &Histogram {
        self.durations.with(age).with(images)
    }

    /// Those of startups that were counted before nodes or Events were a source.
    pub(super) fn unknown(&self) -> &Histogram {
        self.histogram(NodeAge::Unknown, StartupImages::Unknown)
    }

    /// Whether `saved` is of a process for which nodes or Events were a source.
    pub(super) fn is_in(saved: &SavedFamilies) -> bool {
        let [durations] = &Self::FAMILIES;
        saved.has(durations)
    }
}
