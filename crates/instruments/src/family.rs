//! What is constant about a metric family.

use super::encoder::{
    ExpositionEncoder, FamilyHead, LabelPair, LabelText, MetricType, SampleNumber,
};

/// The label that `--slo-labels` adds.
pub(super) const SLO_LABEL: &str = "namespace";

/// What a new version may change about a family (Semantic Versioning).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricStability {
    /// Name, type and labels change with a major version only (before 1.0: with a minor one)
    Stable,
    /// It may change or disappear with any minor version
    Experimental,
}

impl MetricStability {
    /// The word for it in the documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Experimental => "experimental",
        }
    }
}

/// What a declaration takes from the type of a family.
pub trait FamilyType {
    /// The type in an exposition
    const KIND: MetricType;
    /// How many labels there are, without those of the label set
    const LABELS: usize;
    /// Whether the configured label set comes after them
    const LABEL_SET: bool = false;
    /// Whether the labels of `--slo-labels` come after them
    const SLO_LABELS: bool = false;

    /// Whether there can be a series with these label values, of which there are [`Self::LABELS`].
    fn knows(_labels: &[LabelText]) -> bool {
        true
    }

    /// By label, the value for what was counted before there was the label.
    fn first() -> Vec<&'static str> {
        vec![""; Self::LABELS]
    }
}

/// What is constant about a family.
#[derive(Clone, Copy, Debug)]
pub struct FamilyDoc {
    /// The name as Prometheus shows it, `_total` of a counter included
    pub name: &'static str,
    /// The type
    pub kind: MetricType,
    /// The labels, without those of the label set
    pub labels: &'static [&'static str],
    /// Whether the configured label set comes after `labels`
    pub label_set: bool,
    /// Whether the labels of `--slo-labels` come after `labels`
    pub slo_labels: bool,
    /// Whether it is promised to stay
    pub stability: MetricStability,
    /// Whether its values outlive the process
    pub saved: bool,
    /// One sentence
    pub help: &'static str,
    /// The unit, where the name ends in one
    pub unit: Option<&'static str>,
    knows: fn(&[LabelText]) -> bool,
    first: fn() -> Vec<&'static str>,
}

impl FamilyDoc {
    /// A row of `families!` or `computed_families!`, whose type is `T`.
    pub const fn declare<T: FamilyType>(
        name: &'static str,
        labels: &'static [&'static str],
        stability: MetricStability,
        saved: bool,
        help: &'static str,
    ) -> Self {
        assert!(labels.len() == T::LABELS, "the type has other labels");
        Self {
            name,
            kind: T::KIND,
            labels,
            label_set: T::LABEL_SET,
            slo_labels: T::SLO_LABELS,
            stability,
            saved,
            help,
            unit: unit_of(name),
            knows: T::knows,
            first: T::first,
        }
    }

    /// Whether this version of podinit can have a series with these label values.
    pub fn knows(&self, labels: &[LabelText]) -> bool {
        let Some((own, more)) = labels.split_at_checked(self.labels.len()) else {
            return false;
        };
        more.len() <= usize::from(self.slo_labels) && (self.knows)(own)
    }

    /// By label, the value for what was counted before there was the label.
    pub fn first(&self) -> Vec<&'static str> {
        (self.first)()
    }

    /// Writes the family with one series, which has no labels.
    pub fn write(&self, out: &mut dyn ExpositionEncoder, value: SampleNumber) {
        out.family(FamilyHead::from(self));
        out.number(&[], value);
    }

    /// Writes the family, which has one label, with these series.
    pub fn write_by_label<'a>(
        &self,
        out: &mut dyn ExpositionEncoder,
        series: impl IntoIterator<Item = (&'a str, SampleNumber)>,
    ) {
        out.family(FamilyHead::from(self));
        for (value, number) in series {
            let labels = self.labels.iter().map(|name| (*name, value));
            out.number(&labels.collect::<Vec<LabelPair<'_>>>(), number);
        }
    }
}

impl From<&FamilyDoc> for FamilyHead<'static> {
    fn from(doc: &FamilyDoc) -> Self {
        Self { name: doc.name, help: doc.help, kind: doc.kind, unit: doc.unit }
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
