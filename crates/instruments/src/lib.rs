//! How a metric is declared, counted, shown and kept.
//!
//! A family is one row of [`families!`](crate::families): the field that counts it, the type of that
//! field (which gives the family's type and its label values), the name, the labels, whether the
//! family is stable, whether it is saved, and the help text. From the rows the macro makes the
//! struct of counters, the list of families for the documentation, and how they are exposed, saved
//! and restored. There are no defaults: a row that does not say whether it is saved does not compile.
//!
//! A family whose values are computed when it is scraped, or whose labels are only known at run
//! time, is a row of [`computed_families!`](crate::computed_families); its owner writes the series.
//!
//! Every crate declares the families that it counts; `podinit::families` lists them all. This one knows the label
//! values and pods of `podinit-core`, which exemplars name, and the cells of `podinit-histogram`. It must not know what is
//! counted, nor who scrapes.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod counters;
mod declare;
mod encoder;
mod exemplar;
mod family;
mod gauges;
mod histogram;
mod histogram_snapshot;
mod instrument;
mod per_value;
mod saved_families;

pub use counters::{Counter, CounterVec, CounterVec2, SecondsCounter};
pub use encoder::{
    AnyText, ExpositionEncoder, ExpositionFormat, FamilyHead, LabelDomain, LabelPair, LabelText,
    MetricType, OperationResult, SampleNumber,
};
pub use exemplar::{Exemplar, SpanRef};
pub use family::{FamilyDoc, FamilyType, MetricStability};
pub use gauges::{Gauge, GaugeVec3, SecondsGauge, TimestampGauge};
pub use histogram::{Histogram, HistogramWith, SavedHistogram};
pub use histogram_snapshot::{HistogramSnapshot, NativeHistogram, SeriesStart};
pub use instrument::{
    FamilyRow, FamilySet, FamilySource, Instrument, PersistentInstrument, SampleValue, collect,
    restore, save,
};
pub use per_value::{FamilyByName, GaugeVec, HistogramVec, PerValue};
pub use saved_families::{SavedFamilies, SavedSeries};
