//! One scrape: the present values, written in one of the formats.
//! Families of prometheus-client collectors, such as the one that gives `process_*`, are among them.

mod figures;
mod json;
mod protobuf;
#[cfg(test)]
mod reference_tests;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use figures::PodFigures;
use json::JsonEncoder;
use prometheus_client::encoding::prometheus_protobuf::{encode, prometheus_data_model as proto};
use prometheus_client::registry::Registry;
use protobuf::ProtobufEncoder;
use text::{TextDialect, TextEncoder};

use super::slo::SloBoard;
use super::store::MetricStore;
use podinit_instruments::{
    ExpositionEncoder, ExpositionFormat, FamilyDoc, FamilyHead, FamilySource, HistogramSnapshot,
    LabelPair, MetricType, SampleNumber,
};

/// A scrape that failed.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A collector could not read what it reports
    #[error("a metrics collector failed")]
    Collector(#[from] std::fmt::Error),
    /// A collector gave a family of a type that is not passed on
    #[error("the metrics collector of {family} gives neither counters nor gauges")]
    Unsupported {
        /// The family's name
        family: String,
    },
}

/// Everything that can be scraped.
pub struct Exposition {
    pub(super) store: Arc<MetricStore>,
    pub(super) slos: Arc<SloBoard>,
    sources: Arc<[Box<dyn FamilySource>]>,
    collectors: Registry,
    /// By format: the length of the last body, which is the room that the next one begins with
    lengths: [AtomicUsize; ExpositionFormat::ALL.len()],
}

/// A body begins with room for the last one and this fraction of it, so that it seldom has to be moved.
const ROOM_TO_GROW: usize = 32;

impl Exposition {
    pub(super) fn new(
        store: Arc<MetricStore>,
        slos: Arc<SloBoard>,
        sources: Arc<[Box<dyn FamilySource>]>,
        collectors: Registry,
    ) -> Self {
        Self { store, slos, sources, collectors, lengths: Default::default() }
    }

    /// The present values in `format`. May be called by any number of threads at once; the recorder
    /// never waits for one.
    ///
    /// # Errors
    ///
    /// When a collector that is not podinit's own fails (see [`EncodeError`]).
    pub fn encode(&self, format: ExpositionFormat) -> Result<Vec<u8>, EncodeError> {
        let last = &self.lengths[format as usize];
        let capacity = last.load(Ordering::Relaxed);
        let capacity = capacity + capacity / ROOM_TO_GROW;
        let text = |dialect| TextEncoder::with_capacity(dialect, capacity);
        let protobuf = |capacity| ProtobufEncoder::with_capacity(capacity, &self.store.starts);
        let body = match format {
            ExpositionFormat::Protobuf => self.write(protobuf(capacity), ProtobufEncoder::finish),
            ExpositionFormat::OpenMetrics => {
                self.write(text(TextDialect::OpenMetrics), TextEncoder::finish)
            }
            ExpositionFormat::Text => {
                self.write(text(TextDialect::Prometheus), TextEncoder::finish)
            }
        }?;
        last.store(body.len(), Ordering::Relaxed);
        Ok(body)
    }

    /// The present values of what neither counts pods nor outlives the process, in `format`: for the time
    /// before an earlier process's values are restored, when all others would seem to begin at zero.
    ///
    /// # Errors
    ///
    /// Those of [`Exposition::encode`].
    pub fn encode_unsaved(&self, format: ExpositionFormat) -> Result<Vec<u8>, EncodeError> {
        let text = |dialect| TextEncoder::with_capacity(dialect, 0);
        let protobuf = |capacity| ProtobufEncoder::with_capacity(capacity, &self.store.starts);
        match format {
            ExpositionFormat::Protobuf => self.write_unsaved(protobuf(0), ProtobufEncoder::finish),
            ExpositionFormat::OpenMetrics => {
                self.write_unsaved(text(TextDialect::OpenMetrics), TextEncoder::finish)
            }
            ExpositionFormat::Text => {
                self.write_unsaved(text(TextDialect::Prometheus), TextEncoder::finish)
            }
        }
    }

    /// The present values as JSON of podinit's own shape (see the module `json`), with classic
    /// histograms. Scrapers cannot ask for it.
    ///
    /// # Errors
    ///
    /// Those of [`Exposition::encode`].
    pub fn encode_json(&self) -> Result<Vec<u8>, EncodeError> {
        self.write(JsonEncoder::default(), JsonEncoder::finish)
    }

    fn write<E: ExpositionEncoder>(
        &self,
        mut encoder: E,
        finish: impl FnOnce(E) -> Vec<u8>,
    ) -> Result<Vec<u8>, EncodeError> {
        self.store.collect(&mut encoder);
        for source in self.sources.iter() {
            source.collect(&mut encoder);
        }
        collect(&self.collectors, &mut encoder)?;
        Ok(finish(encoder))
    }

    fn write_unsaved<E: ExpositionEncoder>(
        &self,
        mut encoder: E,
        finish: impl FnOnce(E) -> Vec<u8>,
    ) -> Result<Vec<u8>, EncodeError> {
        for source in self.sources.iter() {
            source.collect(&mut UnsavedFamilies::new(&mut encoder, source.families()));
        }
        collect(&self.collectors, &mut encoder)?;
        Ok(finish(encoder))
    }
}

impl std::fmt::Debug for Exposition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exposition").field("sources", &self.sources.len()).finish_non_exhaustive()
    }
}

/// Writes what the collectors of `registry` have to say. They give counters, gauges and untyped
/// numbers; whatever else is an error that names the family.
fn collect(registry: &Registry, out: &mut dyn ExpositionEncoder) -> Result<(), EncodeError> {
    for family in encode(registry)? {
        let unsupported = || EncodeError::Unsupported { family: family.name.clone() };
        let kind = match family.r#type() {
            proto::MetricType::Counter => MetricType::Counter,
            proto::MetricType::Gauge => MetricType::Gauge,
            proto::MetricType::Untyped => MetricType::Untyped,
            _ => return Err(unsupported()),
        };
        out.family(FamilyHead {
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

fn labels_of(metric: &proto::Metric) -> Vec<LabelPair<'_>> {
    let pairs = metric.label.iter();
    pairs.map(|pair| (pair.name.as_str(), pair.value.as_str())).collect()
}

fn number_of(metric: &proto::Metric) -> Option<SampleNumber> {
    let counter = metric.counter.as_ref().map(|counter| counter.value);
    let gauge = metric.gauge.as_ref().map(|gauge| gauge.value);
    let untyped = metric.untyped.as_ref().map(|untyped| untyped.value);
    counter.or(gauge).or(untyped).map(SampleNumber::Float)
}

/// Passes on all families of a source but those that a checkpoint restores.
struct UnsavedFamilies<'a, E> {
    encoder: &'a mut E,
    families: Vec<FamilyDoc>,
    is_saved: bool,
}

impl<'a, E: ExpositionEncoder> UnsavedFamilies<'a, E> {
    fn new(encoder: &'a mut E, families: Vec<FamilyDoc>) -> Self {
        Self { encoder, families, is_saved: false }
    }
}

impl<E: ExpositionEncoder> ExpositionEncoder for UnsavedFamilies<'_, E> {
    fn family(&mut self, head: FamilyHead<'_>) {
        let mut saved = self.families.iter().filter(|family| family.saved);
        self.is_saved = saved.any(|family| family.name == head.name);
        if !self.is_saved {
            self.encoder.family(head);
        }
    }

    fn number(&mut self, labels: &[LabelPair<'_>], value: SampleNumber) {
        if !self.is_saved {
            self.encoder.number(labels, value);
        }
    }

    fn wants_exemplars(&self) -> bool {
        self.encoder.wants_exemplars()
    }

    fn histogram(&mut self, labels: &[LabelPair<'_>], snapshot: &HistogramSnapshot) {
        if !self.is_saved {
            self.encoder.histogram(labels, snapshot);
        }
    }
}
