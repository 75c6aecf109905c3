//! The counters of SLO events (§6), which change their set when the SLO file is read again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::exposition::encoder::{Encoder, Head, Number};
use super::families::{
    CONFIG_RELOAD_SUCCESSFUL, CONFIG_RELOAD_TIMESTAMP, SLO_EVENTS, SLO_EXCLUDED, SLO_OBJECTIVE,
    SLO_THRESHOLD,
};
use super::saved::SavedSlo;
use super::source::FamilySource;
use super::store::{Count, Instant};
use crate::lifecycle::{ExclusionReason, SloId, SloVerdict};
use crate::timestamp::Timestamp;

/// What is exposed of an SLO besides its events.
#[derive(Clone, Debug, PartialEq)]
pub struct SloDoc {
    /// The value of the label `slo`
    pub name: Arc<str>,
    /// The objective, between 0 and 1
    pub objective_ratio: f64,
    /// The threshold in seconds
    pub threshold_seconds: f64,
}

impl From<&crate::slo::Slo> for SloDoc {
    fn from(slo: &crate::slo::Slo) -> Self {
        Self {
            name: Arc::clone(&slo.rule.name),
            objective_ratio: slo.objective_ratio(),
            threshold_seconds: slo.threshold_seconds(),
        }
    }
}

/// What became of the last attempt to read the SLO file.
#[derive(Debug)]
pub struct ConfigGauges {
    successful: AtomicBool,
    last_success: Instant,
}

impl ConfigGauges {
    /// SLOs were put in force at `now`.
    pub fn new(now: Timestamp) -> Self {
        let gauges = Self {
            successful: AtomicBool::new(true),
            last_success: Instant::new(),
        };
        gauges.last_success.set(Some(now));
        gauges
    }

    /// Takes note of a reload. The two values stand each for itself, hence `Relaxed`.
    pub fn set(&self, successful: bool, last_success: Timestamp) {
        self.successful.store(successful, Ordering::Relaxed);
        self.last_success.set(Some(last_success));
    }
}

impl FamilySource for ConfigGauges {
    fn collect(&self, out: &mut dyn Encoder) {
        out.family(Head::from(&CONFIG_RELOAD_SUCCESSFUL));
        let successful = self.successful.load(Ordering::Relaxed);
        out.number(&[], Number::Integer(successful.into()));
        out.family(Head::from(&CONFIG_RELOAD_TIMESTAMP));
        if let Some(at) = self.last_success.get() {
            out.number(&[], Number::Float(at.as_seconds_f64()));
        }
    }
}

/// One SLO and its events.
#[derive(Debug)]
struct Slo {
    doc: SloDoc,
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Counts {
    good: Count,
    bad: Count,
    excluded: [Count; ExclusionReason::ALL.len()],
}

impl Counts {
    fn new() -> Self {
        let excluded = std::array::from_fn(|_| Count::new());
        Self {
            good: Count::new(),
            bad: Count::new(),
            excluded,
        }
    }
}

/// The SLOs in force. The recorder has its own reference to them, so that counting takes no lock;
/// a scrape locks for as long as it takes to copy a reference.
#[derive(Debug, Default)]
pub(super) struct SloBoard(RwLock<Arc<[Slo]>>);

impl SloBoard {
    fn current(&self) -> Arc<[Slo]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The recorder's side of the board.
#[derive(Debug)]
pub(super) struct SloCounter {
    board: Arc<SloBoard>,
    slos: Arc<[Slo]>,
}

impl SloCounter {
    pub(super) fn new(board: Arc<SloBoard>) -> Self {
        let slos = board.current();
        Self { board, slos }
    }

    /// Puts other SLOs in force. An SLO that keeps its name keeps its counts, so that Prometheus
    /// sees no reset.
    pub(super) fn replace(&mut self, docs: &[SloDoc]) {
        let kept: HashMap<_, _> = self
            .slos
            .iter()
            .map(|slo| (&slo.doc.name, &slo.counts))
            .collect();
        let slos = docs.iter().map(|doc| {
            let kept = kept.get(&doc.name).map(|counts| Arc::clone(counts));
            let counts = kept.unwrap_or_else(|| Arc::new(Counts::new()));
            Slo {
                doc: doc.clone(),
                counts,
            }
        });
        self.slos = slos.collect();
        let mut shown = self.board.0.write().unwrap_or_else(PoisonError::into_inner);
        *shown = Arc::clone(&self.slos);
    }

    /// What is kept of the events.
    pub(super) fn saved(&self) -> Vec<SavedSlo> {
        let saved = |Slo { doc, counts }: &Slo| SavedSlo {
            name: Arc::clone(&doc.name),
            good: counts.good.get(),
            bad: counts.bad.get(),
            excluded: counts.excluded.each_ref().map(Count::get),
        };
        self.slos.iter().map(saved).collect()
    }

    /// Adds what was saved of the SLOs that are in force.
    pub(super) fn restore(&self, saved: &[SavedSlo]) {
        for Slo { doc, counts } in self.slos.iter() {
            let Some(saved) = saved.iter().find(|saved| saved.name == doc.name) else {
                continue;
            };
            counts.good.add(saved.good);
            counts.bad.add(saved.bad);
            for (count, saved) in counts.excluded.iter().zip(saved.excluded) {
                count.add(saved);
            }
        }
    }

    /// Counts the event of a pod. Events of an SLO that is not in force count for nothing.
    pub(super) fn count(&self, slo: SloId, verdict: SloVerdict) {
        let Some(Slo { counts, .. }) = self.slos.get(usize::from(slo.0)) else {
            return;
        };
        match verdict {
            SloVerdict::Good => counts.good.increment(),
            SloVerdict::Bad => counts.bad.increment(),
            SloVerdict::Excluded(reason) => {
                let named = |other: &ExclusionReason| other.as_str() == reason.as_str();
                if let Some(position) = ExclusionReason::ALL.iter().position(named) {
                    counts.excluded[position].increment();
                }
            }
        }
    }
}

impl FamilySource for SloBoard {
    fn collect(&self, out: &mut dyn Encoder) {
        let slos = self.current();
        out.family(Head::from(&SLO_EVENTS));
        for Slo { doc, counts } in slos.iter() {
            for (result, count) in [("good", &counts.good), ("bad", &counts.bad)] {
                let labels = [("slo", &*doc.name), ("result", result)];
                out.number(&labels, Number::Integer(count.get()));
            }
        }
        out.family(Head::from(&SLO_EXCLUDED));
        for Slo { doc, counts } in slos.iter() {
            for (reason, count) in ExclusionReason::ALL.iter().zip(&counts.excluded) {
                let labels = [("slo", &*doc.name), ("reason", reason.as_str())];
                out.number(&labels, Number::Integer(count.get()));
            }
        }
        out.family(Head::from(&SLO_OBJECTIVE));
        for Slo { doc, .. } in slos.iter() {
            out.number(&[("slo", &doc.name)], Number::Float(doc.objective_ratio));
        }
        out.family(Head::from(&SLO_THRESHOLD));
        for Slo { doc, .. } in slos.iter() {
            out.number(&[("slo", &doc.name)], Number::Float(doc.threshold_seconds));
        }
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    use super::*;

    fn doc(name: &str) -> SloDoc {
        SloDoc {
            name: name.into(),
            objective_ratio: 0.99,
            threshold_seconds: 10.0,
        }
    }

    #[test]
    fn an_slo_keeps_its_counts_for_as_long_as_it_keeps_its_name() {
        let board = Arc::new(SloBoard::default());
        let mut counter = SloCounter::new(Arc::clone(&board));
        counter.replace(&[doc("one"), doc("two")]);
        counter.count(SloId(1), SloVerdict::Bad);
        counter.count(SloId(2), SloVerdict::Bad);
        counter.replace(&[doc("two"), doc("three")]);
        counter.count(SloId(0), SloVerdict::Bad);
        let bad: Vec<_> = board
            .current()
            .iter()
            .map(|slo| slo.counts.bad.get())
            .collect();
        assert_eq!(bad, [2, 0]);
    }
}
