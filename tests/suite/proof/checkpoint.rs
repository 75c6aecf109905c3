//! What is durable: the bytes of a real checkpoint, and beside it what had been accounted for when it
//! was written.

use podinit_checkpoint::content::{self, CheckpointContent, SavedScope};
use podinit_checkpoint::frame;
use podinit_core::lifecycle::{
    Delivery, PodEvent, SourceId, SourceSuccessor, Tracker, TrackerConfig, Version,
};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;

use crate::proof::delivery_log::DeliveryLog;
use crate::proof::injected_bug::Bug;
use crate::proof::shard::ShardNumber;
use crate::proof::tally::{Counted, Tally, number_of};

/// An event or a list that the accounting was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The pods by their numbers, each with its version, in order
    pub pods: Vec<(usize, u64)>,
    /// When an event arrived
    pub observed: Option<Timestamp>,
    /// It is a list, and the accounting was told before that the server was restored from a backup
    pub restored: bool,
}

/// What each list-watch has delivered: it comes in the server's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounted {
    given: Vec<Vec<Given>>,
    /// The list-watches whose server was restored, and that have not listed since
    restored: Vec<SourceId>,
}

impl Accounted {
    pub fn take(&mut self, delivery: &Delivery) {
        let pods: Vec<_> = match &delivery.event {
            PodEvent::Applied(pod) | PodEvent::Deleted(pod) => vec![pod.clone()],
            PodEvent::Listed { pods, .. } => pods.copies().collect(),
            PodEvent::RolledBack => return self.restored.push(delivery.source),
            _ => return,
        };
        let version = |pod: &PodSnapshot| (number_of(&pod.info), pod.resource_version.unwrap_or(0));
        let mut pods: Vec<_> = pods.iter().map(version).collect();
        pods.sort_unstable();
        let source = usize::from(delivery.source.0);
        if self.given.len() <= source {
            self.given.resize(source + 1, Vec::new());
        }
        let is_list = matches!(delivery.event, PodEvent::Listed { .. });
        let restored = is_list && self.restored.contains(&delivery.source);
        self.restored.retain(|of| !restored || *of != delivery.source);
        self.given[source].push(Given { pods, observed: delivery.observed, restored });
    }

    /// What a list-watch has delivered.
    pub fn of(&self, source: usize) -> &[Given] {
        self.given.get(source).map_or(&[], Vec::as_slice)
    }

    /// What was delivered and not accounted for has gone down with the process.
    pub fn forget_the_rest(&self, logs: &mut [DeliveryLog]) {
        for (source, log) in logs.iter_mut().enumerate() {
            log.forget_after(self.of(source).len());
        }
    }
}

/// A checkpoint on the disk.
#[derive(Clone, Debug, Default)]
pub struct Durable {
    document: Vec<u8>,
    counted: Vec<Counted>,
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
        let content = CheckpointContent {
            scope: SavedScope {
                shard: shard.map(ShardNumber::flag).unwrap_or_default(),
                ..SavedScope::default()
            },
            tracker: tracker.saved(),
            metrics: tally.recorder.saved(),
            ..CheckpointContent::default()
        };
        Self {
            document: content::encode(&content, tracker.saved_pods()).finish(),
            counted: tally.pods.clone(),
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
        let content::DecodedCheckpoint { content, pods, .. } =
            content::decode(&sections, podinit::families()).expect("it says something");
        let in_flight = pods.iter().filter_map(|pod| pod.in_flight());
        let bug = tally.injected.bug;
        if bug != Bug::CountsFromZero {
            tally.pods.clone_from(&self.counted);
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
        let mut tracker =
            Tracker::restored(config, content.tracker, pods, SourceSuccessor::Same, tally);
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
