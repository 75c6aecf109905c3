//! A comparison as one HTML file that needs nothing else: no script, no network, light and dark.

use std::borrow::Cow;

use askama::Template;

use super::formatting::{
    beside, breakdowns, changes, mix_shares, row_table, sides, starts, starts_table,
};
use super::timed::PodDuration;
use super::{Comparison, ComparisonSide, Row};
use crate::report::LogAxis;
use podinit_core::quantile::ExactDistribution;
use podinit_text::table::TextTable;

/// The distributions of every row, in one figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DistributionFigure {
    rows: Vec<LaidDistribution>,
    /// Where each text of the axis stands, in percent
    ticks: Vec<(String, &'static str)>,
}

/// The distributions of an interval, one below the other.
#[derive(Clone, Debug, PartialEq)]
struct LaidDistribution {
    name: Cow<'static, str>,
    svg: String,
}

/// What the page shows.
#[derive(Template)]
#[template(path = "comparison/comparison.html")]
struct ComparisonPage<'a> {
    /// The rules that fail, each behind what it is
    failures: Vec<(&'static str, &'a str)>,
    /// The first sentence: that more pods do not start, or else the answer
    first: &'a str,
    answer: &'a str,
    /// That the status is 3 unasked
    unasked: Option<&'static str>,
    needed: Option<&'a str>,
    caution: Option<&'a str>,
    starts: Option<&'a str>,
    beside: Vec<(&'static str, String)>,
    sides: Vec<String>,
    figure: &'a DistributionFigure,
    mix: String,
    tables: Vec<(String, TextTable)>,
    changes: Vec<(&'static str, String)>,
}

/// The distributions of every row, on one axis.
pub(super) fn figure<'a>(
    rows: &[Row],
    compared: impl Iterator<Item = &'a PodDuration>,
    before: &ComparisonSide,
    after: &ComparisonSide,
) -> DistributionFigure {
    let values = |side: &ComparisonSide, timed: &PodDuration| -> ExactDistribution {
        side.pods().iter().filter_map(|pod| pod.duration_of(timed)).collect()
    };
    let all: Vec<_> = compared
        .filter(|timed| rows.iter().any(|row| row.interval == timed.name()))
        .map(|timed| (timed.name(), timed.observed_alone()))
        .map(|(name, timed)| (name, values(before, &timed), values(after, &timed)))
        .collect();
    let axis = LogAxis::from_distributions(all.iter().flat_map(|(_, one, other)| [one, other]));
    let draw = |(name, one, other): &(Cow<'static, str>, ExactDistribution, ExactDistribution)| {
        LaidDistribution {
            name: name.clone(),
            svg: axis.ranges(&[(one, "before"), (other, "after")]),
        }
    };
    DistributionFigure { rows: all.iter().map(draw).collect(), ticks: axis.ticks() }
}

/// The page.
pub(super) fn render(found: &Comparison) -> Result<String, askama::Error> {
    let table = |title: &str, rows: &[Row]| {
        (title.to_owned(), row_table(rows, str::to_owned).labelled(title))
    };
    let starts_table = starts_table(found, str::to_owned);
    let mut tables: Vec<(String, TextTable)> = starts_table
        .map(|table| ("Pods that did not start".to_owned(), table))
        .into_iter()
        .collect();
    tables.push(table("All pods", &found.rows));
    if !found.mix.is_all() {
        tables.push(table("Matched pods alone, weighted as before", &found.matched_rows));
    }
    tables.extend(breakdowns(found, str::to_owned));
    let text = &*found.answer.text;
    let starts_text = found.not_started.as_ref().map_or("", |starts| &starts.text);
    let (first, answer) = match text.strip_prefix(starts_text) {
        Some(rest) if !starts_text.is_empty() => (starts_text, rest.trim_start()),
        _ => (text, ""),
    };
    let page = ComparisonPage {
        failures: found.checks.failures().collect(),
        first,
        answer,
        unasked: found.checks.unasked(),
        needed: found.answer.needed.as_deref(),
        caution: found.answer.caution.as_deref(),
        starts: starts(found),
        beside: beside(found),
        sides: sides(found, str::to_owned),
        figure: &found.figure,
        mix: mix_shares(found),
        tables,
        changes: changes(found, str::to_owned),
    };
    page.render()
}
