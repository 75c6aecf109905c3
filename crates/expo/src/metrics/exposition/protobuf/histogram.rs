//! `Histogram`: classic buckets with their exemplars, and native buckets.

use prost::encoding::{encode_varint, encoded_len_varint};

use super::wire::{
    WireType, double_len, integer_len, key, labels_len, message_len, put_double, put_head,
    put_integer, put_labels, put_timestamp, timestamp_len, zigzag,
};
use podinit_core::timestamp::Timestamp;
use podinit_histogram::layout::{ClassicBuckets, NATIVE_SCHEMA, ZERO_THRESHOLD};
use podinit_instruments::{Exemplar, HistogramSnapshot, NativeHistogram};

const SAMPLE_COUNT: u8 = key(1, WireType::Varint);
const SAMPLE_SUM: u8 = key(2, WireType::Double);
const BUCKET: u8 = key(3, WireType::Bytes);
const SCHEMA: u8 = key(5, WireType::Varint);
const ZERO_THRESHOLD_KEY: u8 = key(6, WireType::Double);
const ZERO_COUNT: u8 = key(7, WireType::Varint);
const POSITIVE_SPAN: u8 = key(12, WireType::Bytes);
const POSITIVE_DELTA: u8 = key(13, WireType::Bytes);
const START_TIMESTAMP: u8 = key(15, WireType::Bytes);

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
    native: NativeHistogram,
    /// The fields of a histogram without observations, by its classic buckets, once there was one
    unused: [Vec<u8>; ClassicBuckets::ALL.len()],
}

impl HistogramWriter {
    /// The series' family counts since `start`.
    pub(super) fn write(
        &mut self,
        out: &mut Vec<u8>,
        snapshot: &HistogramSnapshot,
        start: Option<Timestamp>,
    ) {
        if snapshot.is_empty() {
            let buckets = snapshot.buckets() as usize;
            if self.unused[buckets].is_empty() {
                let mut unused = Vec::new();
                self.put(&mut unused, snapshot);
                self.unused[buckets] = unused;
            }
            out.extend_from_slice(&self.unused[buckets]);
        } else {
            self.put(out, snapshot);
        }
        if let Some(start) = snapshot.start(start) {
            put_timestamp(out, START_TIMESTAMP, start);
        }
    }

    /// All but the start.
    fn put(&mut self, out: &mut Vec<u8>, snapshot: &HistogramSnapshot) {
        put_integer(out, SAMPLE_COUNT, snapshot.count());
        put_double(out, SAMPLE_SUM, snapshot.sum());
        put_classic(out, snapshot);
        put_integer(out, SCHEMA, zigzag(NATIVE_SCHEMA.into()));
        put_double(out, ZERO_THRESHOLD_KEY, ZERO_THRESHOLD);
        self.put_native(out, snapshot);
    }

    fn put_native(&mut self, out: &mut Vec<u8>, snapshot: &HistogramSnapshot) {
        snapshot.native_into(&mut self.native);
        let native = &self.native;
        put_integer(out, ZERO_COUNT, native.zero_count);
        for (offset, length) in &native.spans {
            let (offset, length) = (zigzag((*offset).into()), (*length).into());
            put_head(out, POSITIVE_SPAN, integer_len(offset) + integer_len(length));
            put_integer(out, span::OFFSET, offset);
            put_integer(out, span::LENGTH, length);
        }
        if native.deltas.is_empty() {
            return;
        }
        let deltas = native.deltas.iter().map(|delta| zigzag(*delta));
        put_head(out, POSITIVE_DELTA, deltas.clone().map(encoded_len_varint).sum());
        deltas.for_each(|delta| encode_varint(delta, out));
    }
}

fn put_classic(out: &mut Vec<u8>, snapshot: &HistogramSnapshot) {
    let bounds = snapshot.buckets().shown();
    for (position, (bound, count)) in bounds.zip(snapshot.classic()).enumerate() {
        let exemplar = snapshot.exemplar(position);
        let exemplar = exemplar.map(|exemplar| (exemplar, exemplar_len(exemplar)));
        let own = integer_len(count) + double_len(bound);
        let of_exemplar = exemplar.map_or(0, |(_, length)| message_len(length));
        put_head(out, BUCKET, own + of_exemplar);
        put_integer(out, bucket::CUMULATIVE_COUNT, count);
        put_double(out, bucket::UPPER_BOUND, bound);
        if let Some((exemplar, length)) = exemplar {
            put_head(out, bucket::EXEMPLAR, length);
            put_exemplar(out, exemplar);
        }
    }
}

fn put_exemplar(out: &mut Vec<u8>, exemplar: &Exemplar) {
    put_labels(out, exemplar::LABEL, exemplar.labels());
    put_double(out, exemplar::VALUE, exemplar.value().as_seconds_f64());
    put_timestamp(out, exemplar::TIMESTAMP, exemplar.at());
}

/// How many bytes [`put_exemplar`] writes.
fn exemplar_len(exemplar: &Exemplar) -> usize {
    let value = double_len(exemplar.value().as_seconds_f64());
    let at = message_len(timestamp_len(exemplar.at()));
    labels_len(exemplar.labels()) + value + at
}
