//! Instruments by the values of a label.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::encoder::{LabelDomain, LabelText, MetricType};
use super::family::FamilyType;
use super::gauges::Gauge;
use super::histogram::Histogram;
use super::instrument::{Instrument, PersistentInstrument, SampleValue};
use super::saved_families::SavedSeries;
use podinit_core::label_value::LabelValue;

/// An instrument for each value of one label. A value is exposed from the first time on that it is asked for.
pub struct PerValue<L, I> {
    instruments: Box<[OnceLock<I>]>,
    label: PhantomData<fn(L)>,
}

/// A gauge for each value of one label.
pub type GaugeVec<L> = PerValue<L, Gauge>;

/// A histogram for each value of one label.
pub type HistogramVec<L> = PerValue<L, Histogram>;

impl<L: LabelValue, I: Default> PerValue<L, I> {
    /// The instrument of this value, which is exposed from now on.
    pub fn with(&self, value: L) -> &I {
        self.instruments[value.index()].get_or_init(I::default)
    }

    /// The instrument of this value, if it is exposed.
    pub fn get(&self, value: L) -> Option<&I> {
        self.instruments[value.index()].get()
    }

    /// Exposes all values.
    pub fn show_all(&self) {
        L::ALL.iter().for_each(|value| _ = self.with(*value));
    }
}

impl<L: LabelValue, I> Default for PerValue<L, I> {
    fn default() -> Self {
        Self { instruments: L::ALL.iter().map(|_| OnceLock::new()).collect(), label: PhantomData }
    }
}

impl<L, I: fmt::Debug> fmt::Debug for PerValue<L, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.instruments.fmt(f)
    }
}

impl<L: LabelDomain, I: FamilyType> FamilyType for PerValue<L, I> {
    const KIND: MetricType = I::KIND;
    const LABELS: usize = 1 + I::LABELS;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [first, rest @ ..] if L::contains(first) && I::knows(rest))
    }

    fn first() -> Vec<&'static str> {
        [vec![L::first()], I::first()].concat()
    }
}

impl<L: LabelValue, I: Instrument> Instrument for PerValue<L, I> {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        for (value, instrument) in L::ALL.iter().zip(&self.instruments) {
            if let Some(instrument) = instrument.get() {
                instrument.each(&mut |labels, sample| {
                    show(&[&[value.as_str()], labels].concat(), sample);
                });
            }
        }
    }
}

impl<L: LabelValue, I: PersistentInstrument + Default> PersistentInstrument for PerValue<L, I> {
    fn restore(&self, labels: &[LabelText], saved: &SavedSeries) {
        if let [first, rest @ ..] = labels
            && let Some(value) = L::from_text(first)
        {
            self.with(value).restore(rest, saved);
        }
    }
}

/// The type of a family of a struct that there is for each value of `NAMES` further labels, whose texts can be any.
#[derive(Debug)]
pub struct FamilyByName<T, const NAMES: usize = 1>(PhantomData<fn(T)>);

impl<T: FamilyType, const NAMES: usize> FamilyType for FamilyByName<T, NAMES> {
    const KIND: MetricType = T::KIND;
    const LABELS: usize = T::LABELS + NAMES;

    fn knows(labels: &[LabelText]) -> bool {
        labels.split_last_chunk::<NAMES>().is_some_and(|(own, _)| T::knows(own))
    }

    fn first() -> Vec<&'static str> {
        [T::first(), vec![""; NAMES]].concat()
    }
}
