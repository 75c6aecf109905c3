//! Rule 15.7 of the specification, read once more: pods are counted one by one, and every table of Fisher's test comes
//! from the one before it.

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
    pub p_value: f64,
    pub interval: [f64; 2],
    pub verdict: &'static str,
    pub worse_from: Option<usize>,
}

/// The row of the pods that did not start.
pub fn not_started(before: &[Pod], after: &[Pod]) -> Option<ExpectedStarts> {
    let limit = limit(before).or_else(|| limit(after));
    let counts = [before, after].map(|pods| counts(pods, limit));
    let [[count, of, ..], [later, of_later, ..]] = counts;
    if of == 0 || of_later == 0 {
        return None;
    }
    let sides = [[count, of], [later, of_later]];
    let worse = (0..=of_later).find(|later| verdict([[count, of], [*later, of_later]]) == "worse");
    Some(ExpectedStarts {
        counts,
        limit,
        p_value: fisher(sides),
        interval: newcombe(sides),
        verdict: verdict(sides),
        worse_from: worse,
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

fn counts(pods: &[Pod], limit: Option<u64>) -> [usize; 4] {
    let end_of = |pod: &Pod| match pod.end {
        End::InFlight => None,
        End::Deleted(seconds) => Some(pod.created + seconds),
        _ => Some(pod.created),
    };
    let since = pods.iter().filter_map(end_of).min();
    let newest = pods.iter().map(|pod| pod.created).max();
    let [mut count, mut of, mut too_new, mut earlier] = [0; 4];
    for pod in pods {
        if since.is_some_and(|since| pod.created < since) {
            earlier += 1;
            continue;
        }
        let is_over = |until: i64| {
            let waited = (until - pod.created) as f64;
            limit.is_some_and(|limit| waited > limit as f64 / 1e9)
        };
        let starts = match pod.end {
            End::Ready | End::Completed => Some(true),
            End::Failed | End::Rejected => Some(false),
            End::Deleted(seconds) => is_over(pod.created + seconds).then_some(false),
            End::InFlight => is_over(newest.unwrap()).then_some(false),
            End::Moved => continue,
        };
        match starts {
            Some(starts) => {
                of += 1;
                count += usize::from(!starts);
            }
            None => too_new += 1,
        }
    }
    [count, of, too_new, earlier]
}

fn verdict(sides: [[usize; 2]; 2]) -> &'static str {
    let [one, other] = sides.map(|[count, of]| count as f64 / of as f64);
    let [low, high] = newcombe(sides);
    match (other - one, fisher(sides) < 0.01) {
        (difference, true) if difference >= 0.01 => "worse",
        (difference, true) if difference <= -0.01 => "better",
        _ if low >= -0.01 && high <= 0.01 => "same",
        _ => "unclear",
    }
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
