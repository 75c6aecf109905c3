//! Tests of the dashboards as they are checked in; `tests/dashboards` generates them, and compares them with their
//! definitions. `tests/e2e/queries/run` executes every query with a real Prometheus.

mod links;
mod lint;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use podinit::families;
use serde::Deserialize;

use reading::{Dashboard, is_shown, metrics_of, variables_of};

fn repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

/// The text of each dashboard that is checked in, by the name of its file.
fn texts() -> BTreeMap<String, String> {
    let files = fs::read_dir(repository("dashboards")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let boards = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    boards.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

fn checked_in() -> Vec<Dashboard> {
    let boards = texts().into_iter();
    boards.map(|(name, text)| Dashboard::new(&name, serde_json::from_str(&text).unwrap())).collect()
}

/// A dashboard without what no picture shows: its links to the others, and descriptions.
fn without_unseen(text: &str) -> String {
    let begin = text.find("\n  \"links\": [").unwrap();
    let length = text[begin..].find("\n  ],").unwrap();
    let seen = [&text[..begin], &text[begin + length..]].concat();
    let lines = seen.lines();
    lines
        .filter(|line| !line.trim_start().starts_with("\"description\":"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_preview_has_the_age_of_what_it_shows() {
    let board = |link: &str, description: &str, title: &str| {
        without_unseen(&format!(
            "{{\n  \"links\": [\n    {link}\n  ],\n  \"description\": \"{description}\",\n  \"title\": \"{title}\"\n}}\n"
        ))
    };
    let drawn = board("one", "Words.", "Stages");
    assert_eq!(board("two", "Words.", "Stages"), drawn);
    assert_eq!(board("one", "Other words.", "Stages"), drawn);
    assert_ne!(board("one", "Words.", "Nodes"), drawn);
}

/// A picture shows what its dashboard shows: `dashboards/previews/draw` writes down which JSON it has drawn.
#[test]
fn no_preview_is_older_than_its_dashboard() {
    use sha2::{Digest, Sha256};
    let drawn = fs::read_to_string(repository("dashboards/previews/drawn.json")).unwrap();
    let drawn: BTreeMap<String, String> = serde_json::from_str(&drawn).unwrap();
    let present = texts().into_iter().map(|(name, text)| {
        let digest = Sha256::digest(without_unseen(&text).as_bytes());
        (name, digest.iter().map(|byte| format!("{byte:02x}")).collect())
    });
    assert_eq!(drawn, present.collect(), "draw them: dashboards/previews/draw");
    for name in drawn.keys() {
        let picture = repository(&format!("dashboards/previews/{name}.png"));
        assert!(Path::new(&picture).is_file(), "{picture}");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kustomization {
    generator_options: GeneratorOptions,
    config_map_generator: Vec<ConfigMap>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeneratorOptions {
    disable_name_suffix_hash: bool,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ConfigMap {
    name: String,
    files: Vec<String>,
}

#[test]
fn every_dashboard_has_its_config_map() {
    let yaml = fs::read_to_string(repository("dashboards/kustomization.yaml")).unwrap();
    let kustomization: Kustomization = serde_saphyr::from_str(&yaml).unwrap();
    let options = kustomization.generator_options;
    assert!(options.disable_name_suffix_hash);
    assert_eq!(options.labels["grafana_dashboard"], "1");
    let mut boards = texts();
    for map in kustomization.config_map_generator {
        let name = map.name.strip_prefix("podinit-dashboard-").unwrap();
        let size = boards.remove(name).unwrap().len();
        assert_eq!(map.files, [format!("podinit-{name}.json={name}.json")]);
        assert!(size < 200_000, "kubectl apply could not apply {name}");
    }
    assert!(boards.is_empty(), "without a ConfigMap: {:?}", boards.keys());
}

#[test]
fn the_linter_finds_nothing() {
    let found: Vec<String> = checked_in().iter().flat_map(lint::complaints).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn names_are_unique() {
    let boards = checked_in();
    let once = |names: Vec<String>| {
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
    };
    once(boards.iter().map(|board| board.text("/uid")).collect());
    once(boards.iter().map(|board| board.text("/title")).collect());
    for board in &boards {
        once(board.all_panels().iter().map(|panel| panel["id"].to_string()).collect());
        let panels = board.panels();
        for panel in &panels {
            let targets = panel["targets"].as_array().unwrap();
            once(targets.iter().map(|target| target["refId"].to_string()).collect());
        }
    }
}

#[test]
fn panels_do_not_overlap() {
    for board in checked_in() {
        let rows = board.shown().iter().filter_map(|panel| panel["panels"].as_array());
        for together in rows.map(Vec::as_slice).chain([board.shown()]) {
            let mut cells = BTreeSet::new();
            for panel in together {
                let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
                assert!(at("x") + at("w") <= 24, "{}", panel["title"]);
                for x in at("x")..at("x") + at("w") {
                    for y in at("y")..at("y") + at("h") {
                        assert!(cells.insert((x, y)), "{}: {}", board.name, panel["title"]);
                    }
                }
            }
        }
    }
}

/// Stricter than the linter, which checks only some kinds of panels.
#[test]
fn every_panel_has_a_description_a_unit_and_queries() {
    for board in checked_in() {
        for panel in board.panels() {
            let title = format!("{}: {}", board.name, panel["title"]);
            let described = panel["description"].as_str().unwrap();
            assert!(described.len() > 20 && described != panel["title"], "{title}");
            assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{title}");
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{title}");
            for target in targets {
                assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
            }
        }
    }
}

/// Durations of pods have exemplars, the delay of the watch has none. No query selects a bucket by its
/// bound: Prometheus 3 writes `le="1.0"` where Prometheus 2 wrote `le="1"`.
#[test]
fn histograms_show_exemplars_and_no_query_selects_a_bucket_bound() {
    for board in checked_in() {
        for panel in board.panels() {
            for target in panel["targets"].as_array().unwrap() {
                let expr = target["expr"].as_str().unwrap();
                assert!(!expr.contains("le=") && !expr.contains("le!"), "{expr}");
                // The durations of changes in place, of nodes and of rollouts come without the name of a pod.
                let kinds = ["_resize_", "_inplace_update_", "_node_startup_", "_rollout_"];
                let has_no_pod = kinds.iter().any(|kind| expr.contains(kind));
                let is_of_pods = expr.contains("_duration_seconds$histogram") && !has_no_pod;
                let is_range = target["range"] == true;
                assert_eq!(target["exemplar"] == true, is_of_pods && is_range, "{expr}");
            }
        }
    }
}

#[test]
fn only_exposed_metrics_are_queried_and_all_are_shown() {
    let exposed: BTreeSet<&str> = families().iter().map(|family| family.name).collect();
    let mut shown = BTreeSet::new();
    for board in checked_in() {
        for expr in board.expressions() {
            for metric in metrics_of(&expr) {
                let known = reading::is_foreign(&metric)
                    || families().iter().any(|family| is_shown(family, &metric));
                assert!(known, "{}: nobody exposes {metric}: {expr}", board.name);
                shown.extend(exposed.iter().filter(|name| metric.starts_with(**name)));
            }
        }
    }
    let missing: Vec<_> = exposed.difference(&shown).collect();
    assert!(missing.is_empty(), "on no dashboard: {missing:?}");
}

#[test]
fn variables_are_defined_and_used() {
    for board in checked_in() {
        let defined: BTreeSet<String> = board.variables().into_keys().collect();
        let mut used: BTreeSet<String> = BTreeSet::from(["datasource".to_owned()]);
        for text in board.strings() {
            used.extend(variables_of(&text));
        }
        used.retain(|name| !name.starts_with("__"));
        assert_eq!(used, defined, "{}", board.name);
    }
}

#[test]
fn thresholds_of_the_slos_are_drawn() {
    let draws = |board: &Dashboard| {
        board.expressions().any(|expr| expr.contains("podinit_slo_threshold_seconds"))
    };
    let drawn: Vec<String> =
        checked_in().into_iter().filter(draws).map(|board| board.name).collect();
    assert_eq!(drawn, ["drill-down", "overview", "stages", "stuck-and-failed"]);
}
