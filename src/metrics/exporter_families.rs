//! The families about the exporter itself: what it is, its clock, its settings and its checkpoint.

use std::fmt;
use std::sync::Arc;

use crate::cluster::clock::Clock;
use crate::instruments::{
    AnyText, Counter, CounterVec, Encoder, FamilyDoc, FamilySource, Gauge, GaugeVec, Head, Number,
    OperationResult, Persistent, SavedFamilies, SavedSeries, TimestampGauge,
};
use crate::{computed_families, families, family_type};
use podinit_core::label_values;
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;

computed_families! {
    /// Which podinit this is.
    pub const BUILD {
        BUILD_INFO: GaugeByBuild =
            "podinit_build_info", ["version", "revision"], stable, not_saved,
            "The running build of podinit; always 1.";
        SHARDS: GaugeVec<AnyText> =
            "podinit_shards", ["shard"], experimental, not_saved,
            "Among how many shards the pods are divided, by the index of this one.";
    }
}

family_type! {
    /// The gauge that tells the build.
    struct GaugeByBuild = Gauge [AnyText, AnyText];
}

/// Exposes which podinit this is, and which of its shards.
#[derive(Debug)]
pub(super) struct BuildInfo {
    /// `None` where none is stated, as by a replay
    pub(super) shard: Option<Shard>,
}

impl BuildInfo {
    /// The source revision, given to the build as `PODINIT_REVISION`.
    const REVISION: &str = match option_env!("PODINIT_REVISION") {
        Some(revision) => revision,
        None => "unknown",
    };
}

impl FamilySource for BuildInfo {
    fn families(&self) -> Vec<FamilyDoc> {
        BUILD.to_vec()
    }

    fn collect(&self, out: &mut dyn Encoder) {
        let labels = [("version", env!("CARGO_PKG_VERSION")), ("revision", Self::REVISION)];
        out.family(Head::from(&BUILD_INFO));
        out.number(&labels, Number::Integer(1));
        let Some(shard) = self.shard else { return };
        out.family(Head::from(&SHARDS));
        let shards = Number::Integer(shard.count().get());
        out.number(&[("shard", &shard.index().to_string())], shards);
    }

    fn save(&self, _: &mut SavedFamilies) {}

    fn restore(&self, _: &SavedFamilies) {}
}

computed_families! {
    /// What podinit corrects of the machine's clock.
    pub const CLOCK {
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
    clock: Arc<dyn Clock>,
    /// Steps that were counted before the process began
    before: Counter,
}

impl ClockFamilies {
    /// Those of `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
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

    fn collect(&self, out: &mut dyn Encoder) {
        CLOCK_STEPS.write(out, Number::Integer(self.steps()));
        CLOCK_CORRECTION.write(out, Number::Float(self.clock.corrections().seconds));
    }

    fn save(&self, saved: &mut SavedFamilies) {
        let labels = Vec::new();
        let value = self.steps();
        saved.put(&CLOCK_STEPS, vec![SavedSeries { labels, value }]);
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.before.restore(saved.series(&CLOCK_STEPS));
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

label_values! {
    /// The result of looking for a checkpoint at the start; all but the first three are reasons for
    /// not using the one that was found.
    pub enum CheckpointLoad {
        /// Podinit was restored from it
        Restored => "restored",
        /// The same, and the number of shards has changed since ([§12](crate::specification#s12))
        Resharded => "resharded",
        /// There was none
        Absent => "absent",
        /// Its bytes are not what was written, or hold values that cannot be
        Corrupt => "corrupt",
        /// A newer podinit has written it
        FutureVersion => "future_version",
        /// An older podinit has written it, in a format that is no longer read
        OldVersion => "old_version",
        /// It is about another cluster
        ForeignCluster => "foreign_cluster",
        /// The disk does not return it, it is not a regular file, or it is far too large
        Unreadable => "unreadable",
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
    pub fn count_load(&self, load: CheckpointLoad) {
        self.loads.with(load).increment();
    }

    /// Counts a write of so many bytes that has become durable.
    pub fn count_success(&self, bytes: usize) {
        self.writes.with(OperationResult::Success).increment();
        self.size.set(bytes as u64);
    }

    /// Counts a write that failed.
    pub fn count_failure(&self) {
        self.writes.with(OperationResult::Failure).increment();
    }

    /// Whether everything that was shown is durable, as was last stated.
    pub fn is_durable(&self) -> bool {
        self.durable.get() == 1
    }

    /// States whether everything that was shown is durable. Returns what was stated before.
    pub fn set_durable(&self, durable: bool) -> bool {
        self.durable.swap(durable.into()) == 1
    }

    /// Counts in `saved` the write that is about to happen: a checkpoint that is found later, wherever
    /// that is, has been written with success.
    pub fn count_write_in(saved: &mut SavedFamilies) {
        let [_, writes, ..] = &Self::FAMILIES;
        saved.add(writes, &[OperationResult::Success.as_str()], 1);
    }
}
