//! The families that only Events can fill ([§9.3](crate::specification#s9-3) to
//! [§9.5](crate::specification#s9-5)). They are absent while Events are no source of evidence.

use super::image_pulls::ImagePullSeries;
use super::pod_families::LabelSetDurations;
use podinit_core::lifecycle::{EventDropReason, Outcome, StartupSliExclusion};
use podinit_instruments::{CounterVec, SavedFamilies, computed_families, families};

computed_families! {
    /// Kubernetes' own indicator, by label set.
    pub(super) const STARTUP_SLI_FAMILIES {
        STARTUP_SLI: LabelSetDurations =
            "podinit_pod_start_sli_duration_seconds", [], experimental, saved,
            "Time from a pod's creation until all its containers had started, without image pulls and init containers.";
    }
}

families! {
    /// What is counted of Events, and of pods by them.
    pub(super) struct EventFamilies {
        pub(super) sli_excluded: CounterVec<StartupSliExclusion> =
            "podinit_pod_start_sli_excluded_total", ["reason"], experimental, saved,
            "Pods that podinit_pod_start_sli_duration_seconds does not observe, by reason.";
        pub(super) dropped: CounterVec<EventDropReason> =
            "podinit_kube_events_ignored_total", ["reason"], experimental, saved,
            "Events that were about no pod in flight, by reason.";
    }
}

/// Everything that is counted only while Events are a source.
#[derive(Debug)]
pub(super) struct EventMetrics {
    pub(super) families: EventFamilies,
    pub(super) pulls: ImagePullSeries,
}

/// The pods of a checkpoint that was written while Events were no source.
pub(super) struct PodsWithoutEvents {
    /// By outcome, those whose startup is over
    pub(super) finished: [u64; Outcome::ALL.len()],
    /// Those in flight that were adopted
    pub(super) adopted: u64,
}

impl EventFamilies {
    /// Whether `saved` is of a process for which Events were a source.
    pub(super) fn are_in(saved: &SavedFamilies) -> bool {
        let [excluded, ..] = &Self::FAMILIES;
        saved.has(excluded)
    }

    /// Counts the one event of each pod whose startup was over, or that was adopted, before Events became
    /// a source: no Event of it was delivered ([§9.4](crate::specification#s9-4)).
    pub(super) fn exclude(&self, pods: &PodsWithoutEvents) {
        let PodsWithoutEvents { finished, adopted } = pods;
        for (outcome, pods) in Outcome::ALL.into_iter().zip(finished) {
            let reason = match outcome {
                Outcome::Ready | Outcome::Completed => StartupSliExclusion::NoEvidence,
                other => StartupSliExclusion::Ended(other),
            };
            self.sli_excluded.with(reason).add(*pods);
        }
        let reason = StartupSliExclusion::Ended(Outcome::Preexisting);
        self.sli_excluded.with(reason).add(*adopted);
    }
}

impl EventMetrics {
    /// Nothing counted yet, with room for so many registries.
    pub(super) fn new(max_registries: usize) -> Self {
        Self { families: EventFamilies::default(), pulls: ImagePullSeries::new(max_registries) }
    }
}
