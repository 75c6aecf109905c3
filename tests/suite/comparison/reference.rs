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
    Some(Value { nanos: found.1, minute: pod.created.div_euclid(60), weight })
}

/// The workload and the images of a pod, as a text.
fn by_images(pod: &Pod) -> String {
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

/// The match of a pod of one of these sides, as a text: by images, or its workload as a whole.
pub fn matched_by(before: &[Pod], after: &[Pod]) -> impl Fn(&Pod) -> String {
    let observed = |pods: &[Pod]| -> Vec<Pod> {
        pods.iter().filter(|pod| !pod.durations.is_empty()).cloned().collect()
    };
    let sides = [observed(before), observed(after)];
    let mut whole = BTreeSet::new();
    for [own, others] in [[&sides[0], &sides[1]], [&sides[1], &sides[0]]] {
        let known: BTreeSet<String> = others.iter().map(by_images).collect();
        for pod in own.iter().filter(|pod| pod.workload.is_some()) {
            let is_on_both = others.iter().any(|other| other.workload == pod.workload);
            if is_on_both && !known.contains(&by_images(pod)) {
                whole.insert(pod.workload.clone());
            }
        }
    }
    move |pod| match whole.contains(&pod.workload) {
        true => format!("{:?} as a whole", pod.workload),
        false => by_images(pod),
    }
}

/// The share of the pods on each side that have a match on the other.
pub fn shares(before: &[Pod], after: &[Pod]) -> [f64; 2] {
    let matched_by = matched_by(before, after);
    let share = |own: &[Pod], others: &[Pod]| {
        let known: BTreeSet<String> =
            others.iter().filter(|pod| !pod.durations.is_empty()).map(&matched_by).collect();
        let observed: Vec<&Pod> = own.iter().filter(|pod| !pod.durations.is_empty()).collect();
        let matched = observed.iter().filter(|pod| known.contains(&matched_by(pod)));
        matched.count() as f64 / observed.len().max(1) as f64
    };
    [share(before, after), share(after, before)]
}

/// The same pods, with 0 for stages that one side does not have: as those came or went, and pods lack them.
pub fn filled(before: &[Pod], after: &[Pod]) -> [Vec<Pod>; 2] {
    let took = |pod: &Pod, interval| pod.durations.iter().any(|(name, _)| *name == interval);
    let enough =
        |pods: &[Pod], interval| pods.iter().filter(|pod| took(pod, interval)).count() >= 5;
    let whole =
        match enough(before, Interval::CreatedToReady) && enough(after, Interval::CreatedToReady) {
            false
                if enough(before, Interval::ScheduledToReady)
                    && enough(after, Interval::ScheduledToReady) =>
            {
                Interval::ScheduledToReady
            }
            _ => Interval::CreatedToReady,
        };
    let mut sides = [before.to_vec(), after.to_vec()];
    for name in ["gated", "unschedulable", "init", "readiness"] {
        let interval = Interval::ALL.into_iter().find(|one| one.as_str() == name).unwrap();
        let lacking = match (enough(before, interval), enough(after, interval)) {
            (false, true) => before,
            (true, false) => after,
            _ => continue,
        };
        let answering: Vec<&Pod> = lacking.iter().filter(|pod| took(pod, whole)).collect();
        let unknown = answering.iter().filter(|pod| pod.unobserved.contains(&interval)).count();
        if unknown * 10 > answering.len() {
            continue;
        }
        for pod in sides.iter_mut().flatten() {
            if !took(pod, whole) {
                pod.durations.retain(|(name, _)| *name != interval);
            } else if !took(pod, interval) && !pod.unobserved.contains(&interval) {
                pod.durations.push((interval, 0));
            }
        }
    }
    sides
}

/// The row of an interval for all pods.
pub fn row(before: &[Pod], after: &[Pod], interval: Interval) -> Option<Expected> {
    let values = |pods: &[Pod]| -> Vec<Value> {
        pods.iter().filter_map(|pod| value(pod, interval, (1, 1))).collect()
    };
    let (one, other) = (values(before), values(after));
    let (probability, deviation, variance) = pairs(&one, &other);
    let z = (deviation.abs() - 0.5) / variance.sqrt();
    let p_value = if variance > 1e-9 { two_sided(z) } else { 1.0 };
    expected(interval, &one, &other, probability, p_value)
}

/// The probability that one after is greater than one before, and the p-value of the test.
pub fn rank_test(before: &[u128], after: &[u128]) -> [f64; 2] {
    let values = |numbers: &[u128]| -> Vec<Value> {
        let all = numbers.iter();
        all.map(|one| Value { nanos: *one as u64, minute: 0, weight: (1, 1) }).collect()
    };
    let (probability, deviation, variance) = pairs(&values(before), &values(after));
    let z = (deviation.abs() - 0.5) / variance.sqrt();
    [probability, if variance > 1e-9 { two_sided(z) } else { 1.0 }]
}

/// The row of an interval for the matched pods alone.
pub fn matched_row(before: &[Pod], after: &[Pod], interval: Interval) -> Option<Expected> {
    let matched_by = matched_by(before, after);
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
    let p_value =
        if variances > 1e-9 { two_sided(deviations.abs() / variances.sqrt()) } else { 1.0 };
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
    let minutes =
        |values: &[Value]| values.iter().map(|value| value.minute).collect::<BTreeSet<_>>().len();
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
    values.iter().map(|value| value.nanos).filter(enough).min().unwrap()
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
    let all: Vec<u64> = before.iter().chain(after).map(|value| value.nanos).collect();
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

/// How many standard deviations both tails of this share lie beyond.
pub fn deviations(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 12.0);
    while high - low > 1e-12 {
        let middle = (low + high) / 2.0;
        match two_sided(middle) > share {
            true => low = middle,
            false => high = middle,
        }
    }
    low
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

/// What section 15.6 says of one value, but for the intervals of its row.
#[derive(Debug)]
pub struct ExpectedPart {
    pub dimension: &'static str,
    pub value: String,
    pub share: f64,
    pub pods_after: f64,
    pub is_new: bool,
    pub row: Expected,
}

/// The dimensions, in the order in which one is named of those that say as much.
const DIMENSIONS: [&str; 6] = ["node", "nodepool", "zone", "image", "workload", "namespace"];

fn has(pod: &Pod, dimension: &str, value: &str) -> bool {
    values(pod, dimension).iter().any(|own| own == value)
}

pub fn values(pod: &Pod, dimension: &str) -> Vec<String> {
    let namespace = match &pod.workload {
        Some((namespace, ..)) => namespace,
        None => "default",
    };
    match (dimension, &pod.labels, &pod.workload) {
        ("node", ..) => vec![pod.node.clone()],
        ("nodepool", Some(labels), _) => vec![labels.pool.to_string()],
        ("zone", Some(labels), _) if !labels.zone.is_empty() => vec![labels.zone.to_string()],
        ("workload", _, Some((_, kind, name))) => vec![format!("{namespace}/{kind}/{name}")],
        ("namespace", ..) => vec![namespace.to_owned()],
        ("image", ..) => {
            let alone = |image: &String| {
                let pod = Pod { images: vec![image.clone()], workload: None, ..pod.clone() };
                let text = by_images(&pod);
                text["None [\"".len()..text.len() - 2].to_owned()
            };
            let images: BTreeSet<String> = pod.images.iter().map(alone).collect();
            images.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The durations in seconds of the pods that count.
fn seconds(pods: &[Pod], interval: Interval, counts: impl Fn(&Pod) -> bool) -> Vec<f64> {
    let counted = pods.iter().filter(|pod| counts(pod));
    let found = counted.filter_map(|pod| value(pod, interval, (1, 1)));
    found.map(|value| value.nanos as f64 / 1e9).collect()
}

fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len() as f64
}

/// The values of every dimension.
pub fn parts(before: &[Pod], after: &[Pod], interval: Interval) -> Vec<ExpectedPart> {
    let all = [before, after].map(|pods| seconds(pods, interval, |_| true));
    let difference = mean(&all[1]) - mean(&all[0]);
    let mut found = Vec::new();
    for dimension in DIMENSIONS {
        let observed = after.iter().filter(|pod| value(pod, interval, (1, 1)).is_some());
        let names: BTreeSet<String> = observed.flat_map(|pod| values(pod, dimension)).collect();
        if dimension == "nodepool" && names.iter().all(|name| name == "_none") {
            continue;
        }
        let mut of_dimension = Vec::new();
        for value in names {
            let own = |pods: &[Pod]| -> Vec<Pod> {
                let own = pods.iter().filter(|pod| has(pod, dimension, &value));
                own.cloned().collect()
            };
            let count = |pods: &[Pod]| seconds(pods, interval, |_| true).len();
            let is_new = count(&own(before)) < 5;
            let base = if is_new { before.to_vec() } else { own(before) };
            if let Some(row) = row(&base, &own(after), interval) {
                let [earlier, later] =
                    [base, own(after)].map(|pods| seconds(&pods, interval, |_| true));
                let pods_after = later.len() as f64 / all[1].len() as f64;
                of_dimension.push(ExpectedPart {
                    dimension,
                    share: pods_after * (mean(&later) - mean(&earlier)) / difference,
                    value,
                    pods_after,
                    is_new,
                    row,
                });
            }
        }
        of_dimension.sort_by(|one, other| other.share.total_cmp(&one.share));
        found.extend(of_dimension.into_iter().take(20));
    }
    found
}

/// The dimension and values that the answer names, of parts of which `moved` says whether each has the verdict of the
/// whole.
pub fn only(
    before: &[Pod],
    after: &[Pod],
    interval: Interval,
    parts: &[ExpectedPart],
    moved: &[bool],
) -> Option<(&'static str, Vec<String>)> {
    let mut best: Option<(&'static str, Vec<String>)> = None;
    for dimension in DIMENSIONS {
        let (mut share, mut pods, mut names) = (0.0, 0.0, Vec::new());
        for (part, moved) in parts.iter().zip(moved) {
            let counts = part.dimension == dimension && *moved && part.share > 0.0;
            if counts && share < 0.9 && names.len() < 5 {
                share += part.share;
                pods += part.pods_after;
                names.push(part.value.clone());
            }
        }
        let as_one = |name: &String| match dimension {
            "nodepool" | "zone" => is_slow_everywhere(before, after, interval, dimension, name),
            _ => true,
        };
        let is_fewer = best.as_ref().is_none_or(|(_, best)| names.len() < best.len());
        if share >= 0.9 && pods <= 0.75 && is_fewer && names.iter().all(as_one) {
            best = Some((dimension, names));
        }
    }
    best
}

/// Whether not more than a tenth of the pods of a pool or zone are on nodes that did not move as it did.
fn is_slow_everywhere(
    before: &[Pod],
    after: &[Pod],
    interval: Interval,
    dimension: &str,
    value: &str,
) -> bool {
    let of_value = |pods: &[Pod]| seconds(pods, interval, |pod| has(pod, dimension, value));
    let enough = |own: Vec<f64>, others: Vec<f64>| if own.len() < 5 { others } else { own };
    let base = enough(of_value(before), seconds(before, interval, |_| true));
    let whole = mean(&of_value(after)) - mean(&base);
    let variance = |seconds: &[f64]| {
        let squares = seconds.iter().map(|one| (one - mean(seconds)).powi(2));
        squares.sum::<f64>() / (seconds.len() - 1) as f64
    };
    let nodes: BTreeSet<&String> = after.iter().map(|pod| &pod.node).collect();
    let (mut pods, mut others) = (0, 0);
    for node in nodes {
        let later = seconds(after, interval, |pod| pod.node == *node && has(pod, dimension, value));
        if later.len() < 5 {
            continue;
        }
        let earlier = enough(seconds(before, interval, |pod| pod.node == *node), base.clone());
        let part = (mean(&later) - mean(&earlier)) / whole;
        let error =
            variance(&later) / later.len() as f64 + variance(&earlier) / earlier.len() as f64;
        pods += later.len();
        if part + 2.0 * error.sqrt() / whole.abs() < 0.5 {
            others += later.len();
        }
    }
    others * 10 <= pods
}

/// Whether the means of an interval differ by more than two standard errors.
pub fn means_differ(before: &[Pod], after: &[Pod], interval: Interval) -> bool {
    let [one, other] =
        [before, after].map(|pods| mean_and_error(&pods.iter().collect::<Vec<_>>(), interval));
    (other.0 - one.0).abs() > 2.0 * (one.1 + other.1).sqrt()
}

/// Whether a node or workload with 5 pods has a mean by more than five standard errors above that before, of its own pods or of
/// all.
pub fn has_slow_value(before: &[Pod], after: &[Pod], interval: Interval) -> bool {
    let observed = |pods: &[Pod]| -> Vec<Pod> {
        pods.iter().filter(|pod| value(pod, interval, (1, 1)).is_some()).cloned().collect()
    };
    let (before, after) = (observed(before), observed(after));
    let names: [fn(&Pod) -> Option<String>; 2] =
        [|pod| Some(pod.node.clone()), |pod| pod.workload.as_ref().map(|own| format!("{own:?}"))];
    names.into_iter().any(|name| {
        after.iter().filter_map(name).any(|own| {
            let with = |pods: &'_ [Pod]| -> Vec<Pod> {
                pods.iter().filter(|pod| name(pod).as_ref() == Some(&own)).cloned().collect()
            };
            let (mut one, other) = (with(&before), with(&after));
            if one.len() < 5 {
                one.clone_from(&before);
            }
            let [one_mean, other_mean] = [&one, &other]
                .map(|pods| mean_and_error(&pods.iter().collect::<Vec<_>>(), interval));
            other.len() >= 5 && other_mean.0 - one_mean.0 > 5.0 * (one_mean.1 + other_mean.1).sqrt()
        })
    })
}

/// The mean in seconds, and the square of its standard error.
fn mean_and_error(pods: &[&Pod], interval: Interval) -> (f64, f64) {
    let values = pods.iter().filter_map(|pod| value(pod, interval, (1, 1)));
    let seconds: Vec<f64> = values.map(|value| value.nanos as f64 / 1e9).collect();
    let count = seconds.len() as f64;
    let mean = seconds.iter().sum::<f64>() / count;
    let squares: f64 = seconds.iter().map(|one| (one - mean) * (one - mean)).sum();
    (mean, squares / (count - 1.0) / count)
}
