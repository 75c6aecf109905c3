//! From a recorder to what is saved of it, and back.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Recorder;
use crate::instruments::SavedFamilies;
use crate::metrics::event_families::{EventFamilies, PodsWithoutEvents, STARTUP_SLI};
use crate::metrics::image_pulls::{IMAGE_PULL_DURATION, IMAGE_PULL_WAIT};
use crate::metrics::in_place::{INPLACE_UPDATE_DURATION, RESIZE_DURATION};
use crate::metrics::layout::LAYOUT;
use crate::metrics::node_families::{NODE_STARTUP, NODES_DISCOVERED, NodeMetrics};
use crate::metrics::pod_families::{DISCOVERED, DURATIONS, WATCH_DELIVERY};
use crate::metrics::saved::{RestoredDurations, SavedMetrics};
use crate::metrics::start_times::{SavedStartTimes, starts_of_sets};
use crate::metrics::startup_durations::{STARTUP_DURATION, StartupDurations};
use crate::metrics::store::SeriesSet;
use podinit_core::lifecycle::{Interval, PodInFlight};
use podinit_core::timestamp::Timestamp;

impl Recorder {
    /// All counters, of every source that was built with this recorder.
    pub fn saved_families(&self) -> SavedFamilies {
        let mut saved = SavedFamilies::default();
        self.store.save(&mut saved);
        self.sources
            .iter()
            .for_each(|source| source.save(&mut saved));
        saved
    }

    /// All counters and histograms.
    pub fn saved(&self) -> SavedMetrics {
        self.saved_with(self.saved_families())
    }

    /// All counters and histograms, with the counters as [`Recorder::saved_families`] has read them.
    pub fn saved_with(&self, families: SavedFamilies) -> SavedMetrics {
        let labels = self.labels.saved();
        let durations = |set| {
            let histograms = self.store.intervals().iter().map(|interval| {
                let set = self.store.set(set);
                set.map(|set| set.interval(*interval).saved())
            });
            histograms.map(Option::unwrap_or_default).collect()
        };
        let startup_sli = |set| {
            let histogram = self.store.set(set)?.startup_sli()?;
            Some(histogram.saved())
        };
        let events = self.store.events.as_ref();
        let starts = self.saved_starts(&families, labels.sets.len());
        SavedMetrics {
            starts,
            families,
            bounds: LAYOUT.bounds().to_vec(),
            intervals: (self.store.intervals().iter())
                .map(|interval| Cow::Borrowed(interval.as_str()))
                .collect(),
            delivery: self.store.delivery.saved(),
            slo_namespaces: self.namespaces.saved(),
            resize: self.store.in_place.resize_duration.saved(),
            inplace_update: self.store.in_place.update_duration.saved(),
            durations: (0..labels.sets.len()).map(durations).collect(),
            startup_sli: (0..labels.sets.len()).filter_map(startup_sli).collect(),
            pulls: events.map_or(Vec::new(), |events| events.pulls.saved_histograms()),
            startups: (self.store.startups.as_ref()).map(StartupDurations::saved),
            starting_nodes: (self.store.nodes.as_ref()).map_or(0, NodeMetrics::starting),
            pools: (self.store.nodes.as_ref()).map(NodeMetrics::saved_histograms),
            labels,
        }
    }

    /// Since when the families that this process has count, and so many label sets.
    fn saved_starts(&self, families: &SavedFamilies, sets: usize) -> SavedStartTimes {
        let counters: HashSet<&str> = families.names().collect();
        let always = [
            DISCOVERED,
            WATCH_DELIVERY,
            RESIZE_DURATION,
            INPLACE_UPDATE_DURATION,
        ];
        let store = &self.store;
        let of_evidence = [
            (STARTUP_SLI, store.events.is_some()),
            (IMAGE_PULL_DURATION, store.events.is_some()),
            (IMAGE_PULL_WAIT, store.events.is_some()),
            (STARTUP_DURATION, store.startups.is_some()),
            (NODE_STARTUP, store.nodes.is_some()),
            (NODES_DISCOVERED, store.nodes.is_some()),
        ];
        let of_evidence = of_evidence.into_iter().filter(|(_, is_there)| *is_there);
        let of_evidence = of_evidence.map(|(family, _)| family);
        let histograms = DURATIONS.into_iter().chain(always).chain(of_evidence);
        let histograms: Vec<&str> = histograms.map(|family| family.name).collect();
        let is_saved = |name: &str| counters.contains(name) || histograms.contains(&name);
        let of_set = |set| self.store.set(set)?.start.get();
        SavedStartTimes {
            families: self.store.starts.saved(is_saved),
            sets: (0..sets)
                .map(|set| of_set(set).map(Timestamp::as_nanos))
                .collect(),
        }
    }

    /// Continues since when it was saved that things count.
    fn restore_starts(&self, saved: &SavedMetrics, sets: Option<&[usize]>) {
        let store = &self.store;
        store.starts.restore(&saved.starts);
        if store.events.is_some() && !EventFamilies::are_in(&saved.families) {
            // It has just counted pods of before.
            let [excluded, ..] = &EventFamilies::FAMILIES;
            store.starts.forget(excluded.name);
        }
        let Some(sets) = sets else {
            let durations = DURATIONS.iter().chain([&STARTUP_SLI]);
            durations.for_each(|family| store.starts.begin(family.name));
            return;
        };
        // An interval that was not among those saved has not counted for as long as its set.
        let mut intervals = store.intervals().iter().map(|interval| interval.as_str());
        let is_complete = intervals.all(|name| saved.intervals.iter().any(|saved| saved == name));
        let start = |place: usize| *saved.starts.sets.get(place).filter(|_| is_complete)?;
        let starts = sets.iter().enumerate();
        for (set, at) in starts_of_sets(starts.map(|(place, set)| (*set, start(place)))) {
            if let Some(set) = store.set(set) {
                set.start.set(at);
            }
        }
    }

    /// Continues from what was saved, with these pods in flight where they wait: adds it to what has been
    /// counted, which must be no pods yet.
    ///
    /// A cell that this podinit does not have is counted in the one that its bound lies in. SLOs
    /// that are not in force, and labels that are no longer carried, are dropped.
    pub fn restore<'a>(
        &mut self,
        saved: &SavedMetrics,
        in_flight: impl IntoIterator<Item = &'a PodInFlight>,
    ) -> RestoredDurations {
        self.namespaces.restore(&saved.slo_namespaces);
        let namespaces = &mut self.namespaces;
        let in_flight: Vec<_> = in_flight.into_iter().collect();
        let adopted = in_flight.iter().filter(|pod| pod.has_startup_sli()).count() as u64;
        let in_flight = in_flight.into_iter();
        let places = in_flight.map(|pod| {
            let place = namespaces.place_of(pod.info());
            (place, pod.waiting(), pod.capacity_state())
        });
        let places: Vec<_> = places.collect();
        let store = &self.store;
        store.restore(&saved.families, places);
        if let Some(events) = &store.events
            && !EventFamilies::are_in(&saved.families)
        {
            let finished = store.pod_counts.snapshot().finished;
            let pods = PodsWithoutEvents { finished, adopted };
            events.families.exclude(&pods);
        }
        self.slos.restore(&saved.families, &mut self.namespaces);
        let sources = self.sources.iter();
        sources.for_each(|source| source.restore(&saved.families));
        let cells = LAYOUT.cells_of(&saved.bounds);
        store.delivery.restore(&saved.delivery, &cells);
        let in_place = &store.in_place;
        in_place.resize_duration.restore(&saved.resize, &cells);
        in_place
            .update_duration
            .restore(&saved.inplace_update, &cells);
        if let Some(events) = &store.events {
            let index = &mut self.registries;
            (events.pulls).restore(&saved.families, &saved.pulls, &cells, index);
        }
        if let Some(nodes) = &store.nodes {
            let pools = saved.pools.as_deref().unwrap_or_default();
            let nodes_of_before = (pools, saved.starting_nodes);
            nodes.restore(&saved.families, nodes_of_before, &cells, &mut self.pools);
        }
        let Some(sets) = self.labels.restore(&saved.labels, |set, values| {
            store.add_set(set, values, None);
        }) else {
            self.restore_starts(saved, None);
            return RestoredDurations::OtherLabels;
        };
        self.restore_starts(saved, Some(&sets));
        let store = &self.store;
        if let Some(startups) = &store.startups {
            match &saved.startups {
                Some(saved) => startups.restore(saved, &cells),
                None => {
                    let name = Interval::CreatedToReady.as_str();
                    let place = saved.intervals.iter().position(|saved| saved == name);
                    let sets = saved.durations.iter();
                    let all = sets.filter_map(|durations| durations.get(place?));
                    all.for_each(|durations| startups.restore_unknown(durations, &cells));
                }
            }
        }
        for (set, sli) in sets.iter().zip(&saved.startup_sli) {
            if let Some(histogram) = store.set(*set).and_then(SeriesSet::startup_sli) {
                histogram.restore(sli, &cells);
            }
        }
        for (set, durations) in sets.into_iter().zip(&saved.durations) {
            let Some(set) = store.set(set) else { continue };
            for (name, saved) in saved.intervals.iter().zip(durations) {
                let mut intervals = Interval::ALL.into_iter();
                if let Some(interval) = intervals.find(|interval| interval.as_str() == name) {
                    set.interval(interval).restore(saved, &cells);
                }
            }
        }
        RestoredDurations::Continued
    }
}
