//! From a recorder to what is saved of it, and back.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Recorder;
use crate::metrics::cold_starts::ColdStarts;
use crate::metrics::custom_milestones::{MILESTONE_DURATION, SavedMilestones};
use crate::metrics::event_families::{EventFamilies, PodsWithoutEvents, STARTUP_SLI};
use crate::metrics::namespaces::{NamespaceSlot, UNNAMED};
use crate::metrics::node_families::{NODES_DISCOVERED, NodeMetrics};
use crate::metrics::pod_families::{DISCOVERED, DURATIONS};
use crate::metrics::saved::{RestoredDurations, SavedMetrics, SavedPlaces};
use crate::metrics::saved_holds::SavedHolds;
use crate::metrics::start_times::{SavedStartTimes, starts_of_sets};
use crate::metrics::store::SeriesSet;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Interval, LabelHold, LabelObserver, PodInFlight, SavedPod, Stage};
use podinit_core::timestamp::Timestamp;
use podinit_histogram::layout::LAYOUT;
use podinit_instruments::SavedFamilies;

impl Recorder {
    /// All families but those by label set, of every source that was built with this recorder.
    pub fn saved_families(&self) -> SavedFamilies {
        let mut saved = SavedFamilies::default();
        self.store.save(&mut saved);
        self.sources.iter().for_each(|source| source.save(&mut saved));
        saved
    }

    /// All counters and histograms.
    pub fn saved(&self) -> SavedMetrics {
        self.saved_with(self.saved_families())
    }

    /// All counters and histograms, with the families as [`Recorder::saved_families`] has read them.
    pub fn saved_with(&self, families: SavedFamilies) -> SavedMetrics {
        let (labels, positions) = self.labels.saved();
        let durations = |set: &usize| {
            let set = self.store.set(*set);
            let histograms = self.store.intervals().iter().map(|interval| {
                let set = set.as_ref();
                set.map(|set: &Arc<SeriesSet>| set.interval(*interval).saved())
            });
            histograms.map(Option::unwrap_or_default).collect()
        };
        let conditional = |set: &usize| {
            let set = self.store.set(*set);
            let stages = set.iter().flat_map(|set| set.conditional());
            stages.map(|stage| Cow::Borrowed(stage.as_str())).collect()
        };
        let milestones = |set: &usize| {
            let set = self.store.set(*set);
            set.map(|set| set.milestones.saved()).unwrap_or_default()
        };
        let startup_sli = |set: &usize| {
            let set = self.store.set(*set)?;
            Some(set.startup_sli()?.saved())
        };
        let events = self.store.events.as_ref();
        let starts = self.saved_starts(&families, &positions);
        SavedMetrics {
            starts,
            families,
            bounds: LAYOUT.bounds().to_vec(),
            intervals: (self.store.intervals().iter())
                .map(|interval| Cow::Borrowed(interval.as_str()))
                .collect(),
            slo_namespaces: self.namespaces.saved(),
            durations: positions.iter().map(durations).collect(),
            conditional: positions.iter().map(conditional).collect(),
            startup_sli: positions.iter().filter_map(startup_sli).collect(),
            milestones: SavedMilestones {
                milestones: self.store.milestones.milestones.to_vec(),
                durations: positions.iter().map(milestones).collect(),
            },
            starting_nodes: (self.store.nodes.as_ref()).map_or(0, NodeMetrics::starting),
            holds: self.saved_holds(&positions),
            places: SavedPlaces {
                gates: self.store.gates.by_name.saved_places(),
                registries: events
                    .map_or(Vec::new(), |events| events.pulls.by_registry.saved_places()),
                pools: (self.store.nodes.as_ref())
                    .map_or(Vec::new(), |nodes| nodes.pools.saved_places()),
                rollouts: (self.store.rollouts.as_ref())
                    .map_or(Vec::new(), |rollouts| rollouts.by_workload.saved_places()),
            },
            labels,
            ..SavedMetrics::default()
        }
    }

    /// What the holds of pods name, and since when label values and the sets at these positions are without a pod.
    fn saved_holds(&self, positions: &[usize]) -> SavedHolds {
        let index: HashMap<usize, u32> = positions.iter().copied().zip(0..).collect();
        SavedHolds {
            slo_namespaces: self.namespaces.saved_places(),
            has_slo_namespaces: self.namespaces.names.labelled,
            holds: self.holds.saved(|set| index.get(&set).copied()),
            ended_events: self.slos.saved_ended(),
            ..self.labels.saved_places(positions)
        }
    }

    /// Since when the families that this process has count, and the label sets at these positions.
    fn saved_starts(&self, families: &SavedFamilies, positions: &[usize]) -> SavedStartTimes {
        let store = &self.store;
        let of_events = store.events.as_ref().map(|_| STARTUP_SLI);
        let of_nodes = store.nodes.as_ref().map(|_| NODES_DISCOVERED);
        // Of sets, or the sum of others.
        let others = DURATIONS.into_iter().chain([DISCOVERED, MILESTONE_DURATION]);
        let others = others.chain(of_events).chain(of_nodes).map(|family| family.name);
        let saved: HashSet<&str> = families.names().chain(others).collect();
        let is_saved = |name: &str| saved.contains(name);
        let of_set = |set: &usize| self.store.set(*set)?.start.get();
        SavedStartTimes {
            families: self.store.starts.saved(is_saved),
            sets: (positions.iter()).map(|set| of_set(set).map(Timestamp::as_nanos)).collect(),
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
    /// SLOs that are not in force, and labels that are no longer carried, are dropped.
    pub fn restore<'a>(
        &mut self,
        saved: &SavedMetrics,
        in_flight: impl IntoIterator<Item = &'a PodInFlight>,
    ) -> RestoredDurations {
        let holds = &saved.holds;
        let slo_places = (self.namespaces).restore(&saved.slo_namespaces, &holds.slo_namespaces);
        let namespaces = &mut self.namespaces;
        let in_flight: Vec<_> = in_flight.into_iter().collect();
        let adopted = in_flight.iter().filter(|pod| pod.has_startup_sli()).count() as u64;
        let in_flight = in_flight.into_iter();
        let places = in_flight.map(|pod| {
            let place = namespaces.place_of(pod.info());
            namespaces.move_waiting(place, pod.info(), None, Some(pod.waiting()));
            (place, pod.waiting(), pod.capacity_state())
        });
        let places: Vec<_> = places.collect();
        let store = &self.store;
        store.gates.by_name.restore_places(&saved.places.gates);
        if let Some(events) = &store.events {
            events.pulls.by_registry.restore_places(&saved.places.registries);
        }
        if let Some(nodes) = &store.nodes {
            nodes.pools.restore_places(&saved.places.pools);
            nodes.restore(&saved.families, saved.starting_nodes);
        }
        if let Some(rollouts) = &store.rollouts {
            rollouts.by_workload.restore_places(&saved.places.rollouts);
        }
        store.restore(&saved.families, places);
        if let Some(events) = &store.events
            && !EventFamilies::are_in(&saved.families)
        {
            let finished = store.pod_counts.snapshot().finished;
            let pods = PodsWithoutEvents { finished, adopted };
            events.families.exclude(&pods);
        }
        self.slos.restore(&saved.families, &mut self.namespaces);
        self.slos.restore_ended(&holds.ended_events);
        let sources = self.sources.iter();
        sources.for_each(|source| source.restore(&saved.families));
        let Some(sets) = self.labels.restore(&saved.labels, holds, |set, values| {
            store.add_set(set, values, None);
        }) else {
            self.restore_starts(saved, None);
            return RestoredDurations::OtherLabels;
        };
        self.restore_starts(saved, Some(&sets));
        self.restored_holds = self.holds_of(holds, &sets, &slo_places);
        let store = &self.store;
        if let Some(cold_starts) = &store.cold_starts
            && !ColdStarts::is_in(&saved.families)
        {
            let name = Interval::CreatedToReady.as_str();
            let place = saved.intervals.iter().position(|saved| saved == name);
            let sets = saved.durations.iter();
            let all = sets.filter_map(|durations| durations.get(place?));
            all.for_each(|durations| cold_starts.unknown().add_saved(durations));
        }
        for (set, stages) in sets.iter().zip(&saved.conditional) {
            let Some(set) = store.set(*set) else { continue };
            let stages = stages.iter().filter_map(|stage| Stage::from_text(stage));
            stages.filter(|stage| stage.is_conditional()).for_each(|stage| set.expose(stage));
        }
        for (number, set) in sets.iter().enumerate() {
            let Some(set) = store.set(*set) else { continue };
            let known = &store.milestones.milestones;
            for (interval, saved) in saved.milestones.of_set(number, known) {
                if let Some(histogram) = set.milestones.histogram(interval) {
                    histogram.add_saved(saved);
                }
            }
        }
        for (set, sli) in sets.iter().zip(&saved.startup_sli) {
            let set = store.set(*set);
            if let Some(histogram) = set.as_deref().and_then(SeriesSet::startup_sli) {
                histogram.add_saved(sli);
            }
        }
        for (set, durations) in sets.into_iter().zip(&saved.durations) {
            let Some(set) = store.set(set) else { continue };
            for (name, saved) in saved.intervals.iter().zip(durations) {
                let mut intervals = Interval::ALL.into_iter();
                if let Some(interval) = intervals.find(|interval| interval.as_str() == name) {
                    set.interval(interval).add_saved(saved);
                }
            }
        }
        RestoredDurations::Continued
    }

    /// The holds that were saved, by their numbers, each with a pod until [`Recorder::restore_holds`]. Given are the
    /// label sets and the places of namespaces by those that were saved.
    fn holds_of(
        &mut self,
        saved: &SavedHolds,
        sets: &[usize],
        slo_places: &[NamespaceSlot],
    ) -> Vec<LabelHold> {
        let labelled = self.namespaces.names.labelled;
        let ids = self.labels.ids_by_set();
        let named = |(set, place): (u32, u32)| {
            let set = *sets.get(set as usize)?;
            let place = match (labelled, saved.has_slo_namespaces) {
                (false, _) => UNNAMED,
                (true, true) => *slo_places.get(place as usize)?,
                // Which namespace it was is not known.
                (true, false) => return None,
            };
            Some((set, &**ids.get(&set)?, place))
        };
        let holds = saved.holds.iter().map(|hold| {
            let named = hold.and_then(named);
            (self.holds).restore_next(named, &mut self.labels, &mut self.namespaces)
        });
        holds.collect()
    }

    /// Whether a label has reached its cap, and pods of an earlier process may have any value: a list shows which, so
    /// that values without a pod can give their places back.
    pub fn awaits_list(&self) -> bool {
        let is_full = self.labels.has_full_label() || self.namespaces.is_full();
        is_full && self.holds.may_have_any()
    }

    /// Takes back which label values finished pods have, as they were saved at `now`, after [`Recorder::restore`].
    pub fn restore_holds(&mut self, now: Timestamp, pods: &mut [SavedPod]) {
        let restored = std::mem::take(&mut self.restored_holds);
        for hold in pods.iter_mut().filter_map(SavedPod::hold_mut) {
            let number = hold.get().checked_sub(1);
            let now_is = number.and_then(|number| restored.get(number as usize));
            *hold = self.holds.enter_again(now_is.copied().unwrap_or_default());
        }
        for hold in restored {
            if hold != LabelHold::UNKNOWN {
                self.release(now, hold);
            }
        }
    }
}
