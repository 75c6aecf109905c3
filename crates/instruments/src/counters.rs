//! Counters. Each value stands for itself, so all accesses are `Relaxed`.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::encoder::{LabelDomain, LabelText, MetricType};
use super::family::FamilyType;
use super::instrument::{Instrument, PersistentInstrument, SampleValue};
use super::saved_families::SavedSeries;
use podinit_core::label_value::LabelValue;

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
    const KIND: MetricType = MetricType::Counter;
    const LABELS: usize = 0;
}

impl Instrument for Counter {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        show(&[], SampleValue::Count(self.get()));
    }
}

impl PersistentInstrument for Counter {
    fn restore(&self, _: &[LabelText], saved: &SavedSeries) {
        self.add(saved.value);
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
    const KIND: MetricType = MetricType::Counter;
    const LABELS: usize = 0;
}

impl Instrument for SecondsCounter {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        show(&[], SampleValue::Nanos(self.0.get()));
    }
}

impl PersistentInstrument for SecondsCounter {
    fn restore(&self, labels: &[LabelText], saved: &SavedSeries) {
        self.0.restore(labels, saved);
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

    /// Every value that is exposed, and what has been counted of it.
    pub fn exposed(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let values = L::ALL.iter().zip(self.iter());
        let exposed = values.filter(|(value, (_, count))| *count > 0 || value.is_exposed_at_zero());
        exposed.map(|(_, series)| series)
    }

    /// Every value and what has been counted of it.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let values = L::ALL.iter().map(|value| value.as_str());
        values.zip(self.counters.iter().map(Counter::get))
    }
}

impl<L: LabelValue> Default for CounterVec<L> {
    fn default() -> Self {
        Self { counters: L::ALL.iter().map(|_| Counter::default()).collect(), label: PhantomData }
    }
}

impl<L> fmt::Debug for CounterVec<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counters.fmt(f)
    }
}

impl<L: LabelDomain> FamilyType for CounterVec<L> {
    const KIND: MetricType = MetricType::Counter;
    const LABELS: usize = 1;

    fn knows(labels: &[LabelText]) -> bool {
        labels.iter().all(|text| L::contains(text))
    }

    fn first() -> Vec<&'static str> {
        vec![L::first()]
    }
}

impl<L: LabelValue> Instrument for CounterVec<L> {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        for (value, count) in self.exposed() {
            show(&[value], SampleValue::Count(count));
        }
    }
}

impl<L: LabelValue> PersistentInstrument for CounterVec<L> {
    fn restore(&self, labels: &[LabelText], saved: &SavedSeries) {
        if let [text] = labels
            && let Some(value) = L::from_text(text)
        {
            self.with(value).add(saved.value);
        }
    }
}

/// A counter for each pair of values of two labels.
pub struct CounterVec2<L, M> {
    /// Row by row: a row for each value of the first label
    counters: Box<[Counter]>,
    /// Whether also those series are exposed at 0 that otherwise are not
    shows_all: AtomicBool,
    labels: PhantomData<fn(L, M)>,
}

impl<L: LabelValue, M: LabelValue> CounterVec2<L, M> {
    /// The counter of this pair.
    pub fn with(&self, first: L, second: M) -> &Counter {
        &self.counters[first.index() * M::ALL.len() + second.index()]
    }

    /// Exposes also those series at 0 that otherwise are not.
    pub fn show_all(&self) {
        self.shows_all.store(true, Relaxed);
    }

    /// Every pair that is exposed.
    fn exposed(&self) -> impl Iterator<Item = ([&'static str; 2], &Counter)> {
        let shows_all = self.shows_all.load(Relaxed);
        let at_zero = L::ALL.iter().map(move |first| shows_all || first.is_exposed_at_zero());
        let at_zero = at_zero.flat_map(|at_zero| M::ALL.iter().map(move |_| at_zero));
        let exposed = self.iter().zip(at_zero);
        let exposed = exposed.filter(|((_, counter), at_zero)| *at_zero || counter.get() > 0);
        exposed.map(|(series, _)| series)
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
            shows_all: AtomicBool::new(false),
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
    const KIND: MetricType = MetricType::Counter;
    const LABELS: usize = 2;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [first, second] if L::contains(first) && M::contains(second))
    }

    fn first() -> Vec<&'static str> {
        vec![L::first(), M::first()]
    }
}

impl<L: LabelValue, M: LabelValue> Instrument for CounterVec2<L, M> {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        for (values, counter) in self.exposed() {
            show(&values, SampleValue::Count(counter.get()));
        }
    }
}

impl<L: LabelValue, M: LabelValue> PersistentInstrument for CounterVec2<L, M> {
    fn restore(&self, labels: &[LabelText], saved: &SavedSeries) {
        if let [first, second] = labels
            && let (Some(first), Some(second)) = (L::from_text(first), M::from_text(second))
        {
            self.with(first, second).add(saved.value);
        }
    }
}
