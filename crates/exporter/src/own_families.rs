//! The families about the exporter itself: its clock, its settings and its checkpoint.

use std::fmt;
use std::sync::Arc;

use podinit_checkpoint::CheckpointLoad;
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{
    Counter, CounterVec, ExpositionEncoder, FamilyDoc, FamilySource, Gauge, OperationResult,
    PersistentInstrument, SampleNumber, SavedFamilies, SavedSeries, TimestampGauge,
    computed_families, families,
};
use podinit_kube::cluster::clock::DeliveryClock;

computed_families! {
    /// What podinit corrects of the machine's clock.
    pub(super) const CLOCK {
        CLOCK_STEPS: Counter =
            "podinit_clock_steps_total", [], experimental, saved,
            "Times that the machine's clock and the API server's came apart, or together again.";
        CLOCK_CORRECTION: Gauge =
            "podinit_clock_correction_seconds", [], experimental, not_saved,
            "What podinit adds to the machine's clock to tell the time; about 0 while that clock is right.";
    }
}

/// Exposes the corrections of a clock.
pub struct ClockFamilies {
    clock: Arc<dyn DeliveryClock>,
    /// Steps that were counted before the process began
    before: Counter,
}

impl ClockFamilies {
    /// Those of `clock`.
    pub fn new(clock: Arc<dyn DeliveryClock>) -> Self {
        let before = Counter::default();
        Self { clock, before }
    }

    fn steps(&self) -> u64 {
        self.before.get() + self.clock.corrections().steps
    }
}

impl FamilySource for ClockFamilies {
    fn families(&self) -> Vec<FamilyDoc> {
        CLOCK.to_vec()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        CLOCK_STEPS.write(out, SampleNumber::Integer(self.steps()));
        CLOCK_CORRECTION.write(out, SampleNumber::Float(self.clock.corrections().seconds));
    }

    fn save(&self, saved: &mut SavedFamilies) {
        saved.put(&CLOCK_STEPS, vec![SavedSeries::new(Vec::new(), self.steps())]);
    }

    fn restore(&self, saved: &SavedFamilies) {
        saved.series(&CLOCK_STEPS).iter().for_each(|series| self.before.restore(&[], series));
    }
}

impl fmt::Debug for ClockFamilies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClockFamilies").finish_non_exhaustive()
    }
}

families! {
    /// The state of the SLO file.
    pub struct ConfigGauges {
        successful: Gauge =
            "podinit_config_last_reload_successful", [], stable, not_saved,
            "Whether the present SLO file is in force (1), or is broken and an earlier one stays in force (0).";
        last_success: TimestampGauge =
            "podinit_config_last_reload_success_timestamp_seconds", [], stable, not_saved,
            "Unix time at which SLOs were last put in force.";
    }
}

impl ConfigGauges {
    /// SLOs were put in force at `now`.
    pub fn new(now: Timestamp) -> Self {
        let gauges = Self::default();
        gauges.set(true, now);
        gauges
    }

    /// States how the last reload ended, and when SLOs were last put in force.
    pub fn set(&self, successful: bool, last_success: Timestamp) {
        self.successful.set(successful.into());
        self.last_success.set(Some(last_success));
    }
}

families! {
    /// The metrics of the checkpoint. Its counters are in the checkpoint too: what a scrape has shown
    /// of them must not be lost either.
    pub struct CheckpointGauges {
        loads: CounterVec<CheckpointLoad> =
            "podinit_checkpoint_loads_total", ["result"], experimental, saved,
            "Starts with a state directory, by how the checkpoint in it was used.";
        writes: CounterVec<OperationResult> =
            "podinit_checkpoint_writes_total", ["result"], experimental, saved,
            "Times that the checkpoint was written, by result.";
        size: Gauge =
            "podinit_checkpoint_size_bytes", [], experimental, not_saved,
            "Size of the checkpoint as it was last written.";
        durable: Gauge =
            "podinit_checkpoint_durable", [], experimental, not_saved,
            "Whether everything that scrapes were shown is in the checkpoint on disk (1) or not (0).";
    }
}

impl CheckpointGauges {
    /// Nothing loaded or written; nothing shown that is not durable.
    pub fn new() -> Self {
        let gauges = Self::default();
        gauges.set_durable(true);
        gauges
    }

    /// Counts a start.
    pub(super) fn count_load(&self, load: CheckpointLoad) {
        self.loads.with(load).increment();
    }

    /// Counts a write of so many bytes that has become durable.
    pub(super) fn count_success(&self, bytes: usize) {
        self.writes.with(OperationResult::Success).increment();
        self.size.set(bytes as u64);
    }

    /// Counts a write that failed.
    pub fn count_failure(&self) {
        self.writes.with(OperationResult::Failure).increment();
    }

    /// Whether everything that was shown is durable, as was last stated.
    pub(super) fn is_durable(&self) -> bool {
        self.durable.get() == 1
    }

    /// States whether everything that was shown is durable. Returns what was stated before.
    pub(super) fn set_durable(&self, durable: bool) -> bool {
        self.durable.swap(durable.into()) == 1
    }

    /// Counts in `saved` the write that is about to happen: a checkpoint that is found later, wherever
    /// that is, has been written with success.
    pub(super) fn count_write_in(saved: &mut SavedFamilies) {
        let [_, writes, ..] = &Self::FAMILIES;
        saved.add(writes, &[OperationResult::Success.as_str()], 1);
    }
}
