//! The windows in which burn rates are recorded and judged.

use super::model::Severity;
use crate::slo::duration::SloDuration;

/// A burn rate that is too high, and the windows in which it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burn {
    pub(super) factor: f64,
    pub(super) long: SloDuration,
    pub(super) short: SloDuration,
    pub(super) severity: Severity,
}

/// The pairs of windows of the SRE workbook.
pub(super) const WINDOWS: [Burn; 4] = [
    Burn {
        factor: 14.4,
        long: SloDuration::from_hours(1),
        short: SloDuration::from_minutes(5),
        severity: Severity::Critical,
    },
    Burn {
        factor: 6.0,
        long: SloDuration::from_hours(6),
        short: SloDuration::from_minutes(30),
        severity: Severity::Critical,
    },
    Burn {
        factor: 3.0,
        long: SloDuration::from_days(1),
        short: SloDuration::from_hours(2),
        severity: Severity::Warning,
    },
    Burn {
        factor: 1.0,
        long: SloDuration::from_days(3),
        short: SloDuration::from_hours(6),
        severity: Severity::Warning,
    },
];
