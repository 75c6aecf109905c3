//! The last hour of a few figures, for the river of stages and the burn of the SLOs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Figures;
use podinit_core::lifecycle::Stage;
use podinit_core::timestamp::Timestamp;

/// How often the figures are taken.
pub const SAMPLE_EVERY: Duration = Duration::from_secs(15);
/// How far back the page looks.
pub const HISTORY: Duration = Duration::from_secs(3600);
/// As many samples as an hour has, and the one before it.
const MOST_SAMPLES: usize = 241;
/// So many SLOs have a history.
const MOST_SLOS: usize = 64;

/// The figures of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub at: Timestamp,
    /// Pods in flight, by stage
    pub in_flight: [u64; Stage::ALL.len()],
    /// Good and bad events, by SLO
    slos: Vec<(Arc<str>, u64, u64)>,
}

impl Sample {
    /// The sample of `figures`.
    pub fn new(at: Timestamp, figures: &Figures) -> Self {
        let slos = figures.slos.iter().take(MOST_SLOS);
        Self {
            at,
            in_flight: figures.in_flight(),
            slos: slos
                .map(|slo| (Arc::clone(&slo.name), slo.good, slo.bad))
                .collect(),
        }
    }
}

/// The samples of the last hour, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct History(VecDeque<Sample>);

impl History {
    /// Adds the newest sample. One that is no later than the newest is dropped: a clock was set back.
    pub fn add(&mut self, sample: Sample) {
        if self.0.back().is_some_and(|newest| newest.at >= sample.at) {
            return;
        }
        self.0.push_back(sample);
        if self.0.len() > MOST_SAMPLES {
            self.0.pop_front();
        }
    }

    /// The samples that are not older than an hour.
    pub fn since_an_hour(&self, now: Timestamp) -> impl Iterator<Item = &Sample> {
        let nanos = i64::try_from(HISTORY.as_nanos()).unwrap_or(i64::MAX);
        let from = now.plus_nanos(-nanos);
        self.0.iter().filter(move |sample| sample.at >= from)
    }

    /// The good and bad events of an SLO since the oldest sample of the last hour that has it.
    pub fn slo_events(&self, now: Timestamp, slo: &str, good: u64, bad: u64) -> (u64, u64) {
        let mut samples = self.since_an_hour(now);
        let oldest = samples.find_map(|sample| {
            let mut slos = sample.slos.iter();
            slos.find(|(name, ..)| **name == *slo)
        });
        match oldest {
            Some((_, before_good, before_bad)) => (
                good.saturating_sub(*before_good),
                bad.saturating_sub(*before_bad),
            ),
            None => (0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::SloFigures;
    use podinit_core::lifecycle::Interval;

    fn figures(good: u64, bad: u64) -> Figures {
        Figures {
            slos: vec![SloFigures {
                name: "fast".into(),
                objective_ratio: 0.99,
                interval: Interval::CreatedToReady,
                threshold_seconds: 30.0,
                good,
                bad,
            }],
            ..Figures::default()
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + second)
    }

    #[test]
    fn it_keeps_an_hour_and_takes_no_sample_twice() {
        let mut history = History::default();
        for second in (0..7200).step_by(15) {
            history.add(Sample::new(at(second), &figures(0, 0)));
            history.add(Sample::new(at(second), &figures(9, 9)));
        }
        assert_eq!(history.0.len(), MOST_SAMPLES);
        assert_eq!(history.since_an_hour(at(7185)).count(), MOST_SAMPLES);
        assert_eq!(history.since_an_hour(at(7185 + 1800)).count(), 121);
        assert_eq!(history.since_an_hour(at(20_000)).count(), 0);
    }

    #[test]
    fn the_events_of_the_last_hour_are_those_since_its_oldest_sample() {
        let mut history = History::default();
        history.add(Sample::new(at(0), &figures(10, 1)));
        history.add(Sample::new(at(1800), &figures(50, 2)));
        assert_eq!(history.slo_events(at(3600), "fast", 90, 5), (80, 4));
        assert_eq!(history.slo_events(at(3601), "fast", 90, 5), (40, 3));
        assert_eq!(history.slo_events(at(3600), "other", 90, 5), (0, 0));
    }
}
