//! The series of an exporter that has seen no pod.

use std::sync::Arc;

use podinit_core::shard::Shard;
use podinit_expo::metrics::{ExpositionBuilder, ExpositionFormat, LabelConfig, SloDoc};
use podinit_exporter::process::metrics::ProcessCollector;
use podinit_exporter::{CheckpointGauges, ClockFamilies, ConfigGauges};
use podinit_http::AccessStats;
use podinit_kube::cluster::clock::{DeliveryClock, SystemClock};
use podinit_kube::watch::events::stats::EvidenceStats;
use podinit_kube::watch::stats::WatchStats;
use podinit_traces::TraceStats;

/// What decides which families an exporter has, and how many series of each.
#[derive(Clone, Debug, Default)]
pub(super) struct ExposedFamilies {
    pub(super) labels: LabelConfig,
    pub(super) slos: Vec<SloDoc>,
    /// Events are a source of evidence
    pub(super) events: bool,
    /// Nodes are
    pub(super) nodes: bool,
    /// There is a state directory
    pub(super) checkpoint: bool,
    /// There is a collector of traces
    pub(super) traces: bool,
}

/// The series of an exporter, those of label sets and registries aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnSeries {
    /// Of each namespace, with `--slo-labels namespace`
    pub(super) of_a_namespace: usize,
    pub(super) others: usize,
    /// Those, as native histograms
    pub(super) native_others: usize,
}

impl ExposedFamilies {
    /// `None` where the label set cannot be.
    pub(super) fn series(self) -> Option<OwnSeries> {
        let (others, native_others) = self.clone().without_pods()?;
        if !self.labels.slo_namespace {
            return Some(OwnSeries { of_a_namespace: 0, others, native_others });
        }
        // Without the label there is one place for the pods of all namespaces, shown from the start.
        let mut unlabelled = self;
        unlabelled.labels.slo_namespace = false;
        let (with_one, _) = unlabelled.without_pods()?;
        let of_a_namespace = with_one.saturating_sub(others);
        Some(OwnSeries { of_a_namespace, others, native_others })
    }

    /// The series in the classic formats, and those with native histograms.
    fn without_pods(self) -> Option<(usize, usize)> {
        let now = SystemClock.now();
        let mut builder = ExpositionBuilder::new(self.labels)
            .slos(self.slos)
            .shard(Shard::ALL)
            .events(self.events)
            .nodes(self.nodes)
            .watch(Arc::new(WatchStats::new(1)))
            .source(Box::new(ClockFamilies::new(Arc::new(SystemClock))))
            .source(Box::new(Arc::new(ConfigGauges::new(now))))
            .source(Box::new(Arc::new(AccessStats::new(now))))
            .collector(Box::new(ProcessCollector::new()));
        if self.events || self.nodes {
            let scopes = usize::from(self.events);
            builder = builder.source(Box::new(EvidenceStats::new(scopes, self.nodes)));
        }
        if self.checkpoint {
            builder = builder.source(Box::new(CheckpointGauges::new()));
        }
        if self.traces {
            builder = builder.source(Box::new(TraceStats::default()));
        }
        let (_recorder, exposition) = builder.build().ok()?;
        let text = String::from_utf8(exposition.encode(ExpositionFormat::Text).ok()?).ok()?;
        let series = text.lines().filter(|line| !line.starts_with('#'));
        // Of a native histogram one series is left, here its count.
        let is_classic = |line: &&str| {
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            name.ends_with("_bucket") || name.ends_with("_sum")
        };
        let classic = series.clone().filter(is_classic).count();
        let all = series.count();
        Some((all, all - classic))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::labels::check;
    use podinit_core::kube_event::CapacityState;
    use podinit_core::label_value::LabelValue;
    use podinit_core::lifecycle::{
        BadReason, EventDropReason, SloRule, StartupImages, StartupSliExclusion, WaitReason,
    };
    use podinit_core::pod::{PodSnapshot, PodUid};
    use podinit_expo::metrics::LabelUsage;
    use podinit_histogram::layout::ClassicBuckets;
    use podinit_kube::watch::events::stats::EventLossReason;

    #[test]
    fn namespaces_of_slo_events_and_waiting_pods_have_series_too() {
        let config = LabelConfig { slo_namespace: true, max_values: 2, ..LabelConfig::default() };
        let slo = SloDoc::new(&SloRule::default(), 0.99, 604_800.0);
        let exposed = ExposedFamilies {
            labels: config.clone(),
            slos: vec![slo],
            ..ExposedFamilies::default()
        };
        let own = exposed.clone().series().unwrap();
        // Waiting pods and stuck pods; good, bad, and bad by cause or by none.
        assert_eq!(own.of_a_namespace, 2 * WaitReason::COUNT + 2 + BadReason::COUNT);
        // Past the cap they count as one.
        let mut census = LabelUsage::new(&config).unwrap();
        for namespace in ["a", "b", "c", "d", "e"] {
            let pod = PodSnapshot::bare(PodUid::from_text("u"), namespace, "p");
            census.add(&pod);
        }
        let findings = check(&census, None, false, own, true);
        let text = format!(
            "3 namespaces of SLO events and waiting pods of {} each, and {} others",
            own.of_a_namespace, own.others
        );
        assert!(findings[0].found.contains(&text), "{}", findings[0].found);
        let unlabelled = ExposedFamilies { labels: LabelConfig::default(), ..exposed };
        let without = unlabelled.series().unwrap();
        assert_eq!(without.of_a_namespace, 0);
        assert_eq!(without.others, own.others + own.of_a_namespace);
    }

    #[test]
    fn what_is_chosen_has_series_too() {
        let others = |exposed: ExposedFamilies| exposed.series().unwrap().others;
        let least = others(ExposedFamilies::default());
        assert!((100..1_000).contains(&least), "{least}");
        let events = ExposedFamilies { events: true, ..ExposedFamilies::default() };
        let at_zero = |reason: &StartupSliExclusion| reason.is_exposed_at_zero();
        let of_events = StartupSliExclusion::ALL
            .iter()
            .filter(|reason| at_zero(reason))
            .count()
            + EventDropReason::ALL.len()
            + EventLossReason::ALL.len()
            // Whether Events are read, the registries past their cap, and those whose places are given back.
            + 3
            // Startups by their images: the buckets, sum and count of each.
            + StartupImages::ALL.len() * ClassicBuckets::Startups.series()
            + CapacityState::ALL.len();
        assert_eq!(others(events), least + of_events);
        let checkpoint = ExposedFamilies { checkpoint: true, ..ExposedFamilies::default() };
        let traces = ExposedFamilies { traces: true, ..ExposedFamilies::default() };
        assert!(others(checkpoint) > least && others(traces) > least);
    }
}
