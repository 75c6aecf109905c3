//! The loop that accounts for deliveries: into the tracker, and what that reports into the recorder.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::ingest_sink::IngestSink;
use super::saving::SnapshotService;
use super::slos::ExporterSlos;
use crate::accounting_clock::AccountingClock;
use podinit_core::lifecycle::{Delivery, PodEvent, SourceId, Tracker};
use podinit_core::timestamp::Timestamp;
use podinit_http::{Heartbeat, SourceHealth};
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::events::DeliveredEvents;
use podinit_kube::watch::stats::WatchStats;

/// How many deliveries are accounted for by one reading of the clock. It takes a fraction of a millisecond.
const BATCH: usize = 64;

/// How many deadlines pass with one delivery, or in one step while nothing is delivered. They take less than a
/// tenth of a millisecond.
pub(crate) const DEADLINES_AT_ONCE: usize = 64;

/// How long the ingest task may be silent before `/livez` fails. A list of a million pods takes
/// a few seconds.
pub(crate) const INGEST_DEADLINE: Duration = Duration::from_secs(60);

/// Everything the ingest task owns.
pub(crate) struct IngestTask {
    pub(crate) tracker: Tracker,
    pub(crate) sink: IngestSink,
    pub(crate) deliveries: mpsc::Receiver<Delivery>,
    /// Events about pods; closed when they are no source of evidence
    pub(crate) events: mpsc::Receiver<DeliveredEvents>,
    pub(crate) clock: Arc<dyn DeliveryClock>,
    /// By source
    pub(crate) sources: Vec<SourceHealth>,
    pub(crate) heartbeat: Heartbeat,
    /// New SLOs, to apply from now on; closed when they never change
    pub(crate) slos: mpsc::Receiver<ExporterSlos>,
    pub(crate) stats: Arc<WatchStats>,
    /// Requests for the state to be written to the checkpoint
    pub(crate) snapshots: SnapshotService,
}

impl IngestTask {
    /// Accounts for deliveries until `shutdown`, or until all senders are gone.
    pub(crate) async fn run(mut self, shutdown: CancellationToken) {
        let mut time = AccountingClock::start(&*self.clock, &mut self.tracker);
        for source in (0..=u16::MAX).take(self.sources.len()).map(SourceId) {
            self.tracker.expect(source, self.clock.now());
        }
        let mut batch = Vec::new();
        let mut tick = pin!(sleep(Duration::ZERO));
        self.sink.records.begin();
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                () = &mut tick => {
                    time.tick(&*self.clock, &mut self.tracker);
                    if self.deliveries.is_empty() {
                        let (tracker, sink) = (&mut self.tracker, &mut self.sink);
                        time.let_deadlines_pass(&self.stats, tracker, sink);
                    }
                    tick.as_mut().reset(Instant::now() + time.plan_tick(&*self.clock, &self.tracker));
                    self.heartbeat.beat();
                }
                // A snapshot says nothing of deadlines that have passed and are not reported.
                Some(request) = self.snapshots.requested(), if !self.tracker.is_behind() => {
                    let Self { tracker, sink, snapshots, .. } = &mut self;
                    snapshots.begin_answer(request, tracker, sink);
                }
                Some(slos) = self.slos.recv() => {
                    self.snapshots.finish(&mut self.tracker);
                    while self.tracker.is_behind() {
                        self.tracker.pass_more(&mut self.sink);
                    }
                    self.tracker.set_slos(slos.rules);
                    self.tracker.set_stuck_after(slos.stuck_after);
                    self.sink.recorder.set_slos(&slos.docs);
                    self.snapshots.changed();
                }
                received = self.deliveries.recv_many(&mut batch, BATCH) => {
                    if received == 0 {
                        break;
                    }
                    time.receive(&*self.clock, &mut self.tracker);
                    for mut delivery in batch.drain(..) {
                        time.stamp(&mut delivery);
                        self.account(delivery);
                        // One Event and one step of a query for each delivery: none keeps another
                        // waiting for long.
                        if let Ok(events) = self.events.try_recv() {
                            self.account_events(events);
                        }
                        self.answer_queries();
                    }
                    if time.is_due_sooner(&self.tracker) {
                        tick.as_mut().reset(Instant::now() + time.plan_tick(&*self.clock, &self.tracker));
                    }
                    self.go_on();
                }
                Some(events) = self.events.recv() => {
                    self.account_events(events);
                    self.answer_queries();
                    self.go_on();
                }
                () = poll_fn(|context| self.sink.records.poll_asked(context)) => {
                    self.answer_queries();
                    // Who asks without end must not keep a snapshot, or deadlines, waiting.
                    self.go_on();
                    // Nor the other tasks of this thread.
                    tokio::task::yield_now().await;
                }
                // The other tasks of this thread, which read what is delivered, come before each step.
                () = tokio::task::yield_now(), if self.has_steps() => self.go_on(),
            }
        }
        self.heartbeat.finish();
    }

    /// Events do not move time ([§9.5](crate::specification#s9-5)): what arrived before them may still
    /// wait in the other queue, and no deadline may pass before that is accounted for.
    fn account_events(&mut self, events: DeliveredEvents) {
        self.account(Delivery {
            source: SourceId::default(),
            event: match events {
                DeliveredEvents::One(event) => PodEvent::Event(event),
                DeliveredEvents::OtherShards(count) => PodEvent::OtherShardEvents(count),
            },
            now: Timestamp::EPOCH,
            observed: None,
            version: None,
        });
    }

    /// Whether there is a step to take: of a snapshot, or of deadlines that have passed.
    fn has_steps(&self) -> bool {
        self.snapshots.is_taking() || self.tracker.is_behind()
    }

    /// Takes one step: what is delivered meanwhile is not kept waiting. Deadlines wait for the snapshot.
    fn go_on(&mut self) {
        match self.snapshots.is_taking() {
            true => self.snapshots.step(&mut self.tracker),
            false => self.tracker.pass_more(&mut self.sink),
        }
    }

    /// One step: what is delivered meanwhile is not kept waiting.
    fn answer_queries(&mut self) {
        self.sink.records.step(&self.tracker);
    }

    fn account(&mut self, delivery: Delivery) {
        let listed = matches!(
            delivery.event,
            PodEvent::Listed { .. } | PodEvent::Resumed | PodEvent::CaughtUp
        );
        let source = usize::from(delivery.source.0);
        self.sink.lists =
            matches!(delivery.event, PodEvent::Listed { .. } | PodEvent::Reconciled { .. });
        if delivery.event.is_about_many() {
            self.snapshots.finish(&mut self.tracker);
        }
        self.tracker.apply(delivery, &mut self.sink);
        self.snapshots.changed();
        if let (true, Some(source)) = (listed, self.sources.get(source)) {
            source.listed();
        }
    }
}
