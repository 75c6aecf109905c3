//! A comparison as one HTML file that needs nothing else: no script, no network, light and dark.

use std::borrow::Cow;

use askama::Template;

use super::formatting::{breakdown, changes, mix_shares, row_table, sides};
use super::timed::Timed;
use super::{Comparison, Row, Side};
use crate::report::distributions;
use podinit_core::quantile::Distribution;
use podinit_text::table::Table;

/// The distributions of an interval, laid over each other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Laid {
    name: Cow<'static, str>,
    svg: String,
}

/// What the page shows.
#[derive(Template)]
#[template(path = "comparison/comparison.html")]
struct Page<'a> {
    answer: &'a str,
    needed: Option<&'a str>,
    caution: Option<&'a str>,
    sides: Vec<String>,
    distributions: &'a [Laid],
    mix: String,
    tables: Vec<(String, Table)>,
    changes: Vec<(&'static str, String)>,
}

/// The distributions of every row, on one axis.
pub(super) fn laid<'a>(
    rows: &[Row],
    compared: impl Iterator<Item = &'a Timed>,
    before: &Side,
    after: &Side,
) -> Vec<Laid> {
    let values = |side: &Side, timed| -> Distribution {
        side.pods().iter().filter_map(|pod| pod.duration_of(timed)).collect()
    };
    let all: Vec<_> = compared
        .filter(|timed| rows.iter().any(|row| row.interval == timed.name()))
        .map(|timed| (timed.name(), values(before, timed), values(after, timed)))
        .collect();
    let longest = all.iter().flat_map(|(_, one, other)| [one.at(100), other.at(100)]);
    let most = longest.flatten().fold(0.0, f64::max);
    let draw = |(name, one, other): &(Cow<'static, str>, Distribution, Distribution)| Laid {
        name: name.clone(),
        svg: distributions(&[(one.seconds(), "before"), (other.seconds(), "after")], most),
    };
    all.iter().map(draw).collect()
}

/// The page.
pub(super) fn render(found: &Comparison) -> Result<String, askama::Error> {
    let table = |title: &str, rows: &[Row]| {
        (title.to_owned(), row_table(rows, str::to_owned).labelled(title))
    };
    let mut tables = vec![table("All pods", &found.rows)];
    if !found.is_all_matched() {
        tables.push(table("Matched pods alone, weighted as before", &found.matched_rows));
    }
    tables.extend(breakdown(found, str::to_owned));
    let page = Page {
        answer: &found.answer.text,
        needed: found.answer.needed.as_deref(),
        caution: found.answer.caution.as_deref(),
        sides: sides(found, str::to_owned),
        distributions: &found.distributions,
        mix: mix_shares(found),
        tables,
        changes: changes(found, str::to_owned),
    };
    page.render()
}
