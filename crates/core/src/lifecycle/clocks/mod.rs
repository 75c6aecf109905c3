//! The clocks of nodes ([§4.7](crate::specification#s4-7)): which are off, by when the watch shows what their
//! kubelets state. Nothing that is counted of a pod depends on them.

mod differences;

use std::sync::Arc;

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::differences::{Differences, Off};
use crate::label_values;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// So many nodes are known at most.
const MOST_NODES: usize = 50_000;

/// When there are as many, so many are forgotten at once: those that were heard of longest ago.
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
struct Watched {
    differences: Differences,
    /// When the last difference came, in seconds since the epoch
    heard: u32,
    /// Since when the clock is off, if it is
    off_since: u32,
}

/// The clocks of the nodes whose pods the watch has shown.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    nodes: HashMap<Arc<str>, Watched>,
    /// How many nodes have enough differences, and how many of these are behind
    judged: usize,
    behind: usize,
}

impl Clocks {
    /// At `now` a pod on `node` was shown so many nanoseconds after the time that its kubelet states.
    pub(super) fn add(&mut self, node: &Arc<str>, nanos: i64, now: Timestamp) {
        let now = seconds(now);
        if !self.nodes.contains_key(node) {
            if self.nodes.len() >= MOST_NODES {
                self.forget_some();
            }
            self.nodes.insert(Arc::clone(node), Watched::default());
        }
        let Some(watched) = self.nodes.get_mut(node) else {
            return;
        };
        let before = watched.count();
        let was = watched.differences.off();
        watched.differences.add(nanos);
        watched.heard = now;
        let is = watched.differences.off();
        if was.map(fault) != is.map(fault) {
            watched.off_since = now;
        }
        let after = watched.count();
        self.judged = self.judged + after.judged - before.judged;
        self.behind = self.behind + after.behind - before.behind;
    }

    /// Forgets all of them: they were compared with a clock that was wrong itself.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The nodes whose clocks are off, by name.
    pub(super) fn off(&self) -> Vec<NodeClock> {
        let off = self.nodes.iter();
        let mut off: Vec<NodeClock> =
            off.filter_map(|(node, watched)| self.shown(node, watched)).collect();
        off.sort_unstable_by(|one, other| one.node.cmp(&other.node));
        off
    }

    /// The clock of `node`, if it is off.
    pub(super) fn off_of(&self, node: &str) -> Option<NodeClock> {
        let (node, watched) = self.nodes.get_key_value(node)?;
        self.shown(node, watched)
    }

    fn shown(&self, node: &Arc<str>, watched: &Watched) -> Option<NodeClock> {
        let off = watched.differences.off()?;
        let (Off::Ahead(seconds) | Off::Behind(seconds)) = off;
        let fault = fault(off);
        (fault == ClockFault::Ahead || !self.are_late()).then(|| NodeClock {
            node: Arc::clone(node),
            fault,
            seconds,
            since: Timestamp::from_seconds(i64::from(watched.off_since)),
        })
    }

    /// Whether deliveries are late, and no clock is said to be behind.
    const fn are_late(&self) -> bool {
        2 * self.behind > self.judged
    }

    fn forget_some(&mut self) {
        let mut heard: Vec<u32> = self.nodes.values().map(|watched| watched.heard).collect();
        let (_, last, _) = heard.select_nth_unstable(FORGOTTEN_AT_ONCE.min(self.nodes.len()) - 1);
        let last = *last;
        self.nodes.retain(|_, watched| watched.heard > last);
        let counts = self.nodes.values().map(Watched::count);
        let all = counts.fold(Count::default(), |all, one| Count {
            judged: all.judged + one.judged,
            behind: all.behind + one.behind,
        });
        (self.judged, self.behind) = (all.judged, all.behind);
    }
}

/// What a node counts for among all.
#[derive(Clone, Copy, Default)]
struct Count {
    judged: usize,
    behind: usize,
}

impl Watched {
    fn count(&self) -> Count {
        let is_behind = matches!(self.differences.off(), Some(Off::Behind(_)));
        Count { judged: usize::from(self.differences.are_enough()), behind: usize::from(is_behind) }
    }
}

const fn fault(off: Off) -> ClockFault {
    match off {
        Off::Ahead(_) => ClockFault::Ahead,
        Off::Behind(_) => ClockFault::Behind,
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
    fn pods(clocks: &mut Clocks, node: &str, late: i64) {
        for second in 0..4 {
            clocks.add(&node.into(), late * NANOS_PER_SECOND, at(second));
        }
    }

    fn off(clocks: &Clocks) -> Vec<(String, ClockFault, u32)> {
        let off = clocks.off().into_iter();
        off.map(|one| (one.node.to_string(), one.fault, one.seconds)).collect()
    }

    #[test]
    fn a_node_takes_forty_bytes() {
        assert_eq!(size_of::<Watched>(), 40);
    }

    #[test]
    fn clocks_that_are_off_are_told_since_that_was_found() {
        let mut clocks = Clocks::default();
        pods(&mut clocks, "node-1", -7200);
        pods(&mut clocks, "node-2", 1);
        pods(&mut clocks, "node-3", 40);
        let expected = [
            ("node-1".to_owned(), ClockFault::Ahead, 7200),
            ("node-3".to_owned(), ClockFault::Behind, 40),
        ];
        assert_eq!(off(&clocks), expected);
        assert_eq!(clocks.off()[0].since, at(3));
        clocks.add(&"node-1".into(), -7200 * NANOS_PER_SECOND, at(9));
        assert_eq!(clocks.off_of("node-1").map(|one| one.since), Some(at(3)));
        assert_eq!(clocks.off_of("node-2"), None);
        // One pod in time, and node 3 is not behind.
        clocks.add(&"node-3".into(), 0, at(10));
        assert_eq!(off(&clocks), expected[..1]);
    }

    #[test]
    fn where_more_than_half_are_behind_deliveries_are_late() {
        let mut clocks = Clocks::default();
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
        let mut clocks = Clocks::default();
        let name = |number: usize| Arc::from(format!("node-{number}"));
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
        let kept = MOST_NODES - FORGOTTEN_AT_ONCE;
        assert_eq!((clocks.judged, clocks.behind), (kept, kept));
        clocks.clear();
        assert_eq!((clocks.judged, clocks.behind), (0, 0));
    }
}
