//! What a counter or gauge has to do besides count.
//! Counters become plain values that outlive the process: each series by the name of its family and the text of its
//! label values, so that a later podinit may have more of both.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::encoder::{Encoder, LabelText};
use super::family::{FamilyDoc, FamilyType};

/// A family that has its values in itself, and begins at zero.
pub trait Instrument: FamilyType + Default {
    /// Writes the family.
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder);
}

/// A family whose values can outlive the process.
pub trait Persistent: Instrument {
    /// The present values.
    fn save(&self) -> Vec<SavedSeries>;

    /// Adds what was saved.
    fn restore(&self, saved: &[SavedSeries]);
}

/// The series of all families that are saved, by family.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFamilies(Vec<SavedFamily>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedFamily {
    name: LabelText,
    series: Vec<SavedSeries>,
}

/// One series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSeries {
    /// Its label values, in the order of the family's labels
    pub labels: Vec<LabelText>,
    /// What it has counted: pods, events, or nanoseconds
    pub value: u64,
}

/// A family or series that only a later podinit can have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSeries {
    family: String,
    labels: Vec<(&'static str, String)>,
}

impl fmt::Display for UnknownSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name from a file can hold anything, and a message is one line.
        write!(f, "{}", self.family.escape_debug())?;
        if self.labels.is_empty() {
            return Ok(());
        }
        let labels = self.labels.iter();
        let labels = labels.map(|(name, value)| format!("{name}={value:?}"));
        write!(f, "{{{}}}", labels.collect::<Vec<_>>().join(","))
    }
}

impl SavedFamilies {
    /// Adds a family.
    pub fn put(&mut self, family: &FamilyDoc, series: Vec<SavedSeries>) {
        self.0.push(SavedFamily { name: Cow::Borrowed(family.name), series });
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

    /// The first family or series that is not among `known`.
    pub fn unknown(&self, known: &[FamilyDoc]) -> Option<UnknownSeries> {
        self.0.iter().find_map(|saved| {
            let unknown = |labels| UnknownSeries { family: saved.name.to_string(), labels };
            let mut known = known.iter().filter(|family| family.saved);
            let Some(family) = known.find(|family| family.name == saved.name) else {
                return Some(unknown(Vec::new()));
            };
            let mut series = saved.series.iter();
            let series = series.find(|series| !family.knows(&series.labels))?;
            let values = series.labels.iter().map(ToString::to_string);
            Some(unknown(family.labels.iter().copied().zip(values).collect()))
        })
    }
}

/// Exposes families, each whole and always in the same order, and keeps their values beyond the end
/// of the process. None of this may make anybody wait who counts.
pub trait FamilySource: Send + Sync {
    /// Writes the families with their present values.
    fn collect(&self, out: &mut dyn Encoder);

    /// Adds the present values of those families that are saved.
    fn save(&self, saved: &mut SavedFamilies);

    /// Continues from what an earlier process has saved, by adding it. Series that do not exist any
    /// more are ignored.
    fn restore(&self, saved: &SavedFamilies);
}

impl<S: FamilySource> FamilySource for Arc<S> {
    fn collect(&self, out: &mut dyn Encoder) {
        self.as_ref().collect(out);
    }

    fn save(&self, saved: &mut SavedFamilies) {
        self.as_ref().save(saved);
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.as_ref().restore(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_series_is_named_on_one_line() {
        let unknown = UnknownSeries {
            family: "podinit\nchkpnt".to_owned(),
            labels: vec![("reason", "a\nb".to_owned())],
        };
        let named = unknown.to_string();
        assert_eq!(named, r#"podinit\nchkpnt{reason="a\nb"}"#);
    }
}
