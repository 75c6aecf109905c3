//! The shards of a recording add up to all of it ([§12](crate::specification#s12)).

use std::path::Path;

use podinit_core::lifecycle::TimestampMode;
use podinit_core::shard::Shard;
use podinit_decode::DecodeOptions;
use podinit_expo::metrics::ExpositionFormat;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::{ExpositionConfig, expose};
use serde_json::Value;

use crate::oracle::figures::Exposition;
use crate::oracle::history::{self, History};
use crate::oracle::reading::{self, Options};
use crate::oracle::{compare, exposition, implementation, seeds};
use crate::support::files::recordings;

/// Random histories, without another number in `ORACLE_HISTORIES`.
const HISTORIES: u64 = 12;

/// Families of the watch and of the process: every shard has them as one process has.
const THE_SAME: [&str; 8] = [
    "podinit_build_info",
    "podinit_observation_gap_seconds_total",
    "podinit_relists_total",
    "podinit_slo_objective_ratio",
    "podinit_slo_threshold_seconds",
    "podinit_slo_window_seconds",
    "podinit_watch_e",
    "podinit_synced",
];

/// Of these the least of all shards is that of one process.
const LEAST: &str = "podinit_oldest_inflight_pod_timestamp_seconds";

/// Every shard drops the Events of all others as `other`.
const OTHER: &str = "podinit_kube_events_ignored_total{reason=\"other\"}";

pub(crate) fn shards(count: u64) -> impl Iterator<Item = Shard> {
    (0..count).map(move |index| format!("{index}/{count}").parse().unwrap())
}

/// What is wrong with the shards of what `all` is of.
pub(crate) fn faults(all: &Exposition, shards: &[Exposition]) -> Vec<String> {
    let mut sums = Exposition::new();
    for (series, value) in shards.iter().flatten() {
        let known = sums.get(series).copied();
        let value = match known {
            None => *value,
            Some(known) if THE_SAME.iter().any(|name| series.starts_with(name)) => {
                assert_eq!(*value, known, "{series}");
                known
            }
            Some(known) if series.starts_with(LEAST) => known.min(*value),
            Some(known) => known + value,
        };
        sums.insert(series.clone(), value);
    }
    let mut all = all.clone();
    for figures in [&mut all, &mut sums] {
        figures.remove(OTHER);
        // The own pods of a shard give it ([§14.7](crate::specification#s14-7)).
        figures.retain(|series, _| !series.contains("step=\"first_pod\""));
    }
    compare::differences(&all, &sums)
}

/// Adds its shard to the name of each pod, also where Events state it, so that pods take the names of pods of their own
/// shard only. Nodes have no namespace, and keep their names.
fn name_by_shard(value: &mut Value, shard_of: &impl Fn(&str) -> usize) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| name_by_shard(item, shard_of)),
        Value::Object(fields) => {
            let text = |field: &str| fields.get(field).and_then(Value::as_str);
            if let (Some(uid), Some(_), Some(name)) = (text("uid"), text("namespace"), text("name"))
            {
                let name = format!("{name}-{}", shard_of(uid));
                fields.insert("name".to_owned(), name.into());
            }
            fields.values_mut().for_each(|field| name_by_shard(field, shard_of));
        }
        _ => {}
    }
}

#[test]
fn the_shards_of_random_histories_add_up() {
    let faults_of = |seed: u64| {
        let History { mut documents, options } = history::generate(seed);
        let count = 2 + seed % 4;
        let of_shard = |index| Options { shard: Some((index, count)), ..options.clone() };
        let of_shards: Vec<Options> = (0..count).map(of_shard).collect();
        let shard_of = |uid: &str| of_shards.iter().position(|of| of.accounts_for(uid)).unwrap();
        documents.iter_mut().for_each(|document| name_by_shard(document, &shard_of));
        let text = history::text(&documents);
        let of = |shard| implementation::figures_of_shard(&text, &options, shard);
        let parts: Vec<_> = shards(count).map(|shard| of(Some(shard))).collect();
        let mut faults = faults(&of(None), &parts);
        // The times of first pods, too, are those of each shard's own.
        faults.retain(|line| !options.nodes || !line.starts_with("podinit_clock_anomalies_total"));
        for (shard, (part, options)) in parts.iter().zip(&of_shards).enumerate() {
            let expected = reading::read(&documents, options).exposition();
            let different = compare::differences(&expected, part);
            // Which Events a shard drops is told above, and when it looks at deadlines is its own affair.
            let is_told = |line: &String| !line.starts_with("podinit_kube_events_ignored_total");
            let of_shard = different.into_iter().filter(is_told);
            faults.extend(of_shard.map(|line| format!("shard {shard}: {line}")));
        }
        // A shard has parts of workloads, and so no rollouts.
        faults.retain(|line| !line.contains("podinit_rollout"));
        faults
    };
    let failing =
        seeds::first(seeds::asked().unwrap_or(HISTORIES), |seed| !faults_of(seed).is_empty());
    if let Some(seed) = failing {
        panic!("seed {seed}\n{}", faults_of(seed).join("\n"));
    }
}

#[test]
fn the_shards_of_recordings_add_up() {
    for file in recordings() {
        for count in [1, 3, 4] {
            let parts: Vec<_> = shards(count).map(|shard| replayed(&file, Some(shard))).collect();
            let faults = faults(&replayed(&file, None), &parts);
            assert!(faults.is_empty(), "{}: {}", file.display(), faults.join("\n"));
        }
    }
}

/// The figures of a recording with everything that can be measured of it.
fn replayed(file: &Path, shard: Option<Shard>) -> Exposition {
    let documents = Recording::open(file, DecodeOptions::default()).unwrap();
    let mut config = ExpositionConfig::default();
    config.replay.tracker.timestamps = TimestampMode::Fused;
    config.replay.tracker.events = true;
    config.replay.shard = shard;
    let printed = expose(documents, config).unwrap();
    let printed = printed.encode(ExpositionFormat::Text).unwrap();
    exposition::parse(&String::from_utf8(printed).unwrap())
}

/// A list of a pod of another shard is one without it, and moves time.
#[test]
fn a_pod_of_another_shard_is_not_there_and_still_moves_time() {
    let pod = |uid: &str, second: u32| {
        format!(
            r#"{{"kind":"PodList","items":[{{"metadata":{{"uid":"{uid}","creationTimestamp":"2026-01-01T00:00:{second:02}Z"}}}}]}}"#
        )
    };
    // Of two shards, `a` and `b` are in the second, `web-0` is in the first.
    let text = [pod("a", 0), pod("web-0", 30), pod("b", 31)].concat();
    let of = |shard: &str| {
        let recording = Recording::from_reader(
            "test",
            std::io::Cursor::new(text.clone()),
            DecodeOptions::default(),
        );
        let mut config = ExpositionConfig::default();
        config.replay.shard = Some(shard.parse().unwrap());
        let printed = expose(recording, config).unwrap().encode(ExpositionFormat::Text).unwrap();
        exposition::parse(&String::from_utf8(printed).unwrap())
    };
    let finished = "podinit_pods_finished_total{outcome=\"vanished\"}";
    let figures = |figures: Exposition| {
        ["podinit_pods_discovered_total", finished, "podinit_remembered_pods"]
            .map(|name| figures[name])
    };
    assert_eq!(figures(of("1/2")), [2.0, 1.0, 1.0]);
    assert_eq!(figures(of("0/2")), [1.0, 1.0, 0.0]);
}
