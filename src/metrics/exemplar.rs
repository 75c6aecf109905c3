//! Exemplars: for each classic bucket the pod that was last observed in it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::lifecycle::Latency;
use crate::pod::PodInfo;
use crate::timestamp::Timestamp;

/// The most that the names and values of an exemplar's labels may have in all, in Unicode
/// characters (OpenMetrics 1.0, "Exemplars").
pub const MAX_CHARACTERS: usize = 128;

const NAMESPACE: &str = "namespace";
const POD: &str = "pod";

/// One observation that stands for its bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct Exemplar {
    pod: String,
    namespace: Option<Arc<str>>,
    value: Latency,
    at: Timestamp,
}

impl Exemplar {
    /// The labels, in their order.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let namespace = self.namespace.as_deref().map(|value| (NAMESPACE, value));
        namespace.into_iter().chain([(POD, self.pod.as_str())])
    }

    /// The observed latency.
    pub fn value(&self) -> Latency {
        self.value
    }

    /// When it was observed.
    pub fn at(&self) -> Timestamp {
        self.at
    }
}

/// What of a pod's name fits into an exemplar. Where both labels are too long, `namespace` is
/// dropped first; where `pod` alone is, there is no exemplar. Values are never cut: half a name
/// finds no pod.
fn fitting(pod: &PodInfo) -> Option<Option<&Arc<str>>> {
    let with_pod = POD.len() + pod.name.chars().count();
    let with_both = with_pod + NAMESPACE.len() + pod.namespace.chars().count();
    if with_both <= MAX_CHARACTERS {
        Some(Some(&pod.namespace))
    } else if with_pod <= MAX_CHARACTERS {
        Some(None)
    } else {
        None
    }
}

/// The exemplars of one histogram, by classic bucket; grows up to the highest bucket used.
#[derive(Debug, Default)]
pub(super) struct Exemplars(Mutex<Vec<Option<Exemplar>>>);

impl Exemplars {
    /// Keeps the observation as the exemplar of `bucket`, unless a scrape is reading: an observer
    /// never waits, and the next observation brings another exemplar.
    pub(super) fn offer(&self, bucket: usize, pod: &PodInfo, value: Latency, at: Timestamp) {
        let Some(namespace) = fitting(pod) else {
            return;
        };
        let Ok(mut slots) = self.0.try_lock() else {
            return;
        };
        if slots.len() <= bucket {
            slots.resize_with(bucket + 1, || None);
        }
        let slot = &mut slots[bucket];
        // The old name's buffer is used again.
        let mut name = slot.take().map(|old| old.pod).unwrap_or_default();
        name.clear();
        name.push_str(&pod.name);
        *slot = Some(Exemplar {
            pod: name,
            namespace: namespace.cloned(),
            value,
            at,
        });
    }

    /// Copies the exemplars into `into`.
    pub(super) fn read_into(&self, into: &mut Vec<Option<Exemplar>>) {
        // A panic elsewhere leaves at worst an empty slot.
        let slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        into.clone_from(&slots);
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::pod::{PodSnapshot, PodUid};

    fn labels_of(namespace: &str, name: &str) -> Vec<(String, String)> {
        let pod = PodSnapshot::bare(PodUid::from_text("u"), namespace, name).info;
        let exemplars = Exemplars::default();
        let at = Timestamp::from_seconds(1);
        exemplars.offer(2, &pod, Latency::from_nanos(7), at);
        let mut read = Vec::new();
        exemplars.read_into(&mut read);
        let Some(Some(exemplar)) = read.get(2) else {
            return Vec::new();
        };
        exemplar
            .labels()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn a_name_that_fits_keeps_both_labels() {
        let name = "p".repeat(128 - 12 - 2);
        let pod = ("pod".to_owned(), name.clone());
        let namespace = ("namespace".to_owned(), "ns".to_owned());
        assert_eq!(labels_of("ns", &name), [namespace, pod]);
    }

    #[test]
    fn the_namespace_is_dropped_before_the_pod_and_the_pod_before_it_is_cut() {
        let name = "p".repeat(128 - 12 - 1);
        assert_eq!(labels_of("ns", &name), [("pod".to_owned(), name)]);
        let name = "p".repeat(125);
        assert_eq!(labels_of("ns", &name), [("pod".to_owned(), name)]);
        assert!(labels_of("ns", &"p".repeat(126)).is_empty());
    }

    #[test]
    fn characters_count_and_not_bytes() {
        assert_eq!(labels_of("ns", &"ü".repeat(114)).len(), 2);
    }

    #[test]
    fn an_observer_does_not_wait_for_a_scrape() {
        let pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod").info;
        let exemplars = Exemplars::default();
        let scrape = exemplars.0.lock().unwrap();
        exemplars.offer(0, &pod, Latency::from_nanos(1), Timestamp::from_seconds(1));
        assert!(scrape.is_empty());
    }
}
