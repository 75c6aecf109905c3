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
//! - `--slo-labels namespace` gives counters of SLOs and of waiting pods the pods' namespace, as
//!   `namespace` or, where Prometheus does not honor the labels of targets, as `exported_namespace`.
//!   Rules over pods drop both, so that they are the same with that flag and without it.
//! - No rule names a bucket bound: the exporter counts missed deadlines itself. Only the official
//!   startup SLI and the durations of image pulls, which no SLO counts, are read from histograms.

use podinit_slo::Slo;
use podinit_text::duration::PrometheusDuration;

/// The labels of the namespace of pods, or of the exporter where pods have none.
pub(super) const NAMESPACE_LABELS: &str = "namespace, exported_namespace";

/// The labels of the label set that are known by name; the namespace and the node, which are in the
/// other lists, aside.
pub(super) const POD_LABELS: &str = "workload_type, workload, host_network, runtime_class, priority_class, scheduler, nodepool, zone, \
     instance_type, arch, capacity_type, kubelet_version";

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

/// Sums over the exporter's targets and the namespaces of pods.
pub(super) fn over_namespaces(inner: &str) -> String {
    over_targets_and("sum", NAMESPACE_LABELS, inner)
}

/// Aggregates over the exporter's targets and over some labels of the metric.
pub(super) fn over_targets_and(op: &str, labels: &str, inner: &str) -> String {
    format!("{op} without ({TARGET_LABELS}, {labels}) (\n{}\n)", indented(inner))
}

/// How many shards `ordinals` has, which are series of `podinit_shard_ordinal`, `without` some labels.
pub(super) fn shards(without: &str, ordinals: &str) -> String {
    let each = format!("count_values without ({without}) (\"shard\",\n{}\n)", indented(ordinals));
    format!("count without (shard) (\n{}\n)", indented(&each))
}

/// A quantile of what a histogram observed in `window`, whichever form of it Prometheus keeps: native
/// or classic, and native where it keeps both. `without` are labels to aggregate over besides those of
/// the targets. Not a number where nothing was observed.
pub(super) fn quantile(
    quantile: f64,
    family: &str,
    job: &str,
    without: &str,
    window: PrometheusDuration,
) -> String {
    let of = |family: &str| {
        let raw = series(family, job, "");
        let sum = over_targets_and("sum", without, &format!("increase({raw}[{window}])"));
        format!("histogram_quantile(\n  {},\n{}\n)", number(quantile), indented(&sum))
    };
    format!("{}\nor\n{}", of(family), of(&format!("{family}_bucket")))
}

/// How many observations a histogram got in `window`, by the same labels as [`quantile`].
pub(super) fn observations(
    family: &str,
    job: &str,
    without: &str,
    window: PrometheusDuration,
) -> String {
    let sum = |family: &str| {
        let raw = series(family, job, "");
        over_targets_and("sum", without, &format!("increase({raw}[{window}])"))
    };
    let (native, classic) = (sum(family), sum(&format!("{family}_count")));
    format!("histogram_count(\n{}\n)\nor\n{classic}", indented(&native))
}

/// Indents each line by two columns.
pub(super) fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// The target of an SLO in words: `network within 10s`.
pub(super) fn promise(slo: &Slo) -> String {
    let millis = u64::try_from(slo.rule.threshold.as_millis()).unwrap_or(u64::MAX);
    let threshold = PrometheusDuration::from_millis(millis);
    format!("{} within {threshold}", slo.rule.interval.text())
}

/// Which pods do not count for an SLO, as a sentence after another; empty where all do.
pub(super) fn left_out(slo: &Slo) -> String {
    let sentence = slo.rule.selection.sentence();
    sentence.map_or_else(String::new, |sentence| format!(" {sentence}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [(0.01, "0.01"), (10.0, "10"), (0.999, "0.999"), (1e-9, "0.000000001")]
        {
            assert_eq!(number(value), text);
        }
    }
}
