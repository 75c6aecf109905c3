//! The clocks of nodes ([§4.7](crate::specification#s4-7)): which are off, by when the watch shows what their
//! kubelets state. Nothing that is counted of a pod depends on them.

mod differences;

use std::sync::Arc;

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::differences::{ClockDifferences, OffsetBound};
use crate::label_values;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// The most nodes whose clocks are known.
const MOST_NODES: usize = 50_000;

/// How many nodes are forgotten at once when there are too many: those whose last difference is oldest.
const FORGOTTEN_AT_ONCE: usize = MOST_NODES / 10;

label_values! {
    /// Which way the clock of a node is wrong.
    pub enum ClockFault {
        /// What its kubelet states lies in the future
        Ahead => "ahead",
        /// What its kubelet states lies too far in the past
        Behind => "behind",
    }
}

/// A node whose clock is off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "node_clock")]
pub struct NodeClock {
    /// Which node
    pub node: Arc<str>,
    /// Whether it is ahead or behind
    pub fault: ClockFault,
    /// By how many seconds at least
    pub seconds: u32,
    /// When podinit found out
    pub since: Timestamp,
}

/// What is known of the clock of a node.
#[derive(Clone, Copy, Debug, Default)]
struct WatchedClock {
    differences: ClockDifferences,
    /// When the last difference came, in seconds since the epoch
    heard: u32,
    /// Since when the clock is off, in seconds since the epoch
    off_since: u32,
}

/// The clocks of the nodes whose pods the watch has shown.
#[derive(Debug, Default)]
pub(super) struct NodeClocks {
    nodes: HashMap<Arc<str>, WatchedClock>,
}

impl NodeClocks {
    /// At `now` a pod on `node` was shown so many nanoseconds after the time that its kubelet states.
    pub(super) fn add(&mut self, node: &Arc<str>, nanos: i64, now: Timestamp) {
        let now = seconds(now);
        if !self.nodes.contains_key(node) {
            if self.nodes.len() >= MOST_NODES {
                self.forget_some();
            }
            self.nodes.insert(Arc::clone(node), WatchedClock::default());
        }
        let Some(watched) = self.nodes.get_mut(node) else {
            return;
        };
        let passed = watched.passed(now);
        let was = watched.differences.off(passed);
        watched.differences.add(nanos, passed);
        watched.heard = now.max(watched.heard);
        let is = watched.differences.off(0);
        if was.map(fault) != is.map(fault) {
            watched.off_since = now;
        }
    }

    /// Forgets the differences of the last `nanos` before `now`: deliveries were late.
    pub(super) fn forget_last(&mut self, nanos: i64, now: Timestamp) {
        let last = u32::try_from(nanos / NANOS_PER_SECOND).unwrap_or(u32::MAX);
        let now = seconds(now);
        for watched in self.nodes.values_mut() {
            watched.differences.forget_last(last, watched.passed(now));
        }
    }

    /// Forgets all clocks: the clock that they were compared with was wrong.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The nodes whose clocks are off at `now`, by name.
    pub(super) fn off(&self, now: Timestamp) -> Vec<NodeClock> {
        let now = seconds(now);
        let off = self.nodes.iter();
        let mut off: Vec<NodeClock> =
            off.filter_map(|(node, watched)| watched.shown(node, now)).collect();
        if self.are_late(now) {
            off.retain(|clock| clock.fault == ClockFault::Ahead);
        }
        off.sort_unstable_by(|one, other| one.node.cmp(&other.node));
        off
    }

    /// The clock of `node`, if it is off at `now`.
    pub(super) fn off_of(&self, node: &str, now: Timestamp) -> Option<NodeClock> {
        let (node, watched) = self.nodes.get_key_value(node)?;
        let now = seconds(now);
        let is_shown = |fault| fault == ClockFault::Ahead || !self.are_late(now);
        watched.shown(node, now).filter(|clock| is_shown(clock.fault))
    }

    /// Whether more than half of the nodes are behind, so that deliveries are late, and no clock is said to be.
    fn are_late(&self, now: u32) -> bool {
        let (mut judged, mut behind) = (0, 0);
        for watched in self.nodes.values() {
            let passed = watched.passed(now);
            judged += usize::from(watched.differences.are_enough(passed));
            let off = watched.differences.off(passed);
            behind += usize::from(matches!(off, Some(OffsetBound::Behind(_))));
        }
        2 * behind > judged
    }

    fn forget_some(&mut self) {
        let mut heard: Vec<u32> = self.nodes.values().map(|watched| watched.heard).collect();
        let (_, last, _) = heard.select_nth_unstable(FORGOTTEN_AT_ONCE.min(self.nodes.len()) - 1);
        let last = *last;
        self.nodes.retain(|_, watched| watched.heard > last);
    }
}

impl WatchedClock {
    /// How many seconds have passed since the last difference at `now`.
    const fn passed(&self, now: u32) -> u32 {
        now.saturating_sub(self.heard)
    }

    /// The clock, if it is off at `now`.
    fn shown(&self, node: &Arc<str>, now: u32) -> Option<NodeClock> {
        let off = self.differences.off(self.passed(now))?;
        let (OffsetBound::Ahead(seconds) | OffsetBound::Behind(seconds)) = off;
        // What is off because others have become too old is since the last difference.
        let was_off = self.differences.off(0).map(fault) == Some(fault(off));
        let since = if was_off { self.off_since } else { self.heard };
        Some(NodeClock {
            node: Arc::clone(node),
            fault: fault(off),
            seconds,
            since: Timestamp::from_seconds(i64::from(since)),
        })
    }
}

const fn fault(off: OffsetBound) -> ClockFault {
    match off {
        OffsetBound::Ahead(_) => ClockFault::Ahead,
        OffsetBound::Behind(_) => ClockFault::Behind,
    }
}

/// Whole seconds since the epoch, up to the year 2106.
fn seconds(at: Timestamp) -> u32 {
    let seconds = at.as_nanos().div_euclid(NANOS_PER_SECOND).max(0);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600 + second)
    }

    /// Four pods on a node, each shown so many seconds after what its kubelet stated.
    fn pods(clocks: &mut NodeClocks, node: &str, late: i64) {
        for second in 0..4 {
            clocks.add(&node.into(), late * NANOS_PER_SECOND, at(second));
        }
    }

    fn off(clocks: &NodeClocks) -> Vec<(String, ClockFault, u32)> {
        let off = clocks.off(at(10)).into_iter();
        off.map(|one| (one.node.to_string(), one.fault, one.seconds)).collect()
    }

    #[test]
    fn a_node_takes_seventy_two_bytes() {
        assert_eq!(size_of::<WatchedClock>(), 72);
    }

    #[test]
    fn clocks_that_are_off_are_told_since_that_was_found() {
        let mut clocks = NodeClocks::default();
        pods(&mut clocks, "node-1", -7200);
        pods(&mut clocks, "node-2", 1);
        pods(&mut clocks, "node-3", 40);
        let expected = [
            ("node-1".to_owned(), ClockFault::Ahead, 7200),
            ("node-3".to_owned(), ClockFault::Behind, 40),
        ];
        assert_eq!(off(&clocks), expected);
        assert_eq!(clocks.off(at(3))[0].since, at(3));
        clocks.add(&"node-1".into(), -7200 * NANOS_PER_SECOND, at(9));
        assert_eq!(clocks.off_of("node-1", at(9)).map(|one| one.since), Some(at(3)));
        assert_eq!(clocks.off_of("node-2", at(9)), None);
        // One pod in time, and node 3 is not behind.
        clocks.add(&"node-3".into(), 0, at(10));
        assert_eq!(off(&clocks), expected[..1]);
    }

    #[test]
    fn where_more_than_half_are_behind_deliveries_are_late() {
        let mut clocks = NodeClocks::default();
        pods(&mut clocks, "node-1", 40);
        assert_eq!(off(&clocks), [], "the only node");
        pods(&mut clocks, "node-2", -40);
        assert_eq!(off(&clocks).len(), 2, "half of them");
        pods(&mut clocks, "node-3", 50);
        let ahead = [("node-2".to_owned(), ClockFault::Ahead, 40)];
        assert_eq!(off(&clocks), ahead, "what is early in spite of that is ahead");
        pods(&mut clocks, "node-4", 0);
        // Three differences are too few to count.
        clocks.add(&"node-5".into(), 50 * NANOS_PER_SECOND, at(0));
        assert_eq!(off(&clocks).len(), 3);
    }

    #[test]
    fn the_nodes_that_were_heard_of_longest_ago_are_forgotten() {
        let mut clocks = NodeClocks::default();
        let name = |number: usize| Arc::<str>::from(format!("node-{number}"));
        for number in 0..MOST_NODES {
            let second = i64::try_from(number).unwrap_or_default();
            for _ in 0..4 {
                clocks.add(&name(number), 50 * NANOS_PER_SECOND, at(second));
            }
        }
        clocks.add(&name(0), 50 * NANOS_PER_SECOND, at(100_000));
        clocks.add(&name(MOST_NODES), 0, at(100_001));
        assert_eq!(clocks.nodes.len(), MOST_NODES - FORGOTTEN_AT_ONCE + 1);
        assert!(clocks.nodes.contains_key("node-0") && !clocks.nodes.contains_key("node-1"));
        clocks.clear();
        assert!(clocks.nodes.is_empty());
    }
}
