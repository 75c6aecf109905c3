//! Image pulls by registry ([§9.3](crate::specification#s9-3)), within the cap on the values of a label.

use std::sync::Arc;

use super::capped::{CappedFamilies, MetValue};
use super::label_values::OTHER_ID;
use super::labels::REGISTRY;
use podinit_core::lifecycle::{ImageSource, PullObservation};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_histogram::layout::ClassicBuckets;
use podinit_instruments::{Counter, CounterVec, HistogramWith, families};
use podinit_text::strangers_text::label;

/// With the buckets of image pulls.
type PullHistogram = HistogramWith<{ ClassicBuckets::ImagePulls as usize }>;

families! {
    /// Pulls of images from one registry.
    pub(super) capped struct RegistryFamilies {
        images: CounterVec<ImageSource> =
            "podinit_images_total", ["source", "registry"], experimental, saved,
            "Images that containers of pods in flight needed, by how they came to the node and by registry.";
        failures: Counter =
            "podinit_image_pull_failures_total", ["registry"], experimental, saved,
            "Containers of pods in flight whose image could not be pulled at least once, by registry.";
        duration: PullHistogram =
            "podinit_image_pull_duration_seconds", ["registry"], experimental, saved,
            "Time that kubelets took to pull images, without the wait in their queues.";
        wait: PullHistogram =
            "podinit_image_pull_wait_seconds", ["registry"], experimental, saved,
            "Time that image pulls waited in the queues of kubelets.";
        bytes: Counter =
            "podinit_image_pull_bytes_total", ["registry"], experimental, saved,
            "Sizes of the images that were pulled.";
    }
}

/// The series of all registries: written by the recorder, read by scrapes.
#[derive(Debug)]
pub(super) struct ImagePullSeries {
    pub(super) by_registry: CappedFamilies<RegistryFamilies>,
}

impl ImagePullSeries {
    pub(super) fn new(max_registries: usize) -> Self {
        Self { by_registry: CappedFamilies::new(REGISTRY, max_registries) }
    }

    /// Counts a pull, observed at `at` of an image of `pod`.
    pub(super) fn observe(&self, at: Timestamp, pod: &PodInfo, pull: PullObservation<'_>) {
        let is_dropped = |registry: &Arc<str>| self.by_registry.drops(&label(registry));
        let was_dropped = pull.earlier.iter().any(is_dropped);
        let MetValue { id, series, .. } =
            self.by_registry.meet(&label(pull.registry), Some(&pod.namespace), at);
        self.by_registry.leave(id, at);
        if id == OTHER_ID && !was_dropped {
            self.by_registry.dropped.increment();
        }
        match pull.source {
            Some(source) => series.images.with(source).increment(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::labels::OTHER;
    use podinit_core::lifecycle::Latency;
    use podinit_instruments::SavedFamilies;

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
        let pulls = ImagePullSeries::new(1);
        let [first, second, third] = ["a.example", "b.example", "c.example"].map(Arc::from);
        let (at, pod) = (Timestamp::from_seconds(1), PodInfo::default());
        let observe = |pull| pulls.observe(at, &pod, pull);
        observe(pull(&first, &[]));
        observe(pull(&second, std::slice::from_ref(&first)));
        observe(pull(&third, &[first.clone(), second.clone()]));
        let counts = |pulls: &ImagePullSeries| {
            let met = pulls.by_registry.met().into_iter();
            met.map(|(registry, series)| {
                (registry.to_string(), series.bytes.get(), series.duration.snapshot().count())
            })
            .collect::<Vec<_>>()
        };
        let expected = [(OTHER.to_owned(), 10, 2), ("a.example".to_owned(), 5, 1)];
        assert_eq!(counts(&pulls), expected);
        assert_eq!(pulls.by_registry.dropped.get(), 1);

        let again = ImagePullSeries::new(1);
        let mut saved = SavedFamilies::default();
        pulls.by_registry.save(&mut saved);
        again.by_registry.restore_places(&pulls.by_registry.saved_places());
        again.by_registry.restore(&saved);
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
        let pulls = ImagePullSeries::new(4);
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
