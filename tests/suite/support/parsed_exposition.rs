//! Expositions read back into one flat shape: a series, written as text, and its value.

use std::collections::BTreeMap;

use openmetrics_parser::{
    HistogramValue, MetricNumber, OpenMetricsValue, PrometheusValue, openmetrics, prometheus,
};
use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model as proto;
use prost::Message;

/// Series to value. Labels are sorted; `le` is written as Rust writes a float.
pub(crate) type Samples = BTreeMap<String, f64>;

/// The delimited messages, to the last byte.
pub(crate) fn protobuf(mut bytes: &[u8]) -> Vec<proto::MetricFamily> {
    let mut families = Vec::new();
    while !bytes.is_empty() {
        families.push(proto::MetricFamily::decode_length_delimited(&mut bytes).unwrap());
    }
    families
}

pub(crate) fn samples_of_protobuf(families: &[proto::MetricFamily]) -> Samples {
    let mut samples = Samples::new();
    for family in families {
        for metric in &family.metric {
            let pairs = metric.label.iter();
            let labels: Labels = pairs.map(|l| (l.name.clone(), l.value.clone())).collect();
            let counter = metric.counter.as_ref().map(|counter| counter.value);
            let gauge = metric.gauge.as_ref().map(|gauge| gauge.value);
            match &metric.histogram {
                Some(histogram) => {
                    check_native(histogram);
                    let buckets = histogram.bucket.iter();
                    let buckets = buckets.map(|b| (b.upper_bound, b.cumulative_count as f64));
                    let count = histogram.sample_count as f64;
                    let all = (histogram.sample_sum, count);
                    insert(&mut samples, &family.name, &labels, buckets, all);
                }
                None => {
                    let value = counter.or(gauge).unwrap();
                    samples.insert(series(&family.name, &labels), value);
                }
            }
        }
    }
    samples
}

/// Zero bucket and native buckets add up to the count.
fn check_native(histogram: &proto::Histogram) {
    assert_eq!(histogram.schema, 3);
    assert!(histogram.zero_threshold > 0.0);
    let (mut count, mut total) = (0, histogram.zero_count.cast_signed());
    for delta in &histogram.positive_delta {
        count += delta;
        assert!(count > 0);
        total += count;
    }
    assert_eq!(total.cast_unsigned(), histogram.sample_count);
    let length: u32 = histogram.positive_span.iter().map(|span| span.length).sum();
    assert_eq!(length as usize, histogram.positive_delta.len());
}

pub(crate) fn samples_of_text(text: &str) -> Samples {
    let mut samples = Samples::new();
    for family in prometheus::parse_prometheus(text).unwrap().families.values() {
        for sample in family.iter_samples() {
            let labels = sample.get_labelset().unwrap();
            let pairs = labels.iter();
            let labels: Labels = pairs.map(|(n, v)| (n.clone(), v.clone())).collect();
            let value = match &sample.value {
                PrometheusValue::Counter(counter) => counter.value.as_f64(),
                PrometheusValue::Gauge(value) => value.as_f64(),
                PrometheusValue::Histogram(histogram) => {
                    insert_parsed(&mut samples, &family.family_name, &labels, histogram);
                    continue;
                }
                other => panic!("unexpected {other:?}"),
            };
            samples.insert(series(&family.family_name, &labels), value);
        }
    }
    samples
}

pub(crate) fn samples_of_openmetrics(text: &str) -> Samples {
    let mut samples = Samples::new();
    // This parser refuses a unit on a histogram, which OpenMetrics 1.0 allows.
    let lines = text.lines().filter(|line| !line.starts_with("# UNIT "));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    for family in openmetrics::parse_openmetrics(&text).unwrap().families.values() {
        for sample in family.iter_samples() {
            let labels = sample.get_labelset().unwrap();
            let pairs = labels.iter();
            let labels: Labels = pairs.map(|(n, v)| (n.clone(), v.clone())).collect();
            let name = &family.family_name;
            match &sample.value {
                OpenMetricsValue::Counter(counter) => {
                    let name = format!("{name}_total");
                    samples.insert(series(&name, &labels), counter.value.as_f64());
                }
                OpenMetricsValue::Gauge(value) => {
                    samples.insert(series(name, &labels), value.as_f64());
                }
                OpenMetricsValue::Histogram(histogram) => {
                    insert_parsed(&mut samples, name, &labels, histogram);
                }
                other => panic!("unexpected {other:?}"),
            }
        }
    }
    samples
}

pub(crate) fn samples_of_json(text: &str) -> Samples {
    let mut samples = Samples::new();
    let families: serde_json::Value = serde_json::from_str(text).unwrap();
    for family in families.as_array().unwrap() {
        let name = family["name"].as_str().unwrap();
        for metric in family["metrics"].as_array().unwrap() {
            let labels = metric["labels"].as_object().unwrap().iter();
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            let labels: Labels = labels.map(|(n, v)| (n.clone(), text(v))).collect();
            let Some(buckets) = metric["buckets"].as_object() else {
                let value = metric["value"].as_f64().unwrap();
                samples.insert(series(name, &labels), value);
                continue;
            };
            let buckets = buckets.iter();
            let buckets = buckets.map(|(le, n)| (le.parse().unwrap(), n.as_f64().unwrap()));
            let number = |key: &str| metric[key].as_f64().unwrap();
            let all = (number("sum"), number("count"));
            insert(&mut samples, name, &labels, buckets, all);
        }
    }
    samples
}

type Labels = BTreeMap<String, String>;

fn series(name: &str, labels: &Labels) -> String {
    format!("{name}{labels:?}")
}

fn insert_parsed(samples: &mut Samples, name: &str, labels: &Labels, parsed: &HistogramValue) {
    let buckets = parsed.buckets.iter();
    let buckets = buckets.map(|bucket| (bucket.upper_bound, bucket.count.as_f64()));
    let sum = parsed.sum.as_ref().map(MetricNumber::as_f64).unwrap();
    let all = (sum, parsed.count.unwrap() as f64);
    insert(samples, name, labels, buckets, all);
}

fn insert(
    samples: &mut Samples,
    name: &str,
    labels: &Labels,
    buckets: impl Iterator<Item = (f64, f64)>,
    (sum, count): (f64, f64),
) {
    let mut last = 0.0;
    for (bound, cumulative) in sorted(buckets) {
        let mut labels = labels.clone();
        labels.insert("le".to_owned(), format!("{bound:?}"));
        samples.insert(series(&format!("{name}_bucket"), &labels), cumulative);
        last = cumulative;
    }
    assert_eq!(last, count, "{name}: +Inf and count");
    samples.insert(series(&format!("{name}_sum"), labels), sum);
    samples.insert(series(&format!("{name}_count"), labels), count);
}

/// Buckets in the order of their bounds, whatever order they came in.
fn sorted(buckets: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut buckets: Vec<_> = buckets.collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    buckets
}
