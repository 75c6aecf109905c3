//! Exemplars: for each classic bucket the pod that was last observed in it, and its trace where one was sent.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use podinit_core::lifecycle::Latency;
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// The most that the names and values of an exemplar's labels may have in all, in Unicode
/// characters (OpenMetrics 1.0, "Exemplars").
pub(super) const MAX_CHARACTERS: usize = 128;

const NAMESPACE: &str = "namespace";
const POD: &str = "pod";
const TRACE_ID: &str = "trace_id";
const SPAN_ID: &str = "span_id";

/// How long an exemplar with a trace stays, in nanoseconds, before one without takes its place: longer than
/// most scrape intervals, so that each scrape finds it.
const TRACED_STAYS: i64 = 60 * NANOS_PER_SECOND;

/// The span that shows an observation, by its ids in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanRef {
    pub trace_id: String,
    pub span_id: String,
}

/// One observation that stands for its bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct Exemplar {
    names: ExemplarNames,
    namespace: Option<Arc<str>>,
    value: Latency,
    at: Timestamp,
}

/// The pod, and the span that shows it, where one was sent. Boxed, so that exemplars without a trace take
/// no room for one.
#[derive(Clone, Debug, PartialEq)]
enum ExemplarNames {
    Pod(String),
    Traced(Box<TracedPod>),
}

#[derive(Clone, Debug, PartialEq)]
struct TracedPod {
    pod: String,
    trace_id: String,
    span_id: Option<String>,
}

impl Exemplar {
    /// The labels, in their order.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let namespace = self.namespace.as_deref().map(|value| (NAMESPACE, value));
        let (pod, traced) = match &self.names {
            ExemplarNames::Pod(pod) => (pod, None),
            ExemplarNames::Traced(traced) => (&traced.pod, Some(traced)),
        };
        let trace = traced.map(|traced| (TRACE_ID, traced.trace_id.as_str()));
        let span = traced.and_then(|traced| traced.span_id.as_deref());
        let span = span.map(|value| (SPAN_ID, value));
        let labels = namespace.into_iter().chain([(POD, pod.as_str())]);
        labels.chain(trace).chain(span)
    }

    /// The observed latency.
    pub fn value(&self) -> Latency {
        self.value
    }

    /// When it was observed; with a trace, when the startup ended.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    const fn is_traced(&self) -> bool {
        matches!(self.names, ExemplarNames::Traced(_))
    }
}

/// Which labels fit into an exemplar beside `pod`.
struct FittingLabels {
    namespace: bool,
    trace_id: bool,
    span_id: bool,
}

/// What of the names of a pod and of its span fits into an exemplar. Where they are too long together,
/// `span_id` is dropped first, then `namespace`, then `trace_id`; where `pod` alone is, there is no
/// exemplar. Values are never cut: half a name finds no pod.
fn fitting(pod: &PodInfo, span: Option<&SpanRef>) -> Option<FittingLabels> {
    let length = |name: &str, value: &str| name.len() + value.chars().count();
    let of_pod = length(POD, &pod.name);
    let of_namespace = length(NAMESPACE, &pod.namespace);
    let of_trace = span.map(|span| length(TRACE_ID, &span.trace_id));
    let of_span = span.map(|span| length(SPAN_ID, &span.span_id));
    let fits = |fitting: &FittingLabels| {
        let namespace = if fitting.namespace { of_namespace } else { 0 };
        let trace = of_trace.filter(|_| fitting.trace_id).unwrap_or(0);
        let span = of_span.filter(|_| fitting.span_id).unwrap_or(0);
        of_pod + namespace + trace + span <= MAX_CHARACTERS
    };
    let choice = |namespace, trace_id, span_id| FittingLabels { namespace, trace_id, span_id };
    let traced = [(true, true), (true, false), (false, false)];
    let traced = traced.map(|(namespace, span_id)| choice(namespace, true, span_id));
    let traced = traced.into_iter().filter(|_| span.is_some());
    let untraced = [true, false].map(|namespace| choice(namespace, false, false));
    traced.chain(untraced).find(fits)
}

/// The exemplars of one histogram, by classic bucket; grows up to the highest bucket used.
#[derive(Debug, Default)]
pub(crate) struct BucketExemplars(Mutex<Vec<Option<Exemplar>>>);

impl BucketExemplars {
    /// Keeps the observation as the exemplar of `bucket`, unless one with a trace has to stay. Also
    /// does nothing while a scrape is reading: an observer never waits, and the next observation brings
    /// another exemplar.
    pub(crate) fn offer(&self, bucket: usize, pod: &PodInfo, value: Latency, at: Timestamp) {
        let Some(fitting) = fitting(pod, None) else {
            return;
        };
        self.place(bucket, |old| {
            let stays = |old: &Exemplar| old.is_traced() && at.nanos_since(old.at) < TRACED_STAYS;
            if old.as_ref().is_some_and(stays) {
                return old;
            }
            // The old name's buffer is used again.
            let mut name = match old.map(|old| old.names) {
                Some(ExemplarNames::Pod(name)) => name,
                Some(ExemplarNames::Traced(_)) | None => String::new(),
            };
            name.clear();
            name.push_str(&pod.name);
            Some(Exemplar {
                names: ExemplarNames::Pod(name),
                namespace: fitting.namespace.then(|| Arc::clone(&pod.namespace)),
                value,
                at,
            })
        });
    }

    /// The same, with the span that shows the observation, where its ids fit.
    pub(crate) fn offer_traced(
        &self,
        bucket: usize,
        pod: &PodInfo,
        value: Latency,
        at: Timestamp,
        span: SpanRef,
    ) {
        let fitting = fitting(pod, Some(&span)).filter(|fitting| fitting.trace_id);
        let Some(fitting) = fitting else {
            return;
        };
        self.place(bucket, |_| {
            let traced = TracedPod {
                pod: pod.name.to_string(),
                trace_id: span.trace_id,
                span_id: fitting.span_id.then_some(span.span_id),
            };
            Some(Exemplar {
                names: ExemplarNames::Traced(Box::new(traced)),
                namespace: fitting.namespace.then(|| Arc::clone(&pod.namespace)),
                value,
                at,
            })
        });
    }

    /// Replaces the exemplar of `bucket` by what `make` makes of it, unless a scrape is reading.
    fn place(&self, bucket: usize, make: impl FnOnce(Option<Exemplar>) -> Option<Exemplar>) {
        let Some(mut slots) = self.0.try_lock() else {
            return;
        };
        if slots.len() <= bucket {
            slots.resize_with(bucket + 1, || None);
        }
        let slot = &mut slots[bucket];
        *slot = make(slot.take());
    }

    /// Lends the exemplars. None is replaced before they are given back.
    pub(crate) fn lend(&self) -> MutexGuard<'_, Vec<Option<Exemplar>>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use podinit_core::pod::{PodSnapshot, PodUid};

    fn labels_of(namespace: &str, name: &str) -> Vec<(String, String)> {
        let pod = PodSnapshot::bare(PodUid::from_text("u"), namespace, name).info;
        let exemplars = BucketExemplars::default();
        let at = Timestamp::from_seconds(1);
        exemplars.offer(2, &pod, Latency::from_nanos(7), at);
        let read = exemplars.lend();
        let Some(Some(exemplar)) = read.get(2) else {
            return Vec::new();
        };
        exemplar.labels().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
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

    fn span() -> SpanRef {
        SpanRef {
            trace_id: "0f8fad5bd9cb469fa16570867728950e".to_owned(),
            span_id: "00f067aa0ba902b7".to_owned(),
        }
    }

    /// The names of the labels of an exemplar with a trace, of a pod in the namespace `ns`.
    fn traced(name: &str) -> Vec<&'static str> {
        let pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", name).info;
        let exemplars = BucketExemplars::default();
        let at = Timestamp::from_seconds(1);
        exemplars.offer_traced(0, &pod, Latency::from_nanos(7), at, span());
        let read = exemplars.lend();
        let Some(Some(exemplar)) = read.first() else {
            return Vec::new();
        };
        let characters = exemplar.labels();
        let characters = characters.map(|(key, value)| key.len() + value.len());
        assert!(characters.sum::<usize>() <= MAX_CHARACTERS);
        let all = [NAMESPACE, POD, TRACE_ID, SPAN_ID];
        let has = |wanted: &&str| exemplar.labels().any(|(key, _)| key == *wanted);
        all.into_iter().filter(has).collect()
    }

    #[test]
    fn the_span_is_dropped_before_the_namespace_and_that_before_the_trace() {
        // What is left for the pod's name beside pod, namespace=ns, trace_id and span_id.
        let beside = [128 - 3 - 11 - 40 - 23, 128 - 3 - 11 - 40, 128 - 3 - 40];
        assert_eq!(traced(&"p".repeat(beside[0])), [NAMESPACE, POD, TRACE_ID, SPAN_ID]);
        assert_eq!(traced(&"p".repeat(beside[0] + 1)), [NAMESPACE, POD, TRACE_ID]);
        assert_eq!(traced(&"p".repeat(beside[1])), [NAMESPACE, POD, TRACE_ID]);
        assert_eq!(traced(&"p".repeat(beside[1] + 1)), [POD, TRACE_ID]);
        assert_eq!(traced(&"p".repeat(beside[2])), [POD, TRACE_ID]);
        assert!(traced(&"p".repeat(beside[2] + 1)).is_empty());
    }

    #[test]
    fn a_trace_stays_for_a_minute_unless_another_comes() {
        let pod = |name| PodSnapshot::bare(PodUid::from_text("u"), "ns", name).info;
        let exemplars = BucketExemplars::default();
        let (value, at) = (Latency::from_nanos(7), Timestamp::from_seconds);
        let shown = || {
            let exemplar = exemplars.lend()[0].clone().unwrap();
            let pod = exemplar.labels().find(|(key, _)| *key == POD);
            pod.map(|(_, value)| value.to_owned()).unwrap()
        };
        exemplars.offer(0, &pod("first"), value, at(1));
        exemplars.offer_traced(0, &pod("traced"), value, at(2), span());
        exemplars.offer(0, &pod("next"), value, at(61));
        assert_eq!(shown(), "traced");
        exemplars.offer_traced(0, &pod("newer"), value, at(61), span());
        assert_eq!(shown(), "newer");
        exemplars.offer(0, &pod("last"), value, at(121));
        assert_eq!(shown(), "last");
    }

    #[test]
    fn an_observer_does_not_wait_for_a_scrape() {
        let pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod").info;
        let exemplars = BucketExemplars::default();
        let scrape = exemplars.0.lock();
        exemplars.offer(0, &pod, Latency::from_nanos(1), Timestamp::from_seconds(1));
        assert!(scrape.is_empty());
    }
}
