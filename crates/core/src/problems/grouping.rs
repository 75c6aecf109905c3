//! How the affected pods of a cause are grouped ([§13.5](crate::specification#s13-5)).

use std::sync::Arc;

use super::affected_pods::AffectedPods;
use super::background::Background;
use super::values::{Dimension, Shared};
use super::weight::{All, Weighed, With};
use crate::lifecycle::Cause;

/// So many values are taken because they stand out.
const MOST_STANDING_OUT: usize = 5;

/// The ranks of pods with what they share.
pub(super) type Group = (Shared, Vec<u32>);

/// The groups of the pods with these ranks, which one cause affects, in each the pods in the order in which they came:
/// those that have waited longest first.
pub(super) fn groups(
    mut ranks: Vec<u32>,
    pods: &AffectedPods,
    background: &Background<'_>,
) -> Vec<Group> {
    let mut found = Vec::new();
    let mut standing_out = 0;
    while !ranks.is_empty() {
        let may_stand_out = standing_out < MOST_STANDING_OUT;
        let Some(taken) = choose(&ranks, pods, background, may_stand_out) else {
            break;
        };
        let value = Arc::clone(pods.looked_at.value(taken.dimension, taken.value));
        let shared = Some((taken.dimension, value));
        if taken.explains {
            found.push((shared, std::mem::take(&mut ranks)));
            break;
        }
        standing_out += 1;
        let has = |rank: &u32| pods.get(*rank).values.get(taken.dimension) == Some(taken.value);
        let (with, without) = ranks.into_iter().partition(has);
        found.push((shared, with));
        ranks = without;
    }
    if !ranks.is_empty() {
        found.push((None, ranks));
    }
    found
}

/// The value to take, if there is one.
fn choose(
    ranks: &[u32],
    pods: &AffectedPods,
    background: &Background<'_>,
    may_stand_out: bool,
) -> Option<Weighed> {
    let cause = pods.get(*ranks.first()?).cause;
    let has_failed = |rank: &u32| pods.state(*rank).is_some_and(|state| state.has_failed());
    let all = All {
        cause,
        pods: ranks.len(),
        has_failed: ranks.iter().any(has_failed),
    };
    let mut weighed = Vec::new();
    for (dimension, values) in Dimension::ALL.into_iter().zip(having(ranks, pods)) {
        for (value, with) in (0..).zip(values).filter(|(_, with)| with.pods > 0) {
            weighed.push(Weighed::new((dimension, value), &with, all, background));
        }
    }
    if matches!(cause, Cause::Image | Cause::Pull) {
        for dimension in [Dimension::Image, Dimension::Registry] {
            let at_fault = |one: &Weighed| one.explains && one.dimension == dimension;
            // No two values of a dimension can explain the same pods.
            if let Some(position) = weighed.iter().position(at_fault) {
                return Some(weighed.swap_remove(position));
            }
        }
    }
    weighed.retain(|one| one.explains || may_stand_out && one.stands_out);
    let order = |one: &Weighed, other: &Weighed| one.order(other, &pods.looked_at);
    weighed.into_iter().min_by(order)
}

/// The pods that have each value, by dimension and number.
fn having(ranks: &[u32], pods: &AffectedPods) -> [Vec<With>; Dimension::ALL.len()] {
    let none = |dimension| vec![With::nobody(); pods.looked_at.count(dimension)];
    let mut having = Dimension::ALL.map(none);
    let values = |rank: &u32| pods.get(*rank).values;
    for (dimension, value) in ranks.iter().flat_map(|rank| values(rank).all()) {
        having[dimension as usize][usize::from(value)].pods += 1;
    }
    // The pods come in the order of these times, so that in the middle of them there is the median.
    for rank in ranks {
        let pod = pods.get(*rank);
        for (dimension, value) in pod.values.all() {
            having[dimension as usize][usize::from(value)].pass(pod);
        }
    }
    having
}
