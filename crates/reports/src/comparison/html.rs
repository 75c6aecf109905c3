//! A comparison as one HTML file that needs nothing else: no script, no network, light and dark.

use askama::Template;

use super::formatting::{breakdown, changes, mix_shares, row_table, sides};
use super::{Comparison, Row, Side};
use crate::report::{distributions, intervals};
use podinit_core::quantile::Distribution;
use podinit_text::table::Table;

/// The distributions of an interval, laid over each other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Laid {
    name: &'static str,
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
pub(super) fn laid(rows: &[Row], before: &Side, after: &Side) -> Vec<Laid> {
    let values = |side: &Side, interval| -> Distribution {
        side.pods().iter().filter_map(|pod| pod.duration(interval)).collect()
    };
    let has_row = |name: &str| rows.iter().any(|row| row.interval == name);
    let all: Vec<_> = intervals()
        .filter(|interval| has_row(interval.as_str()))
        .map(|interval| (interval.as_str(), values(before, interval), values(after, interval)))
        .collect();
    let longest = all.iter().flat_map(|(_, one, other)| [one.at(100), other.at(100)]);
    let most = longest.flatten().fold(0.0, f64::max);
    let draw = |(name, one, other): &(&'static str, Distribution, Distribution)| Laid {
        name,
        svg: distributions(&[(one.seconds(), "before"), (other.seconds(), "after")], most),
    };
    all.iter().map(draw).collect()
}

/// The page.
pub(super) fn render(found: &Comparison) -> Result<String, askama::Error> {
    let table = |title: &str, rows: &[Row]| (title.to_owned(), row_table(rows).labelled(title));
    let mut tables = vec![table("All pods", &found.rows)];
    if !found.is_all_matched() {
        tables.push(table("Matched pods alone, weighted as before", &found.matched_rows));
    }
    tables.extend(breakdown(found, str::to_owned));
    let page = Page {
        answer: &found.answer.text,
        needed: found.answer.needed.as_deref(),
        caution: found.answer.caution.as_deref(),
        sides: sides(found),
        distributions: &found.distributions,
        mix: mix_shares(found),
        tables,
        changes: changes(found, str::to_owned),
    };
    page.render()
}
