//! Objectives as people state them (specification §6): the SLO file and the Prometheus
//! rules that follow from it. When a pod meets an objective is decided in
//! [`crate::lifecycle::slo`].

pub mod duration;
pub mod file;
pub mod rules;

use crate::lifecycle::slo::SloRule;
use duration::SloDuration;

/// The SLOs of one file, in its order. Their names differ.
#[derive(Clone, Debug, PartialEq)]
pub struct SloFile {
    /// At most [`file::MAX_SLOS`]
    pub slos: Vec<Slo>,
}

/// An objective: how many of the pods are to be fast enough, over how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    /// Which pods, and how fast; it also has the name
    pub rule: SloRule,
    /// How many of them, in percent, strictly between 0 and 100
    pub objective_percent: f64,
    /// Over how long: from an hour to a year, whole minutes
    pub window: SloDuration,
    /// The line of the file on which the SLO begins, from 1
    pub line: u64,
}

impl Slo {
    /// The objective as a share between 0 and 1: the number that is nearest to the decimal which
    /// the file states, so that 99.9 % is 0.999.
    pub fn objective_ratio(&self) -> f64 {
        decimal(self.objective_percent / 100.0)
    }

    /// The share of pods that may be bad: 0.001 for 99.9 %.
    pub fn budget_ratio(&self) -> f64 {
        decimal((100.0 - self.objective_percent) / 100.0)
    }

    /// The threshold in seconds.
    pub fn threshold_seconds(&self) -> f64 {
        self.rule.threshold_nanos as f64 / 1e9
    }
}

/// The number without what binary fractions left behind the tenth place of its percentage.
fn decimal(ratio: f64) -> f64 {
    (ratio * 1e12).round() / 1e12
}
