//! How nodes start ([§14.7](crate::specification#s14-7)), within the cap on the values of a label.

use std::borrow::Cow;
use std::collections::HashMap;

use parking_lot::Mutex;

use super::capped::{CappedFamilies, MetValue};
use super::label_values::OTHER_ID;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{MeasuredStep, NodeOutcome, NodeState, NodeStep};
use podinit_core::timestamp::Timestamp;
use podinit_histogram::sequence_lock::{SequenceLock, SequenceRead};
use podinit_histogram::sync::{AtomicU64, Ordering};
use podinit_instruments::{
    Counter, CounterVec, ExpositionEncoder, FamilyHead, Gauge, HistogramVec, SampleNumber,
    SavedFamilies, SavedSeries, computed_families, families,
};

/// The label, as `podinit_label_overflow_pods_total` names it too.
pub(super) const NODE_POOL: &str = "nodepool";

families! {
    /// How nodes of one pool start.
    pub(super) capped struct PoolFamilies {
        pub(super) startup: HistogramVec<NodeStep> =
            "podinit_node_startup_duration_seconds", ["step", "nodepool"], experimental, saved,
            "Time from a node's creation until it was first ready, pods could be bound to it, and its first pod was ready.";
    }
}

computed_families! {
    /// Nodes that start.
    pub(super) const NODE_FAMILIES {
        NODES_DISCOVERED: Counter =
            "podinit_nodes_discovered_total", [], experimental, not_saved,
            "Nodes that podinit has seen.";
        NODES_FINISHED: CounterVec<NodeOutcome> =
            "podinit_nodes_finished_total", ["outcome"], experimental, saved,
            "Nodes whose startup is over, by how it ended.";
        STARTING_NODES: Gauge =
            "podinit_starting_nodes", [], experimental, not_saved,
            "Nodes to which no pod can be bound yet.";
        LATE_NODES: Gauge =
            "podinit_late_nodes", [], experimental, not_saved,
            "Starting nodes that were created more than 15 minutes ago.";
    }
}

const OUTCOMES: usize = NodeOutcome::ALL.len();

/// What is counted while nodes are a source of evidence: written by the recorder, read by scrapes.
#[derive(Debug)]
pub(super) struct NodeMetrics {
    lock: SequenceLock,
    starting: AtomicU64,
    finished: [AtomicU64; OUTCOMES],
    late: Gauge,
    pub(super) pools: CappedFamilies<PoolFamilies>,
    /// How many nodes of each pool are known, whatever the cap
    nodes: Mutex<HashMap<Box<str>, u32>>,
}

impl NodeMetrics {
    pub(super) fn new(max_pools: usize) -> Self {
        Self {
            lock: SequenceLock::default(),
            starting: AtomicU64::new(0),
            finished: std::array::from_fn(|_| AtomicU64::new(0)),
            late: Gauge::default(),
            pools: CappedFamilies::new(NODE_POOL, max_pools),
            nodes: Mutex::default(),
        }
    }

    /// Moves one node, as a whole. `discovered` is what all states add up to.
    pub(super) fn move_node(&self, from: NodeState, to: NodeState) {
        let _writing = self.lock.write();
        if let Some(count) = self.count(from) {
            count.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(count) = self.count(to) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn count(&self, state: NodeState) -> Option<&AtomicU64> {
        match state {
            NodeState::Undiscovered => None,
            NodeState::Starting => Some(&self.starting),
            NodeState::Finished(outcome) => Some(&self.finished[outcome as usize]),
        }
    }

    /// How many nodes start.
    pub(super) fn starting(&self) -> u64 {
        self.counts().0
    }

    /// How many of them have been starting for too long.
    pub(super) fn late(&self) -> u64 {
        self.late.get()
    }

    pub(super) fn set_late(&self, nodes: u64) {
        self.late.set(nodes);
    }

    /// A node more of this pool is known.
    pub(super) fn enter_pool(&self, pool: &str) {
        *self.nodes.lock().entry(pool.into()).or_default() += 1;
        self.pools.enter(self.pools.id(pool));
    }

    /// There has been a node more of this pool until `now`.
    pub(super) fn leave_pool(&self, pool: &str, now: Timestamp) {
        let mut nodes = self.nodes.lock();
        if let Some(known) = nodes.get_mut(pool) {
            *known -= 1;
            if *known == 0 {
                nodes.remove(pool);
            }
        }
        self.pools.leave(self.pools.id(pool), now);
    }

    /// Counts a step of a node of this pool at `now`, the first of the node or another.
    pub(super) fn observe(&self, now: Timestamp, measured: MeasuredStep<'_>) {
        let MeasuredStep { step, latency, pool, is_first } = measured;
        let MetValue { id, series, is_new } = self.pools.meet(pool, None, now);
        if is_new {
            let known = self.nodes.lock().get(pool).copied();
            (0..known.unwrap_or_default()).for_each(|_| self.pools.enter(id));
        }
        if id == OTHER_ID && is_first {
            self.pools.dropped.increment();
        }
        series.startup.show_all();
        series.startup.with(step).observe(latency);
    }

    /// How many nodes start, and how many have ended, by outcome, at one moment.
    fn counts(&self) -> (u64, [u64; OUTCOMES]) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = || (load(&self.starting), self.finished.each_ref().map(load));
        match self.lock.read(counts) {
            SequenceRead::Consistent(counts) | SequenceRead::Torn(counts) => counts,
        }
    }

    /// What a scrape reads.
    pub(super) fn collect(&self, out: &mut dyn ExpositionEncoder) {
        self.pools.collect(out);
        let (starting, finished) = self.counts();
        let discovered = starting + finished.iter().sum::<u64>();
        out.family(FamilyHead::from(&NODES_DISCOVERED));
        out.number(&[], SampleNumber::Integer(discovered));
        let outcomes = NodeOutcome::ALL.into_iter().map(NodeOutcome::as_str);
        NODES_FINISHED.write_by_label(out, outcomes.zip(finished.map(SampleNumber::Integer)));
        out.family(FamilyHead::from(&STARTING_NODES));
        out.number(&[], SampleNumber::Integer(starting));
        out.family(FamilyHead::from(&LATE_NODES));
        out.number(&[], SampleNumber::Integer(self.late.get()));
    }

    pub(super) fn save(&self, saved: &mut SavedFamilies) {
        self.pools.save(saved);
        let (_, finished) = self.counts();
        let finished = NodeOutcome::ALL.iter().zip(finished);
        let finished = finished
            .map(|(outcome, value)| SavedSeries::new(vec![Cow::Borrowed(outcome.as_str())], value));
        saved.put(&NODES_FINISHED, finished.collect());
    }

    /// Goes on from what was saved, with so many nodes that are starting.
    pub(super) fn restore(&self, saved: &SavedFamilies, starting: u64) {
        self.pools.restore(saved);
        let _writing = self.lock.write();
        self.starting.fetch_add(starting, Ordering::Relaxed);
        for series in saved.series(&NODES_FINISHED) {
            let outcome = series.labels.first();
            if let Some(outcome) = outcome.and_then(|text| NodeOutcome::from_text(text)) {
                self.finished[outcome.index()].fetch_add(series.value, Ordering::Relaxed);
            }
        }
    }
}
