//! The answer in words: whether more pods do not start, whether startups are slower, in which stage, and where.

use serde::Serialize;

use super::answer_words::{
    figures, in_short, mixed, no_difference, other_workloads, place, same_pods, stage_sentence,
    too_few, unclear,
};
use super::breakdown::Breakdown;
use super::mix::Mix;
use super::not_started::NotStarted;
use super::presence::{SideName, Unknown};
use super::pulled::PulledStartups;
use super::quantile::IntervalQuantile;
use super::row::{Moved, Row, Verdict};
use super::stage_differences::{StageDifference, StageDifferences};
use super::workload_changes::WorkloadChanges;
use podinit_core::lifecycle::{Interval, Stage};
use podinit_text::words::{capitalized, percent};

/// The answer to the question whether startups are worse.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// That of the longest duration that both sides have; `unclear` where the workloads are not the same. Whether more
    /// pods do not start has a verdict of its own
    pub verdict: Verdict,
    /// The stage that moved the same way the most
    pub stage: Option<&'static str>,
    /// Whether it is of the matched pods alone, since the mix of the others changed
    pub matched: bool,
    /// The first sentences of every format
    pub text: String,
    /// What would be needed, where it cannot be told and more pods could tell it
    pub needed: Option<String>,
    /// Why a difference of the stage `network` may be none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
}

/// Network times are not compared without a caution where those that may include image pulls differ by this share.
const OTHER_MEASURE: f64 = 0.1;

/// The end-to-end durations, the one that says most first.
pub(super) const WHOLE: [Interval; 2] = [Interval::CreatedToReady, Interval::ScheduledToReady];

/// What an answer is made of.
#[derive(Clone, Copy)]
pub(super) struct AnswerInput<'a> {
    /// The rows of all pods
    pub(super) rows: &'a [Row],
    /// Those of the matched pods
    pub(super) matched: &'a [Row],
    pub(super) mix: &'a Mix,
    /// Whose the seconds are, where the row that answers moved
    pub(super) stages: Option<&'a StageDifferences>,
}

/// What stands beside the rows.
#[derive(Clone, Copy)]
pub(super) struct AnswerContext<'a> {
    pub(super) breakdown: Option<&'a Breakdown>,
    pub(super) starts: Option<&'a NotStarted>,
    pub(super) pulled: Option<&'a PulledStartups>,
    /// What is slower alone, in words
    pub(super) alone: Option<&'a str>,
    pub(super) unknown: &'a [Unknown],
}

fn row_of(rows: &[Row], interval: Interval) -> Option<&Row> {
    rows.iter().find(|row| row.interval == interval.as_str())
}

/// The row that answers.
fn whole(rows: &[Row]) -> Option<&Row> {
    WHOLE.into_iter().find_map(|interval| row_of(rows, interval))
}

impl<'a> AnswerInput<'a> {
    /// Whether the matched pods alone answer: the mix of the others changed.
    pub(super) fn is_of_matched(self) -> bool {
        self.mix.same_workloads && !self.mix.is_all()
    }

    /// The rows that answer.
    pub(super) fn answering(self) -> &'a [Row] {
        match self.is_of_matched() {
            true => self.matched,
            false => self.rows,
        }
    }

    /// What they say.
    pub(super) fn verdict(self) -> Verdict {
        let found = whole(self.answering()).filter(|_| self.mix.same_workloads);
        found.map_or(Verdict::Unclear, |row| row.verdict)
    }

    /// The interval that answers, and the quantile that the first sentence is about, if it moved.
    pub(super) fn moved(self) -> Option<(Interval, IntervalQuantile)> {
        let rows = self.answering();
        let found = WHOLE.into_iter().find_map(|one| Some((one, row_of(rows, one)?)));
        let (interval, row) = found.filter(|_| self.verdict().is_different())?;
        Some((interval, IntervalQuantile::told(row)))
    }

    /// The stages whose seconds make the difference, the one with most of it first.
    fn named(self) -> Vec<&'a StageDifference> {
        let named = |stages: &'a StageDifferences| {
            let row = whole(self.answering())?;
            Some(stages.named(moved_in(row)))
        };
        self.stages.and_then(named).unwrap_or_default()
    }

    /// What the first sentences say of places: the stage with most of the difference, or else the whole, if it moved.
    pub(super) fn broken_down(self) -> Option<Interval> {
        let stage = self.named().first().map(|first| Interval::Stage(first.stage));
        stage.or(self.moved().map(|(interval, _)| interval))
    }

    /// What else may be told of the stages that moved: ` The stage network is slower: +3s in p90.`
    fn moved_stages(self) -> String {
        let stages = Stage::ALL.into_iter();
        let found = stages.filter_map(|stage| row_of(self.answering(), Interval::Stage(stage)));
        let sentences = found.filter(|row| row.verdict.is_different()).map(|row| {
            let quantile = IntervalQuantile::told(row);
            let moved = quantile.difference_in(row).proven.map_or("", Moved::as_str);
            let size = in_short(row, quantile);
            format!(" The stage {} is {moved}: {size} in {}.", row.interval, quantile.as_str())
        });
        sentences.collect()
    }
}

impl Answer {
    pub(super) fn new(
        asked: AnswerInput<'_>,
        observed: [usize; 2],
        context: AnswerContext<'_>,
    ) -> Self {
        let verdict = asked.verdict();
        let stage = asked.named().first().map(|first| first.stage);
        let is_of_matched = asked.is_of_matched();
        let among = match (is_of_matched, context.alone) {
            (true, _) => ", of pods that have a match",
            (false, Some(_)) => ", of all pods together",
            (false, None) => "",
        };
        let (text, needed) = match (whole(asked.rows), whole(asked.answering())) {
            (None, _) | (_, None) => too_few(observed, is_of_matched),
            (Some(row), _) if !asked.mix.same_workloads => other_workloads(row, asked.mix),
            (_, Some(row)) => {
                let (text, needed) = match verdict {
                    Verdict::Unclear => unclear(row, among),
                    Verdict::Same => (no_difference(row, among), None),
                    _ => (told(asked, row, among, context), None),
                };
                let stages =
                    if verdict.is_different() { String::new() } else { asked.moved_stages() };
                (text + &of_all(asked, row) + &stages, needed)
            }
        };
        let starts = context.starts.filter(|starts| starts.is_said_first());
        let first = [starts.map(|starts| &*starts.text), context.alone].into_iter().flatten();
        let unknown: String = context.unknown.iter().map(Unknown::in_words).collect();
        let text = first.chain([&*text]).collect::<Vec<_>>().join(" ") + &unknown;
        Self {
            verdict,
            stage: stage.map(Stage::as_str),
            matched: is_of_matched,
            text,
            needed,
            caution: None,
        }
    }

    /// With what changed in the workloads of both sides.
    pub(super) fn with_changes(self, changes: &WorkloadChanges) -> Self {
        Self { text: self.text + &changes.in_answer(), ..self }
    }

    /// With a caution where the stage `network` moved, and image pulls may be in it on one side more than on the other:
    /// kubelets up to 1.35 set its condition late.
    pub(super) fn cautious(self, rows: &[Row], [before, after]: [f64; 2]) -> Self {
        let network = row_of(rows, Interval::Stage(Stage::Network));
        let moved = network.filter(|row| row.verdict.is_different());
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

/// Which way a row has moved, by the quantile that the first sentence is about.
fn moved_in(row: &Row) -> Moved {
    IntervalQuantile::told(row).difference_in(row).proven.unwrap_or(Moved::Slower)
}

/// That a stage that is named came or went: ` It was not there before.`
fn not_there(rows: &[Row], named: &[&StageDifference]) -> String {
    let sentences = named.iter().filter_map(|one| {
        let side = row_of(rows, Interval::Stage(one.stage))?.not_there?;
        let what = if named.len() > 1 { one.stage.as_str() } else { "it" };
        Some(match side {
            SideName::Before => (what, "was not there before"),
            SideName::After => (what, "is not there after"),
        })
    });
    let sentence = |(what, text)| format!(" {}.", capitalized(&format!("{what} {text}")));
    sentences.map(sentence).collect()
}

/// What the whole is, and the stage and the place of it.
fn told(asked: AnswerInput<'_>, row: &Row, among: &str, context: AnswerContext<'_>) -> String {
    let quantile = IntervalQuantile::told(row);
    let moved = moved_in(row);
    let begin = match (row.verdict, quantile) {
        (Verdict::Mixed, _) => mixed(row, among),
        (_, IntervalQuantile::P50) => {
            format!("Startups are {}{among}: {}.", moved.as_str(), figures(row, quantile))
        }
        (_, IntervalQuantile::P90) => {
            let figures = figures(row, quantile);
            format!("The slowest tenth of startups is {}{among}: {figures}.", moved.as_str())
        }
    };
    // Places are those of all pods, where these say the same.
    let breakdown = context.breakdown.filter(|found| {
        let of_all = asked.rows.iter().find(|row| row.interval == found.interval);
        !asked.is_of_matched()
            || of_all.is_some_and(|all| quantile.difference_in(all).proven == Some(moved))
    });
    let place = breakdown.map_or_else(String::new, |found| place(found, quantile, moved));
    let named = asked.named();
    let stage = asked.stages.map(|stages| stage_sentence(stages, &named, &place));
    let is_by_pulls = asked.stages.is_some_and(|stages| stages.is_by_pulls(&named));
    let pulled = context.pulled.filter(|_| is_by_pulls);
    let pulled = pulled.and_then(PulledStartups::sentence).unwrap_or_default();
    let (stage, not_there) = (stage.unwrap_or_default(), not_there(asked.answering(), &named));
    begin + &stage + &not_there + &breakdown.map_or_else(String::new, same_pods) + &pulled
}

/// Which pods the answer is of, and what all pods say, where the mix of the others changed.
fn of_all(asked: AnswerInput<'_>, row: &Row) -> String {
    let all = asked.rows.iter().find(|all| all.interval == row.interval);
    let Some(all) = all.filter(|_| asked.is_of_matched()) else {
        return String::new();
    };
    let quantile = IntervalQuantile::told(row);
    format!(
        " These are {} of the pods before and {} of those after; the mix of the others changed. All pods together: {} in {}.",
        percent(asked.mix.before),
        percent(asked.mix.after),
        in_short(all, quantile),
        quantile.as_str()
    )
}
