//! The events of SLOs, the causes and the official SLI add up, after every document of a history.

use super::figures::Exposition;
use super::history::{self, History};
use super::reading::{self, Options};
use super::{compare, implementation, seeds};

/// Random histories that are read once for each of their documents.
fn prefixed_histories() -> u64 {
    seeds::asked().map_or(1, |asked| asked / 10)
}

/// [§6](crate::specification#s6): "at every scrape, per SLO: good + bad + excluded + undecided =
/// pods discovered that match it", and no event is taken back.
#[test]
fn every_pod_has_one_event_per_slo_or_is_undecided_after_every_document() {
    let failing = seeds::first(prefixed_histories(), |seed| {
        let History { documents, options } = history::generate(seed);
        let options = Options { until: None, ..options };
        let mut before = Exposition::new();
        (1..=documents.len()).any(|read| {
            let documents = &documents[..read];
            let ours = reading::read(documents, &options).exposition();
            let theirs = implementation::figures(&history::text(documents), &options);
            // The stream that turns out to be the first list begins anew.
            let begins_anew = documents[read - 1]["type"] == "BOOKMARK";
            let taken_back = !begins_anew
                && before.iter().any(|(series, value)| {
                    series.starts_with("podinit_slo_e") && ours[series] < *value
                });
            let unbalanced = options.slos.iter().any(|slo| {
                let standing = reading::standing(documents, &options, slo);
                let decided = standing.matching - standing.undecided;
                standing.forgotten > 0
                    || [&ours, &theirs]
                        .iter()
                        .any(|figures| slo_events(figures, &slo.name) != decided as f64)
            });
            let unequal = [&ours, &theirs].into_iter().any(|figures| {
                has_other_causes_than_pods(figures)
                    || options.events && has_other_capacity_than_pods(figures)
                    || options.slos.iter().any(|slo| bad_without_cause(figures, &slo.name))
            });
            let undecided = reading::sli_undecided(documents, &options);
            let unpromised = options.events
                && [&ours, &theirs]
                    .into_iter()
                    .any(|figures| sli_events(figures) + undecided as f64 != discovered(figures));
            before = ours;
            taken_back || unbalanced || unequal || unpromised
        })
    });
    assert_eq!(failing, None, "a seed whose events do not add up");
}

/// [§16](crate::specification#s16): after every document, the gates that hold pods are those that the pods in flight state,
/// and each pod of which that is settled has one figure of each milestone.
#[test]
fn gates_and_milestones_add_up_after_every_document() {
    let failing = seeds::first(prefixed_histories() * 3, |seed| {
        let History { documents, options } = history::generate(seed);
        let options = Options { until: None, slos: Vec::new(), ..options };
        (1..=documents.len()).any(|read| {
            let documents = &documents[..read];
            let ours = reading::read(documents, &options).exposition();
            let theirs = implementation::figures(&history::text(documents), &options);
            let is_named = |line: &String| {
                line.starts_with("podinit_gate") || line.starts_with("podinit_milestone_")
            };
            let differ = compare::differences(&ours, &theirs).iter().any(is_named);
            let lost = options.milestones.iter().any(|own| {
                let label = format!("milestone=\"{}\"", own.name);
                let observed = theirs.iter().filter(|(series, _)| {
                    series.starts_with("podinit_milestone_duration_seconds_count")
                        && series.contains("from=\"created\"")
                        && series.contains(&label)
                });
                let observed: f64 = observed.map(|(_, pods)| pods).sum();
                let unobserved = sum(&theirs, "podinit_milestone_unobserved_total", &label);
                observed + unobserved != reading::settled(documents, &options, *own) as f64
            });
            differ || lost
        })
    });
    assert_eq!(failing, None, "a seed whose gates and milestones do not add up");
}

/// [§10.1](crate::specification#s10-1): `podinit_waiting_pods`, "over its causes it equals
/// `podinit_inflight_pods{stage}` at every scrape".
fn has_other_causes_than_pods(figures: &Exposition) -> bool {
    let mut in_flight =
        figures.iter().filter(|(series, _)| series.starts_with("podinit_inflight_pods"));
    in_flight.any(|(series, pods)| {
        let stage = series.split('"').nth(1).unwrap_or_default();
        let label = format!("stage=\"{stage}\"");
        sum(figures, "podinit_waiting_pods", &label) != *pods
    })
}

/// [§10.4](crate::specification#s10-4): `podinit_unschedulable_pods`, "over its values it equals
/// `podinit_inflight_pods{stage="unschedulable"}` at every scrape".
fn has_other_capacity_than_pods(figures: &Exposition) -> bool {
    let pods = figures["podinit_inflight_pods{stage=\"unschedulable\"}"];
    sum(figures, "podinit_unschedulable_pods", "") != pods
}

/// [§10.1](crate::specification#s10-1): `podinit_slo_bad_causes_total`, "over stages and causes it
/// equals `podinit_slo_events_total{slo,result="bad"}`".
fn bad_without_cause(figures: &Exposition, slo: &str) -> bool {
    let label = format!("slo=\"{slo}\"");
    let bad = format!("podinit_slo_events_total{{result=\"bad\",{label}}}");
    sum(figures, "podinit_slo_bad_causes_total", &label) != figures[&bad]
}

/// [§9.4](crate::specification#s9-4): "One event per pod, `observed + excluded + undecided =
/// discovered`".
fn sli_events(figures: &Exposition) -> f64 {
    sum(figures, "podinit_pod_start_sli_duration_seconds_count", "")
        + sum(figures, "podinit_pod_start_sli_excluded_total", "")
}

fn discovered(figures: &Exposition) -> f64 {
    sum(figures, "podinit_pods_discovered_total", "")
}

/// Over the series of a family that have this label.
fn sum(figures: &Exposition, family: &str, label: &str) -> f64 {
    let of_family =
        figures.iter().filter(|(series, _)| series.starts_with(family) && series.contains(label));
    of_family.map(|(_, value)| value).sum()
}

/// Good, bad and excluded.
fn slo_events(figures: &Exposition, slo: &str) -> f64 {
    let label = format!("slo=\"{slo}\"");
    let is_event = |series: &str| series.starts_with("podinit_slo_e") && series.contains(&label);
    let events = figures.iter().filter(|(series, _)| is_event(series));
    events.map(|(_, value)| value).sum()
}
