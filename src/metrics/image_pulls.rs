//! Image pulls by registry ([§9.3](crate::specification#s9-3)), within the cap on the values of a label.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::histogram::{Histogram, HistogramEncoder, SavedHistogram, Snapshot};
use super::labels::OTHER;
use super::start_times::StartTimes;
use crate::instruments::{
    AnyText, Counter, CounterVec, CounterVec2, FamilyDoc, Head, Number, SavedFamilies, SavedSeries,
};
use crate::text::strangers_text::label;
use crate::{computed_families, family_type};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{PullObservation, PullResult};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;

/// The label, as `podinit_label_values_dropped_total` names it too.
pub(super) const REGISTRY: &str = "registry";

family_type! {
    /// A histogram for each registry.
    struct HistogramByRegistry = Histogram [AnyText];
}

computed_families! {
    /// Pulls of images, by registry.
    pub(super) const IMAGE_PULL_FAMILIES {
        IMAGE_PULLS: CounterVec2<PullResult, AnyText> =
            "podinit_image_pulls_total", ["result", "registry"], experimental, saved,
            "Images that containers of pods in flight needed, by how they came to the node and by registry.";
        IMAGE_PULL_DURATION: HistogramByRegistry =
            "podinit_image_pull_duration_seconds", ["registry"], experimental, saved,
            "Time that kubelets took to pull images, without the wait in their queues.";
        IMAGE_PULL_WAIT: HistogramByRegistry =
            "podinit_image_pull_wait_seconds", ["registry"], experimental, saved,
            "Time that image pulls waited in the queues of kubelets.";
        IMAGE_PULL_BYTES: CounterVec<AnyText> =
            "podinit_image_pull_bytes_total", ["registry"], experimental, saved,
            "Sizes of the images that were pulled.";
    }
}

/// The series of one registry.
#[derive(Debug)]
struct RegistryPulls {
    registry: Arc<str>,
    results: [Counter; PullResult::ALL.len()],
    bytes: Counter,
    duration: Histogram,
    wait: Histogram,
}

/// The series of all registries: written by the recorder, read by scrapes.
#[derive(Debug)]
pub(super) struct ImagePulls {
    /// In the order in which the registries were met; the last is for those past the cap
    slots: Box<[OnceLock<Box<RegistryPulls>>]>,
    /// Pods with a registry past the cap
    pub(super) dropped: Counter,
}

/// Which slot is whose. Owned by the recorder.
#[derive(Debug, Default)]
pub(super) struct RegistryIndex(HashMap<Arc<str>, usize>);

/// The histograms of a registry as they are kept while no process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedPulls {
    pub registry: String,
    pub duration: SavedHistogram,
    pub wait: SavedHistogram,
}

impl ImagePulls {
    pub(super) fn new(max_registries: usize) -> Self {
        let slots = max_registries.saturating_add(1);
        Self { slots: (0..slots).map(|_| OnceLock::new()).collect(), dropped: Counter::default() }
    }

    /// Counts a pull, observed at `at` of an image of `pod`.
    pub(super) fn observe(
        &self,
        at: Timestamp,
        pod: &PodInfo,
        pull: PullObservation<'_>,
        index: &mut RegistryIndex,
    ) {
        let known = self.series(pull.registry, index);
        let is_dropped = |registry: &Arc<str>| !index.0.contains_key(&*label(registry));
        if is_dropped(pull.registry) && !pull.earlier.iter().any(is_dropped) {
            self.dropped.increment();
        }
        let Some(series) = known else { return };
        series.results[pull.result.index()].increment();
        if let Some(duration) = pull.duration {
            series.duration.observe_pod(duration, pod, at);
        }
        if let Some(wait) = pull.wait {
            series.wait.observe_pod(wait, pod, at);
        }
        series.bytes.add(pull.bytes.unwrap_or_default());
    }

    /// The series of a registry: its own, where there is room, and otherwise those of the rest.
    fn series(&self, registry: &str, index: &mut RegistryIndex) -> Option<&RegistryPulls> {
        let registry = &*label(registry);
        let last = self.slots.len().saturating_sub(1);
        let slot = match index.0.get(registry) {
            Some(slot) => *slot,
            None if index.0.len() < last && registry != OTHER => {
                let slot = index.0.len();
                index.0.insert(Arc::from(registry), slot);
                slot
            }
            None => last,
        };
        let name = if slot == last { OTHER } else { registry };
        let series = self.slots.get(slot)?.get_or_init(|| {
            Box::new(RegistryPulls {
                registry: Arc::from(name),
                results: Default::default(),
                bytes: Counter::default(),
                duration: Histogram::default(),
                wait: Histogram::default(),
            })
        });
        Some(series)
    }

    fn sorted(&self) -> Vec<&RegistryPulls> {
        let met = self.slots.iter().filter_map(OnceLock::get);
        let mut met: Vec<&RegistryPulls> = met.map(Box::as_ref).collect();
        met.sort_unstable_by(|one, other| one.registry.cmp(&other.registry));
        met
    }
}

/// What a scrape reads.
impl ImagePulls {
    pub(super) fn collect(&self, out: &mut dyn HistogramEncoder, starts: &StartTimes) {
        let met = self.sorted();
        out.family(Head::from(&IMAGE_PULLS));
        for series in &met {
            for (result, counter) in PullResult::ALL.into_iter().zip(&series.results) {
                let labels = [("result", result.as_str()), (REGISTRY, &*series.registry)];
                out.number(&labels, Number::Integer(counter.get()));
            }
        }
        let start = |family: &FamilyDoc| starts.of(family.name);
        let (duration, wait) = (start(&IMAGE_PULL_DURATION), start(&IMAGE_PULL_WAIT));
        histograms(out, &IMAGE_PULL_DURATION, duration, &met, |series| &series.duration);
        histograms(out, &IMAGE_PULL_WAIT, wait, &met, |series| &series.wait);
        let bytes = met.iter();
        let bytes = bytes.map(|series| (&*series.registry, Number::Integer(series.bytes.get())));
        IMAGE_PULL_BYTES.write_by_label(out, bytes);
    }
}

fn histograms(
    out: &mut dyn HistogramEncoder,
    family: &FamilyDoc,
    start: Option<Timestamp>,
    met: &[&RegistryPulls],
    of: impl Fn(&RegistryPulls) -> &Histogram,
) {
    let mut buffer = Snapshot::since(start);
    let with_exemplars = out.wants_exemplars();
    out.family(Head::from(family));
    for series in met {
        of(series).read(&mut buffer, with_exemplars, |snapshot| {
            out.histogram(&[(REGISTRY, &*series.registry)], snapshot);
        });
    }
}

/// What outlives the process.
impl ImagePulls {
    pub(super) fn save(&self, saved: &mut SavedFamilies) {
        let met = self.sorted();
        let text = |series: &RegistryPulls| Cow::Owned(series.registry.to_string());
        let results = met.iter().flat_map(|series| {
            let counters = PullResult::ALL.into_iter().zip(&series.results);
            counters.map(move |(result, counter)| SavedSeries {
                labels: vec![Cow::Borrowed(result.as_str()), text(series)],
                value: counter.get(),
            })
        });
        saved.put(&IMAGE_PULLS, results.collect());
        let bytes = met
            .iter()
            .map(|series| SavedSeries { labels: vec![text(series)], value: series.bytes.get() });
        saved.put(&IMAGE_PULL_BYTES, bytes.collect());
    }

    pub(super) fn saved_histograms(&self) -> Vec<SavedPulls> {
        let met = self.sorted().into_iter();
        met.map(|series| SavedPulls {
            registry: series.registry.to_string(),
            duration: series.duration.saved(),
            wait: series.wait.saved(),
        })
        .collect()
    }

    pub(super) fn restore(
        &self,
        saved: &SavedFamilies,
        histograms: &[SavedPulls],
        cells: &[usize],
        index: &mut RegistryIndex,
    ) {
        for pulls in histograms {
            if let Some(series) = self.series(&pulls.registry, index) {
                series.duration.restore(&pulls.duration, cells);
                series.wait.restore(&pulls.wait, cells);
            }
        }
        for saved in saved.series(&IMAGE_PULLS) {
            if let [result, registry] = &*saved.labels
                && let Some(result) = PullResult::from_text(result)
                && let Some(series) = self.series(registry, index)
            {
                series.results[result.index()].add(saved.value);
            }
        }
        for saved in saved.series(&IMAGE_PULL_BYTES) {
            if let [registry] = &*saved.labels
                && let Some(series) = self.series(registry, index)
            {
                series.bytes.add(saved.value);
            }
        }
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    use super::*;
    use podinit_core::lifecycle::Latency;

    fn pull<'a>(registry: &'a Arc<str>, earlier: &'a [Arc<str>]) -> PullObservation<'a> {
        PullObservation {
            result: PullResult::Pulled,
            registry,
            duration: Some(Latency::from_nanos(2_000_000_000)),
            wait: None,
            bytes: Some(5),
            earlier,
        }
    }

    #[test]
    fn registries_past_the_cap_are_one_and_each_pod_is_counted_once() {
        let (pulls, mut index) = (ImagePulls::new(1), RegistryIndex::default());
        let [first, second, third] = ["a.example", "b.example", "c.example"].map(Arc::from);
        let (at, pod) = (Timestamp::from_seconds(1), PodInfo::default());
        let mut observe = |pull| pulls.observe(at, &pod, pull, &mut index);
        observe(pull(&first, &[]));
        observe(pull(&second, std::slice::from_ref(&first)));
        observe(pull(&third, &[first.clone(), second.clone()]));
        let counts = |pulls: &ImagePulls| {
            let met = pulls.sorted().into_iter();
            let count = |series: &RegistryPulls| {
                (
                    series.registry.to_string(),
                    series.bytes.get(),
                    series.duration.snapshot().count(),
                )
            };
            met.map(count).collect::<Vec<_>>()
        };
        let expected = [(OTHER.to_owned(), 10, 2), ("a.example".to_owned(), 5, 1)];
        assert_eq!(counts(&pulls), expected);
        assert_eq!(pulls.dropped.get(), 1);

        let (again, mut index) = (ImagePulls::new(1), RegistryIndex::default());
        let mut saved = SavedFamilies::default();
        pulls.save(&mut saved);
        let cells: Vec<usize> = (0..crate::metrics::layout::LAYOUT.len()).collect();
        // The rest keeps its slot, though it was saved as a value of its own.
        again.restore(&saved, &pulls.saved_histograms(), &cells, &mut index);
        assert_eq!(counts(&again), expected);
    }
}
