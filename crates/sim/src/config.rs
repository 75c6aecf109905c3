//! The configuration of a simulated cluster.

use std::time::Duration;

use super::event_recorder::EventSettings;
#[cfg(doc)]
use super::profile::LifeKind;
use super::scene::Scene;
use podinit_core::timestamp::Timestamp;

/// The configuration of a simulated cluster.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// Pods per simulated second; 0 creates none
    pub rate: f64,
    /// How many times faster than real time simulated time goes
    pub speed: f64,
    /// The same seed and the same steps of time give the same cluster, byte for byte
    pub seed: u64,
    /// The simulated time at the start; `None` is the time of the machine
    pub start: Option<Timestamp>,
    /// Time moves only when [`super::SimulatedCluster::step`] is called
    pub stepped: bool,
    /// How many pods exist at the start
    pub preexisting: usize,
    /// One brisk life of each kind comes first, and now and then a deletion is kept from all
    /// watches by a compaction
    pub opening: bool,
    /// A few pods come that never start, each for a reason of its own ([`LifeKind::is_hopeless`])
    pub hopeless: bool,
    /// The number of pods above which the oldest that have started are deleted. Those that cannot start
    /// stay
    pub population: usize,
    /// The number of pods above which no more come at the chosen rate
    pub most: usize,
    /// How Events of pods are recorded
    pub events: EventSettings,
    /// How many events a watch can be behind
    pub history: usize,
    /// Real time between two bookmarks
    pub bookmark_interval: Duration,
    /// Every image is on every node, so that none is pulled. Pulls that fail still do
    pub images_present: bool,
    /// Some applications are Deployments that get a new release now and then
    pub deploys: bool,
    /// What breaks, and how long after the start, in simulated time
    pub scene: Option<(Scene, Duration)>,
}

impl Default for ClusterConfig {
    /// Five pods a second in real time.
    fn default() -> Self {
        Self {
            rate: 5.0,
            speed: 1.0,
            seed: 1,
            start: None,
            stepped: false,
            preexisting: 60,
            opening: true,
            hopeless: false,
            population: 500,
            most: 5_000,
            events: EventSettings::default(),
            history: 2048,
            bookmark_interval: Duration::from_secs(10),
            images_present: false,
            deploys: false,
            scene: None,
        }
    }
}

impl ClusterConfig {
    /// An empty cluster whose clock stays at 2026-01-01T00:00:00Z until a test advances it.
    pub fn manual() -> Self {
        Self {
            rate: 0.0,
            start: Some(Timestamp::from_seconds(1_767_225_600)),
            stepped: true,
            preexisting: 0,
            opening: false,
            hopeless: true,
            population: usize::MAX,
            most: usize::MAX,
            bookmark_interval: Duration::from_secs(60),
            ..Self::default()
        }
    }
}
