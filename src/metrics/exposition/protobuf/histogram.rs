//! `Histogram`: classic buckets with their exemplars, and native buckets.

use super::labels::put_labels;
use super::wire::{
    WireType, key, put_double, put_integer, put_message, put_varint, varint_len, zigzag,
};
use crate::metrics::exemplar::Exemplar;
use crate::metrics::histogram::{Native, Snapshot};
use crate::metrics::layout::{CLASSIC_BOUNDS, CLASSIC_BUCKETS, NATIVE_SCHEMA, ZERO_THRESHOLD};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

const SAMPLE_COUNT: u8 = key(1, WireType::Varint);
const SAMPLE_SUM: u8 = key(2, WireType::Double);
const BUCKET: u8 = key(3, WireType::Bytes);
const SCHEMA: u8 = key(5, WireType::Varint);
const ZERO_THRESHOLD_KEY: u8 = key(6, WireType::Double);
const ZERO_COUNT: u8 = key(7, WireType::Varint);
const POSITIVE_SPAN: u8 = key(12, WireType::Bytes);
const POSITIVE_DELTA: u8 = key(13, WireType::Bytes);

/// Fields of `Bucket`.
mod bucket {
    use super::{WireType, key};

    pub(super) const CUMULATIVE_COUNT: u8 = key(1, WireType::Varint);
    pub(super) const UPPER_BOUND: u8 = key(2, WireType::Double);
    pub(super) const EXEMPLAR: u8 = key(3, WireType::Bytes);
}

/// Fields of `BucketSpan`.
mod span {
    use super::{WireType, key};

    pub(super) const OFFSET: u8 = key(1, WireType::Varint);
    pub(super) const LENGTH: u8 = key(2, WireType::Varint);
}

/// Fields of `Exemplar`.
mod exemplar {
    use super::{WireType, key};

    pub(super) const LABEL: u8 = key(1, WireType::Bytes);
    pub(super) const VALUE: u8 = key(2, WireType::Double);
    pub(super) const TIMESTAMP: u8 = key(3, WireType::Bytes);
}

/// Writes the fields of histograms. Has the buffers that this takes.
#[derive(Debug, Default)]
pub(super) struct HistogramWriter {
    native: Native,
    /// The count of a classic bucket, as a field
    count: Vec<u8>,
    exemplar: Vec<u8>,
    /// A message within the histogram
    inner: Vec<u8>,
    /// The fields of a histogram without observations, once there was one
    unused: Vec<u8>,
}

impl HistogramWriter {
    pub(super) fn write(&mut self, out: &mut Vec<u8>, snapshot: &Snapshot) {
        if !snapshot.is_empty() {
            return self.put(out, snapshot);
        }
        if self.unused.is_empty() {
            let mut unused = Vec::new();
            self.put(&mut unused, snapshot);
            self.unused = unused;
        }
        out.extend_from_slice(&self.unused);
    }

    fn put(&mut self, out: &mut Vec<u8>, snapshot: &Snapshot) {
        let classic = snapshot.classic();
        put_integer(out, SAMPLE_COUNT, classic[CLASSIC_BUCKETS - 1]);
        put_double(out, SAMPLE_SUM, snapshot.sum());
        self.put_classic(out, &classic, snapshot);
        put_integer(out, SCHEMA, zigzag(NATIVE_SCHEMA.into()));
        put_double(out, ZERO_THRESHOLD_KEY, ZERO_THRESHOLD);
        self.put_native(out, snapshot);
    }

    fn put_classic(
        &mut self,
        out: &mut Vec<u8>,
        classic: &[u64; CLASSIC_BUCKETS],
        snapshot: &Snapshot,
    ) {
        self.count.clear();
        let (mut before, bounds) = (0, CLASSIC_BOUNDS.iter().chain([&f64::INFINITY]));
        for (position, (bound, count)) in bounds.zip(classic).enumerate() {
            if *count != before {
                self.count.clear();
                put_integer(&mut self.count, bucket::CUMULATIVE_COUNT, *count);
                before = *count;
            }
            self.exemplar.clear();
            if let Some(exemplar) = snapshot.exemplar(position) {
                self.inner.clear();
                put_exemplar(&mut self.inner, exemplar);
                put_message(&mut self.exemplar, bucket::EXEMPLAR, &self.inner);
            }
            out.push(BUCKET);
            let bound_len = 1 + size_of::<f64>();
            put_varint(
                out,
                (self.count.len() + bound_len + self.exemplar.len()) as u64,
            );
            out.extend_from_slice(&self.count);
            put_double(out, bucket::UPPER_BOUND, *bound);
            out.extend_from_slice(&self.exemplar);
        }
    }

    fn put_native(&mut self, out: &mut Vec<u8>, snapshot: &Snapshot) {
        snapshot.native_into(&mut self.native);
        let native = &self.native;
        put_integer(out, ZERO_COUNT, native.zero_count);
        for (offset, length) in &native.spans {
            self.inner.clear();
            put_integer(&mut self.inner, span::OFFSET, zigzag((*offset).into()));
            put_integer(&mut self.inner, span::LENGTH, (*length).into());
            put_message(out, POSITIVE_SPAN, &self.inner);
        }
        if native.deltas.is_empty() {
            return;
        }
        let deltas = native.deltas.iter().map(|delta| zigzag(*delta));
        let length: usize = deltas.clone().map(varint_len).sum();
        out.push(POSITIVE_DELTA);
        put_varint(out, length as u64);
        deltas.for_each(|delta| put_varint(out, delta));
    }
}

fn put_exemplar(out: &mut Vec<u8>, exemplar: &Exemplar) {
    put_labels(out, exemplar::LABEL, exemplar.labels());
    put_double(out, exemplar::VALUE, exemplar.value().as_seconds_f64());
    put_timestamp(out, exemplar::TIMESTAMP, exemplar.at());
}

/// Writes a `google.protobuf.Timestamp`.
fn put_timestamp(out: &mut Vec<u8>, key: u8, at: Timestamp) {
    const SECONDS: u8 = super::key(1, WireType::Varint);
    const NANOS: u8 = super::key(2, WireType::Varint);
    let seconds = at.as_nanos().div_euclid(NANOS_PER_SECOND).cast_unsigned();
    let nanos = at.as_nanos().rem_euclid(NANOS_PER_SECOND).cast_unsigned();
    let field_len = |value: u64| match value {
        0 => 0,
        _ => 1 + varint_len(value),
    };
    out.push(key);
    put_varint(out, (field_len(seconds) + field_len(nanos)) as u64);
    put_integer(out, SECONDS, seconds);
    put_integer(out, NANOS, nanos);
}
