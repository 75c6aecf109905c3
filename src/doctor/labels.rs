//! How many series the chosen labels would lead to with the pods of this cluster.

use std::sync::Arc;

use super::names::count;
use super::report::{Check, Finding};
use crate::access::AccessStats;
use crate::cluster::clock::{Clock, SystemClock};
use crate::metrics::{
    Builder, ConfigGauges, Format, LabelCensus, LabelConfig, LabelUse, MOST_VALUES,
    SERIES_OF_A_SET, SeriesLabel, SloDoc,
};
use crate::process::metrics::ProcessCollector;
use crate::watch::stats::WatchStats;

/// A target with more series than this costs Prometheus noticeable memory and time.
const MANY: usize = 100_000;

/// The series of an exporter, those of the label set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnSeries {
    /// Of each namespace, with `--slo-labels namespace`
    pub(super) of_a_namespace: usize,
    pub(super) others: usize,
}

impl OwnSeries {
    /// Of an exporter with these labels and SLOs.
    pub(super) fn of(labels: &LabelConfig, slos: &[SloDoc]) -> Option<Self> {
        let others = series_without_pods(labels, slos.to_vec())?;
        if !labels.slo_namespace {
            return Some(Self {
                of_a_namespace: 0,
                others,
            });
        }
        // Without the label there is one place for the pods of all namespaces, shown from the start.
        let unlabelled = LabelConfig {
            slo_namespace: false,
            ..labels.clone()
        };
        let with_one = series_without_pods(&unlabelled, slos.to_vec())?;
        Some(Self {
            of_a_namespace: with_one.saturating_sub(others),
            others,
        })
    }
}

/// The series of an exporter that has seen no pod: everything without the label set.
fn series_without_pods(labels: &LabelConfig, slos: Vec<SloDoc>) -> Option<usize> {
    let built = Builder::new(labels.clone())
        .slos(slos)
        .watch(Arc::new(WatchStats::new(1)))
        .source(Box::new(Arc::new(ConfigGauges::new(SystemClock.now()))))
        .source(Box::new(Arc::new(AccessStats::new(SystemClock.now()))))
        .collector(Box::new(ProcessCollector::new()))
        .build();
    let (_recorder, exposition) = built.ok()?;
    let text = exposition.encode(Format::Text).ok()?;
    let lines = text.split(|byte| *byte == b'\n');
    Some(
        lines
            .filter(|line| !line.is_empty() && line[0] != b'#')
            .count(),
    )
}

/// The findings from a list of pods, which may be incomplete.
pub(super) fn check(census: &LabelCensus, own: OwnSeries, complete: bool) -> Vec<Finding> {
    const CHECK: Check = Check::Labels;
    if census.pods() == 0 {
        return vec![Finding::skipped(
            CHECK,
            "there are no pods whose label values could be counted",
        )];
    }
    let labels = census.labels();
    let OwnSeries {
        of_a_namespace,
        others,
    } = own;
    let namespaces = census.slo_namespaces();
    let series = census.sets() * SERIES_OF_A_SET + namespaces * of_a_namespace + others;
    let least = if complete { "" } else { "at least " };
    let values: Vec<String> = labels.iter().map(in_words).collect();
    let values = if values.is_empty() {
        "no labels".to_owned()
    } else {
        values.join(", ")
    };
    let sets = count(census.sets() as u64, "label set", "label sets");
    let by_namespace = match namespaces {
        0 => String::new(),
        _ => {
            let namespaces = count(namespaces as u64, "namespace", "namespaces");
            format!(" {namespaces} of SLO events and waiting pods of {of_a_namespace} each,")
        }
    };
    let text = format!(
        "{least}{series} series a scrape: {sets} ({values}) of {SERIES_OF_A_SET} each,{by_namespace} \
         and {others} others"
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
        .detail("label_sets", census.sets())
        .detail("slo_namespaces", namespaces)
        .detail("labels", details.collect::<serde_json::Map<_, _>>());
    let mut findings = vec![total];
    findings.extend(
        labels
            .iter()
            .filter_map(|label| problem(label, census.pods())),
    );
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
    let values = count(label.values as u64, "value", "values");
    let more = if label.values < MOST_VALUES {
        ""
    } else {
        " or more"
    };
    format!("{} {values}{more}", label.name)
}

fn problem(label: &LabelUse, pods: u64) -> Option<Finding> {
    const CHECK: Check = Check::Labels;
    let LabelUse { name, cap, .. } = label;
    let key = label.label.key();
    if label.dropped > 0 {
        let found = format!(
            "{name} has {} values and a cap of {cap}: {} of {pods} pods become _other",
            label.values, label.dropped
        );
        let cap = label.values.next_power_of_two();
        let fix = if cap * SERIES_OF_A_SET <= MANY {
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
    use crate::doctor::report::Severity;
    use crate::lifecycle::{Interval, Waiting};
    use crate::pod::{PodInfo, PodSnapshot, PodUid};

    const OWN: OwnSeries = OwnSeries {
        of_a_namespace: 0,
        others: 300,
    };

    fn pod(namespace: &str) -> PodInfo {
        PodSnapshot::bare(PodUid::from_text("u"), namespace, "p").info
    }

    fn census(config: &LabelConfig, namespaces: usize) -> LabelCensus {
        let mut census = LabelCensus::new(config).unwrap();
        for index in 0..namespaces {
            census.add(&pod(&format!("ns-{index}")));
        }
        census
    }

    fn severities(config: &LabelConfig, namespaces: usize) -> Vec<Severity> {
        let findings = check(&census(config, namespaces), OWN, true);
        findings.iter().map(|finding| finding.severity).collect()
    }

    #[test]
    fn series_are_those_of_the_sets_and_the_others() {
        let findings = check(&census(&LabelConfig::default(), 3), OWN, true);
        let text =
            "1392 series a scrape: 3 label sets (namespace 3 values) of 364 each, and 300 others";
        assert_eq!(findings[0].found, text);
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn namespaces_of_slo_events_and_waiting_pods_have_series_too() {
        let config = LabelConfig {
            slo_namespace: true,
            max_values: 2,
            ..LabelConfig::default()
        };
        let slo = SloDoc {
            name: "a".into(),
            objective_ratio: 0.99,
            interval: Interval::CreatedToReady,
            threshold_seconds: 1.0,
        };
        let own = OwnSeries::of(&config, std::slice::from_ref(&slo)).unwrap();
        // Waiting pods and stuck pods; good, bad, and bad by cause or by none.
        assert_eq!(
            own.of_a_namespace,
            2 * Waiting::COUNT + 2 + Waiting::COUNT + 1
        );
        // Past the cap they count as one.
        let findings = check(&census(&config, 5), own, true);
        let text = format!(
            "3 namespaces of SLO events and waiting pods of {} each, and {} others",
            own.of_a_namespace, own.others
        );
        assert!(findings[0].found.contains(&text), "{}", findings[0].found);
        let without = OwnSeries::of(&LabelConfig::default(), &[slo]).unwrap();
        assert_eq!(without.of_a_namespace, 0);
        assert_eq!(without.others, own.others + own.of_a_namespace);
    }

    #[test]
    fn values_past_a_cap_are_warned_of_with_a_cap_that_suffices() {
        let config = LabelConfig {
            max_values: 2,
            ..LabelConfig::default()
        };
        assert_eq!(severities(&config, 2), [Severity::Ok]);
        let findings = check(&census(&config, 5), OWN, true);
        assert_eq!(findings[1].severity, Severity::Warning);
        assert!(findings[1].found.contains("3 of 5 pods become _other"));
        let fix = findings[1].fix.as_deref().unwrap();
        assert!(fix.contains("--label-cap namespace=8"), "{fix}");
        let findings = check(&census(&config, 1_000), OWN, true);
        let fix = findings[1].fix.as_deref().unwrap();
        assert!(fix.starts_with("leave the label out"), "{fix}");
    }

    #[test]
    fn a_pod_label_that_no_pod_has_is_probably_misspelt() {
        let config = LabelConfig {
            labels: vec![
                SeriesLabel::Namespace,
                SeriesLabel::PodLabel("app".to_owned()),
            ],
            ..LabelConfig::default()
        };
        assert_eq!(severities(&config, 1), [Severity::Ok, Severity::Warning]);
    }

    #[test]
    fn very_many_series_are_warned_of() {
        let config = LabelConfig {
            max_values: 1_000,
            ..LabelConfig::default()
        };
        assert_eq!(severities(&config, 1_000), [Severity::Warning]);
        assert_eq!(severities(&config, 0), [Severity::Skipped]);
    }

    #[test]
    fn an_exporter_without_pods_has_series_too() {
        let fixed = series_without_pods(&LabelConfig::default(), Vec::new()).unwrap();
        assert!((100..1_000).contains(&fixed), "{fixed}");
    }
}
