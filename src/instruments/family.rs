//! What is constant about a metric family, and who exposes families.

use std::sync::Arc;

use super::encoder::{Encoder, Head, Label, Number};
use super::saved::{LabelText, SavedFamilies};
use super::types::FamilyType;

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only ever grows; its name ends in `_total`
    Counter,
    /// Goes up and down
    Gauge,
    /// Counts by bucket
    Histogram,
    /// Of no known type; only collectors that are not podinit's own have such families
    Untyped,
}

impl Kind {
    /// The name in the text formats; OpenMetrics says `unknown` for [`Kind::Untyped`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Untyped => "untyped",
        }
    }
}

/// What a new version may change about a family (Semantic Versioning).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Name, type and labels change with a major version only (before 1.0: with a minor one)
    Stable,
    /// It may change or disappear with any minor version
    Experimental,
}

impl Stability {
    /// The word for it in the documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Experimental => "experimental",
        }
    }
}

/// What is constant about a family.
#[derive(Clone, Copy, Debug)]
pub struct FamilyDoc {
    /// The name as Prometheus shows it, `_total` of a counter included
    pub name: &'static str,
    /// The type
    pub kind: Kind,
    /// The labels, without those of the label set
    pub labels: &'static [&'static str],
    /// Whether the configured label set comes after `labels`
    pub label_set: bool,
    /// Whether it is promised to stay
    pub stability: Stability,
    /// Whether its values outlive the process
    pub saved: bool,
    /// One sentence
    pub help: &'static str,
    /// The unit, where the name ends in one
    pub unit: Option<&'static str>,
    knows: fn(&[LabelText]) -> bool,
}

impl FamilyDoc {
    /// A row of `families!` or `computed_families!`, whose type is `T`.
    pub const fn declare<T: FamilyType>(
        name: &'static str,
        labels: &'static [&'static str],
        stability: Stability,
        saved: bool,
        help: &'static str,
    ) -> Self {
        assert!(labels.len() == T::LABELS, "the type has other labels");
        Self {
            name,
            kind: T::KIND,
            labels,
            label_set: T::LABEL_SET,
            stability,
            saved,
            help,
            unit: unit_of(name),
            knows: T::knows,
        }
    }

    /// Whether this version of podinit can have a series with these label values.
    pub fn knows(&self, labels: &[LabelText]) -> bool {
        labels.len() == self.labels.len() && (self.knows)(labels)
    }

    /// Writes the family with one series, which has no labels.
    pub fn write(&self, out: &mut dyn Encoder, value: Number) {
        out.family(Head::from(self));
        out.number(&[], value);
    }

    /// Writes the family, which has one label, with these series.
    pub fn write_by_label<'a>(
        &self,
        out: &mut dyn Encoder,
        series: impl IntoIterator<Item = (&'a str, Number)>,
    ) {
        out.family(Head::from(self));
        for (value, number) in series {
            let labels = self.labels.iter().map(|name| (*name, value));
            out.number(&labels.collect::<Vec<Label<'_>>>(), number);
        }
    }
}

/// The unit in which the name ends, `_total` aside, as OpenMetrics demands.
const fn unit_of(name: &'static str) -> Option<&'static str> {
    const UNITS: [&str; 3] = ["seconds", "bytes", "ratio"];
    let name = name.as_bytes();
    let length = match ends_with(name, name.len(), b"_total") {
        true => name.len() - b"_total".len(),
        false => name.len(),
    };
    let mut unit = 0;
    while unit < UNITS.len() {
        if ends_with(name, length, UNITS[unit].as_bytes()) {
            return Some(UNITS[unit]);
        }
        unit += 1;
    }
    None
}

/// Whether the first `length` bytes of `text` end with `suffix`.
const fn ends_with(text: &[u8], length: usize, suffix: &[u8]) -> bool {
    if suffix.len() > length {
        return false;
    }
    let mut at = 0;
    while at < suffix.len() {
        if text[length - suffix.len() + at] != suffix[at] {
            return false;
        }
        at += 1;
    }
    true
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
    fn a_unit_is_read_from_the_name() {
        assert_eq!(unit_of("a_duration_seconds"), Some("seconds"));
        assert_eq!(unit_of("a_gap_seconds_total"), Some("seconds"));
        assert_eq!(unit_of("a_size_bytes"), Some("bytes"));
        assert_eq!(unit_of("an_objective_ratio"), Some("ratio"));
        assert_eq!(unit_of("a_total"), None);
        assert_eq!(unit_of("io"), None);
    }
}
