//! The PromQL expressions that the rules are made of.
//!
//! Series are aggregated `without` the labels that change when the exporter restarts or is scaled,
//! not `by` a list of known labels. So the labels by which Prometheus, Thanos or Mimir tell
//! clusters apart survive, and two clusters in one store never mix.
//!
//! - A restart gives the exporter a new `instance` and `pod`. The rules take the increase of each
//!   series first and then the sum, so that the counts of the old and the new process add up.
//! - Two exporters that run side by side count each pod twice, good and bad alike: ratios stay the
//!   same, but the least number of bad pods (see `slo_alerts`) is reached with half as many.
//! - No rule names a bucket bound: the exporter counts missed deadlines itself, so the rules need no
//!   histogram.

use crate::slo::Slo;

/// The labels of a target that change when the exporter's pod does.
pub(super) const TARGET_LABELS: &str =
    "instance, pod, container, endpoint, service, node, pod_template_hash";

/// A number in decimal notation without trailing zeros.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.12}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A selector for a series of the exporter, with further matchers.
pub(super) fn series(name: &str, job: &str, matchers: &str) -> String {
    let comma = if matchers.is_empty() { "" } else { ", " };
    format!("{name}{{job=\"{job}\"{comma}{matchers}}}")
}

/// Aggregates over the exporter's targets with `op`.
pub(super) fn over_targets(op: &str, inner: &str) -> String {
    format!("{op} without ({TARGET_LABELS}) (\n{}\n)", indented(inner))
}

/// Aggregates over the exporter's targets and over one label of the metric.
pub(super) fn over_targets_and(op: &str, label: &str, inner: &str) -> String {
    format!(
        "{op} without ({TARGET_LABELS}, {label}) (\n{}\n)",
        indented(inner)
    )
}

/// Indents each line by two columns.
pub(super) fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// The target of an SLO in words: `network within 10s`.
pub(super) fn promise(slo: &Slo) -> String {
    let millis = u64::try_from(slo.rule.threshold.as_millis()).unwrap_or(u64::MAX);
    let threshold = crate::slo::duration::SloDuration::from_millis(millis);
    format!("{} within {threshold}", slo.rule.interval.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.01, "0.01"),
            (10.0, "10"),
            (0.999, "0.999"),
            (1e-9, "0.000000001"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
