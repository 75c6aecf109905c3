//! The sentences of the answer.

use super::breakdown::Breakdown;
use super::dimension::{Part, name_of};
use super::formatting::{range, seconds, signed, spoken};
use super::mix::Mix;
use super::only::Place;
use super::presence::IMAGE_PULLS;
use super::quantile::IntervalQuantile;
use super::row::{LEAST_PODS, Moved, Row};
use super::stage_differences::{StageDifference, StageDifferences};
use super::statistics::Resampled;
use podinit_core::dimension::Dimension;
use podinit_core::node::NO_POOL;
use podinit_text::words::{listed, percent};

/// Of more times as many pods nothing is said: nobody records so many.
const MOST_TIMES: f64 = 100.0;

/// `created to ready p50 8.1s → 11.4s (+3.3s, between +2.9s and +3.8s)`
pub(super) fn figures(row: &Row, quantile: IntervalQuantile) -> String {
    let ([before, after], difference) = (quantile.values(row), quantile.difference_in(row));
    format!(
        "{} {} {} → {} ({}, between {})",
        spoken(&row.interval),
        quantile.as_str(),
        seconds(before),
        seconds(after),
        signed(difference.difference),
        range(difference.interval).replace(" to ", " and ")
    )
}

/// The difference of a quantile: `+3.3s`.
pub(super) fn in_short(row: &Row, quantile: IntervalQuantile) -> String {
    signed(quantile.difference_in(row).difference)
}

/// That the median and the 90th percentile moved against each other.
pub(super) fn mixed(row: &Row, among: &str) -> String {
    let way = |quantile: IntervalQuantile| {
        quantile.difference_in(row).proven.map_or("as before", Moved::as_str)
    };
    format!(
        "The middle of startups is {}, the slowest tenth is {}{among}. The middle: {}. The slowest tenth: {}.",
        way(IntervalQuantile::P50),
        way(IntervalQuantile::P90),
        figures(row, IntervalQuantile::P50),
        figures(row, IntervalQuantile::P90)
    )
}

/// That both quantiles are within their margins, and what would have been seen.
pub(super) fn no_difference(row: &Row, among: &str) -> String {
    let quantile = IntervalQuantile::told(row);
    format!("No difference{among}: {}. {}", figures(row, quantile), seen(row, quantile))
}

/// From which difference on it would have been seen: it reaches its margin, and its interval excludes 0.
fn seen(row: &Row, quantile: IntervalQuantile) -> String {
    let difference = quantile.difference_in(row);
    let least = difference.margin.max(half_width(difference.interval));
    format!("From about {} on it would have been seen.", signed(least))
}

fn half_width([low, high]: [f64; 2]) -> f64 {
    (high - low) / 2.0
}

/// That a difference is neither shown nor excluded, and what would be needed.
pub(super) fn unclear(row: &Row, among: &str) -> (String, Option<String>) {
    let quantile = IntervalQuantile::told(row);
    let difference = quantile.difference_in(row);
    let figures = figures(row, quantile);
    let is_small = difference.difference.abs() < difference.margin;
    let text = match is_small {
        true => format!("No difference is seen{among}: {figures}. {}", seen(row, quantile)),
        false => format!("Cannot tell whether startups are slower{among}: {figures}."),
    };
    // An interval narrows with the root of the number of pods. It has to lie on one side of the margin.
    let interval = match is_small {
        true => difference.interval,
        false => difference.widened(row.rows),
    };
    let distance = (difference.difference.abs() - difference.margin).abs();
    let times = (half_width(interval) / distance).powi(2).ceil();
    let needed = (times > 1.0 && times <= MOST_TIMES).then(|| {
        let what = match row.resampled {
            Resampled::Minutes => "minutes with new pods",
            Resampled::Pods => "pods",
        };
        format!(
            "About {times:.0} times as many {what} on each side would tell whether {} differs by its margin of {}.",
            quantile.as_str(),
            seconds(difference.margin)
        )
    });
    (text, needed)
}

/// Whose the seconds are: ` It is the stage containers: +9.8s of +11s on average, on node a only.`
pub(super) fn stage_sentence(
    stages: &StageDifferences,
    named: &[&StageDifference],
    place: &str,
) -> String {
    let whole = signed(stages.difference);
    match named {
        [] if !stages.is_known() => {
            let [before, after] = stages.known.map(percent);
            format!(
                " No stage is named{place}: all stages are known of {before} of these pods before and {after} after."
            )
        }
        [] => format!(" No single stage moved enough to be named{place}."),
        [one] => {
            let pulls = stages.pulls_in(one).map_or_else(String::new, |pulls| {
                format!(", by {IMAGE_PULLS} ({})", signed(pulls))
            });
            let (name, size) = (one.stage.as_str(), signed(one.difference));
            format!(" It is the stage {name}: {size} of {whole} on average{pulls}{place}.")
        }
        several => {
            let names: Vec<String> =
                several.iter().map(|one| one.stage.as_str().to_owned()).collect();
            let sizes: Vec<String> = several.iter().map(|one| signed(one.difference)).collect();
            let (names, sizes) = (listed(&names), listed(&sizes));
            format!(" It is the stages {names}: {sizes} of {whole} on average{place}.")
        }
    }
}

pub(super) fn too_few(
    [before, after]: [usize; 2],
    is_of_matched: bool,
) -> (String, Option<String>) {
    let which = if is_of_matched { " of those that have a match" } else { "" };
    let text = format!(
        "Cannot tell whether startups are slower: too few pods{which} became ready, of {before} observed before and \
         {after} after."
    );
    let needed =
        format!("At least {LEAST_PODS} pods on each side have to become ready, better 100.");
    (text, Some(needed))
}

pub(super) fn other_workloads(row: &Row, mix: &Mix) -> (String, Option<String>) {
    let text = format!(
        "Cannot tell whether startups are slower: these are not the same workloads. {} of the pods before and \
         {} of those after have a match. All pods: {}.",
        percent(mix.before),
        percent(mix.after),
        figures(row, IntervalQuantile::told(row))
    );
    let needed = "The same workloads on both sides, for at least half of the pods.".to_owned();
    (text, Some(needed))
}

/// How much it is of the pods of the only value, since it is less of all pods: ` (+3s there)`.
fn there(
    breakdown: &Breakdown,
    Place { dimension, values }: &Place,
    quantile: IntervalQuantile,
) -> String {
    let is_it = |part: &&Part| part.dimension == *dimension && values.iter().eq([&part.value]);
    let mut parts = breakdown.parts.iter();
    let Some(part) = parts.find(is_it) else {
        return String::new();
    };
    format!(" ({} there)", in_short(&part.row, quantile))
}

/// `on nodes of pool b`
pub(super) fn in_words(Place { dimension, values }: &Place) -> String {
    let preposition = match dimension {
        Dimension::Nodepool if values.iter().eq([NO_POOL]) => {
            return "on nodes without a pool".to_owned();
        }
        Dimension::Node => "on",
        Dimension::Nodepool => "on nodes of",
        Dimension::Image | Dimension::Registry | Dimension::Gate => "with",
        Dimension::Workload => "of",
        Dimension::Zone | Dimension::Namespace => "in",
    };
    let name = match (dimension, name_of(*dimension)) {
        (_, name) if values.len() == 1 => name.to_owned(),
        (Dimension::Registry, _) => "registries".to_owned(),
        (_, name) => format!("{name}s"),
    };
    format!("{preposition} {name} {}", listed(values))
}

/// Where the difference lies: `, on nodes a and b only`.
pub(super) fn place(breakdown: &Breakdown, quantile: IntervalQuantile, moved: Moved) -> String {
    if let Some(only) = &breakdown.only {
        let there = there(breakdown, &only.place, quantile);
        return format!(", {} only{there}", in_words(&only.place));
    }
    let nodes = || breakdown.parts.iter().filter(|part| part.dimension == Dimension::Node);
    // Of more nodes than are stated, and of those with few pods, nothing is known.
    let stated: f64 = nodes().map(|part| part.pods_after).sum();
    let is_all = nodes().count() > 1 && stated > 1.0 - 1e-9;
    match is_all && nodes().all(|part| quantile.difference_in(&part.row).proven == Some(moved)) {
        true => ", on all nodes".to_owned(),
        false => String::new(),
    }
}

/// That a pool and a zone have the same pods.
pub(super) fn same_pods(breakdown: &Breakdown) -> String {
    let other = breakdown.only.as_ref().and_then(|only| only.same_pods.as_ref());
    other.map_or_else(String::new, |other| {
        format!(" The same pods are {}, so it may be either.", in_words(other))
    })
}
