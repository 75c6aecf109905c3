//! Few nodes, images or workloads that are slower while startups as a whole are not
//! ([§15.6](crate::specification#s15-6)): the first line says so.

use super::answer_words::{figures, in_short, in_words};
use super::breakdown::Breakdown;
use super::dimension::Part;
use super::quantile::IntervalQuantile;
use super::row::{SIGNIFICANCE, Verdict};
use podinit_text::words::listed;

/// What is slower alone: `Startups on node a are slower: network p50 2s → 12s (+10s, between +9s and +11s).`
pub(super) fn sentence<'a>(
    breakdowns: impl Iterator<Item = &'a Breakdown> + Clone,
) -> Option<String> {
    let number = breakdowns.clone().count();
    let found = breakdowns.filter_map(|breakdown| parts_alone(breakdown, number));
    let size = |parts: &[&Part]| {
        parts.iter().map(|part| told(part).difference_in(&part.row).difference).fold(0.0, f64::max)
    };
    let parts = found.max_by(|one, other| size(one).total_cmp(&size(other)))?;
    let first = parts.first()?;
    let values = parts.iter().map(|part| part.value.clone()).collect();
    let place = in_words(&super::Place { dimension: first.dimension, values });
    let sizes: Vec<String> = parts.iter().map(|part| in_short(&part.row, told(part))).collect();
    let size = match parts.len() {
        1 => figures(&first.row, told(first)),
        _ => format!("{} {} {}", first.row.interval, told(first).as_str(), listed(&sizes)),
    };
    Some(format!("Startups {place} are slower: {size}."))
}

fn told(part: &Part) -> IntervalQuantile {
    IntervalQuantile::told(&part.row)
}

/// The values that account for nearly all of a difference, each slower beyond chance in a table of so many times as many rows.
fn parts_alone(breakdown: &Breakdown, number: usize) -> Option<Vec<&Part>> {
    let only = &breakdown.only.as_ref()?.place;
    let is_of_it =
        |part: &&Part| part.dimension == only.dimension && only.values.contains(&part.value);
    let parts: Vec<&Part> = breakdown.parts.iter().filter(is_of_it).collect();
    let is_proven = |part: &&Part| {
        let difference = told(part).difference_in(&part.row);
        part.row.verdict == Verdict::Slower
            && part.row.corrected_p_value * (number as f64) < SIGNIFICANCE
            && difference.widened(part.row.rows * number)[0] > 0.0
    };
    parts.iter().all(is_proven).then_some(parts)
}
