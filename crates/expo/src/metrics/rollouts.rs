//! Rollouts by workload ([§17.5](crate::specification#s17-5)), as far as the label set has its labels, within the cap on
//! label sets.

use super::capped::{CappedFamilies, SEPARATOR};
use super::labels::SeriesLabel;
use super::workload_labels::WorkloadLabels;
use podinit_core::lifecycle::{
    Latency, RolloutHolder, RolloutObservation, RolloutOutcome, RolloutWorkload,
};
use podinit_core::timestamp::Timestamp;
use podinit_histogram::layout::ClassicBuckets;
use podinit_instruments::{
    Counter, CounterVec, FamilySource, GaugeVec, HistogramWith, PerValue, SavedFamilies,
    SecondsCounter, families,
};

families! {
    /// What is counted of rollouts, whatever their workload.
    pub(super) struct RolloutTotals {
        pub(super) refused: Counter =
            "podinit_rollout_workloads_refused_total", [], experimental, saved,
            "Workloads whose rollouts are not followed, since 50,000 others are.";
    }
}

families! {
    /// The rollouts of the workloads that have the same labels.
    pub(super) capped(3) struct RolloutFamilies {
        pub(super) duration: HistogramWith<{ ClassicBuckets::Rollouts as usize }> =
            "podinit_rollout_duration_seconds", ["namespace", "workload_type", "workload"], experimental, saved,
            "Time from the begin of a rollout until the pods of its workload were of the new revision and had been ready.";
        pub(super) ended: CounterVec<RolloutOutcome> =
            "podinit_rollouts_total", ["outcome", "namespace", "workload_type", "workload"], experimental, saved,
            "Rollouts that have ended, by how.";
        pub(super) in_progress: GaugeVec<RolloutHolder> =
            "podinit_rollouts_in_progress", ["held_by", "namespace", "workload_type", "workload"], experimental, not_saved,
            "Rollouts in progress, by what holds them.";
        pub(super) held: PerValue<RolloutHolder, SecondsCounter> =
            "podinit_rollout_held_seconds_total", ["held_by", "namespace", "workload_type", "workload"], experimental, saved,
            "Time for which rollouts were held, by what held them.";
    }
}

impl RolloutFamilies {
    fn show_all(&self) {
        self.in_progress.show_all();
        self.held.show_all();
    }
}

/// The label by whose name the values past the cap are counted.
const WORKLOAD: &str = "workload";

/// What is counted of rollouts: written by the recorder, read by scrapes.
#[derive(Debug)]
pub(super) struct RolloutSeries {
    labels: WorkloadLabels,
    pub(super) by_workload: CappedFamilies<RolloutFamilies>,
    pub(super) totals: RolloutTotals,
}

impl RolloutSeries {
    /// Of a label set with these labels.
    pub(super) fn new<'a>(
        labels: impl Iterator<Item = &'a SeriesLabel> + Clone,
        max_sets: usize,
    ) -> Self {
        let labels = WorkloadLabels::new(labels);
        Self {
            labels,
            by_workload: CappedFamilies::new(WORKLOAD, max_sets).of_parts(labels.has),
            totals: RolloutTotals::default(),
        }
    }

    /// Counts what happened to the rollouts of a workload at `now`.
    pub(super) fn observe(
        &self,
        now: Timestamp,
        workload: &RolloutWorkload,
        observation: RolloutObservation,
    ) {
        let Self { labels, by_workload, totals } = self;
        let RolloutWorkload { namespace, workload } = workload;
        let value = labels.values(namespace, workload).join(SEPARATOR);
        match observation {
            RolloutObservation::Known => self.show(&value, now),
            RolloutObservation::Entered => {
                self.show(&value, now);
                by_workload.enter(by_workload.id(&value));
            }
            RolloutObservation::Left => by_workload.leave(by_workload.id(&value), now),
            RolloutObservation::Refused => totals.refused.increment(),
            RolloutObservation::Held { from, to } => {
                let series = by_workload.get(&value);
                if let Some(from) = from {
                    series.in_progress.with(from).decrement();
                }
                if let Some(to) = to {
                    series.in_progress.with(to).increment();
                }
            }
            RolloutObservation::HeldFor { by, nanos } => {
                by_workload.get(&value).held.with(by).add_nanos(nanos);
            }
            RolloutObservation::Ended { outcome, nanos } => {
                let series = by_workload.get(&value);
                series.ended.with(outcome).increment();
                if let Some(nanos) = nanos {
                    series.duration.observe(Latency::from_nanos(nanos));
                }
            }
        }
    }

    /// Adds what was saved, once places are restored. Series that are at zero are shown, too.
    pub(super) fn restore(&self, saved: &SavedFamilies) {
        self.by_workload.restore(saved);
        self.totals.restore(saved);
        self.by_workload.met().iter().for_each(|(_, series)| series.show_all());
    }

    /// Shows the series of a value, at zero if they are new. While the rest has any, new values are of it, so that a rollout
    /// in progress does not move.
    fn show(&self, value: &str, now: Timestamp) {
        let Self { by_workload, .. } = self;
        let series = match by_workload.drops(value) && by_workload.has_rest() {
            true => by_workload.get(value),
            false => by_workload.meet(value, None, now).series,
        };
        series.show_all();
    }
}
