//! The texts and tables that the formats of the report share.

use std::borrow::Cow;

use super::summary::{
    GateSummary, InFlightSummary, IntervalSummary, Report, StartupSummary, Warmth,
};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{NodeAge, Stage, StartupImages, Step};
use podinit_recordings::probes::ProbeReport;
use podinit_recordings::reader::ClockAhead;
pub(super) use podinit_text::human_time::seconds;
use podinit_text::table::TextTable;
use podinit_text::words::{count, percent};

/// The columns of the table of intervals.
const HEAD: [&str; 8] = ["interval", "count", "min", "p50", "p90", "p95", "p99", "max"];

/// What a lone list tells of the time before a pod was bound: one stage, in the place of three.
pub(crate) const BEFORE_BINDING: &str = "before binding";
const BEFORE_BINDING_WHY: &str =
    "one list does not tell whether a pod was gated, unschedulable or being scheduled";

/// How people read the names of intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntervalNames {
    lone_list: bool,
}

impl IntervalNames {
    pub(super) const fn from_report(report: &Report) -> Self {
        Self { lone_list: report.lone_list }
    }

    /// Whether a pod may have waited before it was bound for what one list does not tell.
    pub(super) const fn lone_list(self) -> bool {
        self.lone_list
    }

    /// The name of an interval.
    pub(super) fn name(self, interval: &str) -> &str {
        match self.lone_list && interval == Stage::Scheduling.as_str() {
            true => BEFORE_BINDING,
            false => interval,
        }
    }
}

/// What takes more than anything else: `Most of the time is network: 86 %.`
pub(super) fn largest_part(of: &str, what: &str, share: f64) -> String {
    let part = if share > 0.5 { "Most" } else { "The largest part" };
    format!("{part} {of} is {what}: {}.", percent(share))
}

/// The table of intervals. Of a lone list, what it cannot tell has no row.
pub(super) fn intervals(report: &Report) -> TextTable {
    let names = IntervalNames::from_report(report);
    let untold = [Stage::Gated, Stage::Unschedulable].map(Stage::as_str);
    let rows = report.intervals.iter();
    let rows = rows.filter(|row| !(report.lone_list && untold.contains(&&*row.interval)));
    let rows = rows.map(|row| row_of(names.name(&row.interval), row));
    TextTable::new(&HEAD, rows).with_numbers(1..HEAD.len()).labelled("Durations by interval")
}

/// A row of the table of intervals.
fn row_of(name: &str, summary: &IntervalSummary) -> [String; 8] {
    let IntervalSummary { interval: _, count, min, p50, p90, p95, p99, max } = summary;
    let [min, p50, p90, p95, p99, max] = [min, p50, p90, p95, p99, max].map(|value| known(*value));
    [indented(name), count.to_string(), min, p50, p90, p95, p99, max]
}

/// The name of an interval, that of a step below its stage indented.
fn indented(interval: &str) -> String {
    match Step::from_text(interval) {
        Some(_) => format!("- {interval}"),
        None => interval.to_owned(),
    }
}

/// Seconds, where they are known.
pub(super) fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), seconds)
}

/// The title of the table of gates.
pub(super) const GATES: &str = "Gates";

/// Its columns.
const GATES_HEAD: [&str; 8] = ["gate", "pods", "hold now", "passed", "p50", "p90", "p99", "max"];

/// The table of gates; `None` where no pod has one. `shown` is how names are written in the format.
pub(super) fn gates(report: &Report, shown: impl Fn(&str) -> String) -> Option<TextTable> {
    let rows = report.gates.iter().map(|row| {
        let GateSummary { kind, gate, pods, holding, count, p50, p90, p99, max } = row;
        let name = kind.as_ref().zip(gate.as_ref()).map_or_else(
            || "all others".to_owned(),
            |(kind, gate)| format!("{} gate {}", kind.as_str(), shown(gate)),
        );
        let [p50, p90, p99, max] = [p50, p90, p99, max].map(|value| known(*value));
        [name, pods.to_string(), holding.to_string(), count.to_string(), p50, p90, p99, max]
    });
    let table = TextTable::new(&GATES_HEAD, rows).with_numbers(1..GATES_HEAD.len());
    (!report.gates.is_empty()).then(|| table.labelled("Durations of gates"))
}

/// The section on cold startups.
pub(super) struct ColdSection {
    /// How many startups are cold, and what of that is not known
    pub(super) sentences: String,
    pub(super) table: TextTable,
}

/// Its title.
pub(super) const COLD: &str = "New capacity and cold images, created to ready";

/// The columns of its table.
const COLD_HEAD: [&str; 7] = ["startups", "count", "of all", "p50", "p90", "p99", "of all waiting"];

/// What startups had to wait for; `None` where nothing tells.
pub(super) fn cold(report: &Report) -> Option<ColdSection> {
    let mut sentences = cold_sentence(report)?;
    let known = KnownCauses::from_report(report);
    if !known.nodes {
        sentences += " Whether nodes were new is not known.";
    }
    if !known.images {
        sentences += " Whether images were pulled is not known.";
    }
    let mut rows = Vec::new();
    for (group, parts) in groups(report) {
        let name = match group.startups {
            Warmth::Warm => "warm",
            Warmth::Cold => "cold",
            Warmth::Unknown => "not known",
        };
        match parts {
            // One source alone tells of none whether it was warm.
            parts if !(known.nodes && known.images) => {
                rows.extend(parts.iter().map(|part| cells(part, known.name_of(part))));
            }
            [part] => rows.push(cells(part, format!("{name}: {}", known.name_of(part)))),
            parts => {
                rows.push(cells(group, name.to_owned()));
                let parts = parts.iter();
                rows.extend(parts.map(|part| cells(part, format!("- {}", known.name_of(part)))));
            }
        }
    }
    let table = TextTable::new(&COLD_HEAD, rows).with_numbers(1..COLD_HEAD.len());
    Some(ColdSection { sentences, table: table.labelled("Startups by capacity and images") })
}

/// How many startups were cold, and how much of all waiting that is; `None` where nothing tells.
pub(super) fn cold_sentence(report: &Report) -> Option<String> {
    let known = KnownCauses::from_report(report);
    let (were, have_been) = match (known.nodes, known.images) {
        (true, true) => ("were cold, with a new node or pulled images", "have been cold"),
        (true, false) => ("had a new node", "have had a new node"),
        (false, true) => ("had images pulled", "have had images pulled"),
        (false, false) => return None,
    };
    let count: u64 = groups(report).map(|(group, _)| group.count).sum();
    let mut cold = groups(report).filter(|(group, _)| group.startups == Warmth::Cold);
    Some(match cold.next() {
        Some((cold, _)) => format!(
            "{} of {count} startups {were}: {} of the pods and {} of all waiting.",
            cold.count,
            percent(cold.share),
            percent(cold.share_of_waiting)
        ),
        None => format!("None of {count} startups is known to {have_been}."),
    })
}

/// The row of each group, with those of its combinations.
fn groups(report: &Report) -> impl Iterator<Item = (&StartupSummary, &[StartupSummary])> {
    let groups = report.startups.chunk_by(|_, next| next.capacity.is_some());
    groups.filter_map(|group| group.split_first())
}

fn cells(row: &StartupSummary, name: String) -> Vec<String> {
    vec![
        name,
        row.count.to_string(),
        percent(row.share),
        known(row.p50),
        known(row.p90),
        known(row.p99),
        percent(row.share_of_waiting),
    ]
}

/// Whether anything is known of nodes, and of images.
#[derive(Clone, Copy)]
struct KnownCauses {
    nodes: bool,
    images: bool,
}

impl KnownCauses {
    fn from_report(report: &Report) -> Self {
        let mut known = Self { nodes: false, images: false };
        for row in &report.startups {
            known.nodes |= row.capacity.is_some_and(|one| one != NodeAge::Unknown);
            known.images |= row.images.is_some_and(|one| one != StartupImages::Unknown);
        }
        known
    }

    /// The name of a combination, without what is known of no startup.
    fn name_of(self, row: &StartupSummary) -> String {
        let capacity = row.capacity.filter(|_| self.nodes).map(|one| match one {
            NodeAge::New => "new node",
            NodeAge::Existing => "existing node",
            NodeAge::Unknown => "node not known",
        });
        let images = row.images.filter(|_| self.images).map(|one| match one {
            StartupImages::Pulled => "images pulled",
            StartupImages::Present => "images present",
            StartupImages::Unknown => "images not known",
        });
        let parts: Vec<&str> = capacity.into_iter().chain(images).collect();
        parts.join(", ")
    }
}

/// What a report on the records of an exporter is about.
const KEPT: &str = "Of a running exporter: its newest 1,000 startups and the pods in flight; the slowest pods are those of \
                    the last hour.";

/// A sentence that says what the report is about, if that is no recording.
pub(super) fn kept(report: &Report) -> Option<&'static str> {
    report.only_kept.then_some(KEPT)
}

/// How many pods were discovered.
pub(super) fn pods(report: &Report) -> String {
    match report.discovered {
        0 => "No pods".to_owned(),
        pods => count(pods, "pod", "pods"),
    }
}

/// From one instant to another in whole seconds, where they are known; a single list is of one.
pub(crate) fn span(from: Option<&str>, to: Option<&str>) -> String {
    match from.map(in_seconds).zip(to.map(in_seconds)) {
        Some((from, to)) if from == to => format!(" as of {to}"),
        Some((from, to)) => format!(" from {from} to {to}"),
        None => String::new(),
    }
}

/// An instant of RFC 3339 in UTC without the fraction of its second.
fn in_seconds(time: &str) -> Cow<'_, str> {
    match time.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z").into(),
        None => time.into(),
    }
}

/// The outcomes that occurred, with the number of pods.
pub(super) fn outcomes(report: &Report) -> Vec<String> {
    named(report.finished.iter())
}

/// Further counts with their titles, without those that are empty.
/// `shown` is how names of pods are written in the format.
pub(super) fn notes(
    report: &Report,
    shown: impl Fn(&str) -> String,
) -> Vec<(&'static str, Vec<String>)> {
    let in_flight = report.in_flight.iter().map(|(stage, waiting)| {
        let InFlightSummary { pods, oldest_entered, oldest } = waiting;
        let since = oldest_entered.as_deref().map_or("an unknown time".into(), in_seconds);
        let name = oldest.as_ref().map_or_else(String::new, |pod| {
            shown(&format!("{}/{}", pod.namespace, pod.name)) + " "
        });
        match pods {
            1 => format!("{stage} 1 ({name}since {since})"),
            _ => format!("{stage} {pods} (oldest {name}since {since})"),
        }
    });
    let unobserved = report.unobserved.iter();
    let names = IntervalNames::from_report(report);
    let unobserved =
        unobserved.map(|(stage, reason, count)| format!("{} {reason} {count}", names.name(stage)));
    let scheduling = |row: &&IntervalSummary| row.interval == Stage::Scheduling.as_str();
    let bound = report.intervals.iter().find(scheduling);
    let why = bound.filter(|row| report.lone_list && row.count > 0);
    let why = why.map(|_| BEFORE_BINDING_WHY.to_owned());
    let notes = [
        ("Before binding", why.into_iter().collect()),
        (podinit_recordings::SET_ASIDE, named(report.set_aside.iter())),
        ("Still in flight", in_flight.collect()),
        ("Not observed", unobserved.collect()),
        ("Clock anomalies", named(report.clock_anomalies.iter())),
        ("Clocks ahead", clocks_ahead(report, &shown)),
        ("Re-entries", named(report.reentries.iter())),
    ];
    notes.into_iter().filter(|(_, found): &(_, Vec<String>)| !found.is_empty()).collect()
}

/// The clocks that are ahead, in a line that also says what becomes of their times.
fn clocks_ahead(report: &Report, shown: impl Fn(&str) -> String) -> Vec<String> {
    let line = ClockAhead::line(&report.clocks_ahead);
    line.into_iter().map(|line| shown(&line)).collect()
}

/// The title of the advice on probes.
pub(super) const PROBES: &str = "Probes to change, containers started to ready";

/// How many workloads the advice on probes leaves out, if any.
pub(super) fn probes_left_out(probes: &ProbeReport) -> Option<String> {
    let ProbeReport { workloads, well, advice, too_few: _ } = probes;
    let more = workloads - well - advice.len();
    (more > 0).then(|| format!("and {more} more"))
}

fn named<'a>(counts: impl Iterator<Item = (&'a &'static str, &'a u64)>) -> Vec<String> {
    counts.filter(|(_, count)| **count > 0).map(|(name, count)| format!("{name} {count}")).collect()
}
