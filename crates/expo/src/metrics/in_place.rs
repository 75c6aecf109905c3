//! Changes in place of pods whose startup is over ([§10.3](crate::specification#s10-3)).

use super::histogram::{Histogram, HistogramEncoder, Snapshot};
use super::start_times::StartTimes;
use crate::computed_families;
use crate::instruments::{
    CounterVec, FamilyDoc, Gauge, GaugeVec, Head, Instrument, Number, Persistent, SavedFamilies,
};
use podinit_core::lifecycle::{ResizeResult, TrackerObservation};
use podinit_core::pod::ResizeState;

computed_families! {
    /// Native resizes, and updates by OpenKruise.
    pub(super) const IN_PLACE {
        RESIZE_DURATION: Histogram =
            "podinit_resize_duration_seconds", [], experimental, saved,
            "Time from the beginning of a native resize of a pod until its conditions were gone.";
        RESIZES: CounterVec<ResizeResult> =
            "podinit_resizes_total", ["result"], experimental, saved,
            "Native resizes of pods that ended, by result.";
        RESIZING: GaugeVec<ResizeState> =
            "podinit_resizing_pods", ["state"], experimental, not_saved,
            "Pods with an open native resize, by its state.";
        INPLACE_UPDATE_DURATION: Histogram =
            "podinit_inplace_update_duration_seconds", [], experimental, saved,
            "Time for which an in-place update by OpenKruise kept a pod unready.";
    }
}

/// What is counted of changes in place.
#[derive(Debug, Default)]
pub(super) struct InPlaceMetrics {
    pub(super) resize_duration: Histogram,
    pub(super) update_duration: Histogram,
    resizes: CounterVec<ResizeResult>,
    resizing: [Gauge; ResizeState::ALL.len()],
}

impl InPlaceMetrics {
    /// Counts an observation of a change in place. Only the recorder does, so that a gauge is not
    /// written between its reading and writing here.
    pub(super) fn count(&self, observation: TrackerObservation) {
        let gauge = |state: ResizeState| &self.resizing[state as usize];
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

    pub(super) fn save(&self, saved: &mut SavedFamilies) {
        saved.put(&RESIZES, self.resizes.save());
    }

    pub(super) fn restore(&self, saved: &SavedFamilies) {
        self.resizes.restore(saved.series(&RESIZES));
    }

    pub(super) fn collect(&self, out: &mut dyn HistogramEncoder, starts: &StartTimes) {
        let mut buffer = Snapshot::default();
        let mut histogram =
            |family: &FamilyDoc, histogram: &Histogram, out: &mut dyn HistogramEncoder| {
                out.family(Head::from(family));
                buffer.start = starts.of(family.name);
                let with_exemplars = out.wants_exemplars();
                histogram.read(&mut buffer, with_exemplars, |snapshot| {
                    out.histogram(&[], snapshot);
                });
            };
        histogram(&RESIZE_DURATION, &self.resize_duration, out);
        self.resizes.collect(&RESIZES, out);
        let states = ResizeState::ALL.into_iter().map(ResizeState::as_str);
        let pods = self.resizing.iter().map(|gauge| Number::Integer(gauge.get()));
        RESIZING.write_by_label(out, states.zip(pods));
        histogram(&INPLACE_UPDATE_DURATION, &self.update_duration, out);
    }
}
