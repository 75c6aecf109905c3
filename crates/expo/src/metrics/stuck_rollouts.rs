//! Rollouts that are stuck ([§17.5](crate::specification#s17-5)), with the labels of the label set that are of a workload.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use podinit_core::pod::Workload;
use podinit_instruments::{
    AnyText, ExpositionEncoder, FamilyDoc, FamilyHead, FamilySource, GaugeVec3, SampleNumber,
    SavedFamilies, computed_families,
};
use tokio::time::Instant;

use super::labels::{LabelConfig, OTHER};
use super::workload_labels::{WorkloadLabelValues, WorkloadLabels};

/// So many label values have series of their own; rollouts past them share one.
const MOST_SERIES: usize = 100;

computed_families! {
    /// Rollouts that do not go on.
    pub const STUCK_ROLLOUTS {
        ROLLOUTS_STUCK: GaugeVec3<AnyText, AnyText, AnyText> =
            "podinit_rollouts_stuck", ["namespace", "workload_type", "workload"], experimental, not_saved,
            "Rollouts that pods hold which cannot start or are down, where none has become ready for 10 minutes.";
    }
}

/// How many are stated with these label values, and until when.
type StatedRollouts = (BTreeMap<WorkloadLabelValues, u64>, Option<Instant>);

/// Exposes the stuck rollouts that were stated last, as long as that says something of the present.
#[derive(Debug, Default)]
pub struct StuckRollouts {
    labels: WorkloadLabels,
    stated: Mutex<StatedRollouts>,
}

impl StuckRollouts {
    /// With the labels of a label set, as far as it has them.
    pub fn new(config: &LabelConfig) -> Self {
        Self { labels: WorkloadLabels::new(config.labels.iter()), ..Self::default() }
    }

    /// States the rollouts of these workloads, each with its namespace, the worst first, as those that are stuck until then.
    pub fn state<'a>(&self, stuck: impl Iterator<Item = (&'a str, &'a Workload)>, until: Instant) {
        let mut series: BTreeMap<WorkloadLabelValues, u64> = BTreeMap::new();
        for (namespace, workload) in stuck {
            let mut values = self.labels.values(namespace, workload);
            if series.len() >= MOST_SERIES && !series.contains_key(&values) {
                values = self.labels.all(OTHER);
            }
            *series.entry(values).or_default() += 1;
        }
        *self.stated.lock() = (series, Some(until));
    }
}

impl FamilySource for StuckRollouts {
    fn families(&self) -> Vec<FamilyDoc> {
        STUCK_ROLLOUTS.to_vec()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        let (series, until) = self.stated.lock().clone();
        let is_fresh = until.is_some_and(|until| Instant::now() <= until);
        out.family(FamilyHead::from(&ROLLOUTS_STUCK));
        for (values, stuck) in series.iter().filter(|_| is_fresh) {
            out.number(&self.labels.pairs(values), SampleNumber::Integer(*stuck));
        }
    }

    fn save(&self, _: &mut SavedFamilies) {}

    fn restore(&self, _: &SavedFamilies) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::metrics::ExpositionBuilder;
    use crate::metrics::labels::SeriesLabel;
    use podinit_instruments::ExpositionFormat;

    const LABELS: [SeriesLabel; 3] =
        [SeriesLabel::Namespace, SeriesLabel::WorkloadType, SeriesLabel::Workload];

    /// The series where the rollouts of these workloads of two namespaces are stuck.
    fn series(labels: &[SeriesLabel], names: &[&str], lasts: u64) -> Vec<String> {
        let config = LabelConfig { labels: labels.to_vec(), ..LabelConfig::default() };
        let source = Arc::new(StuckRollouts::new(&config));
        let builder = ExpositionBuilder::new(config).source(Box::new(Arc::clone(&source)));
        let (_, exposition) = builder.build().unwrap();
        let workloads: Vec<_> = names
            .iter()
            .map(|name| Workload { kind: "Deployment".into(), name: (*name).into() })
            .collect();
        let all = ["pay", "shop"].into_iter();
        let all = all.flat_map(|namespace| workloads.iter().map(move |one| (namespace, one)));
        source.state(all, Instant::now() + Duration::from_secs(lasts));
        let text = exposition.encode(ExpositionFormat::Text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines = text.lines().filter(|line| line.starts_with("podinit_rollouts_stuck"));
        lines.map(str::to_owned).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn they_have_the_labels_that_the_label_set_has() {
        assert_eq!(
            series(&LABELS, &["web"], 15),
            [
                "podinit_rollouts_stuck{namespace=\"pay\",workload_type=\"deployment\",workload=\"web\"} 1",
                "podinit_rollouts_stuck{namespace=\"shop\",workload_type=\"deployment\",workload=\"web\"} 1",
            ]
        );
        assert_eq!(
            series(&LABELS[..1], &["a", "b"], 15),
            [
                "podinit_rollouts_stuck{namespace=\"pay\"} 2",
                "podinit_rollouts_stuck{namespace=\"shop\"} 2"
            ]
        );
        assert_eq!(series(&[], &["a", "b"], 15), ["podinit_rollouts_stuck 4"]);
        assert_eq!(series(&LABELS, &[], 15), Vec::<String>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn those_past_the_cap_share_a_series_and_names_are_one_line() {
        let names: Vec<String> = (0..60).map(|number| format!("web-{number}\n")).collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let found = series(&LABELS, &names, 15);
        assert_eq!(found.len(), MOST_SERIES + 1);
        let other = found.iter().find(|line| line.contains("_other"));
        assert!(other.unwrap().ends_with("workload=\"_other\"} 20"), "{other:?}");
        assert!(found.iter().all(|line| !line.contains("\\n")), "{found:?}");
    }
}
