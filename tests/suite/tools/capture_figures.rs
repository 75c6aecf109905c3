//! An anonymized recording gives the figures of the plain one, whatever the names are: for random
//! histories, with all that schedulers and kubelets say in them, and for what real clusters sent.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use podinit_capture::{Anonymizer, DocumentRecorder, RecorderCounts};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;
use serde_json::Value;

use crate::oracle::figures::Exposition;
use crate::oracle::history;
use crate::oracle::implementation;
use crate::oracle::reading::{Namespaces, Options, SloInterval, Timestamps};
use crate::oracle::seeds;

/// The labels whose values are names.
const NAMES: [&str; 3] = ["namespace", "registry", "gate"];

/// The recording of what a cluster sent, plain and anonymized.
fn recordings(documents: &[Value]) -> [String; 2] {
    let anonymizer = Anonymizer::with_key([7; 32]);
    [None, Some(anonymizer)].map(|anonymizer| {
        let recorder = DocumentRecorder::new(anonymizer);
        let mut at = Timestamp::from_seconds(1_772_359_200);
        let mut recording = String::new();
        for document in documents {
            let observed = document["observedAt"].as_str().and_then(rfc3339::parse);
            at = observed.unwrap_or(at);
            let json = document.to_string();
            let recorded = recorder.document(json.as_bytes(), at).unwrap();
            recording.push_str(&String::from_utf8(recorded).unwrap());
            recording.push('\n');
        }
        assert_eq!(recorder.counts(), RecorderCounts::default());
        recording
    })
}

/// Every series without the labels that are names: the values of all series that are then the same, in
/// order.
fn without_names(figures: &Exposition) -> BTreeMap<String, Vec<f64>> {
    let mut nameless: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (series, value) in figures {
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let labels = labels.trim_end_matches('}').split("\",");
        let is_name = |label: &&str| NAMES.iter().any(|name| label.split('=').next() == Some(name));
        let labels: Vec<_> = labels.filter(|label| !is_name(label)).collect();
        let values = nameless.entry(format!("{name}{{{}", labels.join(","))).or_default();
        values.push(*value);
        values.sort_by(f64::total_cmp);
    }
    nameless
}

/// What differs between the figures of the two recordings of `documents`.
fn differences(documents: &[Value], options: &Options) -> Vec<String> {
    let figures = recordings(documents).map(|text| implementation::figures(&text, options));
    let [plain, anonymous] = figures.each_ref().map(without_names);
    let all = plain.keys().chain(anonymous.keys());
    let different = all.filter(|series| plain.get(*series) != anonymous.get(*series));
    different
        .map(|series| format!("{series}: {:?} {:?}", plain.get(series), anonymous.get(series)))
        .collect()
}

#[test]
fn random_histories_give_the_figures_of_the_plain_recording() {
    let differs = |seed: u64| {
        let mut history = history::generate(seed).without_nodes();
        // A server sends lists and events of watches, no objects by themselves.
        let sent = |document: &Value| document["items"].is_array() || !document["object"].is_null();
        history.documents.retain(sent);
        let options = &mut history.options;
        // Types of conditions that Kubernetes does not have are names, too.
        options.milestones = &[];
        options.slos.retain(|slo| !matches!(slo.interval, SloInterval::Own(_)));
        options.slos.retain(|slo| matches!(slo.namespaces, Namespaces::All));
        // The types of conditions are names, and milestones of your own go by them.
        options.milestones = &[];
        differences(&history.documents, options)
    };
    if let Some(seed) = seeds::first(seeds::histories() / 4, |seed| !differs(seed).is_empty()) {
        panic!("seed {seed}: {:#?}", differs(seed));
    }
}

fn documents(path: &Path) -> Vec<Value> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let documents = serde_json::Deserializer::from_str(&text).into_iter();
    documents.map(Result::unwrap).collect()
}

#[test]
fn recordings_of_clusters_give_the_figures_of_the_plain_ones() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut recordings: Vec<Vec<Value>> = Vec::new();
    for entry in std::fs::read_dir(fixtures.join("recordings")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            recordings.push(documents(&path));
        }
    }
    let parts = ["pods.list", "events.list", "pods.watch", "events.watch"];
    let parts = parts.map(|part| documents(&fixtures.join(format!("encodings/{part}.json.gz"))));
    recordings.push(parts.concat());
    assert!(recordings.len() > 15);
    for recording in recordings {
        for timestamps in [Timestamps::Api, Timestamps::Fused] {
            let options = Options { timestamps, backfill: true, events: true, ..Options::DEFAULT };
            let differences = differences(&recording, &options);
            assert!(differences.is_empty(), "{differences:#?}");
        }
    }
}
