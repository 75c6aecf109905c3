//! How [`ReportedPods`](super::ReportedPods) write the values of a pod, and read them again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Latency, WaitReason};
use podinit_core::pod::packed::bytes::{ByteReader, put_number, unzigzag, zigzag};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Values that pods share, each held once and known by a number.
#[derive(Debug)]
pub(super) struct Numbered<T: ?Sized> {
    pub(super) values: Vec<Arc<T>>,
    numbers: HashMap<Arc<T>, u64>,
}

impl<T: ?Sized> Default for Numbered<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: ?Sized + Hash + Eq> Numbered<T> {
    pub(super) fn number(&mut self, value: &Arc<T>) -> u64 {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let number = self.values.len() as u64;
        self.values.push(Arc::clone(value));
        self.numbers.insert(Arc::clone(value), number);
        number
    }

    /// That of the number less one; `None` for 0.
    pub(super) fn optional(&self, number: u64) -> Option<Arc<T>> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.values.get(index).cloned()
    }
}

impl Numbered<str> {
    pub(super) fn at(&self, number: u64) -> Arc<str> {
        self.values.get(number as usize).cloned().unwrap_or_default()
    }
}

/// A set of positions, a bit for each.
pub(super) fn bits(positions: impl Iterator<Item = usize>) -> u64 {
    positions.fold(0, |bits, position| bits | 1 << position)
}

/// Those of `all` that are in a set.
pub(super) fn set<T: Copy>(bits: u64, all: &[T]) -> impl Iterator<Item = T> + Clone {
    all.iter()
        .enumerate()
        .filter(move |(position, _)| bits >> position & 1 != 0)
        .map(|(_, one)| *one)
}

pub(super) fn put_value<T: LabelValue>(out: &mut Vec<u8>, value: Option<T>) {
    out.push(value.map_or(0, |value| value.index() as u8 + 1));
}

pub(super) fn value<T: LabelValue>(reader: &mut ByteReader<'_>) -> Option<T> {
    let index = usize::from(reader.byte()).checked_sub(1)?;
    T::ALL.get(index).copied()
}

pub(super) fn put_waiting(out: &mut Vec<u8>, waiting: Option<WaitReason>) {
    let place = waiting.and_then(|own| WaitReason::ALL.iter().position(|one| *one == own));
    put_number(out, place.map_or(0, |place| place as u64 + 1));
}

pub(super) fn waiting(reader: &mut ByteReader<'_>) -> Option<WaitReason> {
    let place = (reader.number() as usize).checked_sub(1)?;
    WaitReason::ALL.get(place).copied()
}

/// Writes how long after `base` a time is.
pub(super) fn put_time(out: &mut Vec<u8>, base: Timestamp, time: Option<Timestamp>) {
    put_nanos(out, time.map(|time| time.as_nanos().wrapping_sub(base.as_nanos())));
}

pub(super) fn time(reader: &mut ByteReader<'_>, base: Timestamp) -> Option<Timestamp> {
    nanos(reader).map(|nanos| Timestamp::from_nanos(base.as_nanos().wrapping_add(nanos)))
}

pub(super) fn put_latency(out: &mut Vec<u8>, latency: Option<Latency>) {
    put_nanos(out, latency.map(|latency| latency.as_nanos().cast_signed()));
}

pub(super) fn latency(reader: &mut ByteReader<'_>) -> Option<Latency> {
    nanos(reader).map(|nanos| Latency::from_nanos(nanos.cast_unsigned()))
}

/// Writes 0 for none, an odd number for whole seconds, which most times have, an even one for nanoseconds, and 2 before
/// what is too large for that.
pub(super) fn put_nanos(out: &mut Vec<u8>, nanos: Option<i64>) {
    match nanos {
        None => put_number(out, 0),
        Some(nanos) if nanos % NANOS_PER_SECOND == 0 => {
            put_number(out, (zigzag(nanos / NANOS_PER_SECOND) << 1) + 1);
        }
        Some(nanos) if zigzag(nanos) < 1 << 62 => put_number(out, (zigzag(nanos) << 1) + 2),
        Some(nanos) => {
            put_number(out, 2);
            out.extend_from_slice(&nanos.to_le_bytes());
        }
    }
}

pub(super) fn nanos(reader: &mut ByteReader<'_>) -> Option<i64> {
    match reader.number() {
        0 => None,
        2 => Some(i64::from_le_bytes(reader.array())),
        whole if whole % 2 == 1 => Some(unzigzag(whole >> 1) * NANOS_PER_SECOND),
        fraction => Some(unzigzag((fraction - 2) >> 1)),
    }
}
