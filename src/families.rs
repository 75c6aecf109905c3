//! Every metric family of podinit (specification, section 7), for the documentation, the rules and the dashboards, and
//! for what a checkpoint holds.

use std::sync::LazyLock;

use podinit_instruments::FamilyDoc;
use podinit_traces::TraceStats;

static FAMILIES: LazyLock<Vec<FamilyDoc>> =
    LazyLock::new(|| podinit_exporter::families(&TraceStats::FAMILIES));

/// Every family that podinit can expose, in the order in which they are documented, without `process_*`.
pub fn families() -> &'static [FamilyDoc] {
    &FAMILIES
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::*;
    use podinit_core::lifecycle::SloRule;
    use podinit_core::timestamp::Timestamp;
    use podinit_expo::metrics::{ExpositionBuilder, LabelConfig, SloDoc};
    use podinit_exporter::{CheckpointGauges, ClockFamilies, ConfigGauges};
    use podinit_http::AccessStats;
    use podinit_instruments::MetricType;
    use podinit_kube::watch::events::stats::EvidenceStats;
    use podinit_kube::watch::stats::WatchStats;

    #[test]
    fn names_follow_the_conventions() {
        for family in families() {
            let name = family.name;
            assert!(name.starts_with("podinit_"));
            assert_eq!(name.ends_with("_total"), family.kind == MetricType::Counter, "{name}");
            assert_eq!(
                name.trim_end_matches("_total").ends_with("_seconds"),
                family.unit == Some("seconds"),
                "{name}"
            );
            assert!(family.help.ends_with('.'), "{name}");
            assert_eq!(families().iter().filter(|other| other.name == name).count(), 1);
        }
    }

    /// Counters and histograms are saved, those that follow from others aside, and gauges are not. Histograms of label
    /// sets are saved with their sets.
    #[test]
    fn every_counter_and_histogram_is_saved_and_can_be_read_again() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let slo = SloDoc::new(&SloRule::default(), 0.99, 604_800.0);
        let builder = ExpositionBuilder::new(LabelConfig::default())
            .slos(vec![slo])
            .events(true)
            .nodes(true)
            .watch(Arc::new(WatchStats::new(1)))
            .source(Box::new(EvidenceStats::new(1, true)))
            .source(Box::new(ClockFamilies::new(Arc::new(move || now))))
            .source(Box::new(ConfigGauges::new(now)))
            .source(Box::new(CheckpointGauges::new()))
            .source(Box::new(AccessStats::new(now)))
            .source(Box::new(TraceStats::default()));
        let (recorder, _) = builder.build().unwrap();
        let saved = recorder.saved_families();
        assert_eq!(saved.clone().adapt(families()), 0);
        let declared = families().iter().filter(|family| family.saved && !family.label_set);
        let declared: BTreeSet<_> = declared.map(|family| family.name).collect();
        assert_eq!(saved.names().collect::<BTreeSet<_>>(), declared);
        for family in families() {
            let derived = ["podinit_pods_discovered_total", "podinit_nodes_discovered_total"];
            let derived = derived.contains(&family.name);
            let kept = family.kind != MetricType::Gauge && !derived;
            assert_eq!(family.saved, kept, "{}", family.name);
        }
    }
}
