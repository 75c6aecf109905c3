//! Where a difference lies: which node, pool, zone, image, workload or namespace accounts for it, with the care about
//! chance that rows have ([§15.6](crate::specification#s15-6)). The work is done on all cores.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;

use super::alone;
use super::dimension::{DIMENSIONS, Part, paired};
use super::only::{ComparedPods, Only, Place, error_of_mean};
use super::row::{DrawnSample, LEAST_PODS, QuantileMargin, Row, Verdict};
use super::side::{ComparisonSide, ObservedPod, sample};
use super::statistics::{DurationSample, mann_whitney};
use super::timed::PodDuration;
use podinit_core::dimension::Dimension;
use podinit_core::node::NO_POOL;

/// So many values of a dimension are looked at, those with the greatest share.
const MOST_VALUES: usize = 20;

/// The breakdown of an interval that is not the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Breakdown {
    pub interval: Cow<'static, str>,
    /// The difference of the means, in seconds
    mean_difference: f64,
    /// The values that account for nearly all of it, where few do
    pub only: Option<Only>,
    /// The values that are slower beyond chance, whatever the others are, where few pods have them
    #[serde(skip)]
    pub(super) alone: Option<Place>,
    /// The values of each dimension, those with the greatest share first
    pub parts: Vec<Part>,
}

/// A value and its pods.
struct BreakdownCandidate {
    dimension: Dimension,
    value: String,
    /// `None` where too few pods had it
    before: Option<DurationSample>,
    after: DurationSample,
    share: f64,
    pods_after: f64,
}

impl Breakdown {
    /// Of a duration whose row is there and not `same`, and of a whole duration or a stage that is, where its means differ all
    /// the same: few pods may be much slower.
    pub(super) fn from_sides(
        (before, after): (&ComparisonSide, &ComparisonSide),
        (number, timed): (u64, &PodDuration),
        rows: &[Row],
        margin: QuantileMargin,
    ) -> Option<Self> {
        let interval = timed.name();
        let row = rows.iter().find(|row| row.interval == interval)?;
        let [one, other] = [before, after].map(|side| sample(side.observed(timed)));
        let difference = other.mean() - one.mean();
        let compared = ComparedPods { before, after, timed };
        if row.verdict == Verdict::Same {
            let error = error_of_mean(&one).hypot(error_of_mean(&other));
            let may_be_few = || difference.abs() > 2.0 * error || has_slow_value(compared, &one);
            if !(timed.may_differ_in_few() && may_be_few()) {
                return None;
            }
        }
        let candidates = DIMENSIONS
            .into_iter()
            .flat_map(|dimension| candidates_of(dimension, compared, (&one, &other)));
        let first_seed = 20_000 + 1_000 * number;
        let seeded: Vec<(u64, BreakdownCandidate)> =
            (first_seed + 1..).step_by(2).zip(candidates).collect();
        let mut parts = in_parallel(&seeded, |(seed, candidate)| {
            let own = match &candidate.before {
                None => DrawnSample::new(&one, first_seed),
                Some(own) => DrawnSample::new(own, *seed),
            };
            let later = DrawnSample::new(&candidate.after, seed + 1);
            let test = || mann_whitney(&own.sample.durations(), &later.sample.durations());
            Some(Part {
                dimension: candidate.dimension,
                value: candidate.value.clone(),
                share: candidate.share,
                pods_after: candidate.pods_after,
                is_new: candidate.before.is_none(),
                row: Row::new(interval.clone(), (&own, &later), test, margin)?,
            })
        });
        let mut parts: Vec<Part> = parts.drain(..).flatten().collect();
        Row::correct(parts.iter_mut().map(|part| &mut part.row));
        // Of what went both ways, or is unclear, those that moved as the mean did account for it.
        let verdict = match row.verdict {
            Verdict::Slower | Verdict::Faster => row.verdict,
            _ if difference > 0.0 => Verdict::Slower,
            _ => Verdict::Faster,
        };
        let only = Only::from_parts(&parts, verdict, compared);
        // Where all pods are slower, values that account for nearly all of it are alone, and no others.
        let is_alone = |place: &Place| {
            row.verdict != Verdict::Slower || only.as_ref().is_some_and(|only| only.place == *place)
        };
        Some(Self {
            interval,
            mean_difference: difference,
            alone: Place::alone(&parts, compared, difference, alone::is_slower)
                .filter(|place| timed.may_differ_in_few() && is_alone(place)),
            only,
            parts,
        })
    }
}

/// Whether the mean of a node or workload is by more than five standard errors above what it was.
fn has_slow_value(
    ComparedPods { before, after, timed }: ComparedPods<'_>,
    one: &DurationSample,
) -> bool {
    [Dimension::Node, Dimension::Workload].into_iter().any(|dimension| {
        let sides = (before.observed(timed), after.observed(timed));
        let pairs = paired(sides, |(pod, _)| pod.values(dimension), sample);
        pairs.into_iter().any(|(_, before, after)| {
            let base = before.as_ref().unwrap_or(one);
            let error = error_of_mean(base).hypot(error_of_mean(&after));
            after.mean() - base.mean() > 5.0 * error
        })
    })
}

/// The values of a dimension with enough pods after, those with the greatest share first.
fn candidates_of(
    dimension: Dimension,
    ComparedPods { before, after, timed }: ComparedPods<'_>,
    (one, other): (&DurationSample, &DurationSample),
) -> Vec<BreakdownCandidate> {
    let difference = other.mean() - one.mean();
    let is_pool = |(pod, _): ObservedPod<'_>| pod.values(dimension).any(|pool| pool != NO_POOL);
    // Where no node has a pool, there is nothing to tell apart.
    if dimension == Dimension::Nodepool && !after.observed(timed).any(is_pool) {
        return Vec::new();
    }
    let pairs = match (dimension, timed) {
        (Dimension::Registry, PodDuration::Pulls { .. }) => by_registry(before, after),
        (Dimension::Registry, _) => return Vec::new(),
        _ => {
            let sides = (before.observed(timed), after.observed(timed));
            paired(sides, |(pod, _)| pod.values(dimension), sample)
        }
    };
    let pairs = pairs.into_iter();
    let candidates = pairs.map(|(value, before, after)| {
        let base = before.as_ref().unwrap_or(one).mean();
        let pods_after = after.count() as f64 / other.count() as f64;
        let share = match difference {
            0.0 => 0.0,
            difference => pods_after * (after.mean() - base) / difference,
        };
        BreakdownCandidate { dimension, value, before, after, share, pods_after }
    });
    let mut candidates: Vec<BreakdownCandidate> = candidates.collect();
    candidates.sort_by(|one, other| other.share.total_cmp(&one.share));
    candidates.truncate(MOST_VALUES);
    candidates
}

/// The pulls of each registry that enough startups after pulled from.
fn by_registry(
    before: &ComparisonSide,
    after: &ComparisonSide,
) -> Vec<(String, Option<DurationSample>, DurationSample)> {
    let registries: BTreeSet<&Arc<str>> =
        after.pods().iter().flat_map(|pod| pod.pulls.registries()).collect();
    let pairs = registries.into_iter().filter_map(|registry| {
        let timed = PodDuration::Pulls { from: Some(Arc::clone(registry)) };
        let [one, other] = [before, after].map(|side| sample(side.observed(&timed)));
        let is_enough = |sample: &DurationSample| sample.count() >= LEAST_PODS;
        is_enough(&other).then(|| (registry.to_string(), Some(one).filter(is_enough), other))
    });
    pairs.collect()
}

/// What `work` gives for each of the `jobs`, in their order.
pub(super) fn in_parallel<J: Sync, T: Send>(jobs: &[J], work: impl Fn(&J) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let worker = || {
        // Relaxed: no other memory is published with the number of a job.
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own = numbers.map_while(|number| Some((number, work(jobs.get(number)?))));
        own.collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (1..cores.min(jobs.len())).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for worker in workers {
            match worker.join() {
                Ok(own) => done.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        let jobs: Vec<u32> = (0..1_000).collect();
        assert_eq!(
            in_parallel(&jobs, |job| job * 2),
            jobs.iter().map(|job| job * 2).collect::<Vec<_>>()
        );
        assert!(in_parallel(&[], |job: &u32| *job).is_empty());
    }
}
