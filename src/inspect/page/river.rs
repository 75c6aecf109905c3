//! The river of stages: how many pods were in each stage in the last hour, one above the other.

use std::fmt::Write;

use super::history::{HISTORY, Sample};
use podinit_core::lifecycle::Stage;
use podinit_core::timestamp::Timestamp;

/// The size of the drawing.
pub(super) const WIDTH: f64 = 960.0;
pub(super) const HEIGHT: f64 = 160.0;

/// The band of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Band {
    pub stage: &'static str,
    /// The `d` of an SVG path
    pub path: String,
    /// The pods in the stage now
    pub pods: u64,
    /// The most there were in a sample
    pub most: u64,
}

/// The bands of the stages in which there was any pod, and the most pods in flight of any sample. The
/// right edge is `now`. Fewer than two samples are no river.
pub(super) fn river(samples: &[&Sample], now: Timestamp) -> (Vec<Band>, u64) {
    let total = |sample: &&Sample| sample.in_flight.iter().sum::<u64>();
    let most = samples.iter().map(total).max().unwrap_or(0);
    let (Some(newest), true) = (samples.last(), samples.len() >= 2 && most > 0) else {
        return (Vec::new(), most);
    };
    let x = |at: Timestamp| {
        let ago = now.nanos_since(at) as f64 / HISTORY.as_nanos() as f64;
        (1.0 - ago).clamp(0.0, 1.0) * WIDTH
    };
    let y = |pods: u64| HEIGHT - pods as f64 / most as f64 * HEIGHT;
    let bands = Stage::ALL.into_iter().filter_map(|stage| {
        let index = stage as usize;
        let below = |sample: &&Sample| sample.in_flight[..index].iter().sum::<u64>();
        let peak = samples.iter().map(|sample| sample.in_flight[index]).max()?;
        if peak == 0 {
            return None;
        }
        let mut path = String::new();
        for (number, sample) in samples.iter().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            let top = below(sample) + sample.in_flight[index];
            // Writing to a `String` cannot fail.
            let _ = write!(path, "{command}{:.1} {:.1}", x(sample.at), y(top));
        }
        for sample in samples.iter().rev() {
            let _ = write!(path, "L{:.1} {:.1}", x(sample.at), y(below(sample)));
        }
        path.push('Z');
        Some(Band {
            stage: stage.as_str(),
            path,
            pods: newest.in_flight[index],
            most: peak,
        })
    });
    (bands.collect(), most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Figures;
    use podinit_core::lifecycle::{Cause, WaitReason};

    fn sample(minute: i64, network: u64, containers: u64) -> Sample {
        let waiting = |stage, cause| WaitReason::new(stage, cause);
        let pods = [
            (waiting(Stage::Network, Cause::Unknown), network),
            (waiting(Stage::Containers, Cause::Probe), containers),
        ];
        let figures = Figures {
            waiting: pods
                .into_iter()
                .filter_map(|(waiting, pods)| Some((waiting?, pods)))
                .collect(),
            ..Figures::default()
        };
        Sample::new(Timestamp::from_seconds(1_000_000 + 60 * minute), &figures)
    }

    #[test]
    fn bands_stand_on_each_other() {
        // An hour is 960 wide, so 30 minutes are 480; 8 pods are 160 high, so one is 20.
        let samples = [sample(0, 2, 2), sample(30, 4, 4), sample(60, 4, 0)];
        let (bands, most) = river(&samples.each_ref(), samples[2].at);
        let [network, containers] = bands.as_slice() else {
            unreachable!("{bands:?}")
        };
        assert_eq!(most, 8);
        assert_eq!(
            (network.stage, network.pods, network.most),
            ("network", 4, 4)
        );
        assert_eq!(
            network.path,
            "M0.0 120.0L480.0 80.0L960.0 80.0L960.0 160.0L480.0 160.0L0.0 160.0Z"
        );
        assert_eq!(
            containers.path,
            "M0.0 80.0L480.0 0.0L960.0 80.0L960.0 80.0L480.0 80.0L0.0 120.0Z"
        );
        assert_eq!((containers.pods, containers.most), (0, 4));
    }

    #[test]
    fn one_sample_or_no_pod_is_no_river() {
        let one = sample(0, 2, 2);
        assert_eq!(river(&[&one], one.at), (vec![], 4));
        let none = [sample(0, 0, 0), sample(1, 0, 0)];
        assert_eq!(river(&none.each_ref(), none[1].at), (vec![], 0));
    }
}
