//! The queues in which the images of a node's pods wait to be pulled.

use std::collections::BTreeMap;

use super::node::SimulatedNode;
use super::sim_clock::{MILLI, SECOND};
use podinit_core::timestamp::Timestamp;

/// An image for which a pod would have to wait longer is taken to come with the pull of another pod
/// meanwhile: otherwise a queue would grow without bound at a high rate of pods.
const LONGEST_WAIT: i64 = 5 * SECOND;
/// How long a pull takes when another pod's pull has fetched the layers already.
const LAYERS_PRESENT: i64 = 300 * MILLI;

/// What becomes of a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PullTurn {
    /// Nanoseconds until it begins
    pub(super) wait: i64,
    /// Nanoseconds that it takes then
    pub(super) takes: i64,
}

/// The pulls of all nodes.
#[derive(Debug, Default)]
pub(super) struct ImagePullers {
    /// By node: when each of the pulls that it makes at a time is done
    busy_until: BTreeMap<&'static str, Vec<Timestamp>>,
}

impl ImagePullers {
    /// A pull that takes `takes` nanoseconds is asked for at `now`.
    pub(super) fn enter(&mut self, node: &SimulatedNode, now: Timestamp, takes: i64) -> PullTurn {
        let slots = self.busy_until.entry(node.name).or_default();
        slots.retain(|until| *until > now);
        if slots.len() < usize::from(node.pulls_at_once) {
            slots.push(now.plus_nanos(takes));
            return PullTurn { wait: 0, takes };
        }
        let Some(first) = slots.iter_mut().min() else {
            return PullTurn { wait: 0, takes };
        };
        let wait = first.nanos_since(now);
        if wait > LONGEST_WAIT {
            return PullTurn { wait: 0, takes: LAYERS_PRESENT.min(takes) };
        }
        *first = first.plus_nanos(takes);
        PullTurn { wait, takes }
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::{CURRENT, NEXT_SYNC};
    use super::*;

    #[test]
    fn serialized_pulls_wait_for_each_other_and_not_without_end() {
        let mut pullers = ImagePullers::default();
        let now = Timestamp::from_seconds(100);
        let mut turn = |node| pullers.enter(node, now, 4 * SECOND);
        let waits = [(); 3].map(|()| turn(&NEXT_SYNC));
        let queued = |wait| PullTurn { wait: wait * SECOND, takes: 4 * SECOND };
        let late = PullTurn { wait: 0, takes: LAYERS_PRESENT };
        assert_eq!(waits, [queued(0), queued(4), late]);
        let waits = [(); 6].map(|()| turn(&CURRENT).wait);
        assert_eq!(waits, [0, 0, 0, 0, 0, 4 * SECOND]);
    }
}
