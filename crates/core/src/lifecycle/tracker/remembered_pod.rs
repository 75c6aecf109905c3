//! What the tracker remembers of one pod; of a finished one all of its [`LastSeen`], its first Ready and its
//! [`LabelHold`], in 40 bytes with room for a discriminant.

use crate::lifecycle::crashes::is_recent;
use crate::lifecycle::custom_milestone::CustomMilestone;
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::eviction::{EvictableEntry, EvictedState};
use crate::lifecycle::followed::FollowedPod;
use crate::lifecycle::label_hold::LabelHold;
use crate::lifecycle::last_seen::LastSeen;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::reentry::LastTrue;
use crate::lifecycle::rollouts::RolloutPod;
use crate::lifecycle::saved::{SavedDeleted, SavedFinished, SavedPod};
use crate::lifecycle::slo_verdict::SloId;
use crate::pod::PodUid;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Everything that is remembered of one pod.
#[derive(Clone, Debug)]
pub(super) enum RememberedPod {
    InFlight(Box<PodInFlight>),
    Finished(FinishedPod),
    /// A tombstone, so that a late duplicate does not bring the pod back
    Deleted {
        /// The second of its creation, since the epoch
        created: u32,
        /// When it was deleted
        at: Timestamp,
    },
}

impl RememberedPod {
    /// The list-watch that the pod belongs to. A tombstone belongs to none.
    pub(super) fn source(&self) -> Option<SourceId> {
        match self {
            Self::InFlight(pod) => Some(pod.last_seen.source),
            Self::Finished(finished) => Some(finished.last_seen().source),
            Self::Deleted { .. } => None,
        }
    }

    /// Whether a deadline of this SLO, or the time for which it is followed, may still pass for it.
    pub(super) fn awaits(&self, slo: SloId) -> bool {
        match self {
            Self::InFlight(pod) => pod.undecided().any(|waiting| waiting == slo),
            Self::Finished(pod) => pod.followed().is_some_and(|pod| pod.awaits(slo)),
            Self::Deleted { .. } => false,
        }
    }

    /// The newest version of the pod; 0 for none, and of a tombstone.
    pub(super) fn newest_version(&self) -> u64 {
        match self {
            Self::InFlight(pod) => pod.last_seen.newest_version,
            Self::Finished(finished) => finished.last_seen().newest_version,
            Self::Deleted { .. } => 0,
        }
    }

    /// Forgets the newest version, because it belongs to another history.
    pub(super) fn forget_version(&mut self) {
        match self {
            Self::InFlight(pod) => pod.last_seen.forget_version(),
            Self::Finished(finished) => {
                let mut last_seen = finished.last_seen();
                last_seen.forget_version();
                finished.update(last_seen, finished.ready());
            }
            Self::Deleted { .. } => {}
        }
    }

    /// The saved form at `now`; `None` of a tombstone.
    pub(super) fn saved(
        &self,
        uid: PodUid,
        now: Timestamp,
        milestones: &[CustomMilestone],
    ) -> Option<SavedPod<&PodInFlight>> {
        match self {
            Self::InFlight(pod) => Some(SavedPod::InFlight(&**pod)),
            Self::Finished(finished) => {
                let ready = finished.ready().filter(|ready| is_recent(*ready, now));
                let last_seen = finished.last_seen();
                let followed = finished.followed().map(|followed| followed.saved(milestones));
                Some(SavedPod::Finished(SavedFinished { uid, last_seen, ready, followed }))
            }
            Self::Deleted { .. } => None,
        }
    }

    /// The saved form of a tombstone; `None` of any other pod.
    pub(super) const fn saved_deleted(&self, uid: PodUid) -> Option<SavedDeleted> {
        match *self {
            Self::Deleted { created, at } => Some(SavedDeleted { uid, at, created }),
            Self::InFlight(_) | Self::Finished(_) => None,
        }
    }

    /// How it stands in the rollouts of its workload.
    pub(super) fn rollout(&self) -> RolloutPod {
        match self {
            Self::InFlight(pod) => pod.last_seen.rollout,
            Self::Finished(finished) => finished.last_seen().rollout,
            Self::Deleted { .. } => RolloutPod::GONE,
        }
    }

    /// It stands in another way.
    pub(super) fn set_rollout(&mut self, rollout: RolloutPod) {
        match self {
            Self::InFlight(pod) => pod.last_seen.rollout = rollout,
            Self::Finished(finished) => {
                let mut last_seen = finished.last_seen();
                last_seen.rollout = rollout;
                finished.update(last_seen, finished.ready());
            }
            Self::Deleted { .. } => {}
        }
    }

    /// The label values under which it is counted; `None` of a tombstone.
    pub(super) fn hold(&self) -> Option<LabelHold> {
        match self {
            Self::InFlight(pod) => Some(pod.last_seen.hold),
            Self::Finished(finished) => Some(finished.hold()),
            Self::Deleted { .. } => None,
        }
    }

    /// The second of the pod's creation, since the epoch.
    pub(super) fn created(&self) -> u32 {
        match self {
            Self::InFlight(pod) => pod.last_seen.created,
            Self::Finished(finished) => finished.last_seen().created,
            Self::Deleted { created, .. } => *created,
        }
    }

    /// The pod as a candidate for eviction. A pod in flight is none.
    pub(super) fn evictable(&self) -> Option<EvictableEntry> {
        let state = match self {
            Self::InFlight(_) => return None,
            Self::Finished(_) => EvictedState::Finished,
            Self::Deleted { .. } => EvictedState::Deleted,
        };
        let created = self.created();
        Some(EvictableEntry { created, state })
    }
}

/// What is remembered of a finished pod.
///
/// The network condition has two names ([§1.1](crate::specification#s1-1)), and nearly every pod has shown
/// at most one of them, so one time and the name are enough. A pod that has shown both was there when
/// its kubelet was upgraded from Kubernetes 1.27, and is kept whole. So is one that took hours to become Ready, for as
/// long as it may relapse ([§5.10](crate::specification#s5-10)), and one whose version takes more than seven bytes or
/// whose hold takes more than two.
#[derive(Clone, Debug)]
pub(super) enum FinishedPod {
    /// A pod whose network condition has had one name at most
    Compact(CompactLastSeen),
    /// A pod that does not fit into the compact form
    Whole(Box<(LastSeen, Option<Timestamp>)>),
    /// A pod that is followed until a milestone of your own comes
    Followed(Box<(LastSeen, Option<Timestamp>, FollowedPod)>),
}

/// [`LastSeen`] with one time for both names of the network condition, the first Ready and the hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompactLastSeen {
    times: [u32; 4],
    created: u32,
    source: SourceId,
    hold: u16,
    /// The lower bytes, the greatest first
    newest_version: [u8; 7],
    form: CompactForm,
    rollout: RolloutPod,
}

/// Which condition the first of the times is of, and whether the times are [`RecentTimes`].
#[derive(Clone, Copy, Debug)]
enum CompactForm {
    ReadyToStartContainers,
    HasNetwork,
    /// Conditions of static pods are not recorded
    Static,
    RecentReadyToStartContainers,
    RecentHasNetwork,
    RecentStatic,
}

impl CompactForm {
    const fn recent(self) -> Self {
        match self {
            Self::ReadyToStartContainers => Self::RecentReadyToStartContainers,
            Self::HasNetwork => Self::RecentHasNetwork,
            Self::Static => Self::RecentStatic,
            recent => recent,
        }
    }

    const fn is_recent(self) -> bool {
        matches!(
            self,
            Self::RecentReadyToStartContainers | Self::RecentHasNetwork | Self::RecentStatic
        )
    }
}

/// The times of a pod whose first Ready is known to the nanosecond: the seconds of the conditions are then stated as
/// differences from it.
#[derive(Clone, Copy, Debug)]
struct RecentTimes {
    ready: Timestamp,
    differences: [i16; 4],
}

/// The difference that stands for a condition that was never True.
const NEVER: i16 = i16::MIN;

impl RecentTimes {
    /// `None` where a time is too far from the first Ready, or not of this era.
    fn from_seconds(ready: Timestamp, seconds: [u32; 4]) -> Option<Self> {
        let base = ready.as_nanos().div_euclid(NANOS_PER_SECOND);
        u32::try_from(base).ok()?;
        let mut differences = [NEVER; 4];
        for (difference, second) in differences.iter_mut().zip(seconds) {
            if second != 0 {
                let far = i16::try_from(i64::from(second) - base).ok();
                *difference = far.filter(|far| *far != NEVER)?;
            }
        }
        Some(Self { ready, differences })
    }

    /// In the place of four seconds: the second of Ready, its fraction, and two differences each.
    fn packed(self) -> [u32; 4] {
        let nanos = self.ready.as_nanos();
        let second = nanos.div_euclid(NANOS_PER_SECOND);
        let fraction = nanos.rem_euclid(NANOS_PER_SECOND);
        let pair = |one: i16, other: i16| {
            u32::from(one.cast_unsigned()) << 16 | u32::from(other.cast_unsigned())
        };
        let [a, b, c, d] = self.differences;
        // Both fit: `RecentTimes::from_seconds` looks at the second, and a fraction is below 2³⁰.
        [second as u32, fraction as u32, pair(a, b), pair(c, d)]
    }

    fn unpacked([second, fraction, one, other]: [u32; 4]) -> Self {
        let parts = [one >> 16, one, other >> 16, other];
        Self {
            ready: Timestamp::from_seconds(second.into()).plus_nanos(fraction.into()),
            differences: parts.map(|part| (part as u16).cast_signed()),
        }
    }

    fn seconds(self) -> [u32; 4] {
        let base = self.ready.as_nanos().div_euclid(NANOS_PER_SECOND);
        self.differences.map(|difference| match difference {
            NEVER => 0,
            difference => u32::try_from(base + i64::from(difference)).unwrap_or_default(),
        })
    }
}

impl FinishedPod {
    /// A finished pod; `ready` is its first Ready, as long as it may relapse.
    pub(super) fn new(last_seen: LastSeen, ready: Option<Timestamp>) -> Self {
        CompactLastSeen::from_last_seen(&last_seen, ready)
            .map_or_else(|| Self::Whole(Box::new((last_seen, ready))), Self::Compact)
    }

    /// A finished pod that is followed, if `followed` has something to follow.
    pub(super) fn following(
        last_seen: LastSeen,
        ready: Option<Timestamp>,
        followed: Option<FollowedPod>,
    ) -> Self {
        match followed {
            None => Self::new(last_seen, ready),
            Some(followed) => Self::Followed(Box::new((last_seen, ready, followed))),
        }
    }

    /// Replaces what is remembered, except for what is followed.
    pub(super) fn update(&mut self, last_seen: LastSeen, ready: Option<Timestamp>) {
        match self {
            Self::Followed(all) => (all.0, all.1) = (last_seen, ready),
            Self::Compact(_) | Self::Whole(_) => *self = Self::new(last_seen, ready),
        }
    }

    /// The followed milestones; `None` of a pod that is not followed.
    pub(super) fn followed(&self) -> Option<&FollowedPod> {
        match self {
            Self::Followed(all) => Some(&all.2),
            Self::Compact(_) | Self::Whole(_) => None,
        }
    }

    /// The followed milestones, to change them.
    pub(super) fn followed_mut(&mut self) -> Option<&mut FollowedPod> {
        match self {
            Self::Followed(all) => Some(&mut all.2),
            Self::Compact(_) | Self::Whole(_) => None,
        }
    }

    /// The label values under which it is counted.
    pub(super) fn hold(&self) -> LabelHold {
        match self {
            Self::Compact(usual) => LabelHold::new(usual.hold.into()),
            Self::Whole(whole) => whole.0.hold,
            Self::Followed(all) => all.0.hold,
        }
    }

    /// What a later snapshot is compared with.
    pub(super) fn last_seen(&self) -> LastSeen {
        match self {
            Self::Compact(usual) => usual.last_seen(),
            Self::Whole(whole) => whole.0,
            Self::Followed(all) => all.0,
        }
    }

    /// Its first Ready, as long as it may relapse.
    pub(super) fn ready(&self) -> Option<Timestamp> {
        match self {
            Self::Compact(usual) => usual.ready(),
            Self::Whole(whole) => whole.1,
            Self::Followed(all) => all.1,
        }
    }
}

impl CompactLastSeen {
    fn from_last_seen(last_seen: &LastSeen, first_ready: Option<Timestamp>) -> Option<Self> {
        let [ready_to_start, has_network, initialized, containers_ready, ready] =
            last_seen.last_true.seconds();
        let (form, network) = match (last_seen.is_static, ready_to_start, has_network) {
            (true, ..) => (CompactForm::Static, 0),
            (false, second, 0) => (CompactForm::ReadyToStartContainers, second),
            (false, 0, second) => (CompactForm::HasNetwork, second),
            (false, ..) => return None,
        };
        let seconds = [network, initialized, containers_ready, ready];
        let (times, form) = match first_ready {
            None => (seconds, form),
            Some(first) => (RecentTimes::from_seconds(first, seconds)?.packed(), form.recent()),
        };
        let [0, newest_version @ ..] = last_seen.newest_version.to_be_bytes() else {
            return None;
        };
        Some(Self {
            newest_version,
            hold: u16::try_from(last_seen.hold.get()).ok()?,
            times,
            created: last_seen.created,
            source: last_seen.source,
            form,
            rollout: last_seen.rollout,
        })
    }

    fn ready(self) -> Option<Timestamp> {
        let recent = || RecentTimes::unpacked(self.times);
        self.form.is_recent().then(|| recent().ready)
    }

    fn last_seen(self) -> LastSeen {
        let [network, initialized, containers_ready, ready] = match self.form.is_recent() {
            false => self.times,
            true => RecentTimes::unpacked(self.times).seconds(),
        };
        let (ready_to_start, has_network) = match self.form {
            CompactForm::HasNetwork | CompactForm::RecentHasNetwork => (0, network),
            _ => (network, 0),
        };
        let seconds = [ready_to_start, has_network, initialized, containers_ready, ready];
        let [a, b, c, d, e, f, g] = self.newest_version;
        LastSeen {
            newest_version: u64::from_be_bytes([0, a, b, c, d, e, f, g]),
            last_true: LastTrue::from_seconds(seconds),
            source: self.source,
            is_static: matches!(self.form, CompactForm::Static | CompactForm::RecentStatic),
            created: self.created,
            hold: LabelHold::new(self.hold.into()),
            rollout: self.rollout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_seen(seconds: [u32; 5], is_static: bool) -> LastSeen {
        LastSeen {
            newest_version: u64::MAX >> 8,
            last_true: LastTrue::from_seconds(seconds),
            source: SourceId(u16::MAX),
            is_static,
            created: 7,
            hold: LabelHold::new(9),
            rollout: RolloutPod::GONE,
        }
    }

    #[test]
    fn nothing_is_lost() {
        let all = [
            last_seen([0; 5], false),
            last_seen([0; 5], true),
            last_seen([1, 0, 3, 4, 5], false),
            last_seen([0, 2, 3, 4, 5], false),
            last_seen([1, 2, 3, 4, 5], false),
        ];
        for last_seen in all {
            let pod = FinishedPod::new(last_seen, None);
            assert_eq!((pod.last_seen(), pod.hold().get()), (last_seen, 9));
        }
        let is_compact = |last_seen, hold| {
            let last_seen = LastSeen { hold: LabelHold::new(hold), ..last_seen };
            let pod = FinishedPod::new(last_seen, None);
            assert_eq!((pod.last_seen(), pod.hold().get()), (last_seen, hold));
            matches!(pod, FinishedPod::Compact(_))
        };
        assert!(is_compact(all[3], u16::MAX.into()));
        assert!(!is_compact(all[3], u32::from(u16::MAX) + 1));
        assert!(!is_compact(all[4], 9));
        let newest_version = 1 << 56;
        let late = LastSeen { newest_version, ..all[3] };
        assert!(!is_compact(late, 9));
    }

    #[test]
    fn nothing_is_lost_of_a_pod_that_was_ready_just_now() {
        let day = 86_400;
        let last_seen =
            |seconds, is_static| LastSeen { source: SourceId(3), ..last_seen(seconds, is_static) };
        for (seconds, is_static, is_compact) in [
            ([day, 0, day + 1, day + 4, day + 5], false, true),
            ([0, day, 0, 0, day + 5 + 32_767], false, true),
            ([0, 0, day + 5 - 32_767, 0, 0], true, true),
            ([0, 0, day + 5 - 32_768, 0, 0], false, false),
            ([1, 0, 0, 0, 0], false, false),
            ([day, day, 0, 0, 0], false, false),
        ] {
            let ready = Timestamp::from_seconds(i64::from(day) + 5).plus_nanos(999_999_999);
            let last_seen = last_seen(seconds, is_static);
            let pod = FinishedPod::new(last_seen, Some(ready));
            assert_eq!(pod.hold().get(), 9);
            assert_eq!((pod.last_seen(), pod.ready()), (last_seen, Some(ready)));
            let compact = matches!(pod, FinishedPod::Compact(_));
            assert_eq!(compact, is_compact, "{seconds:?}");
        }
        let ancient = Timestamp::from_nanos(-1);
        let pod = FinishedPod::new(last_seen([0; 5], false), Some(ancient));
        assert_eq!(pod.ready(), Some(ancient));
    }

    #[test]
    fn a_finished_pod_takes_no_more_than_its_times() {
        assert_eq!(size_of::<FinishedPod>(), 40);
    }
}
