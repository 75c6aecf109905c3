//! Few nodes, images or workloads that are slower while startups as a whole are not
//! ([§15.6](crate::specification#s15-6)): the first line says so.

use super::answer_words::{figures, in_short, in_words};
use super::breakdown::Breakdown;
use super::dimension::Part;
use super::quantile::IntervalQuantile;
use super::row::{SIGNIFICANCE, Verdict};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::Stage;
use podinit_text::words::listed;

/// So many durations may be broken down that are no steps: the stages, two whole ones and the pulls. What is told is no chance
/// in any of them.
const MOST_BREAKDOWNS: usize = Stage::ALL.len() + 3;

/// Whether a value is slower beyond chance in a table of as many times as many rows.
pub(super) fn is_slower(part: &Part) -> bool {
    let difference = told(part).difference_in(&part.row);
    let low = difference.widened(part.row.rows * MOST_BREAKDOWNS)[0];
    let is_of_ranks = part.row.corrected_p_value * (MOST_BREAKDOWNS as f64) < SIGNIFICANCE;
    part.row.verdict == Verdict::Slower && (low > difference.margin || (low > 0.0 && is_of_ranks))
}

/// What is slower alone: `Startups on node a are slower: network p50 2s → 12s (+10s, between +9s and +11s).` A stage says more
/// than the whole.
pub(super) fn sentence<'a>(breakdowns: impl Iterator<Item = &'a Breakdown>) -> Option<String> {
    let found = breakdowns.filter_map(|breakdown| {
        let place = breakdown.alone.as_ref()?;
        let is_of_it =
            |part: &&Part| part.dimension == place.dimension && place.values.contains(&part.value);
        let parts: Vec<&Part> = breakdown.parts.iter().filter(is_of_it).collect();
        let sizes = parts.iter().map(|part| told(part).difference_in(&part.row).difference);
        let is_stage = Stage::from_text(&breakdown.interval).is_some();
        Some((is_stage, sizes.fold(0.0, f64::max), place, parts))
    });
    let (.., place, parts) =
        found.max_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)))?;
    let first = parts.first()?;
    let sizes: Vec<String> = parts.iter().map(|part| in_short(&part.row, told(part))).collect();
    let size = match parts.len() {
        1 => figures(&first.row, told(first)),
        _ => format!("{} {} {}", first.row.interval, told(first).as_str(), listed(&sizes)),
    };
    Some(format!("Startups {} are slower: {size}.", in_words(place)))
}

fn told(part: &Part) -> IntervalQuantile {
    IntervalQuantile::told(&part.row)
}
