//! What the watches of Events count, and whether Events and nodes are read: written without a lock, read by
//! scrapes. Every access is `Relaxed`, since each value stands for itself.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use podinit_core::label_values;
use podinit_instruments::{
    CounterVec, ExpositionEncoder, FamilyDoc, FamilySource, GaugeVec, SampleNumber, SavedFamilies,
    computed_families, families,
};

label_values! {
    /// The sources of evidence that can be watched: the values of `source`.
    enum EvidenceSource {
        Events => "events",
        Nodes => "nodes",
    }
}

label_values! {
    /// Why an Event that arrived was lost before it could be accounted for.
    pub enum EventLossReason {
        /// The queue was full
        QueueFull => "queue_full",
        /// It could not be decoded
        Decode => "decode",
        /// It was longer than the limit
        TooLong => "too_long",
    }
}

families! {
    /// The counters of all watches of Events.
    pub struct EventCounters {
        lost: CounterVec<EventLossReason> =
            "podinit_kube_events_lost_total", ["reason"], experimental, saved,
            "Events that arrived and were lost before podinit looked at their pods, by reason.";
    }
}

computed_families! {
    /// The state of all watches of Events together.
    pub const EVIDENCE_STATE {
        EVIDENCE_UP: GaugeVec<EvidenceSource> =
            "podinit_evidence_up", ["source"], experimental, not_saved,
            "Whether the source of evidence is read (1) or not (0).";
    }
}

/// The counters and the state of all watches of Events of the process.
#[derive(Debug)]
pub struct EvidenceStats {
    counters: EventCounters,
    /// By scope, whether its Events are read; none where they are no source of evidence
    up: Box<[AtomicBool]>,
    /// Whether nodes are read, where they are a source
    nodes_up: Option<AtomicBool>,
}

impl EvidenceStats {
    /// Statistics of `scopes` watches of Events, and of one of `nodes`. All counters are 0, and nothing is up.
    pub fn new(scopes: usize, nodes: bool) -> Self {
        Self {
            counters: EventCounters::default(),
            up: (0..scopes).map(|_| AtomicBool::new(false)).collect(),
            nodes_up: nodes.then(AtomicBool::default),
        }
    }

    /// States whether the Events of a scope are read.
    pub(super) fn set_up(&self, scope: usize, up: bool) {
        if let Some(state) = self.up.get(scope) {
            state.store(up, Relaxed);
        }
    }

    /// States whether nodes are read.
    pub(in crate::watch) fn set_nodes_up(&self, up: bool) {
        if let Some(state) = &self.nodes_up {
            state.store(up, Relaxed);
        }
    }

    /// Whether nodes are read; `None` where they are no source.
    pub fn nodes_up(&self) -> Option<bool> {
        self.nodes_up.as_ref().map(|up| up.load(Relaxed))
    }

    pub(super) fn count_lost(&self, reason: EventLossReason) {
        self.counters.lost.with(reason).increment();
    }

    /// Whether the Events of every scope are read (`podinit_evidence_up`).
    pub fn up(&self) -> bool {
        !self.up.is_empty() && self.up.iter().all(|up| up.load(Relaxed))
    }

    /// How many Events were lost for a reason (`podinit_kube_events_lost_total`).
    pub fn lost(&self, reason: EventLossReason) -> u64 {
        self.counters.lost.with(reason).get()
    }
}

impl FamilySource for EvidenceStats {
    fn families(&self) -> Vec<FamilyDoc> {
        [&EVIDENCE_STATE[..], &EventCounters::FAMILIES].concat()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        let events = (!self.up.is_empty()).then(|| self.up());
        let sources = [(EvidenceSource::Events, events), (EvidenceSource::Nodes, self.nodes_up())];
        let up = sources.into_iter().filter_map(|(source, up)| {
            let up = SampleNumber::Integer(up?.into());
            Some((source.as_str(), up))
        });
        EVIDENCE_UP.write_by_label(out, up);
        if events.is_some() {
            self.counters.collect(out);
        }
    }

    fn save(&self, saved: &mut SavedFamilies) {
        if !self.up.is_empty() {
            self.counters.save(saved);
        }
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.counters.restore(saved);
    }
}
