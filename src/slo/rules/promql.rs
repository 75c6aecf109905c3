//! The pieces of PromQL that the rules are made of.
//!
//! Sums are made `without` the labels that change when the exporter restarts or is scaled, not
//! `by` those that are known: so whatever else a Prometheus, Thanos or Mimir puts on its series to
//! tell clusters apart survives, and two clusters in one store never mix.
//!
//! - A restart gives the exporter another `instance` and `pod`. Counters are increased per series
//!   and then added, so that what the old and the new one counted is one sum.
//! - Two exporters beside each other count each pod twice, good and bad alike: ratios stay what
//!   they are, and the floor under the number of bad pods is reached with half as many.
//! - No rule names a bucket bound: deadlines are counted, not read off histograms.

use crate::slo::Slo;

/// The labels of a target that change with the exporter's pod.
pub(super) const FLEETING: &str =
    "instance, pod, container, endpoint, service, node, pod_template_hash";

/// A number as PromQL reads it, and as people write it.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.12}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A series of the exporter, with matchers for labels of its own.
pub(super) fn series(name: &str, job: &str, matchers: &str) -> String {
    let comma = if matchers.is_empty() { "" } else { ", " };
    format!("{name}{{job=\"{job}\"{comma}{matchers}}}")
}

/// `op` over what runs in one cluster under one job.
pub(super) fn over_targets(op: &str, inner: &str) -> String {
    format!("{op} without ({FLEETING}) (\n{}\n)", indented(inner))
}

/// The same, with a label of the metric's own summed away too.
pub(super) fn over_targets_and(op: &str, label: &str, inner: &str) -> String {
    format!(
        "{op} without ({FLEETING}, {label}) (\n{}\n)",
        indented(inner)
    )
}

/// Lines, each two columns further to the right.
pub(super) fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// What an SLO promises, in words: `network within 10s`.
pub(super) fn promise(slo: &Slo) -> String {
    let millis = u64::try_from(slo.rule.threshold_nanos / 1_000_000).unwrap_or(0);
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
