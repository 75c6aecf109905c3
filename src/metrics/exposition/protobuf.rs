//! The Prometheus protobuf format: `io.prometheus.client.MetricFamily` messages, each after its
//! length as a varint. The only format that carries native histograms; classic buckets are beside
//! them.
//!
//! The messages are prometheus-client's. Its encoder for histograms of one's own is not used: its
//! exemplars have no public constructor (0.25), so none could be given to it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model as proto;
use prost::Message;

use crate::instruments::{Encoder, Head, Kind, Label, Number};
use crate::metrics::exemplar::Exemplar;
use crate::metrics::histogram::HistogramEncoder;
use crate::metrics::histogram::Snapshot;
use crate::metrics::layout::{CLASSIC_BOUNDS, NATIVE_SCHEMA, ZERO_THRESHOLD};
use crate::timestamp::Timestamp;

/// The key of `MetricFamily.metric`: field 4, length-delimited.
const METRIC_KEY: u8 = (4 << 3) | 2;

/// Writes protobuf.
#[derive(Debug)]
pub(super) struct Protobuf {
    out: Vec<u8>,
    /// The present family without its length: fields of a message may be written one by one.
    family: Vec<u8>,
    kind: Kind,
    series: usize,
}

impl Protobuf {
    pub(super) fn new() -> Self {
        Self {
            out: Vec::new(),
            family: Vec::new(),
            kind: Kind::Untyped,
            series: 0,
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end_family();
        self.out
    }

    fn end_family(&mut self) {
        if self.series > 0 {
            put_varint(&mut self.out, self.family.len() as u64);
            self.out.append(&mut self.family);
        }
        self.series = 0;
        self.family.clear();
    }

    fn metric(&mut self, metric: &proto::Metric) {
        self.family.push(METRIC_KEY);
        put_varint(&mut self.family, metric.encoded_len() as u64);
        metric.encode_raw(&mut self.family);
        self.series += 1;
    }
}

impl Encoder for Protobuf {
    fn family(&mut self, head: Head<'_>) {
        self.end_family();
        self.kind = head.kind;
        let family = proto::MetricFamily {
            name: head.name.to_owned(),
            help: head.help.to_owned(),
            r#type: kind_of(head.kind).into(),
            unit: head.unit.unwrap_or_default().to_owned(),
            ..Default::default()
        };
        family.encode_raw(&mut self.family);
    }

    fn number(&mut self, labels: &[Label<'_>], value: Number) {
        let value = value.as_f64();
        let mut metric = proto::Metric {
            label: pairs(labels.iter().copied()),
            ..Default::default()
        };
        match self.kind {
            Kind::Counter => {
                metric.counter = Some(proto::Counter {
                    value,
                    ..Default::default()
                });
            }
            Kind::Gauge => metric.gauge = Some(proto::Gauge { value }),
            Kind::Untyped | Kind::Histogram => metric.untyped = Some(proto::Untyped { value }),
        }
        self.metric(&metric);
    }
}

impl HistogramEncoder for Protobuf {
    fn wants_exemplars(&self) -> bool {
        true
    }

    fn histogram(&mut self, labels: &[Label<'_>], snapshot: &Snapshot) {
        let native = snapshot.native();
        let spans = native.spans.iter();
        let histogram = proto::Histogram {
            sample_count: snapshot.count(),
            sample_sum: snapshot.sum(),
            bucket: classic(snapshot),
            schema: NATIVE_SCHEMA,
            zero_threshold: ZERO_THRESHOLD,
            zero_count: native.zero_count,
            positive_span: spans
                .map(|(offset, length)| proto::BucketSpan {
                    offset: *offset,
                    length: *length,
                })
                .collect(),
            positive_delta: native.deltas,
            ..Default::default()
        };
        self.metric(&proto::Metric {
            label: pairs(labels.iter().copied()),
            histogram: Some(histogram),
            ..Default::default()
        });
    }
}

fn kind_of(kind: Kind) -> proto::MetricType {
    match kind {
        Kind::Counter => proto::MetricType::Counter,
        Kind::Gauge => proto::MetricType::Gauge,
        Kind::Histogram => proto::MetricType::Histogram,
        Kind::Untyped => proto::MetricType::Untyped,
    }
}

fn classic(snapshot: &Snapshot) -> Vec<proto::Bucket> {
    let bounds = CLASSIC_BOUNDS.into_iter().chain([f64::INFINITY]);
    let buckets = bounds.zip(snapshot.classic()).enumerate();
    buckets
        .map(
            |(position, (upper_bound, cumulative_count))| proto::Bucket {
                cumulative_count,
                upper_bound,
                exemplar: snapshot.exemplar(position).map(exemplar),
                ..Default::default()
            },
        )
        .collect()
}

fn exemplar(exemplar: &Exemplar) -> proto::Exemplar {
    proto::Exemplar {
        label: pairs(exemplar.labels()),
        value: exemplar.value().as_seconds_f64(),
        timestamp: Some(system_time(exemplar.at()).into()),
    }
}

fn pairs<'a>(labels: impl Iterator<Item = Label<'a>>) -> Vec<proto::LabelPair> {
    labels
        .map(|(name, value)| proto::LabelPair {
            name: name.to_owned(),
            value: value.to_owned(),
        })
        .collect()
}

fn system_time(at: Timestamp) -> SystemTime {
    let distance = Duration::from_nanos(at.as_nanos().unsigned_abs());
    if at.as_nanos() < 0 {
        UNIX_EPOCH - distance
    } else {
        UNIX_EPOCH + distance
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
