//! From a recorder to what is saved of it, and back.

use super::Recorder;
use crate::lifecycle::{Interval, Stage};
use crate::metrics::layout::LAYOUT;
use crate::metrics::saved::{Durations, SavedMetrics};

impl Recorder {
    /// What has been counted so far.
    pub fn saved(&self) -> SavedMetrics {
        let labels = self.labels.saved();
        let durations = |set| match self.store.set(set) {
            Some(set) => Interval::ALL.map(|interval| set.interval(interval).saved()),
            None => Default::default(),
        };
        SavedMetrics {
            bounds: LAYOUT.bounds().to_vec(),
            finished: self.store.books.finished(),
            unobserved: (self.store.unobserved.each_ref())
                .map(|reasons| reasons.each_ref().map(|count| count.get())),
            reentries: self.store.reentries.each_ref().map(|count| count.get()),
            anomalies: self.store.anomalies.each_ref().map(|count| count.get()),
            evicted: self.store.evicted.each_ref().map(|count| count.get()),
            refused: self.store.refused.each_ref().map(|count| count.get()),
            delivery: self.store.delivery.saved(),
            gaps: self.store.gaps.get(),
            dropped: (self.store.dropped())
                .map(|(label, count)| (label.to_owned(), count))
                .collect(),
            durations: (0..labels.sets.len()).map(durations).collect(),
            labels,
            slos: self.slos.saved(),
        }
    }

    /// Goes on from what was saved, with so many pods in flight by stage. Nothing may have been
    /// counted yet.
    ///
    /// A cell that this podinit does not have is counted in the one that its bound lies in. SLOs
    /// that are not in force, and labels that are no longer carried, are dropped.
    pub fn restore(
        &mut self,
        saved: &SavedMetrics,
        in_flight: [u64; Stage::ALL.len()],
    ) -> Durations {
        let store = &self.store;
        store.books.restore(in_flight, saved.finished);
        for (reasons, saved) in store.unobserved.iter().zip(&saved.unobserved) {
            for (count, saved) in reasons.iter().zip(saved) {
                count.add(*saved);
            }
        }
        for (counts, saved) in [
            (&store.reentries[..], &saved.reentries[..]),
            (&store.anomalies, &saved.anomalies),
            (&store.evicted, &saved.evicted),
            (&store.refused, &saved.refused),
        ] {
            for (count, saved) in counts.iter().zip(saved) {
                count.add(*saved);
            }
        }
        store.gaps.add(saved.gaps);
        store.restore_dropped(&saved.dropped);
        self.slos.restore(&saved.slos);
        let cells = LAYOUT.cells_of(&saved.bounds);
        store.delivery.restore(&saved.delivery, &cells);
        let Some(sets) = self.labels.restore(&saved.labels, |set, values| {
            store.add_set(set, values);
        }) else {
            return Durations::OtherLabels;
        };
        for (set, durations) in sets.into_iter().zip(&saved.durations) {
            let Some(set) = store.set(set) else { continue };
            for (interval, saved) in Interval::ALL.into_iter().zip(durations) {
                set.interval(interval).restore(saved, &cells);
            }
        }
        Durations::GoOn
    }
}
