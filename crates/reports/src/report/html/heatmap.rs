//! The median of each stage on each node.

use super::groups::by_value;
use crate::report::ReportedPod;
use crate::report::formatting::{IntervalNames, seconds};
use crate::report::pods::durations;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Interval, Stage};

/// So many nodes are shown, those with the slowest pods.
const MOST_NODES: usize = 40;

/// How many colours there are.
const COLOURS: f64 = 8.0;
/// The shortest and the longest median that have colours of their own.
const RANGE: (f64, f64) = (0.5, 300.0);

pub(super) struct Heatmap {
    pub stages: Vec<&'static str>,
    pub rows: Vec<HeatmapRow>,
    /// How many nodes there are
    pub nodes: usize,
}

pub(super) struct HeatmapRow {
    pub node: String,
    pub pods: usize,
    /// For each stage the number of its colour and its median; empty where nothing was observed
    pub cells: Vec<(usize, String)>,
}

impl Heatmap {
    pub(super) fn from_pods(pods: &[ReportedPod], names: IntervalNames) -> Self {
        let mut slowest: Vec<_> = by_value(pods, Dimension::Node)
            .into_iter()
            .map(|(node, pods)| (median(&pods, Interval::ScheduledToReady), node, pods))
            .collect();
        let count = slowest.len();
        slowest.sort_by(|(one, ..), (other, ..)| {
            other.unwrap_or(-1.0).total_cmp(&one.unwrap_or(-1.0))
        });
        slowest.truncate(MOST_NODES);
        let has = |stage: &Stage| {
            let mut all = slowest.iter();
            all.any(|(_, _, pods)| median(pods, Interval::Stage(*stage)).is_some())
        };
        let stages: Vec<Stage> = Stage::ALL.into_iter().filter(has).collect();
        let rows = slowest.into_iter().map(|(_, node, pods)| HeatmapRow {
            node: node.into_owned(),
            pods: pods.len(),
            cells: stages.iter().map(|stage| cell(&pods, *stage)).collect(),
        });
        let rows = rows.collect();
        Self {
            stages: (stages.into_iter()).map(|stage| names.name(stage.as_str())).collect(),
            rows,
            nodes: count,
        }
    }
}

fn median(pods: &[&ReportedPod], interval: Interval) -> Option<f64> {
    durations(pods.iter().copied(), interval).at(50)
}

fn cell(pods: &[&ReportedPod], stage: Stage) -> (usize, String) {
    match median(pods, Interval::Stage(stage)) {
        None => (0, String::new()),
        Some(median) => (colour(median), seconds(median)),
    }
}

/// On a logarithmic scale, since startups take from less than a second to minutes.
fn colour(median: f64) -> usize {
    let (least, most) = RANGE;
    let place = (median.max(least) / least).ln() / (most / least).ln();
    (place * (COLOURS - 1.0)).round().clamp(0.0, COLOURS - 1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_a_logarithmic_scale() {
        assert_eq!([0.0, 0.5, 12.0, 300.0, 9e9].map(colour), [0, 0, 3, 7, 7]);
    }
}
