//! The types of families: counters and gauges. Each value stands for itself, so all accesses are
//! `Relaxed`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::encoder::{Encoder, Head, Number};
use super::family::{FamilyDoc, Kind};
use super::saved::{LabelText, SavedSeries};
use crate::label_value::LabelValue;
use crate::label_values;
use crate::timestamp::Timestamp;

const NANOS_PER_SECOND: f64 = 1e9;

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

/// The values that a label can take.
pub trait LabelDomain {
    /// Whether this is one of them.
    fn contains(text: &str) -> bool;
}

impl<L: LabelValue> LabelDomain for L {
    fn contains(text: &str) -> bool {
        L::from_text(text).is_some()
    }
}

/// A label whose values are not known before the program runs, such as the name of an SLO.
#[derive(Debug)]
pub enum AnyText {}

impl LabelDomain for AnyText {
    fn contains(_: &str) -> bool {
        true
    }
}

/// What a declaration takes from the type of a family.
pub trait FamilyType {
    /// The type in an exposition
    const KIND: Kind;
    /// How many labels there are, without those of the label set
    const LABELS: usize;
    /// Whether the configured label set comes after them
    const LABEL_SET: bool = false;

    /// Whether there can be a series with these label values, of which there are [`Self::LABELS`].
    fn knows(labels: &[LabelText]) -> bool;
}

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

/// A counter without labels.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Counts `number`.
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Relaxed);
    }

    /// What has been counted.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl FamilyType for Counter {
    const KIND: Kind = Kind::Counter;
    const LABELS: usize = 0;

    fn knows(_: &[LabelText]) -> bool {
        true
    }
}

impl Instrument for Counter {
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder) {
        family.write(out, Number::Integer(self.get()));
    }
}

impl Persistent for Counter {
    fn save(&self) -> Vec<SavedSeries> {
        let labels = Vec::new();
        let value = self.get();
        vec![SavedSeries { labels, value }]
    }

    fn restore(&self, saved: &[SavedSeries]) {
        saved.iter().for_each(|series| self.add(series.value));
    }
}

/// A counter of time, kept in nanoseconds (64 bits hold five hundred years) and shown in seconds.
#[derive(Debug, Default)]
pub struct SecondsCounter(Counter);

impl SecondsCounter {
    /// Adds so many nanoseconds.
    pub fn add_nanos(&self, nanos: u64) {
        self.0.add(nanos);
    }
}

impl FamilyType for SecondsCounter {
    const KIND: Kind = Kind::Counter;
    const LABELS: usize = 0;

    fn knows(_: &[LabelText]) -> bool {
        true
    }
}

impl Instrument for SecondsCounter {
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder) {
        let seconds = self.0.get() as f64 / NANOS_PER_SECOND;
        family.write(out, Number::Float(seconds));
    }
}

impl Persistent for SecondsCounter {
    fn save(&self) -> Vec<SavedSeries> {
        self.0.save()
    }

    fn restore(&self, saved: &[SavedSeries]) {
        self.0.restore(saved);
    }
}

/// A counter for each value of one label.
pub struct CounterVec<L> {
    counters: Box<[Counter]>,
    label: PhantomData<fn(L)>,
}

impl<L: LabelValue> CounterVec<L> {
    /// The counter of this value.
    pub fn with(&self, value: L) -> &Counter {
        &self.counters[value.index()]
    }

    /// Every value and what has been counted of it.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let values = L::ALL.iter().map(|value| value.as_str());
        values.zip(self.counters.iter().map(Counter::get))
    }
}

impl<L: LabelValue> Default for CounterVec<L> {
    fn default() -> Self {
        Self {
            counters: L::ALL.iter().map(|_| Counter::default()).collect(),
            label: PhantomData,
        }
    }
}

impl<L> fmt::Debug for CounterVec<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counters.fmt(f)
    }
}

impl<L: LabelDomain> FamilyType for CounterVec<L> {
    const KIND: Kind = Kind::Counter;
    const LABELS: usize = 1;

    fn knows(labels: &[LabelText]) -> bool {
        labels.iter().all(|text| L::contains(text))
    }
}

impl<L: LabelValue> Instrument for CounterVec<L> {
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder) {
        let series = self.iter();
        let series = series.map(|(value, count)| (value, Number::Integer(count)));
        family.write_by_label(out, series);
    }
}

impl<L: LabelValue> Persistent for CounterVec<L> {
    fn save(&self) -> Vec<SavedSeries> {
        let series = self.iter().map(|(value, count)| SavedSeries {
            labels: vec![Cow::Borrowed(value)],
            value: count,
        });
        series.collect()
    }

    fn restore(&self, saved: &[SavedSeries]) {
        for series in saved {
            let value = series.labels.first();
            if let Some(value) = value.and_then(|text| L::from_text(text)) {
                self.with(value).add(series.value);
            }
        }
    }
}

/// A counter for each pair of values of two labels.
pub struct CounterVec2<L, M> {
    /// Row by row: a row for each value of the first label
    counters: Box<[Counter]>,
    labels: PhantomData<fn(L, M)>,
}

impl<L: LabelValue, M: LabelValue> CounterVec2<L, M> {
    /// The counter of this pair.
    pub fn with(&self, first: L, second: M) -> &Counter {
        &self.counters[first.index() * M::ALL.len() + second.index()]
    }

    fn iter(&self) -> impl Iterator<Item = ([&'static str; 2], &Counter)> {
        let firsts = L::ALL.iter();
        let pairs = firsts.flat_map(|first| M::ALL.iter().map(|second| (*first, *second)));
        pairs.map(|(first, second)| ([first.as_str(), second.as_str()], self.with(first, second)))
    }
}

impl<L: LabelValue, M: LabelValue> Default for CounterVec2<L, M> {
    fn default() -> Self {
        let number = L::ALL.len() * M::ALL.len();
        Self {
            counters: (0..number).map(|_| Counter::default()).collect(),
            labels: PhantomData,
        }
    }
}

impl<L, M> fmt::Debug for CounterVec2<L, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counters.fmt(f)
    }
}

impl<L: LabelDomain, M: LabelDomain> FamilyType for CounterVec2<L, M> {
    const KIND: Kind = Kind::Counter;
    const LABELS: usize = 2;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [first, second] if L::contains(first) && M::contains(second))
    }
}

impl<L: LabelValue, M: LabelValue> Instrument for CounterVec2<L, M> {
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder) {
        out.family(Head::from(family));
        let &[first, second] = family.labels else {
            return;
        };
        for (values, counter) in self.iter() {
            let labels = [(first, values[0]), (second, values[1])];
            out.number(&labels, Number::Integer(counter.get()));
        }
    }
}

impl<L: LabelValue, M: LabelValue> Persistent for CounterVec2<L, M> {
    fn save(&self) -> Vec<SavedSeries> {
        let series = self.iter().map(|(values, counter)| SavedSeries {
            labels: values.map(Cow::Borrowed).into(),
            value: counter.get(),
        });
        series.collect()
    }

    fn restore(&self, saved: &[SavedSeries]) {
        for series in saved {
            if let [first, second] = &*series.labels
                && let (Some(first), Some(second)) = (L::from_text(first), M::from_text(second))
            {
                self.with(first, second).add(series.value);
            }
        }
    }
}

/// A whole number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Sets the value.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Sets the value and returns the one before.
    pub fn swap(&self, value: u64) -> u64 {
        self.0.swap(value, Relaxed)
    }

    /// The value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl FamilyType for Gauge {
    const KIND: Kind = Kind::Gauge;
    const LABELS: usize = 0;

    fn knows(_: &[LabelText]) -> bool {
        true
    }
}

impl Instrument for Gauge {
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder) {
        family.write(out, Number::Integer(self.get()));
    }
}

/// Gauges by the values of one label; only for families that are computed.
#[derive(Debug)]
pub struct GaugeVec<L>(PhantomData<fn(L)>);

impl<L: LabelDomain> FamilyType for GaugeVec<L> {
    const KIND: Kind = Kind::Gauge;
    const LABELS: usize = 1;

    fn knows(labels: &[LabelText]) -> bool {
        labels.iter().all(|text| L::contains(text))
    }
}

/// An instant, shown as Unix time in seconds; the series is absent while there is none.
#[derive(Debug, Default)]
pub struct TimestampGauge(AtomicU64);

impl TimestampGauge {
    /// Sets the instant. Zero stands for none in the cell: no [`Timestamp`] of an event is zero.
    pub fn set(&self, at: Option<Timestamp>) {
        let nanos = at.map_or(0, |at| at.as_nanos().cast_unsigned());
        self.0.store(nanos, Relaxed);
    }

    /// The instant.
    pub fn get(&self) -> Option<Timestamp> {
        match self.0.load(Relaxed) {
            0 => None,
            nanos => Some(Timestamp::from_nanos(nanos.cast_signed())),
        }
    }
}

impl FamilyType for TimestampGauge {
    const KIND: Kind = Kind::Gauge;
    const LABELS: usize = 0;

    fn knows(_: &[LabelText]) -> bool {
        true
    }
}

impl Instrument for TimestampGauge {
    fn collect(&self, family: &FamilyDoc, out: &mut dyn Encoder) {
        out.family(Head::from(family));
        if let Some(at) = self.get() {
            out.number(&[], Number::Float(at.as_seconds_f64()));
        }
    }
}
