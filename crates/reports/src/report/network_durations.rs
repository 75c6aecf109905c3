//! The stage `network`, split by whether its end may have been delayed by image pulls
//! ([§9.2](crate::specification#s9-2)).

use super::durations::IntervalDurations;
use super::summary::IntervalSummary;
use podinit_core::lifecycle::{Latency, NetworkTime};

/// Pods whose network time is a condition set, or the start of a container, after images were pulled
const PULLS_INCLUDED: &str = "network, image pull included";
/// The other pods
const PULLS_EXCLUDED: &str = "network, image pull excluded";

/// The durations of the stage `network`, in two parts.
#[derive(Default)]
pub(super) struct NetworkDurations {
    included: IntervalDurations,
    excluded: IntervalDurations,
    /// How exact the time of NetworkReady is that was observed last
    time: Option<NetworkTime>,
}

impl NetworkDurations {
    /// The network of a pod became ready, at a time of this class.
    pub(super) fn ready(&mut self, time: Option<NetworkTime>) {
        self.time = time;
    }

    /// The stage of the same pod took so long.
    pub(super) fn add(&mut self, latency: Latency) {
        match self.time.take() {
            Some(time) if time.may_include_pulls() => self.included.add(latency),
            _ => self.excluded.add(latency),
        }
    }

    /// The rows of both parts.
    pub(super) fn summaries(&self) -> [IntervalSummary; 2] {
        [self.included.summary(PULLS_INCLUDED), self.excluded.summary(PULLS_EXCLUDED)]
    }
}
