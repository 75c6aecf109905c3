//! What the dashboards show, one file each.

mod capacity;
mod drill_down;
mod exporter_health;
mod images_and_sli;
mod overview;
mod stages;
mod stuck_and_failed;

use super::board::Board;
use super::panel::Target;
use super::promql::{Histogram, RATE, max_by};

/// Every dashboard, in the order of the links.
pub(super) fn all() -> Vec<Board> {
    vec![
        overview::board(),
        stages::board(),
        drill_down::board(),
        stuck_and_failed::board(),
        images_and_sli::board(),
        capacity::board(),
        exporter_health::board(),
    ]
}

/// The durations that the chosen SLOs allow, to be drawn across measured durations of the same
/// interval. `interval` is a regular expression.
fn deadlines(interval: &str) -> Target {
    let chosen = format!(r#"slo=~"$slo", interval=~"{interval}""#);
    let expr = max_by("slo", "podinit_slo_threshold_seconds", &chosen);
    Target::new(expr, "deadline {{slo}}")
}

/// Median, 90th and 99th percentile, and the deadlines of `interval`.
fn quantiles_and_deadlines(histogram: Histogram<'_>, interval: &str) -> Vec<Target> {
    let quantile = |(quantile, legend)| {
        Target::new(histogram.quantile(quantile, "", RATE), legend).with_exemplars()
    };
    let mut targets: Vec<Target> =
        [("0.5", "p50"), ("0.9", "p90"), ("0.99", "p99")].map(quantile).into();
    targets.push(deadlines(interval));
    targets
}
