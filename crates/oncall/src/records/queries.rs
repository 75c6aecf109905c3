//! The owner's end of the queue: answers queries in steps, each of a bounded number of pods.

use std::cmp::Reverse;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::client::{LONGEST_WAIT, RecordsClient};
use super::filter::RecordFilter;
use super::query::{
    EndedPosition, QueryMatches, QueryPosition, QueryRequest, RecordOrder, RecordQuery,
};
use super::store::RecordStore;
use podinit_core::lifecycle::{EndedStartup, InFlightPosition, Latency, RecordedRelapse, Tracker};
use podinit_core::timestamp::{NANOS_PER_MILLI, Timestamp};
use podinit_exporter::records::KeptRecord;

/// How many queries may wait. Further ones are refused.
const QUEUE: usize = 16;
/// How many queries of a client [`RecordsClient::apart()`] may wait: it asks three at once, and waits for the answers.
const QUEUE_APART: usize = 3;

/// A step visits no more pods in flight than this, a tenth of a microsecond each ...
const PODS_OF_A_STEP: usize = 500;
/// ... and makes no more records of them than this, some microseconds each.
const RECORDS_OF_A_STEP: usize = 50;
/// No more rollouts in progress are told, half a microsecond each.
const ROLLOUTS_OF_A_STEP: usize = 2_000;
/// A query visits no more pods in flight than this; its reader goes on from there.
const PODS_OF_A_QUERY: usize = 20_000;

/// A queue that was served alone gives back no more time than this, in nanoseconds.
const MOST_AHEAD: i64 = 50 * NANOS_PER_MILLI;

/// The queue of queries, for the owner of the records and for readers.
pub fn channel() -> (RecordsClient, RecordQueries) {
    let (sender, requests) = mpsc::channel(QUEUE);
    let (apart, requests_apart) = mpsc::channel(QUEUE_APART);
    let begun = Arc::new(AtomicBool::new(false));
    let client = RecordsClient {
        requests: sender,
        apart,
        longest_wait: Some(LONGEST_WAIT),
        begun: Arc::clone(&begun),
    };
    let lines = [requests_apart, requests].map(QueryQueue::new);
    let queries = RecordQueries { lines, turns: QueryTurns::default(), begun };
    (client, queries)
}

/// Answers queries: one of the readers and one of the client apart at a time, which share the time.
#[derive(Debug)]
pub struct RecordQueries {
    /// The queue of the client apart, and that of the readers
    lines: [QueryQueue; 2],
    turns: QueryTurns,
    /// Whether the owner answers
    begun: Arc<AtomicBool>,
}

/// Queries that wait for each other.
#[derive(Debug)]
struct QueryQueue {
    requests: mpsc::Receiver<QueryRequest>,
    /// The query that is being answered
    current: Option<QueryProgress>,
}

/// How far a query is answered.
#[derive(Debug)]
struct QueryProgress {
    request: QueryRequest,
    /// The last pod in flight that was visited
    after: Option<InFlightPosition>,
    looked_at: usize,
    found: QueryMatches,
}

impl RecordQueries {
    /// The owner answers from now on. Until then readers are refused at once.
    pub fn begin(&self) {
        self.begun.store(true, Relaxed);
    }

    /// Waits until there is something to answer; for ever, once there are no readers.
    pub async fn waiting(&mut self) {
        poll_fn(|context| self.poll_waiting(context)).await;
    }

    /// Ready when there is something to answer; never, once there are no readers.
    pub(super) fn poll_waiting(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let waiting = self.lines.iter_mut().map(|line| line.poll_waiting(context));
        // All are polled, so that all wake the task.
        match waiting.fold(false, |any, line| any | line.is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Goes on with the current query, or begins the next one. Does nothing without a query.
    pub fn step(&mut self, tracker: &Tracker, store: &RecordStore) {
        let began = Instant::now();
        let mut order = self.turns.order().into_iter();
        let stepped = order.find(|line| self.lines[*line].step(tracker, store));
        if let Some(line) = stepped {
            self.turns.took(line, began.elapsed());
        }
    }
}

/// Which queue the next step serves. Each gets half of the time, whatever the steps of the other take.
#[derive(Debug, Default)]
struct QueryTurns {
    /// By how many nanoseconds the steps for readers took longer than those for the client apart
    ahead: i64,
}

impl QueryTurns {
    const APART: usize = 0;
    const READERS: usize = 1;

    /// The indices of the queues, the one to serve first.
    const fn order(&self) -> [usize; 2] {
        match self.ahead > 0 {
            true => [Self::APART, Self::READERS],
            false => [Self::READERS, Self::APART],
        }
    }

    /// Accounts for a step of `took` for a queue.
    fn took(&mut self, line: usize, took: Duration) {
        // However coarse the clock is, a step takes a moment.
        let took = i64::try_from(took.as_nanos()).unwrap_or(MOST_AHEAD).clamp(1, MOST_AHEAD);
        let change = if line == Self::READERS { took } else { -took };
        self.ahead = (self.ahead + change).clamp(-MOST_AHEAD, MOST_AHEAD);
    }
}

impl QueryQueue {
    const fn new(requests: mpsc::Receiver<QueryRequest>) -> Self {
        Self { requests, current: None }
    }

    fn poll_waiting(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.current.is_some() {
            return Poll::Ready(());
        }
        match self.requests.poll_recv(context) {
            Poll::Ready(Some(request)) => {
                self.current = Some(QueryProgress::from_request(request));
                Poll::Ready(())
            }
            // There are no readers any more.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Takes a step, and returns whether there was one to take.
    fn step(&mut self, tracker: &Tracker, store: &RecordStore) -> bool {
        let waiting = || self.requests.try_recv().ok().map(QueryProgress::from_request);
        let Some(mut progress) = self.current.take().or_else(waiting) else {
            return false;
        };
        if progress.request.found.is_closed() {
            return true;
        }
        match progress.step(tracker, store) {
            // Whoever asked may have given up.
            ControlFlow::Break(()) => _ = progress.request.found.send(progress.found),
            ControlFlow::Continue(()) => self.current = Some(progress),
        }
        true
    }
}

impl QueryProgress {
    fn from_request(request: QueryRequest) -> Self {
        let after = match &request.query {
            RecordQuery::InFlight { after, .. } => *after,
            RecordQuery::Ended { .. } | RecordQuery::BesidePods | RecordQuery::Pod { .. } => None,
        };
        Self { request, after, looked_at: 0, found: QueryMatches::default() }
    }

    /// Takes a step. Breaks once everything is found.
    fn step(&mut self, tracker: &Tracker, store: &RecordStore) -> ControlFlow<()> {
        self.found.answer.now = tracker.accounted_time();
        let QueryMatches { answer, ended: startups } = &mut self.found;
        match &self.request.query {
            RecordQuery::InFlight { .. } => return self.step_in_flight(tracker),
            RecordQuery::Ended { filter, sort, after, limit } => {
                let now = answer.now.unwrap_or(Timestamp::EPOCH);
                let found;
                (found, answer.next) =
                    ended((tracker, store), filter, (*sort, *after), *limit, now);
                startups.extend(found.iter().map(|kept| with_relapse(tracker, &kept.startup)));
            }
            RecordQuery::BesidePods => {
                answer.node_faults = tracker.node_faults();
                answer.unmatched_slos = tracker.unmatched_slos();
                answer.late_by = tracker.late_by();
                answer.rollouts = tracker.rollouts().take(ROLLOUTS_OF_A_STEP).collect();
                answer.ended_rollouts = store.ended_rollouts();
            }
            RecordQuery::Pod { namespace, name } => {
                match tracker.in_flight_named(namespace, name) {
                    Some(pod) => answer.records.push(pod.record()),
                    None => {
                        let kept = store.all();
                        let mut newest = kept.iter().rev().map(|kept| &kept.startup);
                        let found = newest.find(|startup| {
                            let pod = startup.pod();
                            *pod.name == **name && *pod.namespace == **namespace
                        });
                        startups.extend(found.map(|startup| with_relapse(tracker, startup)));
                    }
                }
            }
        }
        ControlFlow::Break(())
    }

    fn step_in_flight(&mut self, tracker: &Tracker) -> ControlFlow<()> {
        let RecordQuery::InFlight { filter, stuck, limit, .. } = &self.request.query else {
            return ControlFlow::Break(());
        };
        let answer = &mut self.found.answer;
        let mut made = 0;
        let mut looked_at = 0;
        loop {
            let Some((position, pod)) = tracker.in_flight_after(self.after).next() else {
                return ControlFlow::Break(());
            };
            if answer.records.len() >= *limit || self.looked_at >= PODS_OF_A_QUERY {
                answer.next = self.after.map(QueryPosition::InFlight);
                return ControlFlow::Break(());
            }
            if looked_at == PODS_OF_A_STEP || made == RECORDS_OF_A_STEP {
                return ControlFlow::Continue(());
            }
            looked_at += 1;
            self.looked_at += 1;
            // The late pods of a stage are those that entered it first, and only late ones are stuck.
            let no_more_are_stuck = *stuck && !pod.is_late();
            if no_more_are_stuck || filter.stage.is_some_and(|stage| stage != position.stage) {
                self.after = Some(InFlightPosition::last_of(position.stage));
                continue;
            }
            self.after = Some(position);
            if (!*stuck || pod.is_stuck()) && filter.fits_in_flight(pod) {
                if tracker.holds_rollout(pod) {
                    answer.of_rollouts.push(pod.uid());
                }
                answer.records.push(pod.record());
                made += 1;
            }
        }
    }
}

/// The startups that have ended, and where to go on: there are few, so they need no steps.
fn ended<'a>(
    (tracker, store): (&Tracker, &'a RecordStore),
    filter: &RecordFilter,
    (sort, after): (RecordOrder, Option<EndedPosition>),
    limit: usize,
    now: Timestamp,
) -> (Vec<&'a KeptRecord>, Option<QueryPosition>) {
    let fits = |kept: &&KeptRecord| {
        let relapses = || tracker.relapse(kept.startup.uid()).is_some();
        filter.fits_ended(&kept.startup, filter.troubled.is_some() && relapses())
    };
    let placed =
        |duration, kept: &'a KeptRecord| (EndedPosition { duration, number: kept.number }, kept);
    let zero = Latency::from_nanos(0);
    let mut found: Vec<(EndedPosition, &KeptRecord)> = match sort {
        RecordOrder::Newest => store.newest().filter(fits).map(|kept| placed(zero, kept)).collect(),
        RecordOrder::Slowest(whole) => (store.slowest(whole, now).filter(fits))
            .filter_map(|kept| Some(placed(kept.startup.duration(whole.interval())?, kept)))
            .collect(),
    };
    found.retain(|(position, _)| after.is_none_or(|after| *position < after));
    found.sort_unstable_by_key(|(position, _)| Reverse(*position));
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more);
    let next = last.map(|(position, _)| QueryPosition::Ended(*position));
    (found.into_iter().map(|(_, kept)| kept).collect(), next)
}

/// A startup, and how its pod crashes if it does right after it was ready.
fn with_relapse(
    tracker: &Tracker,
    startup: &Arc<EndedStartup>,
) -> (Arc<EndedStartup>, Option<RecordedRelapse>) {
    let ready = startup.became_ready();
    let relapse = ready.and_then(|_| tracker.relapse(startup.uid()));
    (Arc::clone(startup), relapse)
}

#[cfg(test)]
#[path = "queries_tests.rs"]
mod tests;
