//! Means without the slowest, of the parts that durations are divided into, and their resamples
//! ([§15.4](crate::specification#s15-4)).

use std::collections::BTreeMap;

use super::bootstrap::{RESAMPLES, rounded};
use super::sample::Resampled;

/// A pod whose duration is divided into `N` parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DividedDuration<const N: usize> {
    /// The whole duration, in nanoseconds
    pub nanos: u64,
    /// The minute in which the pod was created; pods whose creation is unknown share one
    pub minute: Option<i64>,
    /// How much it counts; above 0
    pub weight: f64,
    /// Its parts, in nanoseconds
    pub parts: [f64; N],
}

/// The pods of one side.
#[derive(Clone, Debug)]
pub struct DividedSample<const N: usize> {
    /// The one with the shortest duration first
    pods: Vec<DividedDuration<N>>,
    minutes: usize,
}

/// Pods that are drawn together and have the same duration.
struct Cell<const N: usize> {
    nanos: u64,
    /// What has to be drawn for it
    unit: usize,
    weight: f64,
    /// The sums of the weighted parts
    parts: [f64; N],
}

impl<const N: usize> DividedSample<N> {
    /// Of these pods, in any order.
    pub fn new(pods: impl IntoIterator<Item = DividedDuration<N>>) -> Self {
        let mut pods: Vec<DividedDuration<N>> = pods.into_iter().collect();
        pods.sort_by_key(|one| one.nanos);
        let mut minutes: Vec<Option<i64>> = pods.iter().map(|one| one.minute).collect();
        minutes.sort_unstable();
        minutes.dedup();
        Self { pods, minutes: minutes.len() }
    }

    /// How many pods.
    pub fn count(&self) -> usize {
        self.pods.len()
    }

    /// In how many minutes they were created.
    pub const fn minutes(&self) -> usize {
        self.minutes
    }

    /// The means of the parts, in nanoseconds, of the pods with the share `kept` of the weight that are fastest. Pods that are
    /// equally slow are kept alike, in part where the limit lies among them. 0 without pods.
    pub fn means(&self, kept: f64) -> [f64; N] {
        let cells = self.cells(|one| one.nanos, |_| 0);
        means(&cells, &[1.0], kept)
    }

    /// The same of as many minutes or pods, drawn with replacement, as often as quantiles are. The same `seed` gives the same
    /// figures.
    pub fn resampled_means(&self, kept: f64, resampled: Resampled, seed: u64) -> Vec<[f64; N]> {
        let mut units = BTreeMap::new();
        let numbers: Vec<usize> = match resampled {
            Resampled::Pods => (0..self.pods.len()).collect(),
            Resampled::Minutes => {
                let minutes = self.pods.iter().map(|one| {
                    let next = units.len();
                    *units.entry(one.minute).or_insert(next)
                });
                minutes.collect()
            }
        };
        let count = if resampled == Resampled::Pods { self.pods.len() } else { units.len() };
        let cells = self.cells(|one| rounded(one.nanos), |index| numbers[index]);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut drawn = vec![0.0; count];
        let draws = (0..RESAMPLES).map(|_| {
            drawn.fill(0.0);
            for _ in 0..count {
                drawn[random.usize(..count)] += 1.0;
            }
            means(&cells, &drawn, kept)
        });
        draws.collect()
    }

    /// The pods by duration and unit, the shortest duration first.
    fn cells(
        &self,
        nanos: impl Fn(&DividedDuration<N>) -> u64,
        unit: impl Fn(usize) -> usize,
    ) -> Vec<Cell<N>> {
        let pods = self.pods.iter().enumerate();
        let mut cells: Vec<Cell<N>> = pods
            .map(|(index, pod)| Cell {
                nanos: nanos(pod),
                unit: unit(index),
                weight: pod.weight,
                parts: pod.parts.map(|part| pod.weight * part),
            })
            .collect();
        cells.sort_by_key(|cell| (cell.nanos, cell.unit));
        cells.dedup_by(|own, kept| {
            let is_same = (own.nanos, own.unit) == (kept.nanos, kept.unit);
            if is_same {
                kept.weight += own.weight;
                for (sum, part) in kept.parts.iter_mut().zip(own.parts) {
                    *sum += part;
                }
            }
            is_same
        });
        cells
    }
}

/// The means of what was drawn: each unit so often as `drawn` says.
fn means<const N: usize>(cells: &[Cell<N>], drawn: &[f64], kept: f64) -> [f64; N] {
    let weight = |cells: &[Cell<N>]| -> f64 {
        cells.iter().map(|cell| cell.weight * drawn[cell.unit]).sum()
    };
    let most = kept * weight(cells);
    let (mut sums, mut all) = ([0.0; N], 0.0);
    for cells in cells.chunk_by(|one, other| one.nanos == other.nanos) {
        let own = weight(cells);
        let part = ((most - all) / own).clamp(0.0, 1.0);
        if own <= 0.0 {
            continue;
        }
        for cell in cells {
            let times = part * drawn[cell.unit];
            for (sum, own) in sums.iter_mut().zip(cell.parts) {
                *sum += times * own;
            }
        }
        all += part * own;
        if part < 1.0 {
            break;
        }
    }
    sums.map(|sum| if all > 0.0 { sum / all } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(seconds: u64, weight: f64) -> DividedDuration<1> {
        DividedDuration {
            nanos: seconds * 1_000_000_000,
            minute: Some(0),
            weight,
            parts: [seconds as f64],
        }
    }

    #[test]
    fn the_slowest_are_left_out_in_part_where_they_are_alike() {
        let sample = DividedSample::new(
            [(600, 1.0), (2, 1.0), (1, 1.0), (3, 1.0)]
                .map(|(seconds, weight)| pod(seconds, weight)),
        );
        assert_eq!(sample.means(0.75), [2.0]);
        assert_eq!(sample.means(1.0), [606.0 / 4.0]);
        // Of four seconds of weight three and a half are kept: half a pod of three seconds.
        let alike = DividedSample::new([pod(1, 2.0), pod(3, 1.0), pod(3, 1.0)]);
        assert!((alike.means(0.875)[0] - (2.0 + 4.5) / 3.5).abs() < 1e-12);
        assert_eq!(DividedSample::<1>::new([]).means(0.9), [0.0]);
    }

    #[test]
    fn resamples_lie_about_the_mean_and_are_the_same_each_time() {
        let pods = (0..200).map(|number| DividedDuration {
            minute: Some(number % 20),
            ..pod(1 + number as u64 % 10, 1.0)
        });
        let sample = DividedSample::new(pods);
        for resampled in [Resampled::Minutes, Resampled::Pods] {
            let draws = sample.resampled_means(0.9, resampled, 1);
            assert_eq!(draws, sample.resampled_means(0.9, resampled, 1));
            let mean = draws.iter().map(|one| one[0]).sum::<f64>() / draws.len() as f64;
            assert!((mean - sample.means(0.9)[0]).abs() < 0.1, "{mean}");
        }
    }
}
