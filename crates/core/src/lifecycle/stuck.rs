//! Which pods in flight are stuck: in their stage for longer than any start should take. The
//! specification does not define them; alerts count them.
//!
//! The pods of a stage are ordered by when they entered it, so the stuck ones are those before an instant that advances
//! with time. Only the pods that it passes are visited.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::interval::Stage;
use crate::saved::{read_by_name, write_by_name};
use crate::timestamp::Timestamp;

/// The longest time in each stage after which a pod is not stuck yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StuckAfter([Duration; Stage::ALL.len()]);

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

impl Default for StuckAfter {
    /// The limits where no SLO allows more.
    fn default() -> Self {
        Self::of_each(|stage| {
            Duration::from_secs(match stage {
                // Queues hold gated pods for hours by design; after a day, nobody is going to remove
                // the gate.
                Stage::Gated => 24 * HOUR,
                // Even in a burst, a scheduler takes seconds to bind a pod or to mark it
                // unschedulable.
                Stage::Scheduling => 5 * MINUTE,
                // Twice the 15 minutes after which cluster-autoscaler gives up on a node and tries another
                // kind.
                Stage::Unschedulable => 30 * MINUTE,
                // Kubelet and runtime retry within four minutes; volumes are mounted in this stage too.
                Stage::Network => 10 * MINUTE,
                // Init containers restore data and migrate schemas, large images and startup probes
                // take minutes; restarts back off to five minutes.
                Stage::Init | Stage::Containers => 30 * MINUTE,
                // Load balancers register a target within a few minutes.
                Stage::Readiness => 15 * MINUTE,
            })
        })
    }
}

impl StuckAfter {
    /// Takes the limit of each stage from `limit`.
    pub fn of_each(limit: impl Fn(Stage) -> Duration) -> Self {
        Self(Stage::ALL.map(limit))
    }

    /// After how long in `stage` a pod is stuck.
    pub const fn limit(&self, stage: Stage) -> Duration {
        self.0[stage as usize]
    }
}

/// Before which instant the stuck pods of each stage entered it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StuckBefore {
    after: StuckAfter,
    before: [Option<Timestamp>; Stage::ALL.len()],
    /// Other limits are in force since the instants were computed
    changed: [bool; Stage::ALL.len()],
    /// When the first of the instants advances next; `None` where one has to be computed. The others say when
    due: Option<Timestamp>,
}

/// The saved form of one stage.
#[derive(Serialize, Deserialize)]
struct StuckBeforeOfStage {
    after: Duration,
    #[serde(default)]
    before: Option<Timestamp>,
    #[serde(default)]
    changed: bool,
}

impl Serialize for StuckBefore {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let of_stage = |stage: Stage| StuckBeforeOfStage {
            after: self.after(stage),
            before: self.before[stage as usize],
            changed: self.changed[stage as usize],
        };
        write_by_name("StuckBefore", of_stage, to)
    }
}

impl<'de> Deserialize<'de> for StuckBefore {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut stuck = Self::default();
        read_by_name("StuckBefore", from, |stage: Stage, saved: StuckBeforeOfStage| {
            stuck.after.0[stage as usize] = saved.after;
            stuck.before[stage as usize] = saved.before;
            stuck.changed[stage as usize] = saved.changed;
        })?;
        stuck.due = stuck.next_due();
        Ok(stuck)
    }
}

impl StuckBefore {
    pub(super) fn new(after: StuckAfter) -> Self {
        Self { after, ..Self::default() }
    }

    /// Puts these limits in force.
    pub(super) fn set(&mut self, after: StuckAfter) {
        if after != self.after {
            self.after = after;
            self.changed = [true; Stage::ALL.len()];
            self.due = None;
        }
    }

    /// The limit of `stage` that is in force.
    pub(super) const fn after(&self, stage: Stage) -> Duration {
        self.after.limit(stage)
    }

    /// Whether a pod that entered `stage` then is stuck, as of the last [`StuckBefore::advance`].
    pub(super) fn is_stuck(&self, stage: Stage, entered: Timestamp) -> bool {
        self.before[stage as usize].is_some_and(|before| entered < before)
    }

    /// Whether [`StuckBefore::advance`] advances a stage at `now`.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.due.is_none_or(|due| due <= now)
    }

    fn next_due(&self) -> Option<Timestamp> {
        let due_of = |stage: Stage| {
            let next = self.before[stage as usize]?.plus(Duration::from_secs(1));
            (!self.changed[stage as usize]).then(|| next.plus(self.after(stage)))
        };
        // None is less than any instant.
        Stage::ALL.into_iter().map(due_of).min().flatten()
    }

    /// Advances to `now`, at most once a second. Returns the instants between which the pods of the
    /// stage entered it that may have become stuck, or are no longer.
    pub(super) fn advance(
        &mut self,
        stage: Stage,
        now: Timestamp,
    ) -> Option<(Timestamp, Timestamp)> {
        let index = stage as usize;
        let limit = i64::try_from(self.after.limit(stage).as_nanos()).unwrap_or(i64::MAX);
        let new = now.plus_nanos(-limit).truncate_to_second();
        let old = self.before[index];
        let changed = std::mem::take(&mut self.changed[index]);
        if !changed && old.is_some_and(|old| new <= old) {
            return None;
        }
        self.before[index] = Some(new);
        self.due = self.next_due();
        let least = Timestamp::from_nanos(i64::MIN);
        Some(match old {
            Some(old) if !changed => (old, new),
            _ => (least, old.map_or(new, |old| old.max(new))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + second)
    }

    #[test]
    fn a_pod_is_stuck_strictly_after_the_limit() {
        let mut stuck = StuckBefore::default();
        let is_stuck = |stuck: &StuckBefore| stuck.is_stuck(Stage::Network, at(0));
        assert!(!is_stuck(&stuck));
        stuck.advance(Stage::Network, at(600));
        assert!(!is_stuck(&stuck));
        assert_eq!(stuck.advance(Stage::Network, at(601)), Some((at(0), at(1))));
        assert!(is_stuck(&stuck));
        assert!(!stuck.is_stuck(Stage::Init, at(0)));
    }

    #[test]
    fn time_passes_by_the_second_and_never_goes_back() {
        let mut stuck = StuckBefore::default();
        stuck.advance(Stage::Init, at(10));
        let later = at(10).plus_nanos(900_000_000);
        assert_eq!(stuck.advance(Stage::Init, later), None);
        assert_eq!(stuck.advance(Stage::Init, at(9)), None);
    }

    #[test]
    fn it_is_due_when_a_stage_advances_and_not_before() {
        let mut stuck = StuckBefore::default();
        let advance = |stuck: &mut StuckBefore, at: Timestamp| {
            let due = stuck.is_due(at);
            let advanced = Stage::ALL.map(|stage| stuck.advance(stage, at).is_some());
            assert_eq!(due, advanced.contains(&true), "{at:?}");
            due
        };
        let half = at(1).plus_nanos(500_000_000);
        assert_eq!(
            [at(0), at(0), at(1), half, at(2)].map(|at| advance(&mut stuck, at)),
            [true, false, true, false, true]
        );
        stuck.set(StuckAfter::of_each(|_| Duration::from_millis(700)));
        assert!(advance(&mut stuck, at(2)));
        assert!(!advance(&mut stuck, half));
        assert!(!advance(&mut stuck, at(2).plus_nanos(600_000_000)));
        assert!(advance(&mut stuck, at(2).plus_nanos(700_000_000)));
    }

    #[test]
    fn other_limits_apply_to_all_pods() {
        let mut stuck = StuckBefore::default();
        stuck.advance(Stage::Network, at(1000));
        stuck.set(StuckAfter::of_each(|_| Duration::from_secs(3600)));
        let (_, upto) = stuck.advance(Stage::Network, at(1000)).unwrap_or((at(0), at(0)));
        assert_eq!(upto, at(400));
        assert!(!stuck.is_stuck(Stage::Network, at(0)));
    }
}
