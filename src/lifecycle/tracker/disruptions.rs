//! What breaks the even course of things: time that passed unattended, a clock that was put right,
//! and an API server that was restored from a backup.

use super::{Arrival, Record, SeenIn, Tracker};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::reentry::Against;
use crate::lifecycle::seen::Seen;
use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

impl Tracker {
    /// Time has passed unattended until `now`, as when the process was stopped: for as long as what
    /// happened meanwhile may still be on its way, no deadline passes.
    pub fn catch_up(&mut self, now: Timestamp) {
        let now = self.not_before(now);
        self.sources.catch_up(now);
    }

    /// The clock that accounted time is told by was put right, and says `now`: accounted time goes
    /// on from there, even if that lies behind it. It is no time that has passed, so for a while no
    /// deadline does.
    pub fn set_time(&mut self, now: Timestamp) {
        self.now = Some(now);
        for (deleted_at, _) in &mut self.deleted {
            *deleted_at = now.min(*deleted_at);
        }
        self.sources.set_time(now);
    }

    /// Whether accounted time lies after `now`.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.now.is_some_and(|latest| latest > now)
    }

    /// The versions known of the pods of `source` are of another history. What was latched and
    /// counted stays so; a pod that the backup does not hold will be absent from the list.
    pub(super) fn roll_back(&mut self, source: SourceId) {
        self.sources.roll_back(source);
        for record in self.pods.values_mut() {
            match record {
                Record::InFlight(pod) if pod.seen.source == source => pod.seen.forget_version(),
                Record::Finished(kept) if kept.seen().source == source => {
                    let mut seen = kept.seen();
                    seen.forget_version();
                    *kept = seen.into();
                }
                _ => {}
            }
        }
    }

    /// Sees a pod that was deleted: a late duplicate, unless a backup brought it back. Then it
    /// stands until it is deleted again.
    pub(super) fn see_deleted(&mut self, snapshot: &PodSnapshot, arrival: &Arrival) {
        if let SeenIn::Restored { .. } = arrival.seen_in {
            self.remember(snapshot, arrival);
        }
    }

    /// Remembers a pod whose startup was accounted for before a backup brought it back. It was
    /// counted then, so nothing of it is now.
    pub(super) fn remember(&mut self, snapshot: &PodSnapshot, arrival: &Arrival) {
        let mut seen = Seen::nothing(snapshot, arrival.source, arrival.now);
        seen.accept(snapshot, Against::Latest, &mut |_| {});
        (self.pods).insert(snapshot.uid, Record::Finished(seen.into()));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::lifecycle::delivery::{Delivery, PodEvent};
    use crate::lifecycle::observation::{Observation, Outcome, Position, Sink};
    use crate::lifecycle::tracker::TrackerConfig;
    use crate::pod::{PodInfo, PodUid};

    #[derive(Default)]
    struct Told(Vec<Observation>);

    impl Sink for Told {
        fn observe(&mut self, _pod: &PodInfo, observation: Observation) {
            self.0.push(observation);
        }
    }

    impl Told {
        fn finished(&self) -> Vec<Outcome> {
            let end = |observation: &Observation| match observation {
                Observation::Moved {
                    to: Position::Finished(outcome),
                    ..
                } => Some(*outcome),
                _ => None,
            };
            self.0.iter().filter_map(end).collect()
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + second)
    }

    fn pod(uid: &str, created: i64, version: u64) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text(uid), "ns", uid);
        pod.created = Some(at(created));
        pod.resource_version = Some(version);
        pod
    }

    fn deliver(tracker: &mut Tracker, told: &mut Told, second: i64, event: PodEvent) {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: at(second),
            observed: None,
            version: None,
        };
        tracker.apply(delivery, told);
    }

    fn list(second: i64, pods: Vec<PodSnapshot>) -> PodEvent {
        PodEvent::Listed {
            pods,
            began: at(second),
        }
    }

    #[test]
    fn deleted_pods_are_remembered_for_ten_minutes_after_the_clock_was_set_back() {
        let (mut tracker, mut told) = (Tracker::new(TrackerConfig::default()), Told::default());
        deliver(&mut tracker, &mut told, 3600, list(3600, vec![]));
        deliver(
            &mut tracker,
            &mut told,
            3601,
            PodEvent::Applied(pod("a", 3601, 1)),
        );
        deliver(
            &mut tracker,
            &mut told,
            3602,
            PodEvent::Deleted(pod("a", 3601, 2)),
        );
        tracker.set_time(at(10));
        let uid = PodUid::from_text("a");
        assert!(tracker.has_deleted(uid, at(600)));
        assert!(!tracker.has_deleted(uid, at(611)));
    }

    #[test]
    fn what_a_backup_brings_back_is_not_counted_again() {
        let (mut tracker, mut told) = (Tracker::new(TrackerConfig::default()), Told::default());
        deliver(&mut tracker, &mut told, 0, list(0, vec![]));
        for (second, uid) in [(1, "flies"), (2, "gone"), (3, "lost")] {
            let created = PodEvent::Applied(pod(uid, second, 100));
            deliver(&mut tracker, &mut told, second, created);
        }
        deliver(
            &mut tracker,
            &mut told,
            4,
            PodEvent::Deleted(pod("gone", 2, 200)),
        );
        deliver(&mut tracker, &mut told, 20, PodEvent::RolledBack);
        let standing = vec![pod("flies", 1, 50), pod("gone", 2, 50), pod("new", 15, 51)];
        deliver(&mut tracker, &mut told, 20, list(19, standing));
        assert_eq!(told.finished(), [Outcome::Deleted, Outcome::Vanished]);
        let discovered = |told: &Told| {
            let news = told.0.iter().filter(|observation| {
                let from = Position::Undiscovered;
                matches!(observation, Observation::Moved { from: known, .. } if *known == from)
            });
            news.count()
        };
        assert_eq!(discovered(&told), 4);
        // Long after the deletion would have been forgotten.
        tracker.advance(at(2000), &mut told);
        deliver(
            &mut tracker,
            &mut told,
            2001,
            PodEvent::Deleted(pod("gone", 2, 60)),
        );
        deliver(
            &mut tracker,
            &mut told,
            2002,
            PodEvent::Deleted(pod("flies", 1, 61)),
        );
        assert_eq!(discovered(&told), 4);
        let end = [Outcome::Deleted, Outcome::Vanished, Outcome::Deleted];
        assert_eq!(told.finished(), end);
    }
}
