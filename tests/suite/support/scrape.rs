//! What the text exposition says, for tests that compare numbers.

use std::collections::BTreeMap;

/// One scrape in the text format: series as they are written, and their values.
#[derive(Debug)]
pub struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    pub fn parse(text: &str) -> Self {
        let mut series = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect("a series and its value");
            let value = value.parse().expect("a number");
            let before = series.insert(name.to_owned(), value);
            assert_eq!(before, None, "{name} stands twice");
        }
        Self(series)
    }

    /// Every series as it is written, with its value.
    pub fn series(&self) -> impl Iterator<Item = (&str, f64)> {
        (self.0.iter()).map(|(series, value)| (series.as_str(), *value))
    }

    /// The value of one series.
    pub fn value(&self, series: &str) -> Option<f64> {
        self.0.get(series).copied()
    }

    /// The series of one name (`_count`, `_sum` and `_bucket` are names of their own).
    pub fn of_name(&self, name: &str) -> impl Iterator<Item = (&str, f64)> {
        let own = move |series: &str| series.split('{').next() == Some(name);
        (self.0.iter())
            .filter(move |(series, _)| own(series))
            .map(|(series, value)| (series.as_str(), *value))
    }

    /// All series of the names that begin with one of `prefixes`.
    pub fn beginning(&self, prefixes: &[&str]) -> Vec<(&str, f64)> {
        let chosen = |series: &&String| prefixes.iter().any(|prefix| series.starts_with(prefix));
        let series = self.0.iter().filter(|(series, _)| chosen(series));
        series.map(|(series, value)| (series.as_str(), *value)).collect()
    }

    /// The series of podinit that only ever grow: counters, and those of histograms.
    pub fn counters(&self) -> impl Iterator<Item = (&str, f64)> {
        const ENDINGS: [&str; 4] = ["_total", "_bucket", "_count", "_sum"];
        let grows = |series: &str| {
            let name = series.split('{').next().unwrap_or_default();
            name.starts_with("podinit_") && ENDINGS.iter().any(|ending| name.ends_with(ending))
        };
        (self.0.iter())
            .filter(move |(series, _)| grows(series))
            .map(|(series, value)| (series.as_str(), *value))
    }

    /// The sum of all series of one name.
    pub fn sum(&self, name: &str) -> f64 {
        self.of_name(name).map(|(_, value)| value).sum()
    }

    /// The sum of the series of one name that carry `label="value"`.
    pub fn sum_where(&self, name: &str, label: &str, value: &str) -> f64 {
        let pair = format!("{label}=\"{value}\"");
        (self.of_name(name))
            .filter(|(series, _)| series.contains(&pair))
            .map(|(_, value)| value)
            .sum()
    }

    /// Every pod that was discovered has finished or is in flight
    /// ([§5.7](crate::specification#s5-7)).
    pub fn assert_conserved(&self) {
        let discovered = self.sum("podinit_pods_discovered_total");
        let finished = self.sum("podinit_pods_finished_total");
        let in_flight = self.sum("podinit_inflight_pods");
        assert_eq!(discovered, finished + in_flight, "{finished} finished, {in_flight} in flight");
    }
}
