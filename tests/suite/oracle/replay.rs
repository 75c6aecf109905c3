//! `podinit replay` against an oracle: a plain, slow reading of the specification that shares no
//! code with the implementation.
//!
//! The histories come from their seeds alone, so a failure is repeated by running it again. It
//! names the seed and shows the fewest documents that still fail.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::oracle::examples::Example;
use crate::oracle::figures::Exposition;
use crate::oracle::history::{self, History};
use crate::oracle::mutants::{self, Mutant};
use crate::oracle::reading::{self, Options};
use crate::oracle::{compare, examples, implementation, seeds};
use serde_json::Value;

/// The most random histories in which something is looked for; the search ends when all is found.
const MOST_HISTORIES: u64 = 6_000;

/// Seeds whose histories, one after the other, notice every injected bug that no example notices. They make
/// the search short and decide nothing: it goes on through all seeds while anything is left.
/// `ORACLE_PRINT_SEEDS=1` searches all seeds and prints those to write here.
const NOTICING: [u64; 14] = [1, 3, 5, 10, 7, 18, 49, 54, 65, 71, 104, 143, 332, 1227];

/// The same of the histories that move every counter.
const MOVING: [u64; 123] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 15, 17, 18, 21, 22, 26, 27, 28, 29, 33, 34, 36, 37,
    38, 39, 41, 45, 46, 47, 49, 51, 52, 54, 55, 56, 58, 60, 61, 64, 66, 69, 75, 76, 77, 84, 85, 88,
    91, 92, 97, 99, 100, 104, 111, 112, 117, 124, 126, 135, 144, 145, 156, 157, 162, 172, 174, 192,
    196, 207, 210, 213, 214, 218, 221, 226, 237, 240, 242, 243, 252, 253, 255, 267, 268, 275, 276,
    283, 337, 358, 375, 423, 489, 506, 536, 559, 572, 590, 605, 624, 665, 684, 722, 751, 798, 837,
    955, 1019, 1127, 1263, 1296, 1333, 1373, 1489, 1527, 1750, 1776, 1920, 2364, 3424, 4476,
];

fn prints_seeds() -> bool {
    std::env::var_os("ORACLE_PRINT_SEEDS").is_some()
}

/// The seed that is looked at after `index` others, where these come first.
fn seed_at(index: u64, first: &[u64]) -> u64 {
    let first = if prints_seeds() { &[] } else { first };
    let known = usize::try_from(index).ok().and_then(|index| first.get(index));
    known.copied().unwrap_or_else(|| index - first.len() as u64)
}

/// Random histories in what the oracle is asked about itself.
fn fewer_histories() -> u64 {
    seeds::histories() / 4
}

/// The implementation's figures.
fn implementation(documents: &[Value], options: &Options) -> Exposition {
    implementation::figures(&history::text(documents), options)
}

fn expected(documents: &[Value], options: &Options) -> Exposition {
    reading::read(documents, options).exposition()
}

/// What the examples say against these figures.
fn faults(
    examples: Vec<Example>,
    figures: impl Fn(&[Value], &Options) -> Exposition,
) -> Vec<String> {
    let mut faults = Vec::new();
    for example in examples {
        let actual = figures(&example.documents, &example.options);
        for fault in examples::faults(&example, &actual) {
            faults.push(format!("{}\n    {fault}", example.says));
        }
    }
    faults
}

#[test]
fn the_oracle_agrees_with_the_figures_computed_by_hand() {
    let faults = faults(examples::all(), expected);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_implementation_agrees_with_the_figures_computed_by_hand() {
    let faults = faults(examples::all(), implementation);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_implementation_agrees_with_the_oracle_on_random_histories() {
    let differences = |documents: &[Value], options: &Options| {
        let actual = implementation(documents, options);
        compare::differences(&expected(documents, options), &actual)
    };
    let failing = seeds::first(seeds::histories(), |seed| {
        let history = history::generate(seed);
        !differences(&history.documents, &history.options).is_empty()
    });
    if let Some(seed) = failing {
        let History { documents, options } = history::generate(seed);
        let fewest = compare::shrink(&documents, |left| !differences(left, &options).is_empty());
        panic!(
            "seed {seed}, {options:?}\n{}\n{}",
            history::text(&fewest),
            differences(&fewest, &options).join("\n")
        );
    }
}

/// [§17](crate::specification#s17)
#[test]
fn the_implementation_agrees_with_the_oracle_on_random_rollouts() {
    let differences = |documents: &[Value], options: &Options| {
        let actual = implementation(documents, options);
        compare::differences(&expected(documents, options), &actual)
    };
    let failing = seeds::first(seeds::histories(), |seed| {
        let history = history::rollouts(seed);
        !differences(&history.documents, &history.options).is_empty()
    });
    if let Some(seed) = failing {
        let History { documents, options } = history::rollouts(seed);
        let fewest = compare::shrink(&documents, |left| !differences(left, &options).is_empty());
        panic!(
            "seed {seed}, {options:?}\n{}\n{}",
            history::text(&fewest),
            differences(&fewest, &options).join("\n")
        );
    }
}

#[test]
fn random_rollouts_come_to_every_figure() {
    let mut unmoved: BTreeSet<String> = BTreeSet::new();
    let mut moved: BTreeSet<String> = BTreeSet::new();
    for seed in 0..160 {
        let History { documents, options } = history::rollouts(seed);
        let options = Options { labels: &[], ..options };
        let figures = expected(&documents, &options).into_iter();
        let of_rollouts = figures.filter(|(series, _)| {
            series.starts_with("podinit_rollout") && !series.contains("_bucket")
        });
        for (series, value) in of_rollouts {
            let seen = if value == 0.0 { &mut unmoved } else { &mut moved };
            seen.insert(series);
        }
    }
    assert_eq!(moved.len(), 14, "{moved:?}");
    assert!(unmoved.is_subset(&moved), "{:?}", unmoved.difference(&moved));
}

/// [§5.7](crate::specification#s5-7), at the end of every history.
#[test]
fn what_was_discovered_is_finished_or_in_flight() {
    let failing = seeds::first(fewer_histories(), |seed| {
        let History { documents, options } = history::generate(seed);
        let figures = expected(&documents, &options);
        let sum = |family: &str| -> f64 {
            let of_family = figures.iter().filter(|(series, _)| series.starts_with(family));
            of_family.map(|(_, value)| value).sum()
        };
        let in_the_books = sum("podinit_pods_finished_total") + sum("podinit_inflight_pods");
        sum("podinit_pods_discovered_total") != in_the_books
    });
    assert_eq!(failing, None, "a seed whose books do not add up");
}

/// [§5.1](crate::specification#s5-1): "never on duplicates".
#[test]
fn a_pod_event_that_comes_twice_changes_nothing() {
    let failing = seeds::first(fewer_histories(), |seed| {
        let History { documents, options } = history::generate(seed);
        let twice: Vec<Value> = documents.iter().flat_map(repeated).collect();
        let differences =
            compare::differences(&expected(&documents, &options), &expected(&twice, &options));
        differences.iter().any(|series| !series.starts_with("podinit_watch_events_total"))
    });
    assert_eq!(failing, None, "a seed whose duplicates count");
}

/// The families and series that no Event changes: what [§9.2](crate::specification#s9-2) to
/// [§9.4](crate::specification#s9-4) say of Events is about NetworkReady and what follows from it. One of the scheduler's
/// moves Scheduled, and with it the sums of what begins there ([§4.8](crate::specification#s4-8)).
const BEYOND_EVENTS: [&str; 15] = [
    "podinit_pods_discovered_total",
    "podinit_pods_finished_total",
    "podinit_reentries_total",
    "podinit_watch_events_total",
    "podinit_scheduled_to_ready_duration_seconds_count",
    "podinit_created_to_ready_duration_seconds",
    "podinit_stage_duration_seconds_count{namespace=\"ns\",stage=\"gated\"}",
    "podinit_stage_duration_seconds_sum{namespace=\"ns\",stage=\"scheduling\"}",
    "podinit_stage_duration_seconds_sum{namespace=\"ns\",stage=\"unschedulable\"}",
    "podinit_stage_duration_seconds_sum{namespace=\"ns\",stage=\"readiness\"}",
    "podinit_step_duration_seconds_sum{namespace=\"ns\",step=\"acknowledge\"}",
    "podinit_step_duration_seconds_sum{namespace=\"ns\",step=\"probe\"}",
    "podinit_startups_disrupted_total",
    "podinit_resiz",
    "podinit_inplace_update_duration_seconds",
];

/// Lost, late, doubled, reordered and combined Events are all in the histories.
#[test]
fn events_change_no_figure_but_those_that_follow_from_the_network() {
    let changes = |documents: &[Value], options: &Options| {
        let of = |figures: &dyn Fn(&[Value], &Options) -> Exposition| {
            let with = |events| figures(documents, &Options { events, ..options.clone() });
            compare::differences(&with(false), &with(true))
        };
        let mut differences = [of(&expected), of(&implementation)].concat();
        differences.retain(|line| BEYOND_EVENTS.iter().any(|beyond| line.starts_with(beyond)));
        differences
    };
    let failing = seeds::first(fewer_histories(), |seed| {
        let History { documents, options } = history::generate(seed);
        !changes(&documents, &options).is_empty()
    });
    if let Some(seed) = failing {
        let History { documents, options } = history::generate(seed);
        let fewest = compare::shrink(&documents, |left| !changes(left, &options).is_empty());
        let (text, changes) = (history::text(&fewest), changes(&fewest, &options));
        panic!("seed {seed}, {options:?}: Events change other figures\n{text}\n{changes:#?}");
    }
}

/// [§9.2](crate::specification#s9-2), [§9.3](crate::specification#s9-3): the first of each kind
/// counts, and a further one is only dropped once more.
#[test]
fn an_event_that_comes_twice_changes_nothing() {
    let is_event = |document: &Value| {
        let object = document.get("object").unwrap_or(document);
        object["kind"] == "Event" || document["kind"] == "EventList"
    };
    let failing = seeds::first(fewer_histories(), |seed| {
        let History { documents, options } = history::generate(seed);
        let twice = documents.iter().flat_map(|document| {
            let copies = if is_event(document) { 2 } else { 1 };
            vec![document.clone(); copies]
        });
        let twice: Vec<Value> = twice.collect();
        let counts_twice = |figures: &dyn Fn(&[Value], &Options) -> Exposition| {
            let differences =
                compare::differences(&figures(&documents, &options), &figures(&twice, &options));
            differences.iter().any(|line| !line.starts_with("podinit_kube_events_ignored_total"))
        };
        counts_twice(&expected) || counts_twice(&implementation)
    });
    assert_eq!(failing, None, "a seed whose Events count twice");
}

/// Pod events twice, and everything else once: a list or a bookmark again is a gap, and an Event is
/// dropped once more.
fn repeated(document: &Value) -> Vec<Value> {
    let kind = document["type"].as_str();
    let is_of_pod = document["object"]["kind"] != "Event";
    let is_pod_event = is_of_pod && matches!(kind, Some("ADDED" | "MODIFIED" | "DELETED"));
    vec![document.clone(); if is_pod_event { 2 } else { 1 }]
}

/// The examples are held against what is named and what is not.
#[test]
fn an_example_notices_a_figure_too_many_and_one_too_few() {
    for example in examples::all() {
        let mut figures = expected(&example.documents, &example.options);
        let of_rollouts =
            example.expected.contains("rollouts") || example.expected.contains("held");
        let series = match example.options.slos.first() {
            _ if of_rollouts => {
                "podinit_rollouts_total{namespace=\"ns\",outcome=\"rolled_back\"}".to_owned()
            }
            Some(slo) => format!("podinit_slo_events_total{{result=\"bad\",slo=\"{}\"}}", slo.name),
            None => "podinit_unobserved_total{interval=\"init\",reason=\"not_seen\"}".to_owned(),
        };
        *figures.entry(series).or_insert(0.0) += 1.0;
        assert_eq!(examples::faults(&example, &figures).len(), 1, "{}", example.says);
        let expects_nothing = example.expected.is_empty();
        assert!(
            expects_nothing || !examples::faults(&example, &Exposition::new()).is_empty(),
            "{}",
            example.says
        );
    }
}

mod slow {
    use super::*;

    /// The histories reach every figure that can be other than 0.
    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn every_counter_is_moved_by_some_history() {
        let impossible = [
            // Gates are shown by the watch alone: no condition states them, and what has been seen
            // with gates cannot have lost them before it was first seen.
            "podinit_unobserved_total{interval=\"gated\",reason=\"condition_absent\"}",
            "podinit_unobserved_total{interval=\"gated\",reason=\"preexisting\"}",
            // A pod that is Ready at first sight is preexisting as a whole.
            "podinit_unobserved_total{interval=\"readiness\",reason=\"preexisting\"}",
            // Unschedulable is said by PodScheduled=False, which is there then, and not yet True.
            "podinit_unobserved_total{interval=\"unschedulable\",reason=\"condition_absent\"}",
            "podinit_slo_excluded_total{reason=\"condition_absent\",slo=\"gated\"}",
            // Every pod enters these.
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"network\"}",
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"containers\"}",
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"scheduled-to-ready\"}",
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"created-to-ready\"}",
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"acknowledge\"}",
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"sandbox\"}",
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"start\"}",
            "podinit_slo_excluded_total{reason=\"not_entered\",slo=\"probe\"}",
            // They are judged with the Ready that ends the pod.
            "podinit_slo_excluded_total{reason=\"not_seen\",slo=\"scheduled-to-ready\"}",
            "podinit_slo_excluded_total{reason=\"not_seen\",slo=\"created-to-ready\"}",
        ];
        // The causes of bad events are the same for every SLO, and too many for each of them to be met.
        let without_slo = |series: String| match series.starts_with("podinit_slo_bad_causes_total")
        {
            true => {
                let labels = series.split(',').filter(|label| !label.starts_with("slo="));
                labels.collect::<Vec<_>>().join(",")
            }
            false => series,
        };
        // Causes of later stages in the stage `network`, for kubelets without the network condition: random histories
        // hardly ever end with such a pull, or make such pods miss an SLO.
        let later = [
            "image",
            "config",
            "crash",
            "exited",
            "pull",
            "create",
            "run",
            "probe",
            "readiness_gate",
        ];
        let is_rare = |series: &str| {
            let has = |cause: &&str| series.contains(&format!("cause=\"{cause}\""));
            let is_bad = series.starts_with("podinit_slo_bad_causes_total");
            series.contains("stage=\"network\"")
                && (is_bad && later.iter().any(has)
                    || series.starts_with("podinit_waiting_pods") && has(&"pull"))
        };
        let is_expected = |series: &str| {
            // Of the values of nodes' labels there are too many.
            let is_of_pool =
                series.contains("nodepool=") && !series.starts_with("podinit_node_startup");
            let is_of_node_step = series.starts_with("podinit_unobserved_total")
                && series.contains("interval=\"node_")
                && !series.contains("reason=\"time\"");
            // A pod that was unschedulable, and is then bound and lacks the condition.
            let is_of_lost_condition = series.contains("stage=\"unschedulable\"")
                && series.contains("cause=\"acknowledge\"");
            !impossible.contains(&series)
                && !series.contains("_bucket")
                && !is_rare(series)
                // Those have histories of their own.
                && !series.starts_with("podinit_rollout")
                && !is_of_lost_condition
                && !is_of_pool
                && !is_of_node_step
        };
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut unmoved: BTreeSet<String> = BTreeSet::new();
        let mut moving = Vec::new();
        for example in examples::all() {
            for (series, value) in expected(&example.documents, &example.options) {
                if value != 0.0 && is_expected(&series) {
                    seen.insert(without_slo(series));
                }
            }
        }
        for index in 0..MOST_HISTORIES {
            let seed = seed_at(index, &MOVING);
            let History { documents, options } = history::generate(seed);
            for (series, value) in expected(&documents, &options) {
                let series = without_slo(series);
                let is_first = is_expected(&series) && seen.insert(series.clone());
                if value != 0.0 {
                    if unmoved.remove(&series) || (is_first && moving.last() != Some(&seed)) {
                        moving.push(seed);
                    }
                } else if is_first {
                    unmoved.insert(series);
                }
            }
            let least = fewer_histories() + MOVING.len() as u64;
            if index >= least && unmoved.is_empty() {
                break;
            }
        }
        if prints_seeds() {
            moving.dedup();
            println!("MOVING {moving:?}");
        }
        assert!(unmoved.is_empty(), "{unmoved:?}");
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn every_injected_bug_is_distinguished() {
        let examples = examples::all();
        let mut left = mutants::all();
        left.retain(|mutant| {
            examples.iter().all(|Example { documents, options, .. }| {
                reading::read_by(mutant.rules, documents, options)
                    == reading::read(documents, options)
            })
        });
        let unnoticed: Mutex<Vec<&Mutant>> = Mutex::new(left);
        let noticing = Mutex::new(Vec::new());
        seeds::first(MOST_HISTORIES, |index| {
            let seed = seed_at(index, &NOTICING);
            for History { documents, options } in [history::generate(seed), history::rollouts(seed)]
            {
                let right = reading::read(&documents, &options);
                let still_unnoticed = unnoticed.lock().unwrap().clone();
                for mutant in &still_unnoticed {
                    if reading::read_by(mutant.rules, &documents, &options) != right {
                        noticing.lock().unwrap().push(seed);
                        unnoticed.lock().unwrap().retain(|other| other.name != mutant.name);
                    }
                }
            }
            unnoticed.lock().unwrap().is_empty()
        });
        if prints_seeds() {
            println!("NOTICING {:?}", noticing.lock().unwrap());
        }
        let unnoticed = unnoticed.into_inner().unwrap();
        let unnoticed: Vec<&str> = unnoticed.iter().map(|mutant| mutant.name).collect();
        assert!(unnoticed.is_empty(), "no example and no history notices {unnoticed:?}");
    }
}
