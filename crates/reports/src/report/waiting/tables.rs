//! The sentences and tables that the formats of the report share.

use super::summary::{NamedCost, Saving, StageCost, WaitingReport, WaitingWorkload};
use crate::report::durations::three_digit_seconds;
use crate::report::formatting::{IntervalNames, largest_part};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Cause, Stage};
use podinit_text::table::TextTable;
use podinit_text::words::{capitalized, count, listed, percent};

/// The title of the section.
pub(in crate::report) const WAITING: &str = "What waiting costs";

/// Why a gain is a bound.
pub(in crate::report) const AT_MOST: &str =
    "Each gain is at most what is stated: stages overlap, and a faster stage may queue the next.";

/// So many things are named in the first sentence, and causes of a stage in the table.
const MOST_NAMED: usize = 3;
/// A cause with a smaller share of all time has no row.
const LEAST_SHARE: f64 = 0.01;

/// What the startups are called of which shares may be.
const READY: &str = "pods that became ready";
const NOT_READY: &str = "pods that did not become ready";

const BOUND_HEAD: [&str; 6] =
    ["if", "p50", "p99", "p50 saves at most", "p99 at most", "pod-hours at most"];

/// The section as texts and tables.
pub(in crate::report) struct WaitingSection {
    /// Where most of the time went, how much of it was of pods that are not ready, and what is not counted
    pub(in crate::report) sentences: Vec<String>,
    pub(in crate::report) stages: TextTable,
    /// What startups could have gained at most, where any became ready
    pub(in crate::report) bounds: Option<TextTable>,
    /// What is not known of what they could have gained
    pub(in crate::report) unknown: Vec<String>,
    pub(in crate::report) images: Option<TextTable>,
    pub(in crate::report) workloads: Option<TextTable>,
}

impl WaitingSection {
    /// `shown` is how names of others are written in the format.
    pub(in crate::report) fn from_report(
        report: &WaitingReport,
        names: IntervalNames,
        shown: impl Fn(&str) -> String,
    ) -> Self {
        let has_ready = report.ready.pods > 0;
        Self {
            sentences: sentences(report, names),
            stages: stages(report, names),
            bounds: has_ready.then(|| bounds(report, names)),
            unknown: report.bounds.iter().filter_map(|row| unknown(row, names)).collect(),
            images: images(report, &shown),
            workloads: workloads(report, &shown),
        }
    }
}

/// The pod-hours of startups that became ready, and of the others, each column with its own precision.
#[derive(Clone, Copy)]
struct PodHourColumns {
    ready: PodHours,
    not_ready: PodHours,
}

impl PodHourColumns {
    fn from_report(report: &WaitingReport) -> Self {
        let others = report.in_flight.pod_hours + report.ended_otherwise.pod_hours;
        Self {
            ready: PodHours::from_whole(report.ready.pod_hours),
            not_ready: PodHours::from_whole(others),
        }
    }
}

fn is_of_ready(report: &WaitingReport) -> bool {
    report.ready.pods > 0
}

/// The first words of the section.
fn sentences(report: &WaitingReport, names: IntervalNames) -> Vec<String> {
    let columns = PodHourColumns::from_report(report);
    let parts = shares(&report.stages);
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!(": {}", parts.join(", ")),
    };
    let others = [
        (report.in_flight, "still in flight"),
        (report.ended_otherwise, "that ended without being ready"),
    ];
    let not_ready: f64 = others.iter().map(|(cost, _)| cost.pod_hours).sum();
    let waited = others.into_iter().filter(|(cost, _)| cost.pods > 0);
    let waited: Vec<String> = waited
        .map(|(cost, which)| {
            let pods = count(cost.pods, "pod", "pods");
            format!("{pods} {which} waited {} pod-hours.", columns.not_ready.text(cost.pod_hours))
        })
        .collect();
    let (which, whole) = match is_of_ready(report) {
        true => (READY, columns.ready.text(report.ready.pod_hours)),
        false => (NOT_READY, columns.not_ready.text(not_ready)),
    };
    let others = (!waited.is_empty()).then(|| waited.join(" "));
    let aside = (report.not_counted > 0).then(|| {
        let startups = count(report.not_counted, "startup is", "startups are");
        format!("{startups} not counted, because the times are not known.")
    });
    let whole = format!("{} waited {whole} pod-hours{parts}.", capitalized(which));
    let stages = report.stages.iter().filter_map(|stage| Some((stage.stage?, stage.share)));
    let largest = stages.max_by(|(_, one), (_, other)| one.total_cmp(other));
    let largest = largest.filter(|(_, share)| *share >= LEAST_SHARE);
    let of = format!("of the time of {which}");
    let largest = largest.map(|(stage, share)| largest_part(&of, names.name(stage), share));
    [largest, Some(whole), others, aside].into_iter().flatten().collect()
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
        (_, Some(Cause::Run)) => "for init containers",
        (_, Some(Cause::Create | Cause::Config | Cause::Exited)) => "for containers to start",
        (_, Some(Cause::ReadinessGate)) => "for readiness gates",
        (Some(Stage::Gated), _) => "behind gates",
        (Some(Stage::Scheduling), _) => "to be scheduled",
        (Some(Stage::Unschedulable), _) => "for nodes",
        (Some(Stage::Network), _) => "for network and volumes",
        (Some(Stage::Init), _) => "for init containers",
        (Some(Stage::Containers), _) => "for containers to start",
        (Some(Stage::Readiness), _) => "to be ready, with ready containers",
        (None, _) => "in no observed stage",
    }
}

fn stages(report: &WaitingReport, names: IntervalNames) -> TextTable {
    let columns = PodHourColumns::from_report(report);
    let cells = |name: String, ready: f64, not_ready: f64, share: f64| {
        let (ready, not_ready) = (columns.ready.text(ready), columns.not_ready.text(not_ready));
        match is_of_ready(report) {
            true => [name, ready, percent(share), not_ready],
            false => [name, ready, not_ready, percent(share)],
        }
    };
    let mut rows = Vec::new();
    for stage in &report.stages {
        let name = stage.stage.map_or("no stage observed", |stage| names.name(stage));
        let (ready, not_ready) = (stage.pod_hours, stage.not_ready_pod_hours);
        rows.push(cells(name.to_owned(), ready, not_ready, stage.share));
        let causes = stage.causes.iter().filter(|cause| cause.largest_share >= LEAST_SHARE);
        // Of a stage with one cause that tells nothing, a second row would say nothing.
        let tells = stage.causes.iter().any(|cause| cause.cause.is_some());
        let causes = causes.take(MOST_NAMED).filter(|_| tells);
        rows.extend(causes.map(|cause| {
            let name = format!("- {}", cause.cause.unwrap_or("not known"));
            cells(name, cause.pod_hours, cause.not_ready_pod_hours, cause.share)
        }));
    }
    let (ready, others) = ("pod-hours, ready", "not ready");
    let head = match is_of_ready(report) {
        true => ["stage and cause", ready, "of ready", others],
        false => ["stage and cause", ready, others, "of not ready"],
    };
    TextTable::new(&head, rows).with_numbers(1..4).labelled("Pod-hours by stage and cause")
}

/// The rows of which anything is known, after what was.
fn bounds(report: &WaitingReport, names: IntervalNames) -> TextTable {
    let (bounds, hours) = (&report.bounds, PodHours::from_whole(report.ready.pod_hours));
    let text = |value: Option<f64>, round| {
        value.map_or_else(|| "-".to_owned(), |value| three_digit_seconds(value, round))
    };
    let was = |value| text(value, f64::round);
    // Rounded so that each stays a bound.
    let least = |value: Option<f64>| match value {
        Some(_) => format!("≥{}", text(value, f64::floor)),
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
            hours.rounded(saved.pod_hours, f64::ceil),
        ]
    });
    let table = TextTable::new(&BOUND_HEAD, unchanged.into_iter().chain(rows));
    table.with_numbers(1..6).labelled("What startups could have gained at most")
}

/// How a row goes on after "if".
fn in_a_row(row: &Saving, names: IntervalNames) -> &'static str {
    match row.without {
        "images_present" => "all images had been on the node",
        "no_wait_for_node" if names.lone_list() => "no pod had waited before binding",
        "no_wait_for_node" => "no pod had waited for a node",
        "init_at_once" => "init containers ran at once",
        _ => "readiness were probed every second",
    }
}

/// That a row is not of all startups.
fn unknown(row: &Saving, names: IntervalNames) -> Option<String> {
    let what = in_a_row(row, names);
    match (row.known, row.of) {
        (known, of) if known == of => None,
        (0, _) => Some(match row.without {
            "images_present" => {
                format!("If {what}: not known, since no Events say how they came there.")
            }
            "probed_every_second" => {
                format!("If {what}: not known, without the probes of the pods and the step probe.")
            }
            _ => format!("If {what}: not known."),
        }),
        (known, of) => {
            let was = [("p50", row.p50), ("p99", row.p99)];
            let was = was.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let was: Vec<String> = was
                .map(|(name, value)| {
                    format!("{name} was {}", three_digit_seconds(value, f64::round))
                })
                .collect();
            Some(format!("If {what}: known of {known} of {of} startups, whose {}.", listed(&was)))
        }
    }
}

fn images(report: &WaitingReport, shown: impl Fn(&str) -> String) -> Option<TextTable> {
    let rows = report.images.iter().map(|cost| (shown(&cost.name.image), cost));
    most("image", rows, report.more_images, PodHourColumns::from_report(report))
}

fn workloads(report: &WaitingReport, shown: impl Fn(&str) -> String) -> Option<TextTable> {
    let rows = report.workloads.iter().map(|cost| {
        let WaitingWorkload { namespace, workload_type, workload } = &cost.name;
        let name = match workload {
            Some(name) => {
                format!("{} ({})", shown(&format!("{namespace}/{name}")), shown(workload_type))
            }
            None => format!("{}: pods without an owner", shown(namespace)),
        };
        (name, cost)
    });
    most("workload", rows, report.more_workloads, PodHourColumns::from_report(report))
}

/// Names with their pods that became ready and how long these waited, and the same of the others.
fn most<'a, N: 'a>(
    what: &'static str,
    rows: impl Iterator<Item = (String, &'a NamedCost<N>)>,
    more: usize,
    columns: PodHourColumns,
) -> Option<TextTable> {
    let more = (more > 0).then(|| {
        let nothing = String::new;
        [format!("and {more} more"), nothing(), nothing(), nothing(), nothing()]
    });
    let rows = rows.map(|(name, cost)| {
        let hours = columns.ready.text(cost.pod_hours);
        let of_others = columns.not_ready.text(cost.not_ready_pod_hours);
        [name, cost.pods.to_string(), hours, cost.not_ready_pods.to_string(), of_others]
    });
    let mut rows = rows.peekable();
    rows.peek()?;
    let head = [what, "ready", "pod-hours", "not ready", "pod-hours"];
    let table = TextTable::new(&head, rows.chain(more)).with_numbers(1..5);
    Some(table.labelled(format!("Pod-hours by {what}")))
}

/// How pod-hours are written: all with as many decimals, so that the whole has four digits.
#[derive(Clone, Copy)]
struct PodHours {
    decimals: i32,
}

impl PodHours {
    fn from_whole(whole: f64) -> Self {
        let digits = whole.max(f64::MIN_POSITIVE).log10().floor();
        Self { decimals: (3.0 - digits).clamp(0.0, 5.0) as i32 }
    }

    fn text(self, hours: f64) -> String {
        self.rounded(hours, f64::round)
    }

    /// `round` says which way.
    fn rounded(self, hours: f64, round: fn(f64) -> f64) -> String {
        let unit = 10_f64.powi(-self.decimals);
        let decimals = self.decimals.unsigned_abs() as usize;
        match (hours, round(hours / unit) * unit) {
            (hours, _) if hours <= 0.0 => "0".to_owned(),
            (_, figure) if figure <= 0.0 => format!("< {unit:.decimals$}"),
            (_, figure) => format!("{figure:.decimals$}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pod_hours_have_as_many_decimals_as_the_whole_needs() {
        let texts =
            |whole: f64, hours: [f64; 3]| hours.map(|one| PodHours::from_whole(whole).text(one));
        assert_eq!(texts(1.89, [1.89, 0.03, 0.0004]), ["1.890", "0.030", "< 0.001"]);
        assert_eq!(texts(0.011, [0.011, 0.0056, 0.0]), ["0.01100", "0.00560", "0"]);
        assert_eq!(texts(41_234.6, [41_234.6, 0.4, 12.0]), ["41235", "< 1", "12"]);
        assert_eq!(PodHours::from_whole(3.0).rounded(0.4511, f64::ceil), "0.452");
    }
}
