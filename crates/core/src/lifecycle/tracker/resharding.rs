//! What becomes of the pods of a shard when the number of shards changes
//! ([§12](crate::specification#s12)).

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::Observer;
use crate::lifecycle::outcome::Outcome;
use crate::pod::PodUid;
use crate::shard::Shard;
use crate::timestamp::Timestamp;

impl Tracker {
    /// Goes on as the shard `after`, having been `before`: pods in flight that are no longer its own end
    /// as [`Outcome::Moved`], and all others of them are forgotten. Every source has to list next; the
    /// pods that come from other shards are adopted then ([§5.2](crate::specification#s5-2)), and those
    /// that were its own before are compared as after any gap ([§5.4](crate::specification#s5-4)).
    ///
    /// Returns how many have moved.
    pub fn reshard(&mut self, before: Shard, after: Shard, sink: &mut impl Observer) -> u64 {
        let now = self.now.unwrap_or(Timestamp::EPOCH);
        let reporter = &mut TimedObserver::new(now, sink);
        let mut moved = 0;
        let pods = self.pods.iter();
        let of_others: Vec<(PodUid, bool)> = pods
            .filter(|(uid, _)| !after.contains(*uid))
            .map(|(uid, pod)| (uid, matches!(pod, RememberedPod::InFlight(_))))
            .collect();
        for (uid, in_flight) in of_others {
            moved += u64::from(in_flight);
            self.finish(uid, Outcome::Moved, None, reporter);
            (self.in_place).end(uid, &mut |observation| reporter.tracker(observation));
            self.crashes.remove(uid);
            self.forget(uid, reporter);
        }
        self.tombstones.retain(|(_, uid)| after.contains(*uid));
        self.sources.reshard(before);
        if let Some(nodes) = &mut self.shared.nodes {
            nodes.reshard(after, &mut |observation| reporter.node(observation));
        }
        reporter.tracker(self.advanced(self.now.unwrap_or(Timestamp::EPOCH)));
        moved
    }
}

#[cfg(test)]
#[path = "resharding_tests.rs"]
mod tests;
