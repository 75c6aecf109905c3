//! Image pulls by registry ([§9.3](crate::specification#s9-3)), within the cap on the values of a label.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::capped::{Capped, Met};
use super::histogram::{Histogram, HistogramEncoder, SavedHistogram, Snapshot};
use super::label_values::OTHER_ID;
use super::labels::REGISTRY;
use super::start_times::StartTimes;
use crate::instruments::{
    AnyText, Counter, CounterVec, CounterVec2, FamilyDoc, Head, Number, SavedFamilies, SavedSeries,
};
use crate::{computed_families, family_type};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{ImageSource, PullObservation};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_histogram::layout::ClassicBuckets;
use podinit_text::strangers_text::label;

family_type! {
    /// A histogram for each registry.
    struct HistogramByRegistry = Histogram [AnyText];
}

computed_families! {
    /// Pulls of images, by registry.
    pub(super) const IMAGE_PULL_FAMILIES {
        IMAGES: CounterVec2<ImageSource, AnyText> =
            "podinit_images_total", ["source", "registry"], experimental, saved,
            "Images that containers of pods in flight needed, by how they came to the node and by registry.";
        IMAGE_PULL_FAILURES: CounterVec<AnyText> =
            "podinit_image_pull_failures_total", ["registry"], experimental, saved,
            "Containers of pods in flight whose image could not be pulled at least once, by registry.";
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
pub(super) struct RegistryPulls {
    images: [Counter; ImageSource::ALL.len()],
    failures: Counter,
    bytes: Counter,
    duration: Histogram,
    wait: Histogram,
}

impl Default for RegistryPulls {
    fn default() -> Self {
        let histogram = || Histogram::new(ClassicBuckets::ImagePulls);
        Self {
            images: Default::default(),
            failures: Counter::default(),
            bytes: Counter::default(),
            duration: histogram(),
            wait: histogram(),
        }
    }
}

/// The series of all registries: written by the recorder, read by scrapes.
#[derive(Debug)]
pub(super) struct ImagePulls {
    pub(super) by_registry: Capped<RegistryPulls>,
}

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
        Self { by_registry: Capped::new(REGISTRY, max_registries) }
    }

    /// Counts a pull, observed at `at` of an image of `pod`.
    pub(super) fn observe(&self, at: Timestamp, pod: &PodInfo, pull: PullObservation<'_>) {
        let is_dropped = |registry: &Arc<str>| self.by_registry.drops(&label(registry));
        let was_dropped = pull.earlier.iter().any(is_dropped);
        let Met { id, series, .. } =
            self.by_registry.meet(&label(pull.registry), Some(&pod.namespace), at);
        self.by_registry.leave(id, at);
        if id == OTHER_ID && !was_dropped {
            self.by_registry.dropped.increment();
        }
        match pull.source {
            Some(source) => series.images[source.index()].increment(),
            None => series.failures.increment(),
        }
        if let Some(duration) = pull.duration {
            series.duration.observe_pod(duration, pod, at);
        }
        if let Some(wait) = pull.wait {
            series.wait.observe_pod(wait, pod, at);
        }
        series.bytes.add(pull.bytes.unwrap_or_default());
    }
}

/// What a scrape reads.
impl ImagePulls {
    pub(super) fn collect(&self, out: &mut dyn HistogramEncoder, starts: &StartTimes) {
        let met = self.by_registry.met();
        out.family(Head::from(&IMAGES));
        for (registry, series) in &met {
            for (source, counter) in ImageSource::ALL.into_iter().zip(&series.images) {
                let labels = [("source", source.as_str()), (REGISTRY, &**registry)];
                out.number(&labels, Number::Integer(counter.get()));
            }
        }
        IMAGE_PULL_FAILURES.write_by_label(out, by_registry(&met, |series| &series.failures));
        let start = |family: &FamilyDoc| starts.of(family.name);
        let (duration, wait) = (start(&IMAGE_PULL_DURATION), start(&IMAGE_PULL_WAIT));
        histograms(out, &IMAGE_PULL_DURATION, duration, &met, |series| &series.duration);
        histograms(out, &IMAGE_PULL_WAIT, wait, &met, |series| &series.wait);
        IMAGE_PULL_BYTES.write_by_label(out, by_registry(&met, |series| &series.bytes));
    }
}

/// A counter of each registry.
fn by_registry(
    met: &[(Arc<str>, Arc<RegistryPulls>)],
    of: impl Fn(&RegistryPulls) -> &Counter,
) -> impl Iterator<Item = (&str, Number)> {
    met.iter().map(move |(registry, series)| (&**registry, Number::Integer(of(series).get())))
}

fn histograms(
    out: &mut dyn HistogramEncoder,
    family: &FamilyDoc,
    start: Option<Timestamp>,
    met: &[(Arc<str>, Arc<RegistryPulls>)],
    of: impl Fn(&RegistryPulls) -> &Histogram,
) {
    let mut buffer = Snapshot::since(start);
    let with_exemplars = out.wants_exemplars();
    out.family(Head::from(family));
    for (registry, series) in met {
        of(series).read(&mut buffer, with_exemplars, |snapshot| {
            out.histogram(&[(REGISTRY, &**registry)], snapshot);
        });
    }
}

/// What outlives the process.
impl ImagePulls {
    pub(super) fn save(&self, saved: &mut SavedFamilies) {
        let met = self.by_registry.met();
        let text = |registry: &Arc<str>| Cow::Owned(registry.to_string());
        let images = met.iter().flat_map(|(registry, series)| {
            let counters = ImageSource::ALL.into_iter().zip(&series.images);
            counters.map(move |(source, counter)| SavedSeries {
                labels: vec![Cow::Borrowed(source.as_str()), text(registry)],
                value: counter.get(),
            })
        });
        saved.put(&IMAGES, images.collect());
        let by_registry = |of: fn(&RegistryPulls) -> &Counter| {
            let series = met.iter().map(|(registry, series)| SavedSeries {
                labels: vec![text(registry)],
                value: of(series).get(),
            });
            series.collect()
        };
        saved.put(&IMAGE_PULL_FAILURES, by_registry(|series| &series.failures));
        saved.put(&IMAGE_PULL_BYTES, by_registry(|series| &series.bytes));
    }

    pub(super) fn saved_histograms(&self) -> Vec<SavedPulls> {
        let met = self.by_registry.met().into_iter();
        met.map(|(registry, series)| SavedPulls {
            registry: registry.to_string(),
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
    ) {
        for pulls in histograms {
            let series = self.by_registry.restored(&label(&pulls.registry));
            series.duration.restore(&pulls.duration, cells);
            series.wait.restore(&pulls.wait, cells);
        }
        for saved in saved.series(&IMAGES) {
            if let [source, registry] = &*saved.labels
                && let Some(source) = ImageSource::from_text(source)
            {
                let series = self.by_registry.restored(&label(registry));
                series.images[source.index()].add(saved.value);
            }
        }
        let add = |family, of: fn(&RegistryPulls) -> &Counter| {
            for saved in saved.series(family) {
                if let [registry] = &*saved.labels {
                    of(&self.by_registry.restored(&label(registry))).add(saved.value);
                }
            }
        };
        add(&IMAGE_PULL_FAILURES, |series| &series.failures);
        add(&IMAGE_PULL_BYTES, |series| &series.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::labels::OTHER;
    use podinit_core::lifecycle::Latency;

    fn pull<'a>(registry: &'a Arc<str>, earlier: &'a [Arc<str>]) -> PullObservation<'a> {
        PullObservation {
            source: Some(ImageSource::Pulled),
            registry,
            duration: Some(Latency::from_nanos(2_000_000_000)),
            wait: None,
            bytes: Some(5),
            earlier,
        }
    }

    #[test]
    fn registries_past_the_cap_are_one_and_each_pod_is_counted_once() {
        let pulls = ImagePulls::new(1);
        let [first, second, third] = ["a.example", "b.example", "c.example"].map(Arc::from);
        let (at, pod) = (Timestamp::from_seconds(1), PodInfo::default());
        let observe = |pull| pulls.observe(at, &pod, pull);
        observe(pull(&first, &[]));
        observe(pull(&second, std::slice::from_ref(&first)));
        observe(pull(&third, &[first.clone(), second.clone()]));
        let counts = |pulls: &ImagePulls| {
            let met = pulls.by_registry.met().into_iter();
            met.map(|(registry, series)| {
                (registry.to_string(), series.bytes.get(), series.duration.snapshot().count())
            })
            .collect::<Vec<_>>()
        };
        let expected = [(OTHER.to_owned(), 10, 2), ("a.example".to_owned(), 5, 1)];
        assert_eq!(counts(&pulls), expected);
        assert_eq!(pulls.by_registry.dropped.get(), 1);

        let again = ImagePulls::new(1);
        let mut saved = SavedFamilies::default();
        pulls.save(&mut saved);
        let cells: Vec<usize> = (0..podinit_histogram::layout::LAYOUT.cells().len()).collect();
        again.by_registry.restore_places(&pulls.by_registry.saved_places());
        again.restore(&saved, &pulls.saved_histograms(), &cells);
        assert_eq!(counts(&again), expected);
        // The last pull of the only one with a place was a day ago.
        for (hour, found) in [(24, &expected[1]), (25, &("d.example".to_owned(), 5, 1))] {
            let registry = Arc::from("d.example");
            again.observe(Timestamp::from_seconds(hour * 3600), &pod, pull(&registry, &[]));
            assert_eq!(counts(&again).last(), Some(found));
        }
        assert_eq!(again.by_registry.expired.get(), 1);
    }

    #[test]
    fn a_namespace_takes_half_of_the_places() {
        let pulls = ImagePulls::new(4);
        let of = |namespace: &str| PodInfo { namespace: namespace.into(), ..PodInfo::default() };
        let observe = |namespace, registry: &str| {
            let registry = Arc::from(registry);
            pulls.observe(Timestamp::from_seconds(1), &of(namespace), pull(&registry, &[]));
        };
        for registry in ["a.example", "b.example", "c.example"] {
            observe("tenant", registry);
        }
        observe("shop", "c.example");
        observe("tenant", "c.example");
        let met = pulls.by_registry.met().into_iter();
        let met: Vec<_> = met.map(|(registry, pulls)| (registry, pulls.bytes.get())).collect();
        let met: Vec<_> = met.iter().map(|(registry, bytes)| (&**registry, *bytes)).collect();
        assert_eq!(met, [(OTHER, 5), ("a.example", 5), ("b.example", 5), ("c.example", 10)]);
    }
}
