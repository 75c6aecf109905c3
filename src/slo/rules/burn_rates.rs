//! The burn rates that alerts watch for, and the windows over which they are recorded.

use super::rule_file::Severity;
use crate::slo::duration::SloDuration;

/// A burn rate that fires an alert when both windows exceed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurnRate {
    /// How many times faster than the objective allows the error budget is spent
    pub(super) factor: f64,
    pub(super) long: SloDuration,
    pub(super) short: SloDuration,
    pub(super) severity: Severity,
}

/// The burn rates and windows of the SRE workbook.
pub(super) const BURN_RATES: [BurnRate; 4] = [
    BurnRate {
        factor: 14.4,
        long: SloDuration::from_hours(1),
        short: SloDuration::from_minutes(5),
        severity: Severity::Critical,
    },
    BurnRate {
        factor: 6.0,
        long: SloDuration::from_hours(6),
        short: SloDuration::from_minutes(30),
        severity: Severity::Critical,
    },
    BurnRate {
        factor: 3.0,
        long: SloDuration::from_days(1),
        short: SloDuration::from_hours(2),
        severity: Severity::Warning,
    },
    BurnRate {
        factor: 1.0,
        long: SloDuration::from_days(3),
        short: SloDuration::from_hours(6),
        severity: Severity::Warning,
    },
];
