//! Startups by what they had to wait for: a new node, and images ([§14.3](crate::specification#s14-3),
//! [§14.4](crate::specification#s14-4)).

use std::collections::BTreeMap;

use super::durations::IntervalDurations;
use super::summary::{StartupSummary, Warmth};
use podinit_core::lifecycle::{Latency, NodeAge, StartupImages};

const fn warmth(key: (NodeAge, StartupImages)) -> Warmth {
    match key {
        (NodeAge::New, _) | (_, StartupImages::Pulled) => Warmth::Cold,
        (NodeAge::Existing, StartupImages::Present) => Warmth::Warm,
        _ => Warmth::Unknown,
    }
}

/// What one row is made of.
#[derive(Default)]
struct WarmthStartups {
    durations: IntervalDurations,
    nanos: u128,
}

/// The durations from Created to Ready by capacity and images.
#[derive(Default)]
pub(super) struct ColdStartups(BTreeMap<(NodeAge, StartupImages), WarmthStartups>);

impl ColdStartups {
    pub(super) fn add(&mut self, capacity: NodeAge, images: StartupImages, latency: Latency) {
        let startups = self.0.entry((capacity, images)).or_default();
        startups.durations.add(latency);
        startups.nanos += u128::from(latency.as_nanos());
    }

    /// The warm ones, the cold ones and those of which it is not known, each followed by its combinations of capacity
    /// and images. Empty where nothing is known.
    pub(super) fn summaries(&self) -> Vec<StartupSummary> {
        let nothing = (NodeAge::Unknown, StartupImages::Unknown);
        if self.0.keys().all(|key| *key == nothing) {
            return Vec::new();
        }
        let mut groups: BTreeMap<Warmth, (WarmthStartups, Vec<_>)> = BTreeMap::new();
        let mut all = WarmthStartups::default();
        for (key, startups) in &self.0 {
            let (group, parts) = groups.entry(warmth(*key)).or_default();
            for sum in [group, &mut all] {
                sum.durations.merge(&startups.durations);
                sum.nanos += startups.nanos;
            }
            parts.push((*key, startups));
        }
        let rows = groups.iter().flat_map(|(startups, (group, parts))| {
            let whole = group.summary(*startups, None, &all);
            let parts = parts.iter();
            let parts = parts.map(|(key, part)| part.summary(*startups, Some(*key), &all));
            [whole].into_iter().chain(parts).collect::<Vec<_>>()
        });
        rows.collect()
    }
}

impl WarmthStartups {
    fn summary(
        &self,
        startups: Warmth,
        key: Option<(NodeAge, StartupImages)>,
        all: &Self,
    ) -> StartupSummary {
        let (own, whole) = (self.durations.summary(""), all.durations.summary(""));
        StartupSummary {
            startups,
            capacity: key.map(|(capacity, _)| capacity),
            images: key.map(|(_, images)| images),
            count: own.count,
            p50: own.p50,
            p90: own.p90,
            p99: own.p99,
            waited: self.nanos as f64 / 1e9,
            share: own.count as f64 / whole.count.max(1) as f64,
            share_of_waiting: self.nanos as f64 / all.nanos.max(1) as f64,
        }
    }
}
