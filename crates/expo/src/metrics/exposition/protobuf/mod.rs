//! The Prometheus protobuf format: `io.prometheus.client.MetricFamily` messages, each after its
//! length as a varint. The only format that carries native histograms; classic buckets are beside
//! them.
//!
//! Messages are written field by field, in the order of the fields' numbers, so that a series takes no
//! allocation. A test holds them against prometheus-client's types of the same messages.

mod histogram;
mod wire;

use crate::metrics::start_times::StartTimes;
use histogram::HistogramWriter;
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{
    ExpositionEncoder, FamilyHead, HistogramSnapshot, LabelPair, MetricType, SampleNumber,
};
use wire::{
    DelimitedMessage, WireType, key, labels_len, message_len, put_double, put_head, put_integer,
    put_labels, put_message, put_text, put_timestamp,
};

/// Fields of `MetricFamily`.
mod family {
    use super::{WireType, key};

    pub(super) const NAME: u8 = key(1, WireType::Bytes);
    pub(super) const HELP: u8 = key(2, WireType::Bytes);
    pub(super) const TYPE: u8 = key(3, WireType::Varint);
    pub(super) const METRIC: u8 = key(4, WireType::Bytes);
    pub(super) const UNIT: u8 = key(5, WireType::Bytes);
}

/// Fields of `Metric`.
mod metric {
    use super::{WireType, key};

    pub(super) const LABEL: u8 = key(1, WireType::Bytes);
    pub(super) const GAUGE: u8 = key(2, WireType::Bytes);
    pub(super) const COUNTER: u8 = key(3, WireType::Bytes);
    pub(super) const UNTYPED: u8 = key(5, WireType::Bytes);
    pub(super) const HISTOGRAM: u8 = key(7, WireType::Bytes);
}

/// The only field of `Gauge` and `Untyped`, and the first of `Counter`.
const VALUE: u8 = key(1, WireType::Double);

/// A further field of `Counter`.
const START_TIMESTAMP: u8 = key(3, WireType::Bytes);

/// Writes protobuf.
#[derive(Debug)]
pub(super) struct ProtobufEncoder<'a> {
    out: Vec<u8>,
    /// The present family: fields of a message may be written one by one.
    family: Option<DelimitedMessage>,
    kind: MetricType,
    /// Since when the series of the present family count
    start: Option<Timestamp>,
    starts: &'a StartTimes,
    series: usize,
    histograms: HistogramWriter,
    /// The value of the series in hand
    value: Vec<u8>,
}

impl<'a> ProtobufEncoder<'a> {
    /// With room for `capacity` bytes. Families count since `starts`.
    pub(super) fn with_capacity(capacity: usize, starts: &'a StartTimes) -> Self {
        Self {
            out: Vec::with_capacity(capacity),
            family: None,
            kind: MetricType::Untyped,
            start: None,
            starts,
            series: 0,
            histograms: HistogramWriter::default(),
            value: Vec::new(),
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end_family();
        self.out
    }

    fn end_family(&mut self) {
        match self.family.take() {
            Some(family) if self.series > 0 => family.end(&mut self.out),
            Some(family) => family.cancel(&mut self.out),
            None => {}
        }
        self.series = 0;
    }

    /// Writes a series with these labels, whose value is in hand as the field `value`.
    fn series(&mut self, labels: &[LabelPair<'_>], value: u8) {
        let labels = labels.iter().copied();
        let length = labels_len(labels.clone()) + message_len(self.value.len());
        put_head(&mut self.out, family::METRIC, length);
        put_labels(&mut self.out, metric::LABEL, labels);
        put_message(&mut self.out, value, &self.value);
        self.series += 1;
    }
}

impl ExpositionEncoder for ProtobufEncoder<'_> {
    fn family(&mut self, head: FamilyHead<'_>) {
        self.end_family();
        self.kind = head.kind;
        self.start = self.starts.get(head.name);
        let out = &mut self.out;
        self.family = Some(DelimitedMessage::begin(out));
        put_text(out, family::NAME, head.name);
        put_text(out, family::HELP, head.help);
        put_integer(out, family::TYPE, metric_type(head.kind));
        put_text(out, family::UNIT, head.unit.unwrap_or_default());
    }

    fn number(&mut self, labels: &[LabelPair<'_>], value: SampleNumber) {
        self.value.clear();
        put_double(&mut self.value, VALUE, value.as_f64());
        let field = match self.kind {
            MetricType::Counter => {
                if let Some(start) = self.start {
                    put_timestamp(&mut self.value, START_TIMESTAMP, start);
                }
                metric::COUNTER
            }
            MetricType::Gauge => metric::GAUGE,
            MetricType::Untyped | MetricType::Histogram => metric::UNTYPED,
        };
        self.series(labels, field);
    }

    fn wants_exemplars(&self) -> bool {
        true
    }

    fn histogram(&mut self, labels: &[LabelPair<'_>], snapshot: &HistogramSnapshot) {
        self.value.clear();
        self.histograms.write(&mut self.value, snapshot, self.start);
        self.series(labels, metric::HISTOGRAM);
    }
}

/// The number of the type in `MetricType`.
const fn metric_type(kind: MetricType) -> u64 {
    match kind {
        MetricType::Counter => 0,
        MetricType::Gauge => 1,
        MetricType::Untyped => 3,
        MetricType::Histogram => 4,
    }
}
