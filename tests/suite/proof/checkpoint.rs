//! What is durable: the bytes of a real checkpoint, and beside it what had been accounted for when it
//! was written.

use podinit::checkpoint::content::{self, Content, SavedScope};
use podinit::checkpoint::frame;
use podinit_core::lifecycle::{
    Delivery, PodEvent, SourceId, Successor, Tracker, TrackerConfig, Version,
};

use crate::proof::delivery_log::DeliveryLog;
use crate::proof::injected_bug::Bug;
use crate::proof::kube_events::Applied;
use crate::proof::nodes::CountedNodes;
use crate::proof::shard::ShardNumber;
use crate::proof::tally::{Counted, Tally};

/// How many things each list-watch has delivered that the server has delivered: they come in the
/// server's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounted(Vec<usize>);

impl Accounted {
    pub fn count(&mut self, delivery: &Delivery) {
        let delivered = matches!(
            delivery.event,
            PodEvent::Applied(_) | PodEvent::Deleted(_) | PodEvent::Listed { .. }
        );
        let source = usize::from(delivery.source.0);
        if self.0.len() <= source {
            self.0.resize(source + 1, 0);
        }
        self.0[source] += usize::from(delivered);
    }

    /// How much a list-watch has delivered.
    pub fn of(&self, source: usize) -> usize {
        self.0.get(source).copied().unwrap_or_default()
    }

    /// What was delivered and not accounted for has gone down with the process.
    pub fn forget_the_rest(&self, logs: &mut [DeliveryLog]) {
        for (source, log) in logs.iter_mut().enumerate() {
            log.forget_after(self.of(source));
        }
    }
}

/// A checkpoint on the disk.
#[derive(Clone, Debug, Default)]
pub struct Durable {
    document: Vec<u8>,
    counted: Vec<Counted>,
    applied: Vec<Applied>,
    nodes: CountedNodes,
    /// The shard whose checkpoint it is
    pub shard: Option<ShardNumber>,
    pub accounted: Accounted,
}

impl Durable {
    /// What a commit writes now.
    pub fn of(
        tracker: &Tracker,
        tally: &Tally,
        accounted: &Accounted,
        shard: Option<ShardNumber>,
    ) -> Self {
        let content = Content {
            scope: SavedScope {
                shard: shard.map(ShardNumber::flag).unwrap_or_default(),
                ..SavedScope::default()
            },
            tracker: tracker.saved(),
            metrics: tally.recorder.saved(),
            ..Content::default()
        };
        Self {
            document: content::encode(&content, tracker.saved_pods()).finish(),
            counted: tally.pods.clone(),
            applied: tally.applied.clone(),
            nodes: tally.nodes.clone(),
            shard,
            accounted: accounted.clone(),
        }
    }

    /// Goes on from it, as `serve` does: the tracker, and by scope the version from which the watch
    /// goes on.
    pub fn restore(
        &self,
        config: TrackerConfig,
        tally: &mut Tally,
        scopes: usize,
        shard: Option<ShardNumber>,
    ) -> (Tracker, Vec<Option<Version>>) {
        let sections = frame::read(&self.document).expect("it was written whole");
        let (content, pods) = content::decode(&sections).expect("it says something");
        let in_flight = pods.iter().filter_map(|pod| pod.in_flight());
        let bug = tally.injected.bug;
        if bug != Bug::CountsFromZero {
            tally.pods.clone_from(&self.counted);
            tally.applied.clone_from(&self.applied);
            tally.nodes.clone_from(&self.nodes);
            tally.recorder.restore(&content.metrics, in_flight);
        }
        let mut resume = vec![None; scopes];
        for (SourceId(scope), saved) in &content.tracker.sources {
            if saved.first_list.is_some() {
                let mut version = saved.progress.version.clone();
                if let (Bug::ResumesLate, Some(Version::Number(number))) = (bug, &mut version) {
                    *number += 20;
                }
                resume[usize::from(*scope)] = version;
            }
        }
        if bug == Bug::KnowsNoPod {
            return (Tracker::new(config), resume);
        }
        let mut tracker = Tracker::restored(config, content.tracker, pods, Successor::Same, tally);
        let (before, after) = (content.scope.shard, shard.map(ShardNumber::flag));
        let after = after.unwrap_or_default();
        if before != after {
            resume.fill(None);
            if bug != Bug::KeepsMoved {
                tracker.reshard(before, after, tally);
            }
        }
        (tracker, resume)
    }
}
