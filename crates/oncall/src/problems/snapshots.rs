//! The newest finding, for all who want to know: they never wait, neither for accounting nor for each other.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::{ProblemSnapshot, Problems};
use crate::explain::addressed;
use crate::freshness::Freshness;
use crate::rollouts::{RolloutFilter, Rollouts};
use podinit_problems::FINDING_LASTS;

/// A finding, and when it began: it is of that moment.
type NewestFinding = Option<(Instant, Arc<ProblemSnapshot>)>;

/// Who finds problems, and who wants to know.
pub fn channel() -> (FindingPublisher, FindingSnapshots) {
    let (sender, receiver) = watch::channel(None);
    (FindingPublisher(sender), FindingSnapshots(receiver))
}

/// Gives findings to those who want to know.
#[derive(Debug)]
pub struct FindingPublisher(watch::Sender<NewestFinding>);

impl FindingPublisher {
    /// The newest finding, which began then.
    pub(super) fn publish(&self, seen: ProblemSnapshot, began: Instant) {
        self.0.send_replace(Some((began, Arc::new(seen))));
    }
}

/// The newest finding.
#[derive(Clone, Debug)]
pub struct FindingSnapshots(watch::Receiver<NewestFinding>);

impl FindingSnapshots {
    /// The newest finding; `None` before the first.
    pub fn newest(&self) -> Option<Arc<ProblemSnapshot>> {
        self.0.borrow().as_ref().map(|(_, seen)| Arc::clone(seen))
    }

    /// Waits for the next finding. False once there will be none.
    pub(crate) async fn next(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }

    /// How old it is.
    pub(super) fn age(&self) -> Option<Duration> {
        self.0.borrow().as_ref().map(|(at, _)| at.elapsed())
    }

    /// Why the newest finding says nothing of the present, if it does not.
    pub fn unknown(&self) -> Option<String> {
        match self.age() {
            None => Some("podinit knows no pod yet".to_owned()),
            Some(age) if age > FINDING_LASTS => {
                Some(format!("podinit is busy, it looked {} s ago", age.as_secs()))
            }
            Some(_) => None,
        }
    }

    /// The rollouts that fit, at most `limit`, as an exporter tells them that can be trusted so far.
    pub(crate) fn rollouts(
        &self,
        filter: &RolloutFilter,
        limit: usize,
        freshness: Freshness,
    ) -> Rollouts {
        let mut told = match (&freshness.shard, self.newest()) {
            (Some(shard), _) => Rollouts::of_shard(shard),
            (None, Some(seen)) => Rollouts::told(&seen.rollouts, filter, limit),
            (None, None) => Rollouts::default(),
        };
        for standing in told.rollouts.iter_mut().filter_map(|one| one.in_progress.as_mut()) {
            standing.next_command =
                addressed(&standing.next_command, freshness.kubeconfig.as_deref());
        }
        Rollouts {
            age_seconds: self.age().map(|age| age.as_secs_f64()),
            fresh: freshness.is_fresh() && self.unknown().is_none(),
            freshness: Some(freshness),
            ..told
        }
    }

    /// The problems, as an exporter tells them that can be trusted so far.
    pub(super) fn told(&self, freshness: Freshness) -> Problems {
        let problems = self.newest().map(|seen| seen.problems.clone());
        let mut told = problems.unwrap_or_default();
        for problem in told.problems.iter_mut().chain(&mut told.ended) {
            problem.next_command =
                addressed(&problem.next_command, freshness.kubeconfig.as_deref());
        }
        Problems {
            age_seconds: self.age().map(|age| age.as_secs_f64()),
            fresh: freshness.is_fresh() && self.unknown().is_none(),
            late_deliveries: (told.late_deliveries.take()).map(|late| late.seen_by(&freshness)),
            freshness: Some(freshness),
            ..told
        }
    }
}
