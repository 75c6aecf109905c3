//! Pods over the last hour: the stages one above the other, and a single line.

use std::fmt::Write;

use super::history::{HOUR, HistorySample};
use podinit_core::lifecycle::Stage;
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::hour_and_minute;

/// The size of a drawing in its own units; it is stretched to its place.
pub(super) const WIDTH: f64 = 960.0;
pub(super) const HEIGHT: f64 = 160.0;

/// The axes of a drawing over the time that there is data for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TimeAxes {
    /// The times of its left edge, its middle and its right edge
    pub times: [String; 3],
    /// The count at its upper edge, and half of it where that is whole
    pub most: u64,
    pub half: Option<u64>,
}

/// The band of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StageBand {
    pub stage: &'static str,
    /// The `d` of an SVG path
    pub path: String,
    /// The most there were in a sample
    pub most: u64,
}

/// Where instants and counts are in a drawing.
struct DrawingScale {
    from: Timestamp,
    nanos: f64,
    most: u64,
}

impl DrawingScale {
    /// From the first sample until `now`, and from 0 to `most`.
    fn new(from: Timestamp, now: Timestamp, most: u64) -> Self {
        let hour = i64::try_from(HOUR.as_nanos()).unwrap_or(i64::MAX);
        Self { from, nanos: now.nanos_since(from).clamp(1, hour) as f64, most: most.max(1) }
    }

    fn x(&self, at: Timestamp) -> f64 {
        (at.nanos_since(self.from) as f64 / self.nanos).clamp(0.0, 1.0) * WIDTH
    }

    fn y(&self, pods: u64) -> f64 {
        HEIGHT - pods as f64 / self.most as f64 * HEIGHT
    }

    fn axes(&self, now: Timestamp) -> TimeAxes {
        let middle = self.from.plus_nanos(now.nanos_since(self.from) / 2);
        TimeAxes {
            times: [self.from, middle, now].map(hour_and_minute),
            most: self.most,
            half: self.most.is_multiple_of(2).then_some(self.most / 2),
        }
    }
}

/// The bands of the stages in which there was any pod. Fewer than two samples are no river.
pub(super) fn river(samples: &[&HistorySample], now: Timestamp) -> (Vec<StageBand>, TimeAxes) {
    let total = |sample: &&HistorySample| sample.in_flight.iter().sum::<u64>();
    let most = samples.iter().map(total).max().unwrap_or(0);
    let (Some(oldest), true) = (samples.first(), samples.len() >= 2 && most > 0) else {
        return (Vec::new(), TimeAxes::default());
    };
    let scale = DrawingScale::new(oldest.at, now, most);
    let bands = Stage::ALL.into_iter().filter_map(|stage| {
        let index = stage as usize;
        let below = |sample: &&HistorySample| sample.in_flight[..index].iter().sum::<u64>();
        let peak = samples.iter().map(|sample| sample.in_flight[index]).max()?;
        if peak == 0 {
            return None;
        }
        let mut path = String::new();
        for (number, sample) in samples.iter().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            let top = below(sample) + sample.in_flight[index];
            // Writing to a `String` cannot fail.
            let _ = write!(path, "{command}{:.1} {:.1}", scale.x(sample.at), scale.y(top));
        }
        for sample in samples.iter().rev() {
            let _ = write!(path, "L{:.1} {:.1}", scale.x(sample.at), scale.y(below(sample)));
        }
        path.push('Z');
        Some(StageBand { stage: stage.as_str(), path, most: peak })
    });
    (bands.collect(), scale.axes(now))
}

/// A line through `counts`. Fewer than two are no line.
pub(super) fn line(counts: &[(Timestamp, u64)], now: Timestamp) -> Option<(String, TimeAxes)> {
    let (Some((oldest, _)), true) = (counts.first(), counts.len() >= 2) else {
        return None;
    };
    let most = counts.iter().map(|(_, pods)| *pods).max().unwrap_or(0);
    let scale = DrawingScale::new(*oldest, now, most);
    let mut path = String::new();
    for (number, (at, pods)) in counts.iter().enumerate() {
        let command = if number == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{:.1} {:.1}", scale.x(*at), scale.y(*pods));
    }
    Some((path, scale.axes(now)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::{Cause, WaitReason};
    use podinit_expo::metrics::PodFigures;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_800 + 60 * minute)
    }

    fn sample(minute: i64, network: u64, containers: u64) -> HistorySample {
        let waiting = |stage, cause| WaitReason::new(stage, cause);
        let pods = [
            (waiting(Stage::Network, Cause::Unknown), network),
            (waiting(Stage::Containers, Cause::Probe), containers),
        ];
        let figures = PodFigures {
            waiting: pods
                .into_iter()
                .filter_map(|(waiting, pods)| Some((waiting?, pods)))
                .collect(),
            ..PodFigures::default()
        };
        HistorySample::new(at(minute), &figures, &[])
    }

    #[test]
    fn bands_stand_on_each_other_over_the_time_that_there_is_data_for() {
        // Ten minutes are 960 wide, so 5 minutes are 480; 8 pods are 160 high, so one is 20.
        let samples = [sample(0, 2, 2), sample(5, 4, 4), sample(10, 4, 0)];
        let (bands, axes) = river(&samples.each_ref(), at(10));
        let [network, containers] = bands.as_slice() else { unreachable!("{bands:?}") };
        assert_eq!((network.stage, network.most), ("network", 4));
        assert_eq!(
            network.path,
            "M0.0 120.0L480.0 80.0L960.0 80.0L960.0 160.0L480.0 160.0L0.0 160.0Z"
        );
        assert_eq!(
            containers.path,
            "M0.0 80.0L480.0 0.0L960.0 80.0L960.0 80.0L480.0 80.0L0.0 120.0Z"
        );
        assert_eq!(containers.most, 4);
        assert_eq!(axes.times, ["14:00", "14:05", "14:10"]);
        assert_eq!((axes.most, axes.half), (8, Some(4)));
    }

    #[test]
    fn one_sample_or_no_pod_is_no_river() {
        let one = sample(0, 2, 2);
        assert_eq!(river(&[&one], one.at).0, []);
        let none = [sample(0, 0, 0), sample(1, 0, 0)];
        assert_eq!(river(&none.each_ref(), none[1].at).0, []);
    }

    #[test]
    fn a_line_rises_and_falls_with_the_count() {
        let counts = [(at(0), 0), (at(5), 3), (at(10), 0)];
        let found = line(&counts, at(10));
        let (path, axes) = found.unwrap_or_default();
        assert_eq!(path, "M0.0 160.0L480.0 0.0L960.0 160.0");
        assert_eq!((axes.most, axes.half), (3, None));
        assert_eq!(line(&counts[..1], at(10)), None);
    }
}
