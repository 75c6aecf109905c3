//! Protobuf by way of prometheus-client's types.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model as proto;
use prost::Message;

use crate::metrics::start_times::StartTimes;
use podinit_core::timestamp::Timestamp;
use podinit_histogram::layout::{NATIVE_SCHEMA, ZERO_THRESHOLD};
use podinit_instruments::{
    Exemplar, ExpositionEncoder, FamilyHead, HistogramSnapshot, LabelPair, MetricType, SampleNumber,
};

/// A family after its length. Its unit stands before its series.
pub(super) fn delimited(family: &proto::MetricFamily) -> Vec<u8> {
    let head = proto::MetricFamily { metric: Vec::new(), ..family.clone() };
    let series = proto::MetricFamily { metric: family.metric.clone(), ..Default::default() };
    let message = [head.encode_to_vec(), series.encode_to_vec()].concat();
    let mut delimited = Vec::new();
    prost::encode_length_delimiter(message.len(), &mut delimited).unwrap();
    [delimited, message].concat()
}

pub(super) struct Reference<'a> {
    starts: &'a StartTimes,
    pub(super) families: Vec<proto::MetricFamily>,
}

impl<'a> Reference<'a> {
    pub(super) const fn new(starts: &'a StartTimes) -> Self {
        Self { starts, families: Vec::new() }
    }

    fn series(&mut self, metric: proto::Metric) {
        self.families.last_mut().unwrap().metric.push(metric);
    }
}

impl ExpositionEncoder for Reference<'_> {
    fn family(&mut self, head: FamilyHead<'_>) {
        let kind = match head.kind {
            MetricType::Counter => proto::MetricType::Counter,
            MetricType::Gauge => proto::MetricType::Gauge,
            MetricType::Histogram => proto::MetricType::Histogram,
            MetricType::Untyped => proto::MetricType::Untyped,
        };
        self.families.push(proto::MetricFamily {
            name: head.name.to_owned(),
            help: head.help.to_owned(),
            r#type: kind.into(),
            unit: head.unit.unwrap_or_default().to_owned(),
            ..Default::default()
        });
    }

    fn number(&mut self, labels: &[LabelPair<'_>], value: SampleNumber) {
        let value = value.as_f64();
        let mut metric =
            proto::Metric { label: pairs(labels.iter().copied()), ..Default::default() };
        let family = self.families.last().unwrap();
        let start = self.starts.get(&family.name);
        match family.r#type() {
            proto::MetricType::Counter => {
                metric.counter = Some(proto::Counter {
                    value,
                    start_timestamp: start.map(|at| system_time(at).into()),
                    ..Default::default()
                });
            }
            proto::MetricType::Gauge => metric.gauge = Some(proto::Gauge { value }),
            _ => metric.untyped = Some(proto::Untyped { value }),
        }
        self.series(metric);
    }

    fn wants_exemplars(&self) -> bool {
        true
    }

    fn histogram(&mut self, labels: &[LabelPair<'_>], snapshot: &HistogramSnapshot) {
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
                .map(|(offset, length)| proto::BucketSpan { offset: *offset, length: *length })
                .collect(),
            positive_delta: native.deltas,
            start_timestamp: snapshot.start(None).map(|at| system_time(at).into()),
            ..Default::default()
        };
        self.series(proto::Metric {
            label: pairs(labels.iter().copied()),
            histogram: Some(histogram),
            ..Default::default()
        });
    }
}

fn classic(snapshot: &HistogramSnapshot) -> Vec<proto::Bucket> {
    let bounds = snapshot.buckets().shown();
    let buckets = bounds.zip(snapshot.classic()).enumerate();
    buckets
        .map(|(position, (upper_bound, cumulative_count))| proto::Bucket {
            cumulative_count,
            upper_bound,
            exemplar: snapshot.exemplar(position).map(exemplar),
            ..Default::default()
        })
        .collect()
}

fn exemplar(exemplar: &Exemplar) -> proto::Exemplar {
    proto::Exemplar {
        label: pairs(exemplar.labels()),
        value: exemplar.value().as_seconds_f64(),
        timestamp: Some(system_time(exemplar.at()).into()),
    }
}

fn pairs<'a>(labels: impl Iterator<Item = LabelPair<'a>>) -> Vec<proto::LabelPair> {
    labels
        .map(|(name, value)| proto::LabelPair { name: name.to_owned(), value: value.to_owned() })
        .collect()
}

fn system_time(at: Timestamp) -> SystemTime {
    let distance = Duration::from_nanos(at.as_nanos().unsigned_abs());
    if at.as_nanos() < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
}
