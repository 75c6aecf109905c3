//! The median of each stage on each node.

use std::collections::HashMap;

use super::groups::PodGroups;
use crate::report::ReportedPod;
use crate::report::formatting::{IntervalNames, seconds};
use podinit_core::dimension::Dimension;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Interval, Record, Stage};
use podinit_core::quantile::ExactDistribution;

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

/// The nodes that are shown, slowest first.
pub(super) struct HeatmapNodes<'a> {
    slowest: Vec<(&'a str, usize, [ExactDistribution; Stage::ALL.len()])>,
    /// Where each node is among them
    places: HashMap<&'a str, usize>,
    count: usize,
}

impl<'a> HeatmapNodes<'a> {
    pub(super) fn from_groups(groups: &'a PodGroups) -> Self {
        let nodes = groups.by(Dimension::Node);
        let mut nodes: Vec<_> =
            nodes.map(|(node, group)| (group.scheduled.at(50), node, group.pods())).collect();
        let count = nodes.len();
        nodes.sort_by(|(one, ..), (other, ..)| {
            other.unwrap_or(-1.0).total_cmp(&one.unwrap_or(-1.0))
        });
        nodes.truncate(MOST_NODES);
        let places = nodes.iter().zip(0..).map(|((_, node, _), place)| (*node, place)).collect();
        let slowest = nodes.into_iter().map(|(_, node, pods)| (node, pods, Default::default()));
        Self { slowest: slowest.collect(), places, count }
    }

    pub(super) fn add(&mut self, pod: &ReportedPod, record: &Record) {
        let place = pod.info.node.as_deref().and_then(|node| self.places.get(node));
        let Some((_, _, stages)) = place.and_then(|place| self.slowest.get_mut(*place)) else {
            return;
        };
        for (stage, durations) in Stage::ALL.into_iter().zip(stages) {
            let took = record.duration(Interval::Stage(stage));
            took.into_iter().for_each(|took| durations.add(took));
        }
    }

    pub(super) fn into_heatmap(self, names: IntervalNames) -> Heatmap {
        let Self { slowest, count, .. } = self;
        let has =
            |stage: &Stage| slowest.iter().any(|(_, _, stages)| stages[stage.index()].count() > 0);
        let stages: Vec<Stage> = Stage::ALL.into_iter().filter(has).collect();
        let rows = slowest.iter().map(|(node, pods, durations)| HeatmapRow {
            node: (*node).to_owned(),
            pods: *pods,
            cells: stages.iter().map(|stage| cell(&durations[stage.index()])).collect(),
        });
        let rows = rows.collect();
        Heatmap {
            stages: (stages.into_iter()).map(|stage| names.name(stage.as_str())).collect(),
            rows,
            nodes: count,
        }
    }
}

fn cell(durations: &ExactDistribution) -> (usize, String) {
    match durations.at(50) {
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
