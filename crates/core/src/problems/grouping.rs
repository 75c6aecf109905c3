//! How the affected pods of a cause are grouped ([§13.5](crate::specification#s13-5)).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::affected::Affected;
use super::background::Background;
use super::values::{Dimension, Shared};
use super::weight::{All, Weighed};
use crate::lifecycle::Cause;

/// So many values are taken because they stand out.
const MOST_STANDING_OUT: usize = 5;

/// Pods with what they share.
pub(super) type Group = (Shared, Vec<Affected>);

/// The groups of the pods that one cause affects, in each the pods in the order in which they came.
pub(super) fn groups(mut pods: Vec<Affected>, background: &Background) -> Vec<Group> {
    let mut found = Vec::new();
    let mut standing_out = 0;
    while let Some(first) = pods.first() {
        let may_stand_out = standing_out < MOST_STANDING_OUT;
        let Some(taken) = choose(first.cause, &pods, background, may_stand_out) else {
            break;
        };
        let shared = (taken.dimension, taken.value);
        if taken.explains {
            found.push((Some(shared), std::mem::take(&mut pods)));
            break;
        }
        standing_out += 1;
        let has = |pod: &Affected| pod.values.get(shared.0) == Some(&shared.1);
        let (with, without) = pods.into_iter().partition(has);
        found.push((Some(shared), with));
        pods = without;
    }
    if !pods.is_empty() {
        found.push((None, pods));
    }
    found
}

/// The value to take, if there is one.
fn choose(
    cause: Cause,
    pods: &[Affected],
    background: &Background,
    may_stand_out: bool,
) -> Option<Weighed> {
    let mut by_value: BTreeMap<(Dimension, &Arc<str>), Vec<&Affected>> = BTreeMap::new();
    for pod in pods {
        for value in pod.values.all() {
            by_value.entry(value).or_default().push(pod);
        }
    }
    let all = All {
        cause,
        pods: pods.len(),
        has_failed: pods.iter().any(|pod| pod.pod.has_failed()),
    };
    let weighed = by_value.into_iter().map(|((dimension, value), with)| {
        let value = (dimension, Arc::clone(value));
        Weighed::new(value, &with, all, background)
    });
    let mut weighed: Vec<Weighed> = weighed.collect();
    if matches!(cause, Cause::Image | Cause::Pull) {
        for dimension in [Dimension::Image, Dimension::Registry] {
            let at_fault = |one: &Weighed| one.explains && one.dimension == dimension;
            if let Some(position) = weighed.iter().position(at_fault) {
                return Some(weighed.swap_remove(position));
            }
        }
    }
    weighed.retain(|one| one.explains || may_stand_out && one.stands_out);
    weighed.into_iter().min_by(Weighed::order)
}
