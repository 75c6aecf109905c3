//! Traces beside the accounting: what a collector does changes nothing that is counted, and exemplars name
//! the spans that are sent.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::fixtures::{Life, tracker};
use crate::spans::SpanBuilder;
use crate::{DropReason, MOST_QUEUED, TraceStats, channel, span_ref};
use podinit_core::lifecycle::EndedStartup;
use podinit_core::lifecycle::{Interval, Latency};
use podinit_core::timestamp::NANOS_PER_SECOND;
use podinit_expo::metrics::{Exposition, ExpositionBuilder, LabelConfig};
use podinit_exporter::ingest_sink::IngestSink;
use podinit_exporter::traces::TraceSink;
use podinit_instruments::ExpositionFormat;
use podinit_kube::watch::stats::WatchStats;

/// More than the queue of traces holds.
const PODS: u64 = 3_000;

struct Accounted {
    exposition: Arc<Exposition>,
    stats: Arc<TraceStats>,
    /// What nobody sends
    startups: mpsc::Receiver<Arc<EndedStartup>>,
}

/// Accounts for the pods with these numbers, every tenth of which misses its SLO.
fn account(pods: u64, ratio: Option<&str>) -> Accounted {
    let (recorder, exposition) = ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
    let stats = Arc::new(TraceStats::default());
    let (queue, startups) = channel(ratio.unwrap_or("0").parse().unwrap(), Arc::clone(&stats));
    let sink = ratio.map(|_| TraceSink {
        offer: Box::new(move |startup| queue.offer(startup)),
        span: span_ref,
    });
    let mut sink = IngestSink::new(recorder).telling(sink, &Arc::new(WatchStats::new(1)));
    let mut tracker = tracker(&mut sink);
    for number in 0..pods {
        let ready = if number % 10 == 0 { 60 } else { 4 };
        Life { number, ready }.account(&mut tracker, &mut sink);
    }
    Accounted { exposition, stats, startups }
}

impl Accounted {
    fn text(&self, format: ExpositionFormat) -> String {
        String::from_utf8(self.exposition.encode(format).unwrap()).unwrap()
    }
}

#[test]
fn counts_are_the_same_without_a_collector_and_with_a_dead_one() {
    let without = account(PODS, None);
    let dead = account(PODS, Some("1"));
    assert!(without.text(ExpositionFormat::Text).contains("podinit_pods_finished_total"));
    assert_eq!(without.text(ExpositionFormat::Text), dead.text(ExpositionFormat::Text));
    let dropped = dead.stats.dropped(DropReason::QueueFull);
    assert_eq!(dropped, PODS - MOST_QUEUED as u64);
    assert_eq!(dead.startups.len(), MOST_QUEUED);
}

/// The labels and the value of each exemplar of a family.
fn exemplars<'a>(text: &'a str, family: &'a str) -> impl Iterator<Item = (&'a str, Latency)> {
    let lines = text.lines().filter(move |line| line.starts_with(family));
    lines.filter_map(|line| {
        let (_, exemplar) = line.split_once(" # {")?;
        let (labels, rest) = exemplar.split_once("} ")?;
        let seconds: f64 = rest.split(' ').next()?.parse().ok()?;
        let nanos = (seconds * NANOS_PER_SECOND as f64) as u64;
        Some((labels, Latency::from_nanos(nanos)))
    })
}

#[test]
fn exemplars_name_the_spans_that_are_sent_and_no_others() {
    let mut sampled = account(200, Some("0.5"));
    let text = sampled.text(ExpositionFormat::OpenMetrics);
    let mut spans = Vec::new();
    while let Ok(startup) = sampled.startups.try_recv() {
        spans.extend(SpanBuilder::new(Vec::new()).spans(&startup.record()));
    }
    let mut linked = 0;
    for family in [
        "podinit_created_to_ready_duration_seconds_bucket",
        "podinit_stage_duration_seconds_bucket",
    ] {
        for (labels, latency) in exemplars(&text, family) {
            let Some((_, ids)) = labels.split_once(",trace_id=\"") else {
                continue;
            };
            let (trace, span) = ids.split_once("\",span_id=\"").unwrap();
            let mut sent = spans.iter();
            let sent = sent.find(|sent| {
                let context = &sent.span_context;
                context.trace_id().to_string() == trace
                    && format!("{}\"", context.span_id()) == span
            });
            let sent = sent.unwrap();
            let took = sent.end_time.duration_since(sent.start_time).unwrap();
            assert_eq!(took.as_nanos(), u128::from(latency.as_nanos()), "{labels}");
            linked += 1;
        }
    }
    // The buckets up to 60 s, and three of the stages.
    assert!(linked >= 4, "{linked} exemplars with a trace: {text}");
}

#[test]
fn without_a_collector_no_exemplar_names_a_trace() {
    let text = account(100, None).text(ExpositionFormat::OpenMetrics);
    let family = format!("podinit_{}", Interval::CreatedToReady.as_str());
    assert!(exemplars(&text, &family).count() > 0);
    assert!(!text.contains("trace_id"));
}
