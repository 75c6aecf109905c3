//! The answer in words: whether startups are slower, in which stage, and where.

use serde::Serialize;

use super::breakdown::Breakdown;
use super::dimension::{Dimension, Part};
use super::formatting::{range, signed, spoken};
use super::mix::Mix;
use super::only::Place;
use super::row::{Difference, LEAST_PODS, Row, Verdict};
use podinit_core::lifecycle::{Interval, Stage};
use podinit_core::node::NO_POOL;
use podinit_text::human_time::short_seconds as seconds;
use podinit_text::words::{listed, percent};

/// The answer to the question whether startups are slower.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// That of the longest duration that both sides have; `unclear` where the workloads are not the same, or where the
    /// matched pods say something else
    pub verdict: Verdict,
    /// The stage that moved the same way the most
    pub stage: Option<&'static str>,
    /// The first sentences of every format
    pub text: String,
    /// What would be needed, where it cannot be told
    pub needed: Option<String>,
    /// Why a difference of the stage `network` may be none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
}

/// Network times are not compared without a caution where those that may include image pulls differ by this share.
const OTHER_MEASURE: f64 = 0.1;

/// The end-to-end durations, the one that says most first.
const WHOLE: [Interval; 2] = [Interval::CreatedToReady, Interval::ScheduledToReady];

fn row_of(rows: &[Row], interval: Interval) -> Option<&Row> {
    rows.iter().find(|row| row.interval == interval.as_str())
}

/// The row that answers.
fn whole(rows: &[Row]) -> Option<&Row> {
    WHOLE.into_iter().find_map(|interval| row_of(rows, interval))
}

/// The stage that moved this way the most, by the quantile that moved.
fn stage(rows: &[Row], verdict: Verdict) -> Option<(Stage, &Row)> {
    if !matches!(verdict, Verdict::Slower | Verdict::Faster) {
        return None;
    }
    let stages = Stage::ALL.into_iter();
    let rows = stages.filter_map(|stage| Some((stage, row_of(rows, Interval::Stage(stage))?)));
    rows.filter(|(_, row)| row.verdict == verdict).max_by(|(_, one), (_, other)| {
        let size = |row: &Row| moved(row).1.difference.abs();
        size(one).total_cmp(&size(other))
    })
}

/// What is broken down: the stage that moved the most, or else the whole, if it moved.
pub(super) fn moved_interval(rows: &[Row], verdict: Verdict) -> Option<Interval> {
    let found = stage(rows, verdict).map(|(stage, _)| Interval::Stage(stage));
    let moved = matches!(verdict, Verdict::Slower | Verdict::Faster);
    let all = WHOLE.into_iter().find(|interval| row_of(rows, *interval).is_some());
    found.or(all.filter(|_| moved))
}

/// What the row of all pods and that of the matched pods say together.
pub(super) fn overall(rows: &[Row], matched: &[Row], mix: &Mix) -> Verdict {
    let Some(row) = whole(rows) else {
        return Verdict::Unclear;
    };
    let is_all = mix.before >= 1.0 && mix.after >= 1.0;
    let alone = matched.iter().find(|one| one.interval == row.interval);
    match mix.same_workloads && (is_all || alone.is_none_or(|one| one.verdict == row.verdict)) {
        true => row.verdict,
        false => Verdict::Unclear,
    }
}

/// The quantile that moved: the median, if it did or none did.
fn moved(row: &Row) -> (&'static str, &Difference, [f64; 2]) {
    match row.p50.moved.is_none() && row.p90.moved.is_some() {
        true => ("p90", &row.p90, [row.before.p90, row.after.p90]),
        false => ("p50", &row.p50, [row.before.p50, row.after.p50]),
    }
}

/// `created to ready p50 8.1 s → 11.4 s (+3.3 s, between +2.9 and +3.8 s)`
fn figures(row: &Row) -> String {
    let (quantile, difference, [before, after]) = moved(row);
    format!(
        "{} {quantile} {} → {} ({}, between {})",
        spoken(&row.interval),
        seconds(before),
        seconds(after),
        signed(difference.difference),
        range(difference.interval).replace(" to ", " and ")
    )
}

impl Answer {
    pub(super) fn of(
        rows: &[Row],
        matched: &[Row],
        mix: &Mix,
        observed: [usize; 2],
        breakdown: Option<&Breakdown>,
    ) -> Self {
        let verdict = overall(rows, matched, mix);
        let stage = stage(rows, verdict);
        let (text, needed) = match whole(rows) {
            None => too_few(observed),
            Some(row) if !mix.same_workloads => other_workloads(row, mix),
            Some(row) if verdict != row.verdict => other_mix(row, matched, mix),
            Some(row) if verdict == Verdict::Unclear => {
                let (text, needed) = unclear(row);
                (text + &moved_stages(rows), needed)
            }
            Some(row) if verdict == Verdict::Same => {
                let text = told(row, None, breakdown) + &moved_stages(rows);
                (text, None)
            }
            Some(row) => (told(row, stage.map(|(_, row)| row), breakdown), None),
        };
        Self { verdict, stage: stage.map(|(stage, _)| stage.as_str()), text, needed, caution: None }
    }

    /// With a caution where the stage `network` moved, and image pulls may be in it on one side more than on the other:
    /// kubelets up to 1.35 set its condition late.
    pub(super) fn cautious(self, rows: &[Row], [before, after]: [f64; 2]) -> Self {
        let network = row_of(rows, Interval::Stage(Stage::Network));
        let moved = network.filter(|row| matches!(row.verdict, Verdict::Slower | Verdict::Faster));
        let caution = moved.filter(|_| (before - after).abs() >= OTHER_MEASURE);
        let caution = caution.map(|_| {
            format!(
                "Caution: the network times of {} of the pods before and {} of those after may include image pulls. \
                 The difference of network may be one of measurement.",
                percent(before),
                percent(after)
            )
        });
        Self { caution, ..self }
    }
}

/// The stages that moved although the whole did not: ` The stage network is slower: +3 s in p90.`
fn moved_stages(rows: &[Row]) -> String {
    let stages = Stage::ALL.into_iter();
    let found = stages.filter_map(|stage| row_of(rows, Interval::Stage(stage)));
    let found = found.filter(|row| matches!(row.verdict, Verdict::Slower | Verdict::Faster));
    let sentences = found.map(|row| {
        let (quantile, difference, _) = moved(row);
        format!(
            " The stage {} is {}: {} in {quantile}.",
            row.interval,
            row.verdict.as_str(),
            signed(difference.difference)
        )
    });
    sentences.collect()
}

fn told(row: &Row, stage: Option<&Row>, breakdown: Option<&Breakdown>) -> String {
    let begin = match row.verdict {
        Verdict::Slower => "Startups are slower",
        Verdict::Faster => "Startups are faster",
        Verdict::Same | Verdict::Unclear => "Startups take as long as before",
    };
    let mut text = format!("{begin}: {}.", figures(row));
    if row.verdict == Verdict::Same {
        return text;
    }
    let place = breakdown.map_or_else(String::new, |found| place(found, row.verdict));
    match stage {
        Some(stage) => {
            let (quantile, difference, _) = moved(stage);
            let quantile = match quantile {
                "p50" => String::new(),
                other => format!(" in {other}"),
            };
            let difference = signed(difference.difference);
            text += &format!(" It is the stage {}: {difference}{quantile}{place}.", stage.interval);
        }
        None => text += &format!(" No single stage moved enough to be named{place}."),
    }
    let only = breakdown.and_then(|found| found.only.as_ref());
    if let Some(other) = only.and_then(|only| only.same_pods.as_ref()) {
        text += &format!(" The same pods are {}, so it may be either.", in_words(other));
    }
    text
}

/// How much it is on the nodes of a pool or zone, since it is less of all pods: ` (+3 s there)`.
fn there(breakdown: &Breakdown, Place { dimension, values }: &Place) -> String {
    let is_it = |part: &&Part| part.dimension == *dimension && values.iter().eq([&part.value]);
    let mut parts = breakdown.parts.iter();
    let Some(part) = parts.find(is_it).filter(|_| dimension.is_of_nodes()) else {
        return String::new();
    };
    let (quantile, difference, _) = moved(&part.row);
    format!(" ({} there in {quantile})", signed(difference.difference))
}

/// `on nodes of pool b`
fn in_words(Place { dimension, values }: &Place) -> String {
    let preposition = match dimension {
        Dimension::Pool if values.iter().eq([NO_POOL]) => {
            return "on nodes without a pool".to_owned();
        }
        Dimension::Node => "on",
        Dimension::Pool => "on nodes of",
        Dimension::Image => "with",
        Dimension::Workload => "of",
        Dimension::Zone | Dimension::Namespace => "in",
    };
    let plural = if values.len() > 1 { "s" } else { "" };
    format!("{preposition} {}{plural} {}", dimension.as_str(), listed(values))
}

/// Where the difference lies: `, on nodes a and b only`.
fn place(breakdown: &Breakdown, verdict: Verdict) -> String {
    if let Some(only) = &breakdown.only {
        let there = there(breakdown, &only.place);
        return format!(", {} only{there}", in_words(&only.place));
    }
    let nodes = || breakdown.parts.iter().filter(|part| part.dimension == Dimension::Node);
    // Of more nodes than are stated, and of those with few pods, nothing is known.
    let stated: f64 = nodes().map(|part| part.pods_after).sum();
    let is_all = nodes().count() > 1 && stated > 1.0 - 1e-9;
    match is_all && nodes().all(|part| part.row.verdict == verdict) {
        true => ", on all nodes".to_owned(),
        false => String::new(),
    }
}

fn too_few([before, after]: [usize; 2]) -> (String, Option<String>) {
    let text = format!(
        "Cannot tell whether startups are slower: too few pods became ready, of {before} observed before and \
         {after} after."
    );
    let needed =
        format!("At least {LEAST_PODS} pods on each side have to become ready, better 100.");
    (text, Some(needed))
}

fn other_workloads(row: &Row, mix: &Mix) -> (String, Option<String>) {
    let text = format!(
        "Cannot tell whether startups are slower: these are not the same workloads. {} of the pods before and \
         {} of those after have a match. All pods: {}.",
        percent(mix.before),
        percent(mix.after),
        figures(row)
    );
    let needed =
        "The same workloads and images on both sides, for at least half of the pods.".to_owned();
    (text, Some(needed))
}

fn other_mix(row: &Row, matched: &[Row], mix: &Mix) -> (String, Option<String>) {
    let alone = matched.iter().find(|one| one.interval == row.interval);
    let alone = alone.map_or("not enough", |one| one.verdict.as_str());
    let text = format!(
        "Cannot tell whether startups are slower: the mix of workloads changed. All pods are {} ({}), the \
         matched ones {alone}. {} of the pods before and {} of those after have a match.",
        row.verdict.as_str(),
        figures(row),
        percent(mix.before),
        percent(mix.after)
    );
    let needed = "The same mix of workloads and images on both sides.".to_owned();
    (text, Some(needed))
}

fn unclear(row: &Row) -> (String, Option<String>) {
    let text = format!("Cannot tell whether startups are slower: {}.", figures(row));
    // An interval narrows with the root of the number of pods.
    let widths = [&row.p50, &row.p90].map(|quantile| {
        let [low, high] = quantile.interval;
        (high - low) / 2.0 / quantile.margin
    });
    let times = widths.into_iter().fold(0.0, f64::max).powi(2).ceil();
    let needed = match times > 1.0 {
        true => format!(
            "About {times:.0} times as many {} on each side make the interval as narrow as the margin.",
            match row.resampled {
                super::statistics::Resampled::Minutes => "minutes with new pods",
                super::statistics::Resampled::Pods => "pods",
            }
        ),
        false => {
            "More pods on each side; the difference is about as large as the margin.".to_owned()
        }
    };
    (text, Some(needed))
}
