//! What costs most, in bounded memory.

use std::collections::BTreeMap;

/// So many names are told apart. What comes later counts in none, but in all sums.
const MOST_KNOWN: usize = 10_000;
/// So many of them are shown.
pub(super) const MOST_NAMED: usize = 10;

/// Nanoseconds of startups that became ready, and of the others.
pub(super) type SplitNanoseconds = [u128; 2];

/// How long so many pods waited: those that became ready, and the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitingCost {
    pub(super) pods: [u64; 2],
    pub(super) nanos: SplitNanoseconds,
}

/// The costs by name.
pub(super) struct CostsByName<K>(BTreeMap<K, WaitingCost>);

impl<K> Default for CostsByName<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> CostsByName<K> {
    /// A pod waited so long.
    pub(super) fn add(&mut self, name: K, nanos: u64, is_ready: bool) {
        if self.0.len() >= MOST_KNOWN && !self.0.contains_key(&name) {
            return;
        }
        let cost = self.0.entry(name).or_default();
        let column = usize::from(!is_ready);
        cost.pods[column] += 1;
        cost.nanos[column] += u128::from(nanos);
    }

    /// Those that cost most in both columns, the dearest first, and how many others are known. Of equals, the first by name.
    pub(super) fn into_dearest(self) -> (Vec<(K, WaitingCost)>, usize) {
        let mut costs: Vec<(K, WaitingCost)> = self.0.into_iter().collect();
        costs.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.nanos.iter().sum::<u128>()));
        let more = costs.len().saturating_sub(MOST_NAMED);
        costs.truncate(MOST_NAMED);
        (costs, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_come_first_and_names_are_bounded() {
        let mut costs = CostsByName::default();
        for (name, nanos) in [(3, 5), (1, 7), (2, 5), (3, 1), (2, 1)] {
            costs.add(name, nanos, nanos > 1);
        }
        let cost = |pods, nanos| WaitingCost { pods, nanos };
        let few = cost([1, 1], [5, 1]);
        let dearest = vec![(1, cost([1, 0], [7, 0])), (2, few), (3, few)];
        assert_eq!(costs.into_dearest(), (dearest, 0));
        let mut costs = CostsByName::default();
        (0..MOST_KNOWN + 5).for_each(|name| costs.add(name, 1, true));
        costs.add(0, 1, true);
        let (dearest, more) = costs.into_dearest();
        assert_eq!((dearest.len(), more), (MOST_NAMED, MOST_KNOWN - MOST_NAMED));
        assert_eq!(dearest[0], (0, cost([2, 0], [2, 0])));
    }
}
