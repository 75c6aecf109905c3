//! Section 15 of the specification, read once more, slowly: every pair is compared, every weight is a fraction, and
//! the tail of the normal distribution is an integral.

use std::collections::{BTreeMap, BTreeSet};

use super::sides::Pod;
use podinit_core::lifecycle::Interval;

/// What section 15 says of one row, but for its intervals.
#[derive(Debug)]
pub struct Expected {
    pub interval: &'static str,
    pub counts: [usize; 2],
    /// Nanoseconds, before and after
    pub p50: [u64; 2],
    pub p90: [u64; 2],
    pub p99: [Option<u64>; 2],
    pub probability: f64,
    pub p_value: f64,
    pub by_minutes: bool,
}

/// A pod of a row: its duration, its minute, and its weight as a fraction.
struct Value {
    nanos: u64,
    minute: i64,
    weight: (i128, i128),
}

fn value(pod: &Pod, interval: Interval, weight: (i128, i128)) -> Option<Value> {
    let found = pod.durations.iter().find(|(name, _)| *name == interval)?;
    Some(Value {
        nanos: found.1,
        minute: pod.created.div_euclid(60),
        weight,
    })
}

/// The match of a pod, as a text.
fn matched_by(pod: &Pod) -> String {
    let mut images: Vec<String> = Vec::new();
    for image in &pod.images {
        let name = image.split('@').next().unwrap();
        let (path, last) = match name.rsplit_once('/') {
            Some((path, last)) => (format!("{path}/"), last),
            None => (String::new(), name),
        };
        images.push(path + last.split(':').next().unwrap());
    }
    images.sort();
    format!("{:?} {images:?}", pod.workload)
}

/// The share of the pods on each side that have a match on the other.
pub fn shares(before: &[Pod], after: &[Pod]) -> [f64; 2] {
    let share = |own: &[Pod], others: &[Pod]| {
        let known: BTreeSet<String> = others
            .iter()
            .filter(|pod| !pod.durations.is_empty())
            .map(matched_by)
            .collect();
        let observed: Vec<&Pod> = own.iter().filter(|pod| !pod.durations.is_empty()).collect();
        let matched = observed
            .iter()
            .filter(|pod| known.contains(&matched_by(pod)));
        matched.count() as f64 / observed.len().max(1) as f64
    };
    [share(before, after), share(after, before)]
}

/// The row of an interval for all pods.
pub fn row(before: &[Pod], after: &[Pod], interval: Interval) -> Option<Expected> {
    let values = |pods: &[Pod]| -> Vec<Value> {
        pods.iter()
            .filter_map(|pod| value(pod, interval, (1, 1)))
            .collect()
    };
    let (one, other) = (values(before), values(after));
    let (probability, deviation, variance) = pairs(&one, &other);
    let z = (deviation.abs() - 0.5) / variance.sqrt();
    let p_value = if variance > 1e-9 { two_sided(z) } else { 1.0 };
    expected(interval, &one, &other, probability, p_value)
}

/// The row of an interval for the matched pods alone.
pub fn matched_row(before: &[Pod], after: &[Pod], interval: Interval) -> Option<Expected> {
    let mut matches: BTreeMap<String, [Vec<&Pod>; 2]> = BTreeMap::new();
    for (index, pods) in [before, after].into_iter().enumerate() {
        for pod in pods {
            if value(pod, interval, (1, 1)).is_some() {
                matches.entry(matched_by(pod)).or_default()[index].push(pod);
            }
        }
    }
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let (mut deviations, mut variances, mut probabilities, mut all) = (0.0, 0.0, 0.0, 0.0);
    for [before, after] in matches.into_values() {
        if before.is_empty() || after.is_empty() {
            continue;
        }
        let weight = (before.len() as i128, after.len() as i128);
        let value_of = |weight| move |pod: &&Pod| value(pod, interval, weight).unwrap();
        let before: Vec<Value> = before.iter().map(value_of((1, 1))).collect();
        let after: Vec<Value> = after.iter().map(value_of(weight)).collect();
        let (probability, deviation, variance) = pairs(&before, &after);
        let share = 1.0 / (before.len() + after.len() + 1) as f64;
        deviations += share * deviation;
        variances += share * share * variance;
        probabilities += before.len() as f64 * probability;
        all += before.len() as f64;
        one.extend(before);
        other.extend(after);
    }
    let p_value = if variances > 1e-9 {
        two_sided(deviations.abs() / variances.sqrt())
    } else {
        1.0
    };
    expected(interval, &one, &other, probabilities / all, p_value)
}

fn expected(
    interval: Interval,
    one: &[Value],
    other: &[Value],
    probability: f64,
    p_value: f64,
) -> Option<Expected> {
    if one.len() < 5 || other.len() < 5 {
        return None;
    }
    let minutes = |values: &[Value]| {
        values
            .iter()
            .map(|value| value.minute)
            .collect::<BTreeSet<_>>()
            .len()
    };
    let both = |percent| [quantile(one, percent), quantile(other, percent)];
    let p99 = |values: &[Value]| (values.len() >= 100).then(|| quantile(values, 99));
    Some(Expected {
        interval: interval.as_str(),
        counts: [one.len(), other.len()],
        p50: both(50),
        p90: both(90),
        p99: [p99(one), p99(other)],
        probability,
        p_value,
        by_minutes: minutes(one) >= 10 && minutes(other) >= 10,
    })
}

/// The least duration that values with `percent` of the weight do not exceed: exactly, over a common denominator.
fn quantile(values: &[Value], percent: i128) -> u64 {
    let denominator: i128 = values.iter().map(|value| value.weight.1).fold(1, lcm);
    let weight = |value: &Value| value.weight.0 * (denominator / value.weight.1);
    let all: i128 = values.iter().map(weight).sum();
    let enough = |limit: &u64| {
        let up_to = values.iter().filter(|value| value.nanos <= *limit);
        up_to.map(weight).sum::<i128>() * 100 >= percent * all
    };
    values
        .iter()
        .map(|value| value.nanos)
        .filter(enough)
        .min()
        .unwrap()
}

fn lcm(one: i128, other: i128) -> i128 {
    let (mut a, mut b) = (one, other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    one / a * other
}

/// Over all pairs: the probability that the one after is slower, by how much the sum of ranks deviates, and its
/// variance.
fn pairs(before: &[Value], after: &[Value]) -> (f64, f64, f64) {
    let mut slower = 0.0;
    for one in before {
        for other in after {
            slower += match other.nanos.cmp(&one.nanos) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    let (n, m) = (before.len() as f64, after.len() as f64);
    // The ranks of equal values are their mean: the variance is that of the ranks there are.
    let all: Vec<u64> = before
        .iter()
        .chain(after)
        .map(|value| value.nanos)
        .collect();
    let rank = |value: &u64| {
        let below = all.iter().filter(|other| *other < value).count() as f64;
        let equal = all.iter().filter(|other| *other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    let middle = (n + m + 1.0) / 2.0;
    let squares: f64 = all.iter().map(|value| (rank(value) - middle).powi(2)).sum();
    let variance = n * m / ((n + m) * (n + m - 1.0)) * squares;
    (slower / (n * m), slower - n * m / 2.0, variance)
}

/// Both tails of the normal distribution beyond `z`, by Simpson's rule.
fn two_sided(z: f64) -> f64 {
    if z <= 0.0 {
        return 1.0;
    }
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (steps, width) = (4_000, 12.0);
    let step = width / f64::from(steps);
    let inner = (1..steps).map(|number| {
        let factor = if number % 2 == 1 { 4.0 } else { 2.0 };
        factor * density(z + f64::from(number) * step)
    });
    let sum = density(z) + density(z + width) + inner.sum::<f64>();
    (2.0 * sum * step / 3.0).min(1.0)
}

/// The p-values as Holm corrects them: each is the greatest of those that are not above it, times how many are not
/// below.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let corrected = p_values.iter().map(|own| {
        let up_to = sorted.iter().enumerate().filter(|(_, p)| *p <= own);
        let times = up_to.map(|(rank, p)| p * (sorted.len() - rank) as f64);
        times.fold(0.0, f64::max).min(1.0)
    });
    corrected.collect()
}
