//! How the affected pods of a cause are grouped ([§13.5](crate::specification#s13-5)): what is old and stands still
//! first, so that it does not take in what is new.

use std::sync::Arc;

use super::affected::is_old;
use super::affected_pods::AffectedPods;
use super::background::ProblemBackground;
use super::faults;
use super::texts::FaultTexts;
use super::values::{ByDimension, ProblemIdentity, SharedValue};
use super::weight::{PodsWithValue, WeighedPods, WeighedValue};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::Cause;
use podinit_core::timestamp::Timestamp;

/// So many values are taken because they stand out.
const MOST_STANDING_OUT: usize = 5;

/// The ranks of pods with what makes them one problem.
pub(super) type RankedGroup = (ProblemIdentity, Vec<u32>);
/// The ranks of pods with the value that they share.
type ValueGroup = (SharedValue, Vec<u32>);

/// The groups of the pods with these ranks, which one cause affects, in each the pods in the order in which they came:
/// those that have waited longest first.
pub(super) fn groups(
    ranks: Vec<u32>,
    pods: &AffectedPods,
    texts: &mut FaultTexts,
    background: &ProblemBackground<'_>,
    now: Timestamp,
) -> Vec<RankedGroup> {
    let by_value = by_value(ranks, pods, texts, background, now).into_iter();
    let groups = by_value.flat_map(|(shared, ranks)| match shared {
        Some((dimension, value)) => vec![(ProblemIdentity::of_value(dimension, value), ranks)],
        None => faults::divided(ranks, pods, texts),
    });
    groups.collect()
}

fn by_value(
    ranks: Vec<u32>,
    pods: &AffectedPods,
    texts: &FaultTexts,
    background: &ProblemBackground<'_>,
    now: Timestamp,
) -> Vec<ValueGroup> {
    let choice = |is_still| ValueChoice { pods, texts, background, is_still };
    let old = ranks.partition_point(|rank| is_old(pods.get(*rank).since, now));
    let of_old = choice(true).groups(ranks[..old].to_vec());
    let (mut new, mut rest) = (ranks[old..].to_vec(), Vec::new());
    let mut found = Vec::new();
    for (shared, mut with) in of_old {
        let (joined, others): (Vec<u32>, Vec<u32>) = match &shared {
            Some((dimension, value)) => {
                let value = pods.looked_at.number(*dimension, value);
                let has = |rank: &u32| value == pods.get(*rank).values.get(*dimension);
                new.into_iter().partition(has)
            }
            None => (Vec::new(), new),
        };
        new = others;
        let is_still = shared.is_some() && stands_still(with.len(), joined.len());
        with.extend(joined);
        match is_still {
            true => found.push((shared, with)),
            false => rest.extend(with),
        }
    }
    rest.extend(new);
    rest.sort_unstable();
    found.extend(choice(false).groups(rest));
    found
}

/// Whether a set of so many old and so many new pods stands still.
pub(super) const fn stands_still(old: usize, new: usize) -> bool {
    old >= 9 * new && old > 0
}

/// What a value is chosen by.
#[derive(Clone, Copy, Debug)]
struct ValueChoice<'a> {
    pods: &'a AffectedPods,
    texts: &'a FaultTexts,
    background: &'a ProblemBackground<'a>,
    /// All of the pods are old
    is_still: bool,
}

impl ValueChoice<'_> {
    fn groups(self, mut ranks: Vec<u32>) -> Vec<ValueGroup> {
        let mut found = Vec::new();
        let mut standing_out = 0;
        while !ranks.is_empty() {
            let may_stand_out = standing_out < MOST_STANDING_OUT;
            let Some(taken) = self.choose(&ranks, may_stand_out) else {
                break;
            };
            let looked_at = &self.pods.looked_at;
            let value = Arc::clone(looked_at.value(taken.dimension, taken.value));
            let shared = Some((taken.dimension, value));
            standing_out += usize::from(!taken.explains);
            // What explains all is no reason for those that are known to have something else.
            let is_of_it = |rank: &u32| {
                let values = self.pods.get(*rank).values;
                values.get(taken.dimension) == Some(taken.value)
                    || taken.explains && values.lacks(taken.dimension)
            };
            // At least one pod has the value, so that this ends.
            let (with, without) = ranks.into_iter().partition(is_of_it);
            found.push((shared, with));
            ranks = without;
        }
        if !ranks.is_empty() {
            found.push((None, ranks));
        }
        found
    }

    /// The value to take, if there is one.
    fn choose(self, ranks: &[u32], may_stand_out: bool) -> Option<WeighedValue> {
        let pods = self.pods;
        let cause = pods.get(*ranks.first()?).cause;
        let has_failed = |rank: &u32| pods.state(*rank).is_some_and(|state| state.has_failed());
        let all =
            WeighedPods { cause, pods: ranks.len(), has_failed: ranks.iter().any(has_failed) };
        let mut weighed = Vec::new();
        for (dimension, values) in Dimension::ALL.into_iter().zip(having(ranks, pods)) {
            for (value, with) in (0..).zip(values).filter(|(_, with)| with.pods > 0) {
                let value = (dimension, value);
                let mut one = WeighedValue::new(value, &with, all, self.background);
                one.stands_out |= one.is_quarter_of_registry && self.has_own_kind(value, ranks);
                weighed.push(one);
            }
        }
        for dimension in named_first(cause) {
            // What is old has been refuted by whoever has started well since.
            let at_fault = |one: &WeighedValue| {
                one.explains && one.dimension == *dimension && (one.is_unrefuted || !self.is_still)
            };
            // No two values of a dimension can explain the same pods.
            if let Some(position) = weighed.iter().position(at_fault) {
                return Some(weighed.swap_remove(position));
            }
        }
        weighed.retain(|one| one.explains || may_stand_out && one.stands_out);
        let order = |one: &WeighedValue, other: &WeighedValue| one.order(other, &pods.looked_at);
        weighed.into_iter().min_by(order)
    }
}

impl ValueChoice<'_> {
    /// Whether the texts of the pods with a value are of one kind, and those of no other pod are of it.
    fn has_own_kind(self, (dimension, value): (Dimension, u16), ranks: &[u32]) -> bool {
        let has = |rank: &u32| self.pods.get(*rank).values.get(dimension) == Some(value);
        let (with, without): (Vec<u32>, Vec<u32>) = ranks.iter().partition(|rank| has(rank));
        let mut kinds = with.iter().filter_map(|rank| self.texts.kind(*rank));
        let Some(kind) = kinds.next() else {
            return false;
        };
        kinds.all(|other| other == kind)
            && without.iter().all(|rank| self.texts.kind(*rank) != Some(kind))
    }
}

/// The dimensions that are looked at before all others, because the cause is about their values.
const fn named_first(cause: Cause) -> &'static [Dimension] {
    match cause {
        Cause::Image | Cause::Pull => &[Dimension::Image, Dimension::Registry],
        Cause::Gate | Cause::ReadinessGate => &[Dimension::Gate],
        _ => &[],
    }
}

/// The pods that have each value, by dimension and number.
fn having(ranks: &[u32], pods: &AffectedPods) -> ByDimension<Vec<PodsWithValue>> {
    let mut having: ByDimension<Vec<PodsWithValue>> = pods.looked_at.table();
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
