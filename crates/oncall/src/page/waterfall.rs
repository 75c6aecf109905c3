//! The waterfall of one startup as SVG.

use super::link::path_of;
use crate::explain::{Explanation, WaterfallRow};
use podinit_text::human_time::seconds;

/// The width of the drawing, and the height of a row.
pub(super) const WIDTH: f64 = 600.0;
pub(super) const ROW: f64 = 18.0;

/// The waterfall of one startup.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PodWaterfall {
    /// `namespace/name`
    pub pod: String,
    pub path: String,
    pub verdict: String,
    pub took: String,
    pub height: f64,
    pub bars: Vec<WaterfallBar>,
}

/// A bar of a waterfall.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WaterfallBar {
    pub label: String,
    pub stage: &'static str,
    pub(crate) is_inside: bool,
    pub is_open: bool,
    /// Pixels
    pub x: f64,
    pub y: f64,
    pub width: f64,
    /// `took 2s, p50 1s`
    pub took: String,
    pub(crate) uncertain: Option<&'static str>,
}

/// The waterfall of an explained startup.
pub(super) fn waterfall(explanation: &Explanation) -> PodWaterfall {
    let bars: Vec<WaterfallBar> = (explanation.rows.iter().enumerate())
        .map(|(number, row)| bar(row, number, explanation.width))
        .collect();
    PodWaterfall {
        pod: format!("{}/{}", explanation.namespace, explanation.name),
        path: path_of(&explanation.namespace, &explanation.name),
        verdict: explanation.verdict.clone(),
        took: (explanation.seconds).map_or_else(|| "not known".to_owned(), seconds),
        height: bars.len() as f64 * ROW,
        bars,
    }
}

fn bar(row: &WaterfallRow, number: usize, total: f64) -> WaterfallBar {
    let x = |seconds: f64| {
        let share = if total > 0.0 { seconds / total } else { 0.0 };
        (share.clamp(0.0, 1.0) * WIDTH * 10.0).round() / 10.0
    };
    let from = row.from_seconds.map_or(0.0, x);
    let to = row.to_seconds.map_or(from, x);
    let took = match row.seconds {
        Some(took) => seconds(took),
        None if row.is_open => "open".to_owned(),
        None => "not known".to_owned(),
    };
    let median = row.p50_seconds.map(|p50| format!(" (p50 {})", seconds(p50)));
    WaterfallBar {
        label: row.label.clone(),
        stage: row.stage,
        is_inside: row.is_inside,
        is_open: row.is_open,
        x: from.min(WIDTH - 1.0),
        y: number as f64 * ROW,
        width: (to - from).max(1.0),
        took: took + &median.unwrap_or_default(),
        uncertain: row.uncertain,
    }
}
