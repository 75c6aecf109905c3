//! The answer in words: whether more pods do not start, whether startups are slower, in which stage, and where.

use serde::Serialize;

use super::answer_words::{
    figures, in_short, mixed, no_difference, other_workloads, place, same_pods, too_few, unclear,
};
use super::breakdown::Breakdown;
use super::mix::Mix;
use super::not_started::NotStarted;
use super::quantile::IntervalQuantile;
use super::row::{Moved, Row, Verdict};
use super::workload_changes::WorkloadChanges;
use podinit_core::lifecycle::{Interval, Stage};
use podinit_text::words::percent;

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
const WHOLE: [Interval; 2] = [Interval::CreatedToReady, Interval::ScheduledToReady];

/// What an answer is made of.
#[derive(Clone, Copy)]
pub(super) struct AnswerInput<'a> {
    /// The rows of all pods
    pub(super) rows: &'a [Row],
    /// Those of the matched pods
    pub(super) matched: &'a [Row],
    pub(super) mix: &'a Mix,
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

    /// The stage that moved the same way the most, by the quantile that the first sentence is about.
    fn stage(self) -> Option<(Stage, &'a Row)> {
        let whole = whole(self.answering()).filter(|_| self.verdict().is_different())?;
        let quantile = IntervalQuantile::told(whole);
        let moved = quantile.difference_in(whole).proven;
        let stages = Stage::ALL.into_iter();
        let rows = stages
            .filter_map(|stage| Some((stage, row_of(self.answering(), Interval::Stage(stage))?)));
        let rows = rows.filter(|(_, row)| quantile.difference_in(row).proven == moved);
        let size = |row: &Row| quantile.difference_in(row).difference.abs();
        rows.max_by(|(_, one), (_, other)| size(one).total_cmp(&size(other)))
    }

    /// What the first sentences say of places: the stage that moved the most, or else the whole, if it moved.
    pub(super) fn broken_down(self) -> Option<Interval> {
        let stage = self.stage().map(|(stage, _)| Interval::Stage(stage));
        let all = WHOLE.into_iter().find(|interval| row_of(self.answering(), *interval).is_some());
        stage.or(all.filter(|_| self.verdict().is_different()))
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
        breakdown: Option<&Breakdown>,
        starts: Option<&NotStarted>,
    ) -> Self {
        let verdict = asked.verdict();
        let stage = asked.stage();
        let is_of_matched = asked.is_of_matched();
        let among = if is_of_matched { ", of pods that have a match" } else { "" };
        let (text, needed) = match (whole(asked.rows), whole(asked.answering())) {
            (None, _) | (_, None) => too_few(observed, is_of_matched),
            (Some(row), _) if !asked.mix.same_workloads => other_workloads(row, asked.mix),
            (_, Some(row)) => {
                let (text, needed) = match verdict {
                    Verdict::Unclear => unclear(row, among),
                    Verdict::Same => (no_difference(row, among), None),
                    _ => (told(asked, row, among, breakdown), None),
                };
                let stages =
                    if verdict.is_different() { String::new() } else { asked.moved_stages() };
                (text + &of_all(asked, row) + &stages, needed)
            }
        };
        let text = match starts.filter(|starts| starts.is_said_first()) {
            Some(starts) => format!("{} {text}", starts.text),
            None => text,
        };
        Self {
            verdict,
            stage: stage.map(|(stage, _)| stage.as_str()),
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

/// What the whole is, and the stage and the place of it.
fn told(asked: AnswerInput<'_>, row: &Row, among: &str, breakdown: Option<&Breakdown>) -> String {
    let quantile = IntervalQuantile::told(row);
    let moved = quantile.difference_in(row).proven.unwrap_or(Moved::Slower);
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
    let breakdown = breakdown.filter(|found| {
        let of_all = asked.rows.iter().find(|row| row.interval == found.interval);
        !asked.is_of_matched()
            || of_all.is_some_and(|all| quantile.difference_in(all).proven == Some(moved))
    });
    let place = breakdown.map_or_else(String::new, |found| place(found, quantile, moved));
    let stage = match asked.stage() {
        Some((stage, row)) => {
            let in_quantile = if quantile == IntervalQuantile::P50 { "" } else { " in p90" };
            let size = in_short(row, quantile);
            format!(" It is the stage {}: {size}{in_quantile}{place}.", stage.as_str())
        }
        None => format!(" No single stage moved enough to be named{place}."),
    };
    begin + &stage + &breakdown.map_or_else(String::new, same_pods)
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
