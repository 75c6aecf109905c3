//! Series and the values that they must have.

use std::collections::BTreeMap;

use crate::support::scrape::Scrape;

/// Every claimed series with its value; series of the same families that are not claimed are 0.
#[derive(Debug, Default)]
pub struct Claims(BTreeMap<String, f64>);

/// Families whose every series is claimed.
const FAMILIES: [&str; 16] = [
    "podinit_pods_discovered_total",
    "podinit_pods_finished_total",
    "podinit_unobserved_total",
    "podinit_clock_anomalies_total",
    "podinit_reentries_total",
    "podinit_stage_duration_seconds_count",
    "podinit_stage_duration_seconds_sum",
    "podinit_step_duration_seconds_count",
    "podinit_step_duration_seconds_sum",
    "podinit_network_evidence_total",
    "podinit_scheduled_to_ready_duration_seconds_count",
    "podinit_scheduled_to_ready_duration_seconds_sum",
    "podinit_created_to_ready_duration_seconds_count",
    "podinit_created_to_ready_duration_seconds_sum",
    "podinit_label_values_dropped_total",
    "podinit_synced",
];

impl Claims {
    pub fn add(&mut self, series: String, value: f64) {
        *self.0.entry(series).or_default() += value;
    }

    pub fn count(&mut self, name: &str, labels: &[(&str, &str)]) {
        let labels: Vec<String> =
            (labels.iter()).map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let series = match labels.len() {
            0 => name.to_owned(),
            _ => format!("{name}{{{}}}", labels.join(",")),
        };
        self.add(series, 1.0);
    }

    pub fn value(&self, series: &str) -> f64 {
        self.0.get(series).copied().unwrap_or(0.0)
    }

    /// Where the scrape says something else, one line each.
    pub fn faults(&self, scrape: &Scrape) -> Vec<String> {
        let absent = (self.0.keys()).filter(|series| scrape.value(series).is_none());
        let mut faults: Vec<String> = absent.map(|series| format!("{series} is absent")).collect();
        for (series, actual) in FAMILIES.iter().flat_map(|name| scrape.of_name(name)) {
            let claimed = self.value(series);
            // Sums of binary fractions; everything else is a count.
            if (actual - claimed).abs() > 1e-6 {
                faults.push(format!("{series} is {actual}, must be {claimed}"));
            }
        }
        faults
    }
}
