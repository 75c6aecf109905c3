//! SLOs ([§6](crate::specification#s6)): the file that states them, and the Prometheus rules generated
//! from it. [`podinit_core::lifecycle`] decides whether a pod meets an SLO.

pub mod duration;
pub mod file;
pub mod rules;
mod stuck_after;

use duration::SloDuration;
use podinit_core::lifecycle::SloRule;

/// The SLOs of one file, in its order. No two have the same name.
#[derive(Clone, Debug, PartialEq)]
pub struct SloFile {
    /// At most [`file::MAX_SLOS`]
    pub slos: Vec<Slo>,
}

/// An SLO: what share of pods must be fast enough, over which window.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    /// The name, which pods it covers, and how fast they must be
    pub rule: SloRule,
    /// The share of pods that must be good, in percent, strictly between 0 and 100
    pub objective_percent: f64,
    /// The window of the objective: whole minutes, from one minute to 366 days
    pub window: SloDuration,
    /// The line of the file on which the SLO begins, from 1
    pub line: u64,
}

impl Slo {
    /// The objective as a ratio: the number nearest to the decimal in the file, so that 99.9 % is
    /// 0.999.
    pub fn objective_ratio(&self) -> f64 {
        decimal(self.objective_percent / 100.0)
    }

    /// The error budget as a ratio: 0.001 for 99.9 %.
    pub fn budget_ratio(&self) -> f64 {
        decimal((100.0 - self.objective_percent) / 100.0)
    }

    pub fn threshold_seconds(&self) -> f64 {
        self.rule.threshold.as_secs_f64()
    }
}

/// Rounds to ten decimal places of a percentage, to remove the error of binary fractions.
fn decimal(ratio: f64) -> f64 {
    (ratio * 1e12).round() / 1e12
}
