//! Gauges. Each value stands for itself, so all accesses are `Relaxed`.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use super::encoder::{LabelDomain, LabelText, MetricType};
use super::family::FamilyType;
use super::instrument::{Instrument, SampleValue};
use podinit_core::timestamp::Timestamp;

/// A whole number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Sets the value.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// One more.
    pub fn increment(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// One less. There are never fewer than none.
    pub fn decrement(&self) {
        let less = |value: u64| value.checked_sub(1);
        // What `less` refuses stays as it is.
        let _ = self.0.fetch_update(Relaxed, Relaxed, less);
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
    const KIND: MetricType = MetricType::Gauge;
    const LABELS: usize = 0;
}

impl Instrument for Gauge {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        show(&[], SampleValue::Count(self.get()));
    }
}

/// Gauges by the values of three labels; only for families that are computed.
#[derive(Debug)]
pub struct GaugeVec3<L, M, N>(PhantomData<fn(L, M, N)>);

impl<L: LabelDomain, M: LabelDomain, N: LabelDomain> FamilyType for GaugeVec3<L, M, N> {
    const KIND: MetricType = MetricType::Gauge;
    const LABELS: usize = 3;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [one, two, three]
            if L::contains(one) && M::contains(two) && N::contains(three))
    }
}

/// A difference of times, shown in seconds; the series is absent while it is not known.
#[derive(Debug)]
pub struct SecondsGauge(AtomicI64);

impl Default for SecondsGauge {
    fn default() -> Self {
        Self(AtomicI64::new(Self::NONE))
    }
}

impl SecondsGauge {
    /// No difference of times is as great.
    const NONE: i64 = i64::MIN;

    /// Sets the difference, in nanoseconds.
    pub fn set(&self, nanos: Option<i64>) {
        self.0.store(nanos.unwrap_or(Self::NONE), Relaxed);
    }
}

impl FamilyType for SecondsGauge {
    const KIND: MetricType = MetricType::Gauge;
    const LABELS: usize = 0;
}

impl Instrument for SecondsGauge {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        let nanos = self.0.load(Relaxed);
        if nanos != Self::NONE {
            show(&[], SampleValue::Float(nanos as f64 / 1e9));
        }
    }
}

/// An instant, shown as Unix time in seconds; the series is absent while there is none.
#[derive(Debug, Default)]
pub struct TimestampGauge(AtomicU64);

impl TimestampGauge {
    /// Sets the instant. The cell holds zero for none: no [`Timestamp`] of an event is zero.
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
    const KIND: MetricType = MetricType::Gauge;
    const LABELS: usize = 0;
}

impl Instrument for TimestampGauge {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        if let Some(at) = self.get() {
            show(&[], SampleValue::Float(at.as_seconds_f64()));
        }
    }
}
