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
//! Every crate declares the families that it counts; `podinit_exporter::families` lists them all.

mod counters;
mod declare;
mod encoder;
mod family;
mod gauges;
mod instrument;

pub use counters::{Counter, CounterVec, CounterVec2, SecondsCounter};
pub use encoder::{
    AnyText, Encoder, Format, Head, Kind, Label, LabelDomain, LabelText, Number, OperationResult,
};
pub use family::{FamilyDoc, FamilyType, Stability};
pub use gauges::{Gauge, GaugeVec, GaugeVec3, SecondsGauge, TimestampGauge};
pub use instrument::{FamilySource, Instrument, Persistent, SavedFamilies, SavedSeries};
