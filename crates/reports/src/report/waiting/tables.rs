//! The sentences and tables that the formats of the report share.

use super::summary::{ImageCost, Saving, StageCost, WaitingReport, WorkloadCost};
use crate::report::durations::three_digits;
use crate::report::formatting::{Names, seconds};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Cause, Stage};
use podinit_text::table::Table;
use podinit_text::words::{count, listed, percent};

/// The title of the section.
pub(in crate::report) const WAITING: &str = "What waiting costs";

/// Why a gain is a bound.
pub(in crate::report) const AT_MOST: &str =
    "Each gain is at most what is stated: stages overlap, and a faster stage may queue the next.";

/// So many things are named in the first sentence, and causes of a stage in the table.
const MOST_NAMED: usize = 3;
/// A cause with a smaller share of all time has no row.
const LEAST_SHARE: f64 = 0.01;

const STAGE_HEAD: [&str; 3] = ["stage and cause", "pod-hours", "of all"];
const BOUND_HEAD: [&str; 6] =
    ["if", "p50", "p99", "saves at most: p50", "at most: p99", "at most: pod-hours"];

/// The section as texts and tables.
pub(in crate::report) struct WaitingSection {
    /// Where most of the time went, and how much of it was of pods that are not ready
    pub(in crate::report) sentences: String,
    pub(in crate::report) stages: Table,
    /// What startups could have gained at most, where any became ready
    pub(in crate::report) bounds: Option<Table>,
    /// What is not known of what they could have gained
    pub(in crate::report) unknown: Vec<String>,
    pub(in crate::report) images: Option<Table>,
    pub(in crate::report) workloads: Option<Table>,
}

impl WaitingSection {
    /// `shown` is how names of others are written in the format.
    pub(in crate::report) fn of(
        report: &WaitingReport,
        names: Names,
        shown: impl Fn(&str) -> String,
    ) -> Self {
        let has_ready = report.ready.pods > 0;
        Self {
            sentences: sentences(report),
            stages: stages(report, names),
            bounds: has_ready.then(|| bounds(&report.bounds, names)),
            unknown: report.bounds.iter().filter_map(|row| unknown(row, names)).collect(),
            images: images(report, &shown),
            workloads: workloads(report, &shown),
        }
    }
}

/// The first words of the section.
fn sentences(report: &WaitingReport) -> String {
    let hours = pod_hours(report.pod_hours);
    let parts = shares(&report.stages);
    let mut text = match parts.is_empty() {
        true => format!("Pods waited {hours} pod-hours."),
        false => format!("Pods waited {hours} pod-hours: {}.", parts.join(", ")),
    };
    let others = [
        (report.in_flight, "still in flight"),
        (report.ended_otherwise, "that ended without being ready"),
    ];
    let others = others.into_iter().filter(|(cost, _)| cost.pods > 0);
    let others: Vec<String> = others
        .map(|(cost, which)| {
            let pods = count(cost.pods, "pod", "pods");
            format!("{} of {pods} {which}", pod_hours(cost.pod_hours))
        })
        .collect();
    if !others.is_empty() {
        text += &format!(" This includes {}.", listed(&others));
    }
    if report.not_counted > 0 {
        let startups = count(report.not_counted, "startup is", "startups are");
        text += &format!(" {startups} not counted, because the times are not known.");
    }
    text
}

/// What took most of the time, in words, the most first.
fn shares(stages: &[StageCost]) -> Vec<String> {
    let mut shares: Vec<(&'static str, f64)> = Vec::new();
    let places = stages.iter().flat_map(|stage| {
        let causes = stage.causes.iter().map(|cause| (stage.stage, cause.cause, cause.share));
        let none = stage.stage.is_none().then_some((None, None, stage.share));
        causes.chain(none)
    });
    for (stage, cause, share) in places {
        let what = in_words(stage, cause);
        match shares.iter_mut().find(|(known, _)| *known == what) {
            Some((_, sum)) => *sum += share,
            None => shares.push((what, share)),
        }
    }
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let named = shares.iter().filter(|(_, share)| *share >= LEAST_SHARE).take(MOST_NAMED);
    named.map(|(what, share)| format!("{} {what}", percent(*share))).collect()
}

/// What a pod waits for in a stage.
fn in_words(stage: Option<&str>, cause: Option<&str>) -> &'static str {
    let stage = stage.and_then(Stage::from_text);
    let cause = cause.and_then(Cause::from_text);
    match (stage, cause) {
        (_, Some(Cause::Pull | Cause::Image)) => "for images",
        (_, Some(Cause::Crash)) => "for containers that crash",
        (_, Some(Cause::Probe)) => "for probes",
        (Some(Stage::Gated), _) => "behind gates",
        (Some(Stage::Scheduling), _) => "to be scheduled",
        (Some(Stage::Unschedulable), _) => "for nodes",
        (Some(Stage::Network), _) => "for network and volumes",
        (Some(Stage::Init), _) => "for init containers",
        (Some(Stage::Containers), _) => "for containers to start",
        (Some(Stage::Readiness), _) => "for readiness gates",
        (None, _) => "in no observed stage",
    }
}

fn stages(report: &WaitingReport, names: Names) -> Table {
    let mut rows = Vec::new();
    for stage in &report.stages {
        let name = stage.stage.map_or("no stage observed", |stage| names.name(stage));
        rows.push([name.to_owned(), pod_hours(stage.pod_hours), percent(stage.share)]);
        let causes = stage.causes.iter().filter(|cause| cause.share >= LEAST_SHARE);
        // Of a stage with one cause that tells nothing, a second row would say nothing.
        let tells = stage.causes.iter().any(|cause| cause.cause.is_some());
        let causes = causes.take(MOST_NAMED).filter(|_| tells);
        rows.extend(causes.map(|cause| {
            let name = cause.cause.unwrap_or("not known");
            [format!("- {name}"), pod_hours(cause.pod_hours), percent(cause.share)]
        }));
    }
    Table::new(&STAGE_HEAD, rows).with_numbers(1..3).labelled("Pod-hours by stage and cause")
}

/// The rows of which anything is known, after what was.
fn bounds(bounds: &[Saving], names: Names) -> Table {
    let text = |value: Option<f64>, round| {
        let digits = value.map(|value| seconds(three_digits(value, round)));
        digits.unwrap_or_else(|| "-".to_owned())
    };
    let was = |value| text(value, f64::round);
    // Rounded so that each stays a bound.
    let least = |value: Option<f64>| match value {
        Some(_) => format!("≥ {}", text(value, f64::floor)),
        None => "-".to_owned(),
    };
    let most = |value| text(value, f64::ceil);
    let whole = bounds.iter().max_by_key(|row| row.known);
    let unchanged = whole.map(|row| {
        let nothing = || "-".to_owned();
        let name = "nothing had changed".to_owned();
        [name, was(row.p50), was(row.p99), nothing(), nothing(), nothing()]
    });
    let rows = bounds.iter().filter(|row| row.known > 0).map(|row| {
        let saved = row.saves_at_most;
        [
            in_a_row(row, names).to_owned(),
            least(row.p50_at_least),
            least(row.p99_at_least),
            most(saved.p50),
            most(saved.p99),
            rounded_pod_hours(saved.pod_hours, f64::ceil),
        ]
    });
    let table = Table::new(&BOUND_HEAD, unchanged.into_iter().chain(rows));
    table.with_numbers(1..6).labelled("What startups could have gained at most")
}

/// How a row goes on after "if".
fn in_a_row(row: &Saving, names: Names) -> &'static str {
    match row.without {
        "images_present" => "all images had been on the node",
        "no_wait_for_node" if names.lone_list() => "no pod had waited before binding",
        "no_wait_for_node" => "no pod had waited for a node",
        "init_at_once" => "init containers ran at once",
        _ => "readiness were probed every second",
    }
}

/// That a row is not of all startups.
fn unknown(row: &Saving, names: Names) -> Option<String> {
    let what = in_a_row(row, names);
    match (row.known, row.of) {
        (known, of) if known == of => None,
        (0, _) => Some(match row.without {
            "images_present" => {
                format!("If {what}: not known, since no Events say how they came there.")
            }
            "probed_every_second" => format!("If {what}: not known, since no probes are known."),
            _ => format!("If {what}: not known."),
        }),
        (known, of) => {
            let was = [("p50", row.p50), ("p99", row.p99)];
            let was = was.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let was: Vec<String> = was
                .map(|(name, value)| {
                    format!("{name} was {}", seconds(three_digits(value, f64::round)))
                })
                .collect();
            Some(format!("If {what}: known of {known} of {of} startups, whose {}.", listed(&was)))
        }
    }
}

fn images(report: &WaitingReport, shown: impl Fn(&str) -> String) -> Option<Table> {
    let rows = report.images.iter().map(|ImageCost { image, pods, pod_hours: hours }| {
        [shown(image), pods.to_string(), pod_hours(*hours)]
    });
    most("image", rows, report.more_images)
}

fn workloads(report: &WaitingReport, shown: impl Fn(&str) -> String) -> Option<Table> {
    let rows = report.workloads.iter().map(|cost| {
        let WorkloadCost { namespace, workload_type, workload, .. } = cost;
        let name = match workload {
            Some(name) => {
                format!("{} ({})", shown(&format!("{namespace}/{name}")), shown(workload_type))
            }
            None => format!("{}: pods without an owner", shown(namespace)),
        };
        [name, cost.pods.to_string(), pod_hours(cost.pod_hours)]
    });
    most("workload", rows, report.more_workloads)
}

fn most(what: &'static str, rows: impl Iterator<Item = [String; 3]>, more: usize) -> Option<Table> {
    let more = (more > 0).then(|| [format!("and {more} more"), String::new(), String::new()]);
    let mut rows = rows.peekable();
    rows.peek()?;
    let table = Table::new(&[what, "pods", "pod-hours"], rows.chain(more)).with_numbers(1..3);
    Some(table.labelled(format!("Pod-hours by {what}")))
}

/// Pod-hours as a figure.
fn pod_hours(hours: f64) -> String {
    rounded_pod_hours(hours, f64::round)
}

/// The same; `round` says which way.
fn rounded_pod_hours(hours: f64, round: fn(f64) -> f64) -> String {
    let decimals = match hours {
        hours if hours <= 0.0 => 0,
        hours if hours < 0.01 => 4,
        hours if hours < 0.1 => 3,
        hours if hours < 10.0 => 2,
        hours if hours < 100.0 => 1,
        _ => 0,
    };
    let unit = 10_f64.powi(-decimals);
    let figure = round(hours / unit) * unit;
    match hours > 0.0 && figure <= 0.0 {
        true => "< 0.0001".to_owned(),
        false => format!("{figure:.*}", decimals.unsigned_abs() as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pod_hours_have_few_digits_and_none_is_lost() {
        let texts = [0.0, 0.000_01, 0.001_23, 0.0456, 3.456, 41.23, 1234.5].map(pod_hours);
        assert_eq!(texts, ["0", "< 0.0001", "0.0012", "0.046", "3.46", "41.2", "1235"]);
        assert_eq!(rounded_pod_hours(3.451, f64::ceil), "3.46");
    }
}
