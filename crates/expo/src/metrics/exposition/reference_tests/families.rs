//! Families of every type, with labels of every kind of character.

use proptest::collection::vec;
use proptest::prelude::*;

use podinit_core::lifecycle::Latency;
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{
    ExpositionEncoder, FamilyHead, Histogram, HistogramSnapshot, LabelPair, MetricType,
    SampleNumber, SeriesStart, SpanRef,
};

#[derive(Debug)]
pub(super) struct Family {
    name: String,
    help: String,
    kind: MetricType,
    unit: Option<String>,
    start: Option<Timestamp>,
    series: Vec<(Vec<(String, String)>, Value)>,
}

#[derive(Debug)]
enum Value {
    Number(SampleNumber),
    Histogram(Histogram),
}

impl Family {
    pub(super) fn snapshots(&self) -> impl Iterator<Item = HistogramSnapshot> {
        self.series.iter().filter_map(|(_, value)| match value {
            Value::Histogram(histogram) => Some(histogram.snapshot()),
            Value::Number(_) => None,
        })
    }
}

/// Writes the families with `encoder`.
pub(super) fn write(families: &[Family], encoder: &mut impl ExpositionEncoder) {
    for family in families {
        let mut buffer = HistogramSnapshot::default();
        buffer.start = SeriesStart::Own(family.start);
        encoder.family(FamilyHead {
            name: &family.name,
            help: &family.help,
            kind: family.kind,
            unit: family.unit.as_deref(),
        });
        for (labels, value) in &family.series {
            let labels = labels.iter();
            let labels: Vec<LabelPair<'_>> =
                labels.map(|(name, value)| (&**name, &**value)).collect();
            match value {
                Value::Number(number) => encoder.number(&labels, *number),
                Value::Histogram(histogram) => {
                    let with_exemplars = encoder.wants_exemplars();
                    histogram.read(&mut buffer, with_exemplars, |snapshot| {
                        encoder.histogram(&labels, snapshot);
                    });
                }
            }
        }
    }
}

pub(super) fn any_families() -> impl Strategy<Value = Vec<Family>> {
    vec(any_family(), 0..6)
}

fn any_family() -> impl Strategy<Value = Family> {
    let kind = prop_oneof![
        1 => Just(MetricType::Counter),
        1 => Just(MetricType::Gauge),
        1 => Just(MetricType::Untyped),
        3 => Just(MetricType::Histogram),
    ];
    let unit = proptest::option::of(Just("seconds".to_owned()));
    let name = prop_oneof!["[a-z_]{1,20}(_total)?", "a_total"];
    let start = proptest::option::of(any_time());
    let head = (name, "(?s).{0,20}", kind, unit, start);
    head.prop_flat_map(|(name, help, kind, unit, start)| {
        let value = match kind {
            MetricType::Histogram => any_histogram().prop_map(Value::Histogram).boxed(),
            _ => any_number().prop_map(Value::Number).boxed(),
        };
        let series = vec((any_labels(), value), 0..6);
        series.prop_map(move |series| Family {
            name: name.clone(),
            help: help.clone(),
            kind,
            unit: unit.clone(),
            start,
            series,
        })
    })
}

fn any_labels() -> impl Strategy<Value = Vec<(String, String)>> {
    vec(("[a-z_]{0,10}", any_text()), 0..4)
}

/// Quotes, backslashes and ends of lines more often than others.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["(?s).{0,12}", "[\"\\\\\n\u{e9}\u{1f600}a]{0,8}", ".{120,300}"]
}

fn any_number() -> impl Strategy<Value = SampleNumber> {
    let special = [0.0, -0.0, 1.5, 1e300, f64::INFINITY, f64::NEG_INFINITY];
    prop_oneof![
        any::<u64>().prop_map(SampleNumber::Integer),
        (0..300_u64).prop_map(SampleNumber::Integer),
        any::<i32>().prop_map(|value| SampleNumber::Float(f64::from(value) / 7.0)),
        prop::sample::select(special.to_vec()).prop_map(SampleNumber::Float),
    ]
}

pub(super) fn any_time() -> impl Strategy<Value = Timestamp> {
    let nanos = prop_oneof![
        -4_000_000_000_000_000_000..4_000_000_000_000_000_000_i64,
        (-3..3_i64).prop_map(|seconds| seconds * 1_000_000_000),
        Just(1_800_000_000_123_456_789),
    ];
    nanos.prop_map(Timestamp::from_nanos)
}

/// A third of them without observations.
fn any_histogram() -> impl Strategy<Value = Histogram> {
    let latency = prop_oneof![
        0..30 * 86_400 * 1_000_000_000_u64,
        0..20_000_000_000_u64,
        0..2_000_000_u64,
        (0..3_700_u64).prop_map(|seconds| seconds * 1_000_000_000),
    ];
    let exemplar = prop_oneof![Just(None), any::<bool>().prop_map(Some)];
    let observation = (latency, "(?s).{0,40}", any_text(), any_time(), exemplar, 1..200_u32);
    let observations =
        prop_oneof![1 => Just(Vec::new()).boxed(), 2 => vec(observation, 0..60).boxed()];
    observations.prop_map(|observations| {
        let histogram = Histogram::default();
        for (nanos, name, namespace, at, exemplar, times) in observations {
            let latency = Latency::from_nanos(nanos);
            let pod =
                PodSnapshot::bare(PodUid::from_text("u"), namespace.as_str(), name.as_str()).info;
            for _ in 0..times {
                histogram.observe(latency);
            }
            match exemplar {
                None => {}
                Some(false) => histogram.observe_pod(latency, &pod, at),
                Some(true) => {
                    let span = SpanRef {
                        trace_id: "0f8fad5bd9cb469fa16570867728950e".to_owned(),
                        span_id: "00f067aa0ba902b7".to_owned(),
                    };
                    histogram.link_trace(latency, &pod, at, span);
                }
            }
        }
        histogram
    })
}
