//! Changes in place of pods whose startup is over ([§10.3](crate::specification#s10-3)).

use podinit_core::lifecycle::{ResizeResult, TrackerObservation};
use podinit_core::pod::ResizeState;
use podinit_instruments::{CounterVec, GaugeVec, Histogram, families};

families! {
    /// Native resizes, and updates by OpenKruise.
    pub(super) struct InPlaceFamilies {
        resize_duration: Histogram =
            "podinit_resize_duration_seconds", [], experimental, saved,
            "Time from the beginning of a native resize of a pod until its conditions were gone.";
        resizes: CounterVec<ResizeResult> =
            "podinit_resizes_total", ["result"], experimental, saved,
            "Native resizes of pods that ended, by result.";
        resizing: GaugeVec<ResizeState> =
            "podinit_resizing_pods", ["state"], experimental, not_saved,
            "Pods with an open native resize, by its state.";
        update_duration: Histogram =
            "podinit_inplace_update_duration_seconds", [], experimental, saved,
            "Time for which an in-place update by OpenKruise kept a pod unready.";
    }
}

impl InPlaceFamilies {
    /// Nothing counted yet.
    pub(super) fn new() -> Self {
        let families = Self::default();
        families.resizing.show_all();
        families
    }

    /// Counts an observation of a change in place. Only the recorder does, so that a gauge is not
    /// written between its reading and writing here.
    pub(super) fn count(&self, observation: TrackerObservation) {
        let gauge = |state: ResizeState| self.resizing.with(state);
        match observation {
            TrackerObservation::Resizing { from, to } => {
                if let Some(from) = from.map(gauge) {
                    from.set(from.get().saturating_sub(1));
                }
                if let Some(to) = to.map(gauge) {
                    to.set(to.get() + 1);
                }
            }
            TrackerObservation::ResizeEnded(result) => self.resizes.with(result).increment(),
            TrackerObservation::Resized(latency) => self.resize_duration.observe(latency),
            TrackerObservation::UpdatedInPlace(latency) => self.update_duration.observe(latency),
            // The recorder accounts for these itself.
            TrackerObservation::Advanced { .. }
            | TrackerObservation::GapClosed { .. }
            | TrackerObservation::DeletionLost(_)
            | TrackerObservation::Evicted(_)
            | TrackerObservation::EventDropped(_)
            | TrackerObservation::Relapsed => {}
        }
    }
}
