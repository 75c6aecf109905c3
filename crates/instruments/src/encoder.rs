//! The exposition formats that scrapers can ask for, and what each can write.
//! The values of labels are from a closed list, or any text.

use std::borrow::Cow;

use super::histogram_snapshot::HistogramSnapshot;
use podinit_core::label_value::LabelValue;
use podinit_core::label_values;

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// Only ever grows; its name ends in `_total`
    Counter,
    /// Goes up and down
    Gauge,
    /// Counts by bucket
    Histogram,
    /// Of no known type; only collectors that are not podinit's own have such families
    Untyped,
}

impl MetricType {
    /// The name in the text formats; OpenMetrics says `unknown` for [`MetricType::Untyped`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Untyped => "untyped",
        }
    }
}

/// An exposition format that scrapers can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpositionFormat {
    /// Prometheus protobuf, delimited: classic and native histograms, exemplars
    Protobuf,
    /// OpenMetrics 1.0 text: classic histograms, exemplars
    OpenMetrics,
    /// Prometheus text 0.0.4: classic histograms
    Text,
}

impl ExpositionFormat {
    /// Every format, in the order of their discriminants.
    pub const ALL: [Self; 3] = [Self::Protobuf, Self::OpenMetrics, Self::Text];
}

/// A label's name and its value. The encoder escapes them.
pub type LabelPair<'a> = (&'a str, &'a str);

/// What an exposition says of a family before its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyHead<'a> {
    /// The name as Prometheus shows it, `_total` of a counter included
    pub name: &'a str,
    /// The help text, not escaped
    pub help: &'a str,
    /// The type
    pub kind: MetricType,
    /// The unit, where the name (`_total` aside) ends in one
    pub unit: Option<&'a str>,
}

/// The value of a counter or gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleNumber {
    /// A whole number
    Integer(u64),
    /// Any other
    Float(f64),
}

impl SampleNumber {
    /// The value as Prometheus stores it.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Writes one exposition, series by series, so that no format needs a second copy of all of them.
/// Every format leaves out a family without series.
pub trait ExpositionEncoder {
    /// Begins a family; the series that follow belong to it.
    fn family(&mut self, head: FamilyHead<'_>);

    /// Writes a series of the present family, which is not a histogram.
    fn number(&mut self, labels: &[LabelPair<'_>], value: SampleNumber);

    /// Whether the format carries exemplars. Without, none are copied out of the histograms.
    fn wants_exemplars(&self) -> bool;

    /// Writes a series of the present family, which is a histogram.
    fn histogram(&mut self, labels: &[LabelPair<'_>], snapshot: &HistogramSnapshot);
}

/// The text of a label value.
pub type LabelText = Cow<'static, str>;

/// The values that a label can take.
pub trait LabelDomain {
    /// Whether this is one of them.
    fn contains(text: &str) -> bool;

    /// The one for what was counted before there was the label.
    fn first() -> &'static str;
}

impl<L: LabelValue> LabelDomain for L {
    fn contains(text: &str) -> bool {
        L::from_text(text).is_some()
    }

    fn first() -> &'static str {
        L::ALL.first().map_or("", |value| value.as_str())
    }
}

/// A label whose values are not known before the program runs, such as the name of an SLO.
#[derive(Debug)]
pub enum AnyText {}

impl LabelDomain for AnyText {
    fn contains(_: &str) -> bool {
        true
    }

    fn first() -> &'static str {
        ""
    }
}

label_values! {
    /// The value of the label `result` for what either works or does not.
    pub enum OperationResult {
        /// It worked
        Success => "success",
        /// It did not
        Failure => "failure",
    }
}

impl From<bool> for OperationResult {
    fn from(successful: bool) -> Self {
        match successful {
            true => Self::Success,
            false => Self::Failure,
        }
    }
}
