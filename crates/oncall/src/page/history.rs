//! The past of the page: the last hour of pods in flight, problems and SLOs, and two hours of stage durations.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::problems::Problem;
use podinit_core::lifecycle::Stage;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{DurationDistribution, PodFigures, StageDurations};

/// The time between two samples.
const SAMPLE_EVERY: Duration = Duration::from_secs(15);
/// The time between two copies of the distributions.
const COPY_EVERY: Duration = Duration::from_secs(300);
/// How far back the page looks.
pub const HOUR: Duration = Duration::from_secs(3600);
/// The samples of an hour, and the one before it.
const MOST_SAMPLES: usize = 241;
/// The copies of two hours, and the one before them.
const MOST_COPIES: usize = 25;
/// How many SLOs, and how many problems, have a history.
const MOST_SLOS: usize = 64;
const MOST_PROBLEMS: usize = 16;

/// The figures of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct HistorySample {
    pub at: Timestamp,
    /// Pods in flight, by stage
    pub in_flight: [u64; Stage::ALL.len()],
    /// Good and bad events, by SLO
    slos: Vec<(Arc<str>, u64, u64)>,
    /// Pods, by problem
    problems: Vec<(Arc<str>, usize)>,
}

impl HistorySample {
    /// The sample of `figures` and `problems`.
    pub fn new(at: Timestamp, figures: &PodFigures, problems: &[Problem]) -> Self {
        let slos = figures.slos.iter().take(MOST_SLOS);
        let problems = problems.iter().take(MOST_PROBLEMS);
        Self {
            at,
            in_flight: figures.in_flight(),
            slos: slos.map(|slo| (Arc::clone(&slo.doc.rule.name), slo.good, slo.bad)).collect(),
            problems: problems.map(|problem| (key(problem).into(), problem.pods)).collect(),
        }
    }
}

/// What makes a problem the same as an earlier one ([§13.7](crate::specification#s13-7)).
fn key(problem: &Problem) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (dimension, value) = (text(&problem.dimension), text(&problem.value));
    let fault = problem.fault.map_or_else(String::new, |fault| fault.to_string());
    format!("{}\n{dimension}\n{value}\n{fault}", problem.cause)
}

/// The past, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct OverviewHistory {
    samples: VecDeque<HistorySample>,
    copies: VecDeque<(Timestamp, Arc<StageDurations>)>,
}

/// The good and bad events of an SLO in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SloWindow {
    pub seconds: i64,
    pub good: u64,
    pub bad: u64,
}

impl OverviewHistory {
    /// Whether the next sample is due at `now`.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let newest = self.samples.back();
        newest.is_none_or(|newest| newest.at.plus(SAMPLE_EVERY) <= now)
    }

    /// Adds the newest sample. One that is no later than the newest is dropped: a clock was set back.
    pub fn add(&mut self, sample: HistorySample) {
        let newest = self.samples.back();
        if newest.is_some_and(|newest| newest.at >= sample.at) {
            return;
        }
        self.samples.push_back(sample);
        if self.samples.len() > MOST_SAMPLES {
            self.samples.pop_front();
        }
    }

    /// Adds a copy of the distributions where one is due.
    pub fn add_durations(&mut self, now: Timestamp, durations: impl FnOnce() -> StageDurations) {
        let newest = self.copies.back();
        if newest.is_some_and(|(at, _)| at.plus(COPY_EVERY) > now) {
            return;
        }
        self.copies.push_back((now, Arc::new(durations())));
        if self.copies.len() > MOST_COPIES {
            self.copies.pop_front();
        }
    }

    /// The samples that are not older than an hour.
    pub(super) fn since_an_hour(&self, now: Timestamp) -> impl Iterator<Item = &HistorySample> {
        let from = before(now, HOUR);
        self.samples.iter().filter(move |sample| sample.at >= from)
    }

    /// How many pods a problem had, of each sample of the last hour.
    pub(super) fn pods_of(&self, problem: &Problem, now: Timestamp) -> Vec<(Timestamp, u64)> {
        let key = key(problem);
        let samples = self.since_an_hour(now);
        let counts = samples.map(|sample| {
            let mut all = sample.problems.iter();
            let found = all.find(|(known, _)| **known == *key);
            (sample.at, found.map_or(0, |(_, pods)| *pods as u64))
        });
        counts.collect()
    }

    /// How many good and bad events an SLO had at each sample that knows it.
    pub(super) fn slo_counts<'a>(
        &'a self,
        slo: &'a str,
    ) -> impl Iterator<Item = (Timestamp, u64, u64)> + 'a {
        self.samples.iter().filter_map(move |sample| {
            let mut slos = sample.slos.iter();
            let (_, good, bad) = slos.find(|(name, ..)| **name == *slo)?;
            Some((sample.at, *good, *bad))
        })
    }

    /// The events of an SLO that has `good` and `bad` ones by `now`, within `window` or for as long as there are
    /// samples of it.
    pub(super) fn slo_events(
        &self,
        (now, window): (Timestamp, Duration),
        slo: &str,
        (good, bad): (u64, u64),
    ) -> Option<SloWindow> {
        let from = before(now, window);
        let (at, before_good, before_bad) = self.slo_counts(slo).find(|(at, ..)| *at >= from)?;
        Some(SloWindow {
            seconds: now.nanos_since(at) / 1_000_000_000,
            good: good.saturating_sub(before_good),
            bad: bad.saturating_sub(before_bad),
        })
    }

    /// The durations of the last hour, or since the first copy, and of the hour before, where copies reach back that
    /// far.
    pub(super) fn hours(&self, now: Timestamp, present: &StageDurations) -> HourlyDurations {
        let copy = |ago: Duration| {
            let at = before(now, ago);
            let mut newest_first = self.copies.iter().rev();
            newest_first.find(|(copied, _)| *copied <= at)
        };
        let since = |later: &StageDurations, earlier: &StageDurations| -> StageDurations {
            let mut pairs = later.iter().zip(earlier);
            std::array::from_fn(|_| {
                let pair = pairs.next();
                pair.map_or_else(DurationDistribution::default, |(later, earlier)| {
                    later.since(earlier)
                })
            })
        };
        let hour_ago = copy(HOUR).or_else(|| self.copies.front());
        let Some((began, start)) = hour_ago else {
            return HourlyDurations::default();
        };
        let before = copy(HOUR * 2).map(|(_, earlier)| since(start, earlier));
        HourlyDurations {
            seconds: now.nanos_since(*began) / 1_000_000_000,
            last: since(present, start),
            before: before.filter(|_| before_is_whole(now, *began)),
        }
    }
}

/// The durations of stages in two hours.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HourlyDurations {
    /// How much of the last hour is known
    pub seconds: i64,
    pub last: StageDurations,
    /// The durations of the hour before, where they are known
    pub before: Option<StageDurations>,
}

/// Whether the last hour is whole, so that there may be one before it.
fn before_is_whole(now: Timestamp, began: Timestamp) -> bool {
    began <= before(now, HOUR)
}

fn before(now: Timestamp, duration: Duration) -> Timestamp {
    now.plus_nanos(-i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::SloRule;
    use podinit_expo::metrics::{SloDoc, SloFigures};

    fn sample(second: i64, good: u64, bad: u64) -> HistorySample {
        let rule = SloRule { name: "fast".into(), ..SloRule::default() };
        let figures = PodFigures {
            slos: vec![SloFigures { doc: SloDoc::new(&rule, 0.99, 2_592_000.0), good, bad }],
            ..PodFigures::default()
        };
        HistorySample::new(at(second), &figures, &[])
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + second)
    }

    fn window(seconds: i64, good: u64, bad: u64) -> SloWindow {
        SloWindow { seconds, good, bad }
    }

    #[test]
    fn it_keeps_an_hour_and_takes_no_sample_twice() {
        let mut history = OverviewHistory::default();
        for second in (0..7200).step_by(15) {
            assert!(history.is_due(at(second)) && !history.is_due(at(second - 1)) || second == 0);
            history.add(sample(second, 0, 0));
            history.add(sample(second, 9, 9));
        }
        assert_eq!(history.samples.len(), MOST_SAMPLES);
        assert_eq!(history.since_an_hour(at(7185)).count(), MOST_SAMPLES);
        assert_eq!(history.since_an_hour(at(7185 + 1800)).count(), 121);
        assert_eq!(history.since_an_hour(at(20_000)).count(), 0);
    }

    #[test]
    fn two_faults_of_one_cause_have_a_line_each() {
        let fault = |fault, pods| Problem {
            cause: "crash".to_owned(),
            fault: Some(fault),
            pods,
            ..Problem::default()
        };
        let problems = [fault(1, 6), fault(2, 5)];
        let mut history = OverviewHistory::default();
        history.add(HistorySample::new(at(0), &PodFigures::default(), &problems));
        let lines = problems.each_ref().map(|problem| history.pods_of(problem, at(0)));
        assert_eq!(lines, [vec![(at(0), 6)], vec![(at(0), 5)]]);
    }

    #[test]
    fn the_events_of_a_window_are_those_since_its_first_sample() {
        let mut history = OverviewHistory::default();
        history.add(sample(0, 10, 1));
        history.add(sample(1800, 50, 2));
        let events = |now, slo| history.slo_events((at(now), HOUR), slo, (90, 5));
        assert_eq!(events(3600, "fast"), Some(window(3600, 80, 4)));
        assert_eq!(events(3601, "fast"), Some(window(1801, 40, 3)));
        assert_eq!(events(3600, "other"), None);
    }

    #[test]
    fn the_hour_before_is_there_once_it_is_whole() {
        let durations = |pods: u64| -> StageDurations {
            std::array::from_fn(|_| {
                DurationDistribution::of_nanos((0..pods).map(|_| 1_000_000_000))
            })
        };
        let mut history = OverviewHistory::default();
        let counts = |history: &OverviewHistory, now: i64, pods: u64| {
            let hours = history.hours(at(now), &durations(pods));
            let before = hours.before.map(|before| before[0].count());
            (hours.seconds, hours.last[0].count(), before)
        };
        assert_eq!(counts(&history, 0, 5), (0, 0, None));
        for minute in 0..=120 {
            history.add_durations(at(minute * 60), || durations(minute.unsigned_abs()));
        }
        assert_eq!(history.copies.len(), MOST_COPIES);
        assert_eq!(counts(&history, 7200, 130), (3600, 70, Some(60)));
        let mut young = OverviewHistory::default();
        young.add_durations(at(0), || durations(7));
        assert_eq!(counts(&young, 600, 9), (600, 2, None));
    }
}
