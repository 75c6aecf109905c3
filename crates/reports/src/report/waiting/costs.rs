//! What costs most, in bounded memory.

use std::collections::BTreeMap;

/// So many names are told apart. What comes later counts in none, but in all sums.
const MOST_KNOWN: usize = 10_000;
/// So many of them are shown.
pub(super) const MOST_NAMED: usize = 10;

/// How long so many pods waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) pods: u64,
    pub(super) nanos: u128,
}

/// The costs by name.
pub(super) struct Costs<K>(BTreeMap<K, Cost>);

impl<K> Default for Costs<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> Costs<K> {
    /// A pod waited so long.
    pub(super) fn add(&mut self, name: K, nanos: u64) {
        if self.0.len() >= MOST_KNOWN && !self.0.contains_key(&name) {
            return;
        }
        let cost = self.0.entry(name).or_default();
        cost.pods += 1;
        cost.nanos += u128::from(nanos);
    }

    /// Those that cost most, the dearest first, and how many others are known. Of equals, the first by name.
    pub(super) fn into_dearest(self) -> (Vec<(K, Cost)>, usize) {
        let mut costs: Vec<(K, Cost)> = self.0.into_iter().collect();
        costs.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.nanos));
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
        let mut costs = Costs::default();
        for (name, nanos) in [(3, 5), (1, 7), (2, 5), (3, 1), (2, 1)] {
            costs.add(name, nanos);
        }
        let cost = |pods, nanos| Cost { pods, nanos };
        let dearest = vec![(1, cost(1, 7)), (2, cost(2, 6)), (3, cost(2, 6))];
        assert_eq!(costs.into_dearest(), (dearest, 0));
        let mut costs = Costs::default();
        (0..MOST_KNOWN + 5).for_each(|name| costs.add(name, 1));
        costs.add(0, 1);
        let (dearest, more) = costs.into_dearest();
        assert_eq!((dearest.len(), more), (MOST_NAMED, MOST_KNOWN - MOST_NAMED));
        assert_eq!(dearest[0], (0, cost(2, 2)));
    }
}
