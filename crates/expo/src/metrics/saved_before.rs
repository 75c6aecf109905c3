//! Checkpoints of before the first release, which had a shape of their own for each histogram without a label set.

use serde::{Deserialize, Serialize};

use super::cold_starts::ColdStarts;
use super::gates::GateFamilies;
use super::image_pulls::RegistryFamilies;
use super::in_place::InPlaceFamilies;
use super::node_families::PoolFamilies;
use super::pod_families::DeliveryFamilies;
use super::saved::SavedMetrics;
use podinit_core::lifecycle::{GateKind, NodeAge, NodeStep, StartupImages};
use podinit_instruments::{LabelText, SavedHistogram, SavedSeries};

/// A gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGate {
    pub kind: GateKind,
    pub gate: String,
    #[serde(default)]
    pub duration: SavedHistogram,
}

/// A registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedPulls {
    pub registry: String,
    pub duration: SavedHistogram,
    pub wait: SavedHistogram,
}

/// Startups on nodes and with images like these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedColdStart {
    pub node_age: NodeAge,
    pub images: StartupImages,
    pub durations: SavedHistogram,
}

/// A pool of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedPool {
    pub pool: String,
    pub steps: Vec<SavedStep>,
}

/// How long a step of these nodes took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedStep {
    pub step: NodeStep,
    #[serde(default)]
    pub durations: SavedHistogram,
}

impl SavedMetrics {
    /// Moves what such a checkpoint has kept of histograms to the families.
    pub(super) fn take_earlier(&mut self) {
        let [resize, _, _, update] = &InPlaceFamilies::FAMILIES;
        let [delay] = &DeliveryFamilies::FAMILIES;
        let [gate, _] = &GateFamilies::FAMILIES;
        let [_, _, pull, wait, _] = &RegistryFamilies::FAMILIES;
        let [startup] = &PoolFamilies::FAMILIES;
        let [cold_start] = &ColdStarts::FAMILIES;
        let gates = self.gates.drain(..);
        let gates = gates.map(|of| series([of.kind.as_str().into(), of.gate.into()], of.duration));
        let (pulls, waits): (Vec<_>, Vec<_>) = (self.pulls.drain(..))
            .map(|of| {
                let registry = LabelText::from(of.registry);
                (series([registry.clone()], of.duration), series([registry], of.wait))
            })
            .unzip();
        let pools = self.pools.take().into_iter().flatten();
        let pools = pools.flat_map(|SavedPool { pool, steps }| {
            let steps = steps.into_iter();
            steps
                .map(move |of| series([of.step.as_str().into(), pool.clone().into()], of.durations))
        });
        let mut families = vec![
            (delay, vec![series([], std::mem::take(&mut self.delivery))]),
            (resize, vec![series([], std::mem::take(&mut self.resize))]),
            (update, vec![series([], std::mem::take(&mut self.inplace_update))]),
            (gate, gates.collect()),
            (pull, pulls),
            (wait, waits),
            (startup, pools.collect()),
        ];
        families.retain(|(_, series)| !series.iter().all(is_empty));
        // Whether it was counted at all says whether nodes or Events were a source.
        families.extend(self.cold_starts.take().map(|starts| {
            let starts = starts.into_iter().map(|of| {
                series([of.node_age.as_str().into(), of.images.as_str().into()], of.durations)
            });
            (cold_start, starts.collect())
        }));
        for (family, series) in families {
            self.families.put(family, series);
        }
    }
}

fn series<const N: usize>(labels: [LabelText; N], histogram: SavedHistogram) -> SavedSeries {
    SavedSeries { labels: labels.into(), value: 0, histogram: Some(histogram) }
}

fn is_empty(series: &SavedSeries) -> bool {
    series.histogram.as_ref().is_none_or(SavedHistogram::is_empty)
}
