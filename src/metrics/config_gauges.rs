//! The state of the SLO file.

use crate::families;
use crate::instruments::{Gauge, TimestampGauge};
use podinit_core::timestamp::Timestamp;

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
