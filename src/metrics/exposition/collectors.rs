//! Families of prometheus-client collectors, such as the one that gives `process_*`.

use prometheus_client::encoding::prometheus_protobuf::{encode, prometheus_data_model as proto};
use prometheus_client::registry::Registry;

use super::EncodeError;
use crate::instruments::{Encoder, Head, Kind, Label, Number};

/// Writes what the collectors of `registry` have to say. They give counters, gauges and untyped
/// numbers; whatever else is an error that names the family.
pub(super) fn collect(registry: &Registry, out: &mut dyn Encoder) -> Result<(), EncodeError> {
    for family in encode(registry)? {
        let unsupported = || EncodeError::Unsupported {
            family: family.name.clone(),
        };
        let kind = match family.r#type() {
            proto::MetricType::Counter => Kind::Counter,
            proto::MetricType::Gauge => Kind::Gauge,
            proto::MetricType::Untyped => Kind::Untyped,
            _ => return Err(unsupported()),
        };
        out.family(Head {
            name: &family.name,
            help: &family.help,
            kind,
            unit: Some(family.unit.as_str()).filter(|unit| !unit.is_empty()),
        });
        for metric in &family.metric {
            let number = number_of(metric).ok_or_else(unsupported)?;
            out.number(&labels_of(metric), number);
        }
    }
    Ok(())
}

fn labels_of(metric: &proto::Metric) -> Vec<Label<'_>> {
    let pairs = metric.label.iter();
    pairs
        .map(|pair| (pair.name.as_str(), pair.value.as_str()))
        .collect()
}

fn number_of(metric: &proto::Metric) -> Option<Number> {
    let counter = metric.counter.as_ref().map(|counter| counter.value);
    let gauge = metric.gauge.as_ref().map(|gauge| gauge.value);
    let untyped = metric.untyped.as_ref().map(|untyped| untyped.value);
    counter.or(gauge).or(untyped).map(Number::Float)
}
