//! How many series the chosen labels would lead to with the pods of this cluster.

use super::own_series::OwnSeries;
use super::report::{Check, Finding};
use podinit_expo::metrics::{
    LabelUsage, LabelUse, MOST_VALUES, NATIVE_SERIES_OF_A_REGISTRY, SERIES_OF_A_REGISTRY,
    SeriesLabel, SeriesOfSets,
};
use podinit_text::words::count;

/// A target with more series than this costs Prometheus noticeable memory and time.
const MANY: usize = 100_000;

/// The findings from a list of pods, which may be incomplete.
/// `registries` are those of the pods' images, where Events are a source of evidence; `nodes` whether nodes are one.
pub(super) fn check(
    census: &LabelUsage,
    registries: Option<usize>,
    nodes: bool,
    own: OwnSeries,
    complete: bool,
) -> Vec<Finding> {
    const CHECK: Check = Check::Labels;
    if census.pods() == 0 {
        return vec![Finding::skipped(
            CHECK,
            "there are no pods whose label values could be counted",
        )];
    }
    let labels = census.labels();
    let OwnSeries { of_a_namespace, others, native_others } = own;
    let namespaces = census.slo_namespaces();
    let SeriesOfSets { least, most, all, native } = census.series(registries.is_some(), nodes);
    let of_a_set = match least == most {
        true => format!("{least} each"),
        false => format!("{least} to {most} each"),
    };
    let of_registries = registries.unwrap_or_default() * SERIES_OF_A_REGISTRY;
    let series = all + of_registries + namespaces * of_a_namespace + others;
    let native = native
        + registries.unwrap_or_default() * NATIVE_SERIES_OF_A_REGISTRY
        + namespaces * of_a_namespace
        + native_others;
    let at_least = if complete { "" } else { "at least " };
    let values: Vec<String> = labels.iter().map(in_words).collect();
    let values = if values.is_empty() { "no labels".to_owned() } else { values.join(", ") };
    let sets = count(census.sets(), "label set", "label sets");
    let by_namespace = match namespaces {
        0 => String::new(),
        _ => {
            let namespaces = count(namespaces, "namespace", "namespaces");
            format!(" {namespaces} of SLO events and waiting pods of {of_a_namespace} each,")
        }
    };
    let by_registry = registries.map_or_else(String::new, |registries| {
        let registries = count(registries, "registry", "registries");
        format!(" {registries} of {SERIES_OF_A_REGISTRY} each,")
    });
    let text = format!(
        "{at_least}{series} series a scrape: {sets} ({values}) of {of_a_set},{by_registry}{by_namespace} \
         and {others} others; {native} with native histograms"
    );
    let total = if series > MANY {
        Finding::warning(CHECK, text).fix(
            "choose fewer labels with --labels, --slo-labels and --pod-label, lower caps with \
             --label-cap, or have Prometheus scrape native histograms",
        )
    } else {
        Finding::ok(CHECK, text)
    };
    let details = labels.iter().map(|label| {
        let detail = serde_json::json!({
            "values": label.values, "cap": label.cap, "pods_without": label.empty,
            "pods_past_cap": label.dropped,
        });
        (label.name.clone(), detail)
    });
    let total = total
        .detail("series", series)
        .detail("native_series", native)
        .detail("label_sets", census.sets())
        .detail("slo_namespaces", namespaces)
        .detail("registries", registries)
        .detail("labels", details.collect::<serde_json::Map<_, _>>());
    let mut findings = vec![total];
    findings.extend(labels.iter().filter_map(|label| problem(label, census.pods(), most)));
    if census.overflowed() > 0 {
        let found = format!(
            "{} are past the cap of label sets and become _other in every label",
            count(census.overflowed(), "pod", "pods")
        );
        findings.push(
            Finding::warning(CHECK, found)
                .fix("choose fewer labels with --labels, or lower caps with --label-cap"),
        );
    }
    findings
}

fn in_words(label: &LabelUse) -> String {
    let values = count(label.values, "value", "values");
    let more = if label.values < MOST_VALUES { "" } else { " or more" };
    format!("{} {values}{more}", label.name)
}

fn problem(label: &LabelUse, pods: u64, of_a_set: usize) -> Option<Finding> {
    const CHECK: Check = Check::Labels;
    let LabelUse { name, cap, .. } = label;
    let key = label.label.key();
    if label.dropped > 0 {
        let found = format!(
            "{name} has {} values and a cap of {cap}: {} of {pods} pods become _other",
            label.values, label.dropped
        );
        let cap = label.values.next_power_of_two();
        let fix = if cap * of_a_set <= MANY {
            format!("raise the cap (--label-cap {key}={cap}), or leave the label out")
        } else {
            format!(
                "leave the label out: so many values lead to more than {MANY} series by themselves \
                 (where native histograms are scraped: --label-cap {key}={cap})"
            )
        };
        return Some(Finding::warning(CHECK, found).fix(fix));
    }
    if matches!(label.label, SeriesLabel::PodLabel(_)) && label.empty == pods {
        let found = format!("no pod carries the label {key}");
        return Some(
            Finding::warning(CHECK, found)
                .fix("check the spelling of --pod-label, or leave it out"),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::report::Severity;
    use podinit_core::pod::{PodSnapshot, PodUid};
    use podinit_expo::metrics::LabelConfig;

    const OWN: OwnSeries = OwnSeries { of_a_namespace: 0, others: 300, native_others: 200 };

    fn pod(namespace: &str) -> PodSnapshot {
        PodSnapshot::bare(PodUid::from_text("u"), namespace, "p")
    }

    fn census(config: &LabelConfig, namespaces: usize) -> LabelUsage {
        let mut census = LabelUsage::new(config).unwrap();
        for index in 0..namespaces {
            census.add(&pod(&format!("ns-{index}")));
        }
        census
    }

    fn severities(config: &LabelConfig, namespaces: usize) -> Vec<Severity> {
        let findings = check(&census(config, namespaces), None, false, OWN, true);
        findings.iter().map(|finding| finding.severity).collect()
    }

    #[test]
    fn series_are_those_of_the_sets_and_the_others() {
        let findings = check(&census(&LabelConfig::default(), 3), None, false, OWN, true);
        let text = "1056 series a scrape: 3 label sets (namespace 3 values) of 252 each, and 300 others; 227 with native histograms";
        assert_eq!(findings[0].found, text);
        assert_eq!(findings.len(), 1);
        let mut census = census(&LabelConfig::default(), 2);
        census.add(&PodSnapshot { has_init_containers: true, gated: true, ..pod("ns-0") });
        let findings = check(&census, None, true, OWN, true);
        let text = "1028 series a scrape: 2 label sets (namespace 2 values) of 336 to 392 each, and 300 others; 226 with native histograms";
        assert_eq!(findings[0].found, text);
    }

    #[test]
    fn values_past_a_cap_are_warned_of_with_a_cap_that_suffices() {
        let config = LabelConfig { max_values: 2, ..LabelConfig::default() };
        assert_eq!(severities(&config, 2), [Severity::Ok]);
        let findings = check(&census(&config, 5), None, false, OWN, true);
        assert_eq!(findings[1].severity, Severity::Warning);
        assert!(findings[1].found.contains("3 of 5 pods become _other"));
        let fix = findings[1].fix.as_deref().unwrap();
        assert!(fix.contains("--label-cap namespace=8"), "{fix}");
        let findings = check(&census(&config, 1_000), None, false, OWN, true);
        let fix = findings[1].fix.as_deref().unwrap();
        assert!(fix.starts_with("leave the label out"), "{fix}");
    }

    #[test]
    fn a_pod_label_that_no_pod_has_is_probably_misspelt() {
        let config = LabelConfig {
            labels: vec![SeriesLabel::Namespace, SeriesLabel::PodLabel("app".to_owned())],
            ..LabelConfig::default()
        };
        assert_eq!(severities(&config, 1), [Severity::Ok, Severity::Warning]);
    }

    #[test]
    fn very_many_series_are_warned_of() {
        let config = LabelConfig { max_values: 1_000, ..LabelConfig::default() };
        assert_eq!(severities(&config, 1_000), [Severity::Warning]);
        assert_eq!(severities(&config, 0), [Severity::Skipped]);
    }
}
