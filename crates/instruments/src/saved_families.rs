//! The values of families as they are kept while no process runs: each series by the name of its family, and the names and
//! values of its labels, so that another version of podinit may have more or fewer of all of them.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::encoder::LabelText;
use super::family::{FamilyDoc, SLO_LABEL};
use super::histogram::SavedHistogram;
use super::instrument::SampleValue;

/// The series of all families that are saved, by family.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFamilies(Vec<SavedFamily>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedFamily {
    name: LabelText,
    /// The names of its labels
    labels: Vec<LabelText>,
    series: Vec<SavedSeries>,
}

/// One series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSeries {
    /// Its label values, in the order of the family's labels; the last may be missing
    pub labels: Vec<LabelText>,
    /// What it has counted: pods, events, or nanoseconds
    pub value: u64,
    /// What it has observed, of a histogram
    #[serde(default)]
    pub histogram: Option<SavedHistogram>,
}

impl SavedSeries {
    /// What a counter has counted.
    pub const fn new(labels: Vec<LabelText>, value: u64) -> Self {
        Self { labels, value, histogram: None }
    }

    /// Adds what a series has counted whose labels are the same.
    fn merge(&mut self, other: Self) {
        self.value = self.value.wrapping_add(other.value);
        if let Some(more) = other.histogram {
            self.histogram.get_or_insert_default().merge(&more);
        }
    }
}

impl SavedFamily {
    /// Gives the series the labels that the family has now, and returns how much was skipped for that: labels that are
    /// not known, whose series count together, and series with values that are not known. What was counted before
    /// there was a label has its first value.
    fn adapt(&mut self, doc: &FamilyDoc) -> u64 {
        let is_of_slo = |name: &str| doc.slo_labels && name == SLO_LABEL;
        let is_known = |name: &LabelText| doc.labels.contains(&&**name) || is_of_slo(name);
        let unknown = self.labels.iter().filter(|name| !is_known(name)).count();
        let position = |name: &str| self.labels.iter().position(|saved| saved == name);
        let own = doc.labels.iter().zip(doc.first()).map(|(name, first)| (position(name), first));
        let own: Vec<_> = own.collect();
        let of_slo = position(SLO_LABEL).filter(|_| doc.slo_labels);
        let mut places: HashMap<Vec<LabelText>, usize> = HashMap::new();
        let mut series: Vec<SavedSeries> = Vec::new();
        let mut skipped = unknown as u64;
        for saved in std::mem::take(&mut self.series) {
            let value = |position: Option<usize>| saved.labels.get(position?).cloned();
            let labels = own.iter().map(|(at, first)| value(*at).unwrap_or((*first).into()));
            let labels: Vec<_> = labels.chain(value(of_slo)).collect();
            if !doc.knows(&labels) {
                skipped += 1;
                continue;
            }
            match places.get(&labels) {
                Some(place) => series[*place].merge(saved),
                None => {
                    places.insert(labels.clone(), series.len());
                    series.push(SavedSeries { labels, ..saved });
                }
            }
        }
        self.series = series;
        let of_slo = of_slo.map(|_| SLO_LABEL);
        self.labels = doc.labels.iter().copied().chain(of_slo).map(Cow::Borrowed).collect();
        skipped
    }
}

impl SavedFamilies {
    /// Adds a family.
    pub fn put(&mut self, family: &FamilyDoc, series: Vec<SavedSeries>) {
        let more = series.iter().any(|series| series.labels.len() > family.labels.len());
        let labels = family.labels.iter().copied().chain(more.then_some(SLO_LABEL));
        self.0.push(SavedFamily {
            name: Cow::Borrowed(family.name),
            labels: labels.map(Cow::Borrowed).collect(),
            series,
        });
    }

    /// Adds a family whose series `each` shows.
    pub fn put_samples(
        &mut self,
        family: &FamilyDoc,
        each: impl FnOnce(&mut dyn FnMut(&[&str], SampleValue<'_>)),
    ) {
        let mut series = Vec::new();
        each(&mut |labels, sample| {
            let labels = labels.iter().map(|text| Cow::Owned((*text).to_owned())).collect();
            series.extend(match sample {
                SampleValue::Count(value) | SampleValue::Nanos(value) => {
                    Some(SavedSeries::new(labels, value))
                }
                SampleValue::Histogram(histogram) => {
                    let histogram = Some(histogram.saved());
                    Some(SavedSeries { labels, value: 0, histogram })
                }
                // Only gauges show such numbers, and none is saved.
                SampleValue::Float(_) => None,
            });
        });
        self.put(family, series);
    }

    /// All histograms.
    pub fn histograms_mut(&mut self) -> impl Iterator<Item = &mut SavedHistogram> {
        let series = self.0.iter_mut().flat_map(|family| &mut family.series);
        series.filter_map(|series| series.histogram.as_mut())
    }

    /// Forgets all histograms.
    pub fn drop_histograms(&mut self) {
        for family in &mut self.0 {
            family.series.retain(|series| series.histogram.is_none());
        }
    }

    /// Whether this family was saved.
    pub fn has(&self, family: &FamilyDoc) -> bool {
        self.names().any(|name| name == family.name)
    }

    /// The series that were saved of a family; none if it was not.
    pub fn series(&self, family: &FamilyDoc) -> &[SavedSeries] {
        self.series_of(family.name)
    }

    /// The names of the families that were saved.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|family| &*family.name)
    }

    /// What all series of a family have counted together.
    pub fn sum(&self, name: &str) -> u64 {
        self.series_of(name).iter().map(|series| series.value).sum()
    }

    fn series_of(&self, name: &str) -> &[SavedSeries] {
        let found = self.0.iter().find(|family| family.name == name);
        found.map_or(&[], |family| &family.series)
    }

    /// What all series of all families but `excluded` have counted together. While it stays, none of
    /// them has changed: counters only grow.
    pub fn total_without(&self, excluded: &[FamilyDoc]) -> u64 {
        let is_excluded = |name: &str| excluded.iter().any(|family| family.name == name);
        let families = self.0.iter().filter(|family| !is_excluded(&family.name));
        let series = families.flat_map(|family| &family.series);
        series.fold(0, |total, series| total.wrapping_add(series.value))
    }

    /// Adds `value` to a series that is there.
    pub fn add(&mut self, family: &FamilyDoc, labels: &[&str], value: u64) {
        let families = self.0.iter_mut();
        let series = families
            .filter(|saved| saved.name == family.name)
            .flat_map(|saved| &mut saved.series)
            .find(|series| series.labels.iter().eq(labels));
        if let Some(series) = series {
            series.value += value;
        }
    }

    /// Makes of what was saved what the families `known` have now. Returns how many families, labels and series were
    /// skipped because they are not known.
    pub fn adapt(&mut self, known: &[FamilyDoc]) -> u64 {
        let mut skipped = 0;
        self.0.retain_mut(|saved| {
            let mut known = known.iter().filter(|family| family.saved);
            let family = known.find(|family| family.name == saved.name);
            skipped += family.map_or(1, |family| saved.adapt(family));
            family.is_some()
        });
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, CounterVec2, MetricStability, OperationResult};

    type Two = CounterVec2<OperationResult, OperationResult>;

    const fn doc(labels: &'static [&'static str]) -> FamilyDoc {
        FamilyDoc::declare::<Two>(
            "podinit_two_total",
            labels,
            MetricStability::Stable,
            true,
            "Two.",
        )
    }

    fn saved(
        name: &'static str,
        labels: &[&'static str],
        series: &[(&[&'static str], u64)],
    ) -> SavedFamilies {
        let texts = |all: &[&'static str]| all.iter().map(|text| Cow::Borrowed(*text)).collect();
        let series = series.iter().map(|(labels, value)| SavedSeries::new(texts(labels), *value));
        SavedFamilies(vec![SavedFamily {
            name: name.into(),
            labels: texts(labels),
            series: series.collect(),
        }])
    }

    fn adapted(known: FamilyDoc, mut families: SavedFamilies) -> (Vec<(String, u64)>, u64) {
        let skipped = families.adapt(&[known]);
        let series = families.0.iter().flat_map(|family| &family.series);
        (series.map(|series| (series.labels.join(" "), series.value)).collect(), skipped)
    }

    fn expected(series: &[(&str, u64)]) -> Vec<(String, u64)> {
        series.iter().map(|(labels, value)| ((*labels).to_owned(), *value)).collect()
    }

    #[test]
    fn what_is_counted_under_other_labels_is_counted_under_those_that_there_are() {
        let two = doc(&["one", "other"]);
        let name = "podinit_two_total";
        let both = [(&["success", "failure"][..], 3), (&["failure", "failure"], 4)];
        // The same, in another order, without one of them, and with one more.
        let (series, skipped) = adapted(two, saved(name, &["one", "other"], &both));
        assert_eq!(
            (series, skipped),
            (expected(&[("success failure", 3), ("failure failure", 4)]), 0)
        );
        let (series, skipped) = adapted(two, saved(name, &["other", "one"], &both));
        assert_eq!(
            (series, skipped),
            (expected(&[("failure success", 3), ("failure failure", 4)]), 0)
        );
        let (series, skipped) = adapted(two, saved(name, &["gone", "other"], &both));
        assert_eq!((series, skipped), (expected(&[("success failure", 7)]), 1));
        let more = [(&["success", "failure", "a"][..], 3), (&["success", "failure", "b"], 4)];
        let (series, skipped) = adapted(two, saved(name, &["one", "other", "later"], &more));
        assert_eq!((series, skipped), (expected(&[("success failure", 7)]), 1));
        let none = [(&[][..], 5)];
        let (series, skipped) = adapted(two, saved(name, &[], &none));
        assert_eq!((series, skipped), (expected(&[("success success", 5)]), 0));
    }

    #[test]
    fn a_family_or_a_value_that_is_not_known_is_skipped_and_counted() {
        let two = doc(&["one", "other"]);
        let later = [(&["success", "perhaps"][..], 3), (&["success", "failure"], 4)];
        let (series, skipped) = adapted(two, saved("podinit_two_total", &["one", "other"], &later));
        assert_eq!((series, skipped), (expected(&[("success failure", 4)]), 1));
        let (series, skipped) =
            adapted(two, saved("podinit_three_total", &["one", "other"], &later));
        assert_eq!((series, skipped), (Vec::new(), 1));
        let none = FamilyDoc::declare::<Counter>(
            "podinit_two_total",
            &[],
            MetricStability::Stable,
            false,
            "Two.",
        );
        assert_eq!(
            adapted(none, saved("podinit_two_total", &[], &[])).1,
            1,
            "it is not saved any more"
        );
    }
}
