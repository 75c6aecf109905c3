//! The families that only Events can fill ([§9.3](crate::specification#s9-3) to
//! [§9.5](crate::specification#s9-5)). They are absent while Events are no source of evidence.

use super::image_pulls::ImagePulls;
use super::pod_families::Durations;
use crate::instruments::CounterVec;
use crate::lifecycle::{EventDropReason, StartupSliExclusion};
use crate::{computed_families, families};

computed_families! {
    /// Kubernetes' own indicator, by label set.
    pub(super) const STARTUP_SLI_FAMILIES {
        STARTUP_SLI: Durations =
            "podinit_startup_sli_duration_seconds", [], experimental, saved,
            "Time from a pod's creation until all its containers had started, without image pulls and init containers.";
    }
}

families! {
    /// What is counted of Events, and of pods by them.
    pub(super) struct EventFamilies {
        pub(super) sli_excluded: CounterVec<StartupSliExclusion> =
            "podinit_startup_sli_excluded_total", ["reason"], experimental, saved,
            "Pods that podinit_startup_sli_duration_seconds does not observe, by why.";
        pub(super) dropped: CounterVec<EventDropReason> =
            "podinit_events_dropped_total", ["reason"], experimental, saved,
            "Events that were about no pod in flight, by why.";
    }
}

/// Everything that is counted only while Events are a source.
#[derive(Debug)]
pub(super) struct EventMetrics {
    pub(super) families: EventFamilies,
    pub(super) pulls: ImagePulls,
}

impl EventMetrics {
    /// Nothing counted yet, with room for so many registries.
    pub(super) fn new(max_registries: usize) -> Self {
        Self {
            families: EventFamilies::default(),
            pulls: ImagePulls::new(max_registries),
        }
    }
}
