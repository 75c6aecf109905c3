//! Rule 15.7 of the specification, read once more: pods are counted one by one, and every table of Fisher's test comes
//! from the one before it.

use std::collections::BTreeMap;

use super::reference::deviations;
use super::sides::{End, Pod};
use podinit_core::lifecycle::Interval;

/// What rule 15.7 says.
#[derive(Debug)]
pub struct ExpectedStarts {
    /// Of each side: pods that did not start, of those that count, too new ones, and those from before
    pub counts: [[usize; 4]; 2],
    /// Nanoseconds
    pub limit: Option<u64>,
    /// What fails together
    pub together: &'static str,
    pub p_value: f64,
    /// That of independent pods
    pub interval: [f64; 2],
    /// About those of 95 % and 99 % of what fails together
    pub clustered: Option<[[f64; 2]; 2]>,
    /// That the shares of clusters are higher after
    pub is_higher: bool,
    pub worse_from: Option<usize>,
    /// A fifth more of the pods do not start, and half more of those of three workloads
    pub is_outage: bool,
}

/// Of a cluster: pods that did not start, of how many.
type Cluster = [usize; 2];

/// What fails together, and the pods of both sides that count, each with whether it started.
pub fn counted<'a>(
    before: &'a [Pod],
    after: &'a [Pod],
) -> (&'static str, [Vec<(&'a Pod, bool)>; 2]) {
    let limit = limit(before).or_else(|| limit(after));
    let sides = [before, after].map(|pods| told(pods, limit));
    let is_enough = |name, sides| clusters_of(name, sides).iter().all(|found| found.len() >= 10);
    let pods = sides.clone().map(|side| last_tries(&side));
    match () {
        () if is_enough("workloads", &sides) => ("workloads", sides),
        () if is_enough("minutes", &pods) => ("minutes", pods),
        () => ("pods", pods),
    }
}

fn clusters_of(name: &str, sides: &[Vec<(&Pod, bool)>; 2]) -> [Vec<Cluster>; 2] {
    [0, 1].map(|side| clusters(name, &sides[side]))
}

/// The row of the pods that did not start.
pub fn not_started(before: &[Pod], after: &[Pod]) -> Option<ExpectedStarts> {
    let limit = limit(before).or_else(|| limit(after));
    let [one, other] = [before, after].map(|pods| left_out(pods, limit));
    let (together, pods) = counted(before, after);
    let counts = [0, 1].map(|side| {
        let failed = pods[side].iter().filter(|(_, has_started)| !has_started).count();
        [failed, pods[side].len(), [one, other][side][0], [one, other][side][1]]
    });
    let [[count, of, ..], [later, of_later, ..]] = counts;
    if of == 0 || of_later == 0 {
        return None;
    }
    let sums = [[count, of], [later, of_later]];
    let is_worse = |later: usize| {
        let sums = [[count, of], [later, of_later]];
        share(sums[1]) - share(sums[0]) >= 0.01 && fisher(sums) < 0.01
    };
    let workloads = |side: usize| {
        let mut found: BTreeMap<String, Cluster> = BTreeMap::new();
        for (pod, has_started) in pods[side].iter().filter(|(pod, _)| pod.workload.is_some()) {
            let own = found.entry(format!("{:?}", pod.workload)).or_default();
            *own = [own[0] + usize::from(!has_started), own[1] + 1];
        }
        found
    };
    let earlier = workloads(0);
    let down = workloads(1).into_iter().filter(|(name, later)| {
        earlier.get(name).is_some_and(|was| share(*later) - share(*was) >= 0.5)
    });
    let is_outage = down.count() >= 3 && share(sums[1]) - share(sums[0]) >= 0.2;
    let found = clusters_of(together, &pods);
    let [probability, ranks] = mann_whitney(&found);
    Some(ExpectedStarts {
        counts,
        limit,
        together,
        p_value: if together == "pods" { fisher(sums) } else { ranks },
        interval: newcombe(sums),
        clustered: (together != "pods").then(|| bootstrap(&found, share(sums[1]) - share(sums[0]))),
        is_higher: probability > 0.5,
        is_outage,
        worse_from: (0..=of_later).find(|later| is_worse(*later)),
    })
}

fn share([count, of]: Cluster) -> f64 {
    count as f64 / of as f64
}

fn clusters(together: &str, pods: &[(&Pod, bool)]) -> Vec<Cluster> {
    let mut found: BTreeMap<String, Cluster> = BTreeMap::new();
    for (number, (pod, has_started)) in pods.iter().enumerate() {
        let minute = if together == "minutes" { pod.created.div_euclid(60) } else { 0 };
        let key = match &pod.workload {
            Some(workload) if together != "pods" => format!("{workload:?} {minute}"),
            _ => number.to_string(),
        };
        let cluster = found.entry(key).or_default();
        *cluster = [cluster[0] + usize::from(!has_started), cluster[1] + 1];
    }
    found.into_values().collect()
}

/// Without the tries of Jobs that another followed. These pods have no names. Each ended when it was created, but for those
/// that were deleted and of which a cause is known.
fn last_tries<'a>(pods: &[(&'a Pod, bool)]) -> Vec<(&'a Pod, bool)> {
    let mut sorted = pods.to_vec();
    // On a tie, a side has those first of which anything was observed.
    sorted.sort_by_key(|(pod, has_started)| (pod.created, *has_started, pod.durations.is_empty()));
    let is_of_job =
        |pod: &Pod| pod.workload.as_ref().is_some_and(|(_, kind, _)| kind.ends_with("Job"));
    let mut left: Vec<(&Pod, bool)> = Vec::new();
    for (pod, has_started) in sorted {
        let is_before = |(other, has_started): &(&Pod, bool)| {
            is_of_job(other)
                && other.workload == pod.workload
                && !has_started
                && other.end != End::InFlight
                && over(other) <= pod.created
        };
        if is_of_job(pod)
            && let Some(before) = left.iter().position(is_before)
        {
            left.remove(before);
        }
        left.push((pod, has_started));
    }
    left
}

fn over(pod: &Pod) -> i64 {
    match pod.end {
        End::Deleted(seconds) if pod.fault.is_some() => pod.created + seconds,
        _ => pod.created,
    }
}

/// All pairs of clusters: the probability that the one after has a higher share, and the p-value.
fn mann_whitney([before, after]: &[Vec<Cluster>; 2]) -> [f64; 2] {
    // Shares as fractions of a common size are whole numbers.
    let value = |cluster: &Cluster| cluster[0] as u128 * 1_000_000_000 / cluster[1] as u128;
    let [before, after] = [before, after].map(|side| side.iter().map(value).collect::<Vec<_>>());
    super::reference::rank_test(&before, &after)
}

/// Intervals of 95 % and 99 % by other random numbers.
fn bootstrap(clusters: &[Vec<Cluster>; 2], difference: f64) -> [[f64; 2]; 2] {
    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut draw = |side: &[Cluster]| {
        let mut sum = [0, 0];
        for _ in side {
            let one = side[below(side.len())];
            sum = [sum[0] + one[0], sum[1] + one[1]];
        }
        share(sum)
    };
    let mut all: Vec<f64> = (0..4_000).map(|_| -draw(&clusters[0]) + draw(&clusters[1])).collect();
    all.sort_by(f64::total_cmp);
    let mean = all.iter().sum::<f64>() / 4_000.0;
    let deviation = (all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 4_000.0).sqrt();
    [0.05, 0.01].map(|outside| {
        let half = deviations(outside) * deviation;
        let rank = (4_000.0 * outside / 2.0) as usize;
        [all[rank].min(difference - half), all[3_999 - rank].max(difference + half)]
    })
}

fn limit(pods: &[Pod]) -> Option<u64> {
    let durations = pods.iter().flat_map(|pod| &pod.durations);
    let ready = durations.filter(|(interval, _)| *interval == Interval::CreatedToReady);
    let mut nanos: Vec<u64> = ready.map(|(_, nanos)| *nanos).collect();
    nanos.sort_unstable();
    match nanos.len() {
        0 => None,
        count if count < 100 => nanos.last().copied(),
        count => Some(nanos[(count * 99).div_ceil(100) - 1]),
    }
}

/// When the side began, by the first pod that it shows.
fn since(pods: &[Pod]) -> i64 {
    let end_of = |pod: &Pod| match pod.end {
        End::InFlight => None,
        End::Deleted(seconds) => Some(pod.created + seconds),
        _ => Some(pod.created),
    };
    pods.iter().filter_map(end_of).min().unwrap_or(i64::MIN)
}

/// Whether a pod started; `None` of one that is too new to tell.
fn has_started(pod: &Pod, pods: &[Pod], limit: Option<u64>) -> Option<bool> {
    let is_over = |until: i64| {
        let waited = (until - pod.created) as f64;
        limit.is_some_and(|limit| waited > limit as f64 / 1e9)
    };
    let newest = pods.iter().map(|pod| pod.created).max().unwrap();
    match pod.end {
        End::Ready | End::Completed => Some(true),
        End::Failed | End::Rejected => Some(false),
        End::Deleted(seconds) => is_over(pod.created + seconds).then_some(false),
        End::InFlight => is_over(newest).then_some(false),
        End::Moved => None,
    }
}

fn told(pods: &[Pod], limit: Option<u64>) -> Vec<(&Pod, bool)> {
    let all = pods.iter().filter(|pod| pod.created >= since(pods) && pod.end != End::Moved);
    all.filter_map(|pod| Some((pod, has_started(pod, pods, limit)?))).collect()
}

/// How many are too new to tell, and how many from before. Those of other shards are neither.
fn left_out(pods: &[Pod], limit: Option<u64>) -> [usize; 2] {
    let known = || pods.iter().filter(|pod| pod.end != End::Moved);
    let earlier = known().filter(|pod| pod.created < since(pods)).count();
    [known().count() - earlier - told(pods, limit).len(), earlier]
}

/// All tables with the same sums, each by the ratio to the one before.
pub fn fisher([[count, of], [later, of_later]]: [[usize; 2]; 2]) -> f64 {
    let drawn = count + later;
    let least = drawn.saturating_sub(of_later);
    let mut tables = vec![1.0];
    for before in least..drawn.min(of) {
        let ways = (of - before) as f64 * (drawn - before) as f64;
        let ways_back = (before + 1) as f64 * (of_later + before + 1 - drawn) as f64;
        let last = tables[tables.len() - 1];
        tables.push(last * ways / ways_back);
    }
    let all: f64 = tables.iter().sum();
    let own = tables[count - least] * (1.0 + 1e-7);
    tables.iter().filter(|table| **table <= own).sum::<f64>() / all
}

/// The ends of Wilson's interval are where a share is 1.96 of its own standard errors away.
pub fn newcombe(sides: [[usize; 2]; 2]) -> [f64; 2] {
    let z = deviations(0.05);
    let ends = sides.map(|[count, of]| {
        let share = count as f64 / of as f64;
        let is_in = |end: f64| (share - end).abs() <= z * (end * (1.0 - end) / of as f64).sqrt();
        let edge = |mut inside: f64, mut outside: f64| {
            if is_in(outside) {
                return outside;
            }
            for _ in 0..100 {
                let middle = (inside + outside) / 2.0;
                if is_in(middle) { inside = middle } else { outside = middle }
            }
            inside
        };
        [share, edge(share, 0.0), edge(share, 1.0)]
    });
    let [[one, low, high], [other, later_low, later_high]] = ends;
    let below = ((other - later_low).powi(2) + (high - one).powi(2)).sqrt();
    let above = ((later_high - other).powi(2) + (one - low).powi(2)).sqrt();
    [other - one - below, other - one + above]
}
