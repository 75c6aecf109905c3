//! In paused time, with a collector without a network between.
#![allow(clippy::unwrap_used, clippy::panic)]

use axum::http::StatusCode;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;
use crate::fixtures::{Collector, ended};
use crate::queue::{self, TraceQueue};

struct Running {
    collector: Collector,
    queue: TraceQueue,
    stats: Arc<TraceStats>,
    accounted: CancellationToken,
    task: JoinHandle<()>,
}

fn settings() -> OtlpSettings {
    let url = "http://collector:4318".parse().unwrap();
    OtlpSettings::resolve(Some(&url), |_| None).unwrap().unwrap()
}

/// An exporter at work, which samples everything.
fn run(collector: Collector) -> Running {
    let stats = Arc::new(TraceStats::default());
    let (queue, startups) = queue::channel("1".parse().unwrap(), Arc::clone(&stats));
    let exporter = TraceExporter::with_client(
        (collector.client(), "http://collector".to_owned()),
        &settings(),
        startups,
        SpanBuilder::new(Vec::new()),
        Arc::clone(&stats),
    );
    let accounted = CancellationToken::new();
    let task = tokio::spawn(exporter.unwrap().run(accounted.clone()));
    Running { collector, queue, stats, accounted, task }
}

impl Running {
    fn offer(&self, numbers: std::ops::Range<u64>) -> usize {
        let taken = numbers.filter(|number| self.queue.offer(&Arc::new(ended(*number, 4))));
        taken.count()
    }

    /// The accounting ends, and with it the queue. Returns how long the exporter went on.
    async fn end(self) -> (Collector, Arc<TraceStats>, Duration) {
        let began = Instant::now();
        drop(self.queue);
        self.accounted.cancel();
        self.task.await.unwrap();
        (self.collector, self.stats, began.elapsed())
    }
}

#[tokio::test(start_paused = true)]
async fn every_sampled_startup_arrives_once_and_says_who_sends() {
    let running = run(Collector::new());
    assert_eq!(running.offer(0..300), 300);
    let (collector, stats, _) = running.end().await;
    let mut traces: Vec<_> = collector.roots().into_iter().map(|root| root.trace_id).collect();
    traces.sort();
    traces.dedup();
    assert_eq!((traces.len(), collector.roots().len(), stats.sent.get()), (300, 300, 300));
    let request = &collector.requests()[0];
    let resource = request.resource_spans[0].resource.as_ref().unwrap();
    let name = resource.attributes.iter().find(|one| one.key == "service.name");
    assert!(format!("{name:?}").contains("\"podinit\""), "{name:?}");
    let scope = request.resource_spans[0].scope_spans[0].scope.as_ref().unwrap();
    assert_eq!((&*scope.name, &*scope.version), ("podinit", env!("CARGO_PKG_VERSION")));
}

#[tokio::test(start_paused = true)]
async fn while_the_collector_fails_the_queue_fills_and_what_it_holds_is_sent_later() {
    let collector = Collector::new();
    collector.answer_with(StatusCode::SERVICE_UNAVAILABLE);
    let running = run(collector);
    assert_eq!(running.offer(0..100), 100);
    // Five minutes, with attempts no more often than the longest wait allows on average.
    sleep(Duration::from_secs(300)).await;
    let failures = running.stats.failures.with(ExportFailure::Unavailable).get();
    assert!((10..100).contains(&failures), "{failures} attempts");
    let taken = running.offer(100..3_000);
    let dropped = running.stats.dropped(DropReason::QueueFull);
    assert_eq!((taken, dropped), (MOST_QUEUED, 2_900 - MOST_QUEUED as u64));
    assert_eq!((running.stats.sent.get(), running.collector.roots().len()), (0, 0));
    running.collector.answer_with(StatusCode::OK);
    sleep(LONGEST_WAIT + GATHER).await;
    let (collector, stats, _) = running.end().await;
    let sent = 100 + MOST_QUEUED as u64;
    assert_eq!((stats.sent.get(), collector.roots().len() as u64), (sent, sent));
}

#[tokio::test(start_paused = true)]
async fn what_the_collector_refuses_is_dropped_and_does_not_hold_up_the_rest() {
    let collector = Collector::new();
    collector.answer_with(StatusCode::BAD_REQUEST);
    let running = run(collector);
    running.offer(0..10);
    sleep(GATHER * 2).await;
    assert_eq!(running.stats.dropped(DropReason::Rejected), 10);
    assert_eq!(running.stats.failures.with(ExportFailure::Rejected).get(), 1);
    running.collector.answer_with(StatusCode::OK);
    running.offer(10..20);
    let (collector, stats, _) = running.end().await;
    assert_eq!((stats.sent.get(), collector.roots().len()), (10, 10));
}

#[tokio::test(start_paused = true)]
async fn a_dead_collector_holds_up_the_end_no_longer_than_the_deadline() {
    let collector = Collector::new();
    collector.answer_with(StatusCode::GATEWAY_TIMEOUT);
    let running = run(collector);
    running.offer(0..500);
    sleep(Duration::from_secs(60)).await;
    let (_, stats, took) = running.end().await;
    assert_eq!(stats.sent.get(), 0);
    assert!(took <= FLUSH_DEADLINE + Duration::from_millis(10), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn only_the_ratio_and_missed_slos_are_sampled() {
    let stats = Arc::new(TraceStats::default());
    let (queue, _startups) = queue::channel("0".parse().unwrap(), Arc::clone(&stats));
    assert!(!queue.offer(&Arc::new(ended(1, 4))));
    assert!(queue.offer(&Arc::new(ended(1, 40))));
    assert_eq!(stats.dropped(DropReason::QueueFull), 0);
}
