//! What an attacker brings about who makes namespaces, nodes, workloads and labels at will: memory
//! up to a stated amount, and a scrape up to a stated size. Nothing else.

use std::sync::Arc;

use crate::memory::counting::bytes_of;
use crate::support::scrape::Scrape;
use podinit_core::lifecycle::{Delivery, PodEvent, SourceId, Tracker, TrackerConfig};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::{PodDecoder, WatchEventKind};
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder, SeriesLabel,
};
use serde_json::json;

const KIB: usize = 1024;

/// 2026-01-01T00:00:00Z
const START: i64 = 1_767_225_600;

/// What deletion leaves behind for ten minutes, in nanoseconds.
const FORGOTTEN: i64 = 601 * NANOS_PER_SECOND;

/// Decoder, tracker and metrics, as they stand in the exporter.
struct Exporter {
    decoder: PodDecoder,
    tracker: Tracker,
    recorder: Recorder,
    exposition: Arc<Exposition>,
    now: Timestamp,
}

impl Exporter {
    fn new(labels: LabelConfig) -> Self {
        let decode = labels.decode_options();
        let (recorder, exposition) = ExpositionBuilder::new(labels).build().unwrap();
        Self {
            decoder: PodDecoder::new(decode),
            tracker: Tracker::new(TrackerConfig::default()),
            recorder,
            exposition,
            now: Timestamp::from_seconds(START + 60),
        }
    }

    /// A pod becomes ready within three minutes, and is deleted.
    fn live(&mut self, number: usize, texts: &Texts) {
        let object = pod(number, texts).to_string();
        for kind in ["ADDED", "DELETED"] {
            let line = format!(r#"{{"type":"{kind}","object":{object}}}"#);
            let event = self.decoder.watch_event(line.as_bytes()).unwrap();
            self.apply(match event.kind {
                WatchEventKind::Added(pod) => PodEvent::Applied(pod),
                WatchEventKind::Deleted(pod) => PodEvent::Deleted(pod),
                other => panic!("{other:?}"),
            });
        }
    }

    fn apply(&mut self, event: PodEvent) {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: self.now,
            observed: Some(self.now),
            version: None,
        };
        self.tracker.apply(delivery, &mut self.recorder);
    }

    /// What was deleted is forgotten.
    fn forget(&mut self) {
        self.now = self.now.plus_nanos(FORGOTTEN);
        self.tracker.advance(self.now, &mut self.recorder);
        assert_eq!(self.tracker.remembered(), 0);
    }

    fn text(&self) -> String {
        String::from_utf8(self.exposition.encode(ExpositionFormat::Text).unwrap()).unwrap()
    }
}

/// What an attacker chooses.
struct Texts {
    namespace: String,
    name: String,
    node: String,
    workload: String,
    label: String,
}

/// As long as the API server lets them be, and different for every number.
fn longest(number: usize) -> Texts {
    let of = |length: usize| format!("{number:0>length$}");
    Texts { namespace: of(63), name: of(253), node: of(253), workload: of(253), label: of(63) }
}

fn pod(number: usize, texts: &Texts) -> serde_json::Value {
    let condition = |kind: &str, second: usize| {
        let time = format!("2026-01-01T00:0{}:{:02}Z", second / 60, second % 60);
        json!({"type": kind, "status": "True", "lastTransitionTime": time})
    };
    // Durations of every size, so that every bucket comes into use.
    let took = number % 180;
    json!({
        "metadata": {"name": texts.name, "namespace": texts.namespace,
            "uid": format!("6d14ca8c-7af5-46a4-8768-{number:012x}"),
            "resourceVersion": (number + 1).to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"team": texts.label},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "controller": true,
                "name": texts.workload, "uid": "00000000-0000-4000-8000-000000000001"}]},
        "spec": {"nodeName": texts.node},
        "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "conditions": [
            condition("PodScheduled", 0), condition("PodReadyToStartContainers", took / 3),
            condition("Initialized", took / 2), condition("ContainersReady", took),
            condition("Ready", took)]},
    })
}

/// Series by their names and labels, without their values.
fn series(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with('#')).count()
}

#[test]
fn more_namespaces_than_the_cap_change_neither_series_nor_memory() {
    let mut exporter = Exporter::new(LabelConfig::default());
    let live = |exporter: &mut Exporter, numbers: std::ops::Range<usize>| {
        for number in numbers {
            exporter.live(number, &longest(number));
        }
        exporter.forget();
    };
    // Enough that the texts that pods share have been collected as often as they will be.
    live(&mut exporter, 0..20_000);
    let before = series(&exporter.text());
    let ((), bytes) = bytes_of(|| live(&mut exporter, 20_000..40_000));
    assert_eq!(series(&exporter.text()), before);
    // What the texts of decoded pods take goes up and down by what the table of them holds.
    assert!(bytes <= 2 * KIB * KIB, "{bytes}");
}

#[test]
fn every_label_at_its_longest_stays_within_the_cap_on_sets() {
    const SETS: usize = 500;
    const PODS: usize = 10_000;
    let mut exporter = Exporter::new(LabelConfig {
        labels: SeriesLabel::OF_ANY_POD
            .into_iter()
            .chain([SeriesLabel::PodLabel("team".to_owned())])
            .collect(),
        max_sets: SETS,
        ..LabelConfig::default()
    });
    // Values repeat with different periods, so that there are many more sets than values.
    for number in 0..PODS {
        let texts = Texts {
            namespace: longest(number % 97).namespace,
            node: longest(number % 251).node,
            workload: longest(number % 300).workload,
            label: longest(number % 7).label,
            ..longest(number)
        };
        exporter.live(number, &texts);
    }
    let scrape = Scrape::parse(&exporter.text());
    scrape.assert_conserved();
    let durations = scrape.of_name("podinit_created_to_ready_duration_seconds_count");
    assert_eq!(durations.count(), SETS + 1);
    let dropped = |label: &str| {
        let series = format!("podinit_label_overflow_pods_total{{label=\"{label}\"}}");
        scrape.value(&series).unwrap()
    };
    assert_eq!(dropped("namespace"), 0.0);
    assert_eq!(dropped("node"), 0.0);
    let past_the_cap = (0..PODS).filter(|number| number % 300 >= 256).count();
    assert_eq!(dropped("workload"), past_the_cap as f64);
    assert!(dropped("_label_set") > PODS as f64 / 2.0);
}

#[test]
fn odd_texts_are_escaped_and_break_no_line() {
    let mut exporter = Exporter::new(LabelConfig::default());
    // No API server lets these pass. A server that does breaks nothing.
    for (number, odd) in
        ["a\"b", "a\nb 1", "\\", "é\u{2028}", "{le=\"1\"} 7", "\0"].iter().enumerate()
    {
        let texts = Texts { namespace: (*odd).to_owned(), ..longest(number) };
        exporter.live(number, &texts);
    }
    let scrape = Scrape::parse(&exporter.text());
    scrape.assert_conserved();
    let durations = scrape.of_name("podinit_created_to_ready_duration_seconds_count");
    assert_eq!(durations.count(), 6);
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn fifty_thousand_namespaces_cost_a_stated_amount_and_nothing_else() {
        const NAMESPACES: usize = 50_000;
        // The cap, one for all others, and what a histogram may take at most (see its module).
        const SETS: usize = 257;
        const LIMIT: usize = SETS * 36 * KIB + 3 * KIB * KIB;
        let mut exporter = Exporter::new(LabelConfig::default());
        let ((), bytes) = bytes_of(|| {
            for number in 0..NAMESPACES {
                exporter.live(number, &longest(number));
                if number % 5_000 == 0 {
                    exporter.forget();
                }
            }
            exporter.forget();
            // Those that have series of their own get durations of every size, with exemplars.
            for number in 0..256 * 60 {
                let texts = Texts {
                    namespace: longest(number % 256).namespace,
                    name: longest(number).name.split_off(253 - 60),
                    ..longest(number)
                };
                exporter.live(NAMESPACES + number / 256 * 3, &texts);
                exporter.forget();
            }
        });
        let text = exporter.text();
        let scrape = Scrape::parse(&text);
        println!(
            "{NAMESPACES} namespaces: {:.1} MiB, a scrape of {:.1} MiB with {} series",
            bytes as f64 / (KIB * KIB) as f64,
            text.len() as f64 / (KIB * KIB) as f64,
            series(&text),
        );
        assert!(bytes <= LIMIT, "{bytes}");
        scrape.assert_conserved();
        let pods = (NAMESPACES + 256 * 60) as f64;
        assert_eq!(scrape.sum("podinit_pods_discovered_total"), pods);
        let counted = scrape.sum("podinit_created_to_ready_duration_seconds_count");
        assert_eq!(counted, pods);
        let dropped = "podinit_label_overflow_pods_total{label=\"namespace\"}";
        assert_eq!(scrape.value(dropped), Some((NAMESPACES - 256) as f64));
        let durations = scrape.of_name("podinit_created_to_ready_duration_seconds_count");
        assert_eq!(durations.count(), SETS);
        assert!(text.len() <= SETS * 50 * KIB, "{}", text.len());
    }
}
