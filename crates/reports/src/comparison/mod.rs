//! `podinit report --baseline`: whether a change made startups slower ([§15](crate::specification#s15)).
//!
//! ```text
//! recording or exporter ─▶ Side ─┬─▶ rows ─▶ verdicts ─┬─▶ answer ─▶ text | markdown | json | html
//! recording or exporter ─▶ Side ─┴─▶ matched rows ─────┘
//! ```

mod alone;
mod answer;
mod answer_words;
mod breakdown;
mod changes;
mod checks;
mod cleared_images;
mod dimension;
mod document;
mod formatting;
mod html;
mod in_short;
mod mix;
mod not_started;
mod not_started_words;
mod only;
mod placement;
mod pod_parts;
mod presence;
mod pulled;
mod quantile;
mod row;
mod side;
mod stage_differences;
mod start;
mod start_images;
mod start_parts;
mod startup_pulls;
pub mod statistics;
mod threshold;
mod timed;
mod together;
mod workload_change_words;
mod workload_changes;

use serde::Serialize;

pub use answer::Answer;
pub use breakdown::Breakdown;
use changes::Changes;
pub use changes::{ChangedNames, Counted};
pub use checks::Checks;
pub use dimension::Part;
use mix::{Mix, PodMatches};
use not_started::NotStarted;
pub use not_started::{StartVerdict, Starts};
pub use only::{Only, Place};
pub use pod_parts::WorkloadAspect;
pub use presence::SideName;
use presence::Unknown;
use pulled::PulledStartups;
pub use row::{Difference, Figures, Moved, Row, Verdict};
use row::{DrawnSample, QuantileMargin};
pub use side::ComparisonSide;
use side::SideSummary;
use stage_differences::StageDifferences;
pub use threshold::{Threshold, ThresholdCheck, ThresholdResult, percent_of};
pub use together::Together;
pub use workload_changes::{AspectChange, WorkloadChange, WorkloadChanges};

use crate::report::intervals;
use answer::{AnswerContext, AnswerInput, WHOLE};
use breakdown::in_parallel;
use changes::most_changed;
use podinit_core::lifecycle::{Interval, TimestampMode};
use podinit_text::document::{DocumentFormat, TerminalStyle};
use podinit_text::strangers_text;
use statistics::mann_whitney;
use timed::PodDuration;

/// Two sides, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub answer: Answer,
    /// What the rules of `--fail-on` say; none before [`Comparison::checked`]
    pub checks: Checks,
    /// Whether more pods do not start; `None` where a side has no pod that tells
    pub not_started: Option<NotStarted>,
    /// How many pods ended in which way, those first whose count changed most; `in_flight` is one of them
    pub outcomes: Vec<Counted>,
    /// How many pods waited for each cause, those first whose count changed most
    pub causes: Vec<Counted>,
    /// The value of `--timestamps`
    pub timestamps: &'static str,
    /// The value of `--margin`, in percent
    pub margin_percent: f64,
    pub(crate) before: SideSummary,
    pub(crate) after: SideSummary,
    /// Every duration with enough pods on both sides, in the order of the report: intervals, milestones of your own and
    /// gates
    pub rows: Vec<Row>,
    pub mix: Mix,
    /// The same for the pods that both sides have, each match weighted as before
    pub matched_rows: Vec<Row>,
    /// Whose the seconds of the difference are, where the duration that answers moved
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stages: Option<StageDifferences>,
    /// How many startups pulled an image; `None` where it is not known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pulled: Option<PulledStartups>,
    /// What one side does not show although the other has it
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unknown: Vec<Unknown>,
    /// Where the difference lies, of the stage that moved the most, or else of the whole; `None` without one
    pub breakdown: Option<Breakdown>,
    /// The same of every other row that is not `same`
    pub other_breakdowns: Vec<Breakdown>,
    /// What else is different
    pub(crate) changes: Changes,
    /// What is different in the workloads that both sides have
    pub workload_changes: WorkloadChanges,
    /// What the charts show
    #[serde(skip)]
    figure: html::DistributionFigure,
}

/// How sides are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonConfig {
    /// How the times of both sides were found
    pub timestamps: TimestampMode,
    /// What a quantile has to move, in percent of its value before
    pub margin_percent: f64,
}

/// The draws are the same in each run. Each sample has draws of its own.
const fn seeds(number: u64, table: u64) -> [u64; 2] {
    let first = 15_000 + 1_000 * table + 2 * number;
    [first, first + 1]
}

/// The numbers of the row of pulls, and of the first duration with a name of its own. Those of intervals are below.
const NUMBER_OF_PULLS: u64 = 249;
const FIRST_NAMED: u64 = 250;

/// What has rows, each with its number. An interval has the same one in every comparison.
fn compared(
    before: &ComparisonSide,
    after: &ComparisonSide,
    whole: Interval,
) -> Vec<(u64, PodDuration)> {
    let or_zero = |interval: Interval| {
        let Interval::Stage(stage) = interval else { return None };
        let not_there = presence::lacking([before, after], stage, whole)?;
        Some(PodDuration::OrZero { stage, whole, not_there })
    };
    let all = intervals().map(|interval| {
        (interval.index() as u64, or_zero(interval).unwrap_or_else(|| interval.into()))
    });
    let pulls = [(NUMBER_OF_PULLS, PodDuration::Pulls { from: None })];
    all.chain(pulls).chain((FIRST_NAMED..).zip(timed::common(before, after))).collect()
}

/// The end-to-end duration that enough pods of both sides have.
fn whole_of(before: &ComparisonSide, after: &ComparisonSide) -> Interval {
    let has_row = |interval: &Interval| {
        let timed = PodDuration::from(*interval);
        [before, after].iter().all(|side| side.has_enough(&timed))
    };
    WHOLE.into_iter().find(has_row).unwrap_or(Interval::CreatedToReady)
}

/// Compares two sides.
pub fn compare(
    before: &ComparisonSide,
    after: &ComparisonSide,
    config: ComparisonConfig,
) -> Comparison {
    let margin = QuantileMargin::new(config.margin_percent, config.timestamps);
    let of_list = |side: &ComparisonSide, other: &ComparisonSide| {
        let is_other = other.is_lone_list() && !side.is_lone_list();
        is_other.then(|| side.as_a_list_tells())
    };
    let told = [of_list(before, after), of_list(after, before)];
    let given = [before, after];
    let [before, after] = [told[0].as_ref().unwrap_or(before), told[1].as_ref().unwrap_or(after)];
    let sides = [before, after];
    let matches = PodMatches::from_sides(before, after);
    let whole = whole_of(before, after);
    let all = compared(before, after, whole);
    let jobs: Vec<_> = all.iter().flat_map(|one| [(one, false), (one, true)]).collect();
    let found = in_parallel(&jobs, |((number, timed), is_matched)| {
        let row = match is_matched {
            true => matches.row((before, after), timed, seeds(*number, 1), margin),
            false => row((before, after), timed, seeds(*number, 0), margin),
        };
        row.map(|row| Row { not_there: timed.not_there(), ..row })
    });
    let table = |is_matched: bool| {
        let found = jobs.iter().zip(&found).filter(|((_, of), _)| *of == is_matched);
        let mut rows: Vec<Row> = found.filter_map(|(_, row)| row.clone()).collect();
        Row::correct(&mut rows);
        rows
    };
    let (rows, matched_rows, mix) = (table(false), table(true), matches.mix());
    let asked = AnswerInput { rows: &rows, matched: &matched_rows, mix: &mix, stages: None };
    let stages = asked.moved().map(|(interval, quantile)| {
        let matches = asked.is_of_matched().then_some(&matches);
        StageDifferences::from_sides(sides, interval, quantile, matches)
    });
    let asked = AnswerInput { stages: stages.as_ref(), ..asked };
    let told = asked.broken_down();
    let is_told = |timed: &PodDuration| told.is_some_and(|told| timed.name() == told.as_str());
    let without_names = all.iter().filter(|(number, ..)| *number < FIRST_NAMED);
    let (told, others): (Vec<_>, Vec<_>) = without_names.partition(|(_, timed)| is_told(timed));
    let of = |(number, timed): &&(u64, PodDuration)| {
        Breakdown::from_sides((before, after), (*number, timed), &rows, margin)
    };
    let breakdown = told.iter().find_map(of);
    let other_breakdowns: Vec<Breakdown> = others.iter().filter_map(of).collect();
    let (earlier, later) = (before.summary(), after.summary());
    let observed = [earlier.observed, later.observed];
    let not_started = NotStarted::from_sides(before, after);
    let is_slower = matches!(asked.verdict(), Verdict::Slower | Verdict::Mixed);
    let alone = alone::sentence(breakdown.iter().chain(&other_breakdowns)).filter(|_| !is_slower);
    let pulled = PulledStartups::from_sides(sides, whole);
    let unknown = presence::unknown(given, sides, whole);
    let context = AnswerContext {
        breakdown: breakdown.as_ref(),
        starts: not_started.as_ref(),
        pulled: pulled.as_ref(),
        alone: alone.as_deref(),
        unknown: &unknown,
    };
    let workload_changes = WorkloadChanges::from_sides(before, after);
    let answer = Answer::new(asked, observed, context).with_changes(&workload_changes);
    Comparison {
        answer: answer.cautious(&rows, [before, after].map(ComparisonSide::network_with_pulls)),
        checks: Checks::default(),
        not_started,
        outcomes: most_changed(&earlier.outcomes, &later.outcomes),
        causes: most_changed(&earlier.causes, &later.causes),
        timestamps: config.timestamps.as_str(),
        margin_percent: config.margin_percent,
        before: earlier,
        after: later,
        figure: html::figure(&rows, all.iter().map(|(_, timed)| timed), before, after),
        stages,
        pulled,
        unknown,
        rows,
        mix,
        matched_rows,
        breakdown,
        other_breakdowns,
        changes: Changes::from_sides(before, after),
        workload_changes,
    }
}

impl Comparison {
    /// The same, checked by these rules. With `is_strict` a rule that cannot be told fails too.
    pub fn checked(self, rules: &[Threshold], is_strict: bool) -> Self {
        Self { checks: Checks::new(rules, is_strict, &self), ..self }
    }

    /// The rows that answer: those of the matched pods where the mix of the others changed.
    pub fn answering(&self) -> &[Row] {
        let Self { rows, matched_rows, mix, .. } = self;
        AnswerInput { rows, matched: matched_rows, mix, stages: None }.answering()
    }

    /// Whether more pods do not start.
    pub fn is_worse_to_start(&self) -> bool {
        self.not_started.as_ref().is_some_and(|starts| starts.verdict == StartVerdict::Worse)
    }

    /// The comparison for a terminal.
    pub fn to_text(&self, style: TerminalStyle) -> String {
        document::render(self, DocumentFormat::Text(style))
    }

    /// The comparison in Markdown.
    pub fn to_markdown(&self) -> String {
        document::render(self, DocumentFormat::Markdown)
    }

    /// The comparison as JSON.
    ///
    /// # Errors
    /// None: every comparison can be serialized.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }

    /// The comparison as one HTML file.
    ///
    /// # Errors
    /// None: every page can be rendered.
    pub fn to_html(&self) -> Result<String, askama::Error> {
        html::render(self)
    }
}

/// The row of a duration for all pods.
fn row(
    (before, after): (&ComparisonSide, &ComparisonSide),
    timed: &PodDuration,
    [first, second]: [u64; 2],
    margin: QuantileMargin,
) -> Option<Row> {
    let [one, other] = [before, after].map(|side| side.sample_of(timed, |_| Some(1.0)));
    let drawn = (&DrawnSample::new(&one, first), &DrawnSample::new(&other, second));
    let test = || mann_whitney(&one.durations(), &other.durations());
    Row::new(timed.name(), drawn, test, margin)
}
