//! Histories written by hand, each with the sentence of the specification that it holds, and the
//! figures that a person computed. Data, so that oracle and implementation face the same table.

mod capacity;
mod causes;
mod cold_start;
mod documents;
mod event_source;
mod evidence;
mod fold;
mod gaps;
mod milestones;
mod named;
mod never_ready;
mod node_pods;
mod nodes;
mod outcomes;
mod pulls;
mod rejected;
mod relapses;
mod rollouts;
mod scheduler_clauses;
mod slo_deadlines;
mod slo_entry;
mod slo_events;
mod slo_late;
mod slo_pods;
mod slo_selection;
mod slo_sync;
mod stages;
mod steps;
mod time;

use serde_json::Value;

use super::build::{Pod, instant, pod};
use super::figures::{Exposition, is_known, seconds, series};
use super::reading::{Namespaces, Options, Own, OwnInterval, Slo, SloInterval, Start, Timestamps};

/// One history and what it must come to.
#[derive(Clone)]
pub(crate) struct Example {
    /// The section and the sentence it checks
    pub(crate) says: &'static str,
    pub(crate) documents: Vec<Value>,
    pub(crate) options: Options,
    /// One figure a line, see [`expand`]; what is not named must be 0
    pub(crate) expected: &'static str,
}

pub(crate) const API: Options = Options::DEFAULT;
pub(crate) const FUSED: Options = Options::of(Timestamps::Fused, false, [false, false]);
pub(crate) const BACKFILL: Options = Options::of(Timestamps::Api, true, [false, false]);
pub(crate) const EVENTS: Options = Options::of(Timestamps::Api, false, [true, false]);
pub(crate) const FUSED_EVENTS: Options = Options::of(Timestamps::Fused, false, [true, false]);
pub(crate) const NODES: Options = Options::of(Timestamps::Api, false, [false, true]);
pub(crate) const FUSED_NODES: Options = Options::of(Timestamps::Fused, false, [false, true]);
pub(crate) const BOTH: Options = Options::of(Timestamps::Api, false, [true, true]);

/// Names of SLOs have hyphens.
fn slo_name(interval: &str) -> String {
    interval.replace('_', "-")
}

/// The options with an SLO for each of these intervals, called like it, with these thresholds in
/// seconds.
fn slos<const N: usize>(options: Options, thresholds: [(&str, f64); N]) -> Options {
    let slo = |(interval, seconds): (&str, f64)| Slo {
        name: slo_name(interval),
        interval: SloInterval::named(interval)
            .or_else(|| of_milestone(options.milestones, interval))
            .unwrap_or_else(|| panic!("no interval {interval}")),
        threshold_millis: (seconds * 1_000.0) as u64,
        objective: 99.5,
        window: "30d",
        namespaces: Namespaces::All,
        owner_kinds: Vec::new(),
        existing_capacity: false,
        present_images: false,
    };
    Options { slos: thresholds.into_iter().map(slo).collect(), ..options }
}

/// The duration of a milestone of your own that is called so.
fn of_milestone(milestones: &[Own], interval: &str) -> Option<SloInterval> {
    let of = |own: &Own| Start::ALL.map(|from| OwnInterval { own: *own, from });
    let mut all = milestones.iter().flat_map(of);
    all.find(|own| own.name() == interval).map(SloInterval::Own)
}

/// The same SLOs, of startups on existing capacity (`[true, _]`) or with present images (`[_, true]`) only.
fn selecting([capacity, images]: [bool; 2], mut options: Options) -> Options {
    for slo in &mut options.slos {
        slo.existing_capacity = capacity;
        slo.present_images = images;
    }
    options
}

pub(crate) fn example(
    says: &'static str,
    options: Options,
    documents: Vec<Value>,
    expected: &'static str,
) -> Example {
    Example { says, documents, options, expected }
}

/// A pod that has become ready without init containers.
fn ready(name: &str) -> Pod {
    pod(name).all([1.0, 4.0, 3.0, 9.0, 10.0])
}

/// The figures of one [`ready`] pod that was observed in full.
const READY_IN_FULL: &str = "finished ready 1
    scheduling 1 1
    network 1 3
    containers 1 5
    scheduled_to_ready 1 9
    created_to_ready 1 10";

/// Every example there is.
pub(crate) fn all() -> Vec<Example> {
    [
        stages::examples(),
        milestones::examples(),
        named::examples(),
        time::examples(),
        fold::examples(),
        cold_start::examples(),
        gaps::examples(),
        outcomes::examples(),
        rejected::examples(),
        relapses::examples(),
        rollouts::examples(),
        scheduler_clauses::examples(),
        documents::examples(),
        slo_events::examples(),
        slo_entry::examples(),
        slo_deadlines::examples(),
        slo_sync::examples(),
        slo_late::examples(),
        slo_pods::examples(),
        slo_selection::examples(),
        never_ready::examples(),
        steps::examples(),
        evidence::examples(),
        pulls::examples(),
        event_source::examples(),
        nodes::examples(),
        node_pods::examples(),
        causes::examples(),
        capacity::examples(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What is wrong with the figures for the example; empty when nothing is.
pub(crate) fn faults(example: &Example, actual: &Exposition) -> Vec<String> {
    let expected = expand(example.expected);
    let of_slos = !example.options.slos.is_empty();
    let topics: Vec<&str> = expected.keys().filter_map(|series| topic(series)).collect();
    let named = |series: &String| expected.get(series).copied().unwrap_or(0.0);
    let mut all: Vec<&String> = expected.keys().chain(actual.keys()).collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .filter(|series| expected.contains_key(*series) || is_told(series, of_slos, &topics))
        .filter(|series| {
            let held = actual.get(*series).copied().unwrap_or(0.0);
            (named(series) - held).abs() > 1e-6
        })
        .map(|series| format!("{series}: expected {}, got {:?}", named(series), actual.get(series)))
        .collect()
}

/// Whether an example has to name the series where it is not 0. Buckets follow from the rest of an
/// exposition; how many events were read and how late they came is told where it is the point. An
/// example of SLOs has to tell their events and nothing else. What has a [`topic`] is told by the
/// examples that name it.
fn is_told(series: &str, of_slos: bool, topics: &[&str]) -> bool {
    if let Some(topic) = topic(series) {
        return topics.contains(&topic) && !series.contains("_bucket");
    }
    // Those of rollouts tell nothing else.
    if topics.contains(&ROLLOUTS) {
        return false;
    }
    let untold = [
        "podinit_watch_events_total",
        "podinit_watch_delivery_seconds",
        "podinit_oldest_inflight_pod_timestamp_seconds",
        "podinit_pods_discovered_total",
    ];
    let is_slo_event = ["podinit_slo_events_total", "podinit_slo_excluded_total"]
        .iter()
        .any(|family| series.starts_with(family));
    if of_slos {
        return is_slo_event;
    }
    is_known(series)
        && !series.contains("_bucket")
        && !untold.iter().any(|family| series.starts_with(family))
}

/// The topic of [§17](crate::specification#s17)
const ROLLOUTS: &str = "rollouts";

/// What [§9](crate::specification#s9), [§10](crate::specification#s10), [§16](crate::specification#s16) or
/// [§17](crate::specification#s17) it is a figure of, if it is one.
fn topic(series: &str) -> Option<&'static str> {
    const FAMILIES: [(&str, &str); 18] = [
        ("podinit_gate", "gates"),
        ("podinit_milestone_", "own"),
        ("podinit_cold_start_duration_seconds", "startups"),
        ("podinit_node_startup_duration_seconds", "nodes"),
        ("podinit_nodes_", "nodes"),
        ("podinit_starting_nodes", "nodes"),
        ("podinit_late_nodes", "nodes"),
        ("podinit_step_duration_seconds", "steps"),
        ("podinit_network_evidence_total", "evidence"),
        ("podinit_kube_events_ignored_total", "dropped"),
        ("podinit_image", "pulls"),
        ("podinit_pod_start_sli", "sli"),
        ("podinit_waiting_pods", "waiting"),
        ("podinit_unschedulable_pods", "capacity"),
        ("podinit_slo_bad_causes_total", "blamed"),
        ("podinit_startups_disrupted_total", "disruptions"),
        ("podinit_resiz", "in_place"),
        ("podinit_rollout", ROLLOUTS),
    ];
    const STEPS: [&str; 7] =
        ["acknowledge", "sandbox", "start", "probe", "node_launch", "node_ready", "node_join"];
    let is_of_step = |step: &&str| {
        series.starts_with("podinit_unobserved_total")
            && series.contains(&format!("interval=\"{step}\""))
    };
    if STEPS.iter().any(is_of_step) {
        return Some("steps");
    }
    if series.starts_with("podinit_inplace_update_duration_seconds") {
        return Some("in_place");
    }
    let mut families = FAMILIES.iter();
    let of_family = families.find(|(family, _)| series.starts_with(family));
    of_family.map(|(_, topic)| *topic)
}

/// Spells the short lines out:
/// `finished OUTCOME n`, `inflight STAGE n [since SECONDS]`, `unobserved STAGE REASON n`,
/// `anomaly KIND n`, `reentries MILESTONE n`, `events TYPE n`, `delivered COUNT SUM`,
/// `discovered n`, `slo NAME good|bad n`, `slo NAME excluded REASON n`,
/// `slo NAME objective|threshold n`, and `INTERVAL[@NAMESPACE] COUNT SUM` for a stage, `scheduled_to_ready` or
/// `created_to_ready`. And of [§9](crate::specification#s9) and [§10](crate::specification#s10), see
/// [`expand_evidence`].
fn expand(lines: &str) -> Exposition {
    let mut figures = Exposition::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| -> f64 {
            words[at].parse().unwrap_or_else(|_| panic!("no number: {line}"))
        };
        if expand_evidence(&words, &mut figures) {
            continue;
        }
        match words[..] {
            ["finished", outcome, _] => {
                figures.insert(
                    series("podinit_pods_finished_total", &[("outcome", outcome)]),
                    number(2),
                );
            }
            ["inflight", stage, ..] => {
                figures.insert(series("podinit_inflight_pods", &[("stage", stage)]), number(2));
                if words.len() > 3 {
                    let oldest = "podinit_oldest_inflight_pod_timestamp_seconds";
                    figures
                        .insert(series(oldest, &[("stage", stage)]), seconds(instant(number(4))));
                }
            }
            ["unobserved", stage, reason, _] => {
                let labels = [("interval", stage), ("reason", reason)];
                figures.insert(series("podinit_unobserved_total", &labels), number(3));
            }
            ["anomaly", kind, _] => {
                figures
                    .insert(series("podinit_clock_anomalies_total", &[("kind", kind)]), number(2));
            }
            ["reentries", milestone, _] => {
                figures.insert(
                    series("podinit_reentries_total", &[("milestone", milestone)]),
                    number(2),
                );
            }
            ["events", kind, _] => {
                figures.insert(series("podinit_watch_events_total", &[("event", kind)]), number(2));
            }
            ["slo", name, result @ ("good" | "bad"), _] => {
                let name = slo_name(name);
                let labels = [("slo", name.as_str()), ("result", result)];
                figures.insert(series("podinit_slo_events_total", &labels), number(3));
            }
            ["slo", name, "excluded", reason, _] => {
                let name = slo_name(name);
                let labels = [("slo", name.as_str()), ("reason", reason)];
                figures.insert(series("podinit_slo_excluded_total", &labels), number(4));
            }
            ["slo", name, gauge, _] => {
                let unit = match gauge {
                    "objective" => "ratio",
                    _ => "seconds",
                };
                let slo = slo_name(name);
                let mut labels = vec![("slo", slo.as_str())];
                if gauge == "threshold" {
                    labels.push(("interval", name));
                }
                let gauge = format!("podinit_slo_{gauge}_{unit}");
                figures.insert(series(&gauge, &labels), number(3));
            }
            ["discovered", _] => {
                figures.insert("podinit_pods_discovered_total".to_owned(), number(1));
            }
            ["delivered", ..] => {
                figures.insert("podinit_watch_delivery_seconds_count".to_owned(), number(1));
                figures.insert("podinit_watch_delivery_seconds_sum".to_owned(), number(2));
            }
            [interval, _, _] => {
                let (interval, namespace) = interval.split_once('@').unwrap_or((interval, "ns"));
                let (family, labels) = match interval {
                    "scheduled_to_ready" | "created_to_ready" => {
                        (interval, vec![("namespace", namespace)])
                    }
                    stage => ("stage", vec![("namespace", namespace), ("stage", stage)]),
                };
                figures.insert(
                    series(&format!("podinit_{family}_duration_seconds_count"), &labels),
                    number(1),
                );
                figures.insert(
                    series(&format!("podinit_{family}_duration_seconds_sum"), &labels),
                    number(2),
                );
            }
            _ => panic!("not a figure: {line}"),
        }
    }
    figures
}

/// Spells out: `step NAME COUNT SUM`, `evidence SOURCE n`, `dropped REASON n`,
/// `pulls RESULT REGISTRY n`, `pull_duration|pull_wait REGISTRY COUNT SUM`, `pull_bytes REGISTRY n`,
/// `sli COUNT SUM`, `sli excluded REASON n`, `waiting STAGE CAUSE n`, `capacity STATE n`, `blamed SLO STAGE CAUSE n`,
/// `disruptions REASON n`, `resizes RESULT n`, `resizing STATE n`, `resize COUNT SUM`,
/// `inplace COUNT SUM`, `startup NODE_AGE IMAGES COUNT SUM`, `node STEP POOL COUNT SUM`, `nodes OUTCOME n`,
/// `nodes discovered n`, `nodes starting|late n`, `gate KIND NAME COUNT SUM`, `gated KIND NAME n`,
/// `own NAME FROM COUNT SUM`, `own NAME unobserved REASON n`, `rollouts OUTCOME n`, `rollout COUNT SUM`,
/// `held BY SECONDS` and `progress BY n`. Whether the line is one of these.
fn expand_evidence(words: &[&str], figures: &mut Exposition) -> bool {
    let number =
        |text: &str| -> f64 { text.parse().unwrap_or_else(|_| panic!("no number: {text}")) };
    let mut put = |name: &str, labels: &[(&str, &str)], value: &str| {
        figures.insert(series(name, labels), number(value));
        true
    };
    let mut histogram = |name: &str, labels: &[(&str, &str)], count: &str, sum: &str| {
        put(&format!("podinit_{name}_seconds_count"), labels, count);
        put(&format!("podinit_{name}_seconds_sum"), labels, sum)
    };
    let namespace = ("namespace", "ns");
    match *words {
        ["step", step, count, sum] => {
            histogram("step_duration", &[("step", step), namespace], count, sum)
        }
        ["pull_duration", registry, count, sum] => {
            histogram("image_pull_duration", &[("registry", registry)], count, sum)
        }
        ["pull_wait", registry, count, sum] => {
            histogram("image_pull_wait", &[("registry", registry)], count, sum)
        }
        ["sli", count, sum] => histogram("pod_start_sli_duration", &[namespace], count, sum),
        ["resize", count, sum] => histogram("resize_duration", &[], count, sum),
        ["inplace", count, sum] => histogram("inplace_update_duration", &[], count, sum),
        ["evidence", source, n] => put("podinit_network_evidence_total", &[("source", source)], n),
        ["dropped", reason, n] => {
            put("podinit_kube_events_ignored_total", &[("reason", reason)], n)
        }
        ["pulls", result, registry, n] => {
            let registry = ("registry", registry);
            match result {
                "failed" => put("podinit_image_pull_failures_total", &[registry], n),
                source => put("podinit_images_total", &[("source", source), registry], n),
            }
        }
        ["pull_bytes", registry, n] => {
            put("podinit_image_pull_bytes_total", &[("registry", registry)], n)
        }
        ["sli", "excluded", reason, n] => {
            put("podinit_pod_start_sli_excluded_total", &[("reason", reason)], n)
        }
        ["capacity", state, n] => put("podinit_unschedulable_pods", &[("capacity", state)], n),
        ["waiting", stage, cause, n] => {
            put("podinit_waiting_pods", &[("stage", stage), ("cause", cause)], n)
        }
        ["blamed", slo, stage, cause, n] => {
            let slo = slo_name(slo);
            let labels = [("slo", slo.as_str()), ("stage", stage), ("cause", cause)];
            put("podinit_slo_bad_causes_total", &labels, n)
        }
        ["relapsed", n] => put("podinit_startups_relapsed_total", &[], n),
        ["disruptions", reason, n] => {
            put("podinit_startups_disrupted_total", &[("reason", reason)], n)
        }
        ["resizes", result, n] => put("podinit_resizes_total", &[("result", result)], n),
        ["startup", age, images, count, sum] => {
            let labels = [("node_age", age), ("images", images)];
            histogram("cold_start_duration", &labels, count, sum)
        }
        ["node", step, pool, count, sum] => {
            let labels = [("step", step), ("nodepool", pool)];
            histogram("node_startup_duration", &labels, count, sum)
        }
        ["nodes", "discovered", n] => put("podinit_nodes_discovered_total", &[], n),
        ["nodes", state @ ("starting" | "late"), n] => {
            let name = match state {
                "starting" => "podinit_starting_nodes",
                _ => "podinit_late_nodes",
            };
            put(name, &[], n)
        }
        ["gate", kind, gate, count, sum] => {
            histogram("gate_duration", &[("kind", kind), ("gate", gate)], count, sum)
        }
        ["gated", kind, gate, n] => put("podinit_gated_pods", &[("kind", kind), ("gate", gate)], n),
        ["own", name, "unobserved", reason, n] => {
            let labels = [("milestone", name), ("reason", reason)];
            put("podinit_milestone_unobserved_total", &labels, n)
        }
        ["own", name, from, count, sum] => {
            let labels = [("milestone", name), ("from", from), namespace];
            histogram("milestone_duration", &labels, count, sum)
        }
        ["rollouts", outcome, n] => {
            put("podinit_rollouts_total", &[("outcome", outcome), namespace], n)
        }
        ["rollout", count, sum] => histogram("rollout_duration", &[namespace], count, sum),
        ["held", by, n] => {
            put("podinit_rollout_held_seconds_total", &[("held_by", by), namespace], n)
        }
        ["progress", by, n] => {
            put("podinit_rollouts_in_progress", &[("held_by", by), namespace], n)
        }
        ["nodes", outcome, n] => put("podinit_nodes_finished_total", &[("outcome", outcome)], n),
        ["resizing", state, n] => put("podinit_resizing_pods", &[("state", state)], n),
        _ => false,
    }
}
