//! How the startup of a pod went, as far as a side shows it ([§15.7](crate::specification#s15-7)).

use podinit_core::lifecycle::{Milestone, Outcome, Progress, Record, WaitReason};
use podinit_core::timestamp::Timestamp;

/// How a startup went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StartupCourse {
    /// When the pod was created, or else when podinit first saw it
    pub(super) created: Timestamp,
    /// When its startup was over, where it is; of one that was over at first sight, as its status says, or else at once
    pub(super) over: Option<Timestamp>,
    end: StartupEnd,
    /// What it waits for, or waited for last
    waiting: Option<WaitReason>,
}

/// How a startup ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartupEnd {
    /// The pod became ready, or its work was done before
    Started,
    Failed,
    Rejected,
    /// It was deleted, it vanished, or Kubernetes itself ended it
    Gone(Timestamp),
    InFlight,
    /// It cannot become ready, but nothing fails, or another shard follows it
    Unknown,
}

/// What a pod counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodFate {
    Started,
    /// It did not start, and why
    NotStarted(NotStartedReason),
    /// It was in flight for too short a time to tell
    TooNew,
    /// It counts for nothing
    LeftOut,
}

/// Why a pod did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NotStartedReason {
    /// It waits, or waited until it was gone
    Waits(Option<WaitReason>),
    /// It failed, and what it waited for before
    Failed(Option<WaitReason>),
    Rejected,
}

impl StartupCourse {
    pub(super) fn from_record(record: &Record) -> Self {
        let last = record.last_cause().map(|cause| cause.waiting);
        let created = record.reached(Milestone::Created).unwrap_or(record.discovered);
        let (over, end, waiting) = match &record.progress {
            Progress::InFlight { is_never_ready: true, .. } => (None, StartupEnd::Unknown, None),
            Progress::InFlight { waiting, .. } => (None, StartupEnd::InFlight, Some(*waiting)),
            Progress::Ended { outcome, at, ending } => {
                let is_first_sight = record.is_over_at_first_sight();
                let stated = ending.as_ref().and_then(|ending| ending.at);
                // When podinit first saw it, it may have been over for days.
                let stated = stated.filter(|_| is_first_sight).map(|stated| stated.min(*at));
                let over = stated.unwrap_or(if is_first_sight { created } else { *at });
                (Some(over), StartupEnd::from_outcome(*outcome, stated.unwrap_or(*at)), last)
            }
        };
        Self { created, over, end, waiting }
    }

    /// What it counts as where a startup should take no longer than so many nanoseconds and the side ends at `until`.
    pub(super) fn fate(self, limit: Option<u64>, until: Timestamp) -> PodFate {
        let waited = |until: Timestamp| match limit {
            Some(limit) if until.nanos_since(self.created) > limit as i64 => {
                PodFate::NotStarted(NotStartedReason::Waits(self.waiting))
            }
            _ => PodFate::TooNew,
        };
        match self.end {
            StartupEnd::Started => PodFate::Started,
            StartupEnd::Failed => PodFate::NotStarted(NotStartedReason::Failed(self.waiting)),
            StartupEnd::Rejected => PodFate::NotStarted(NotStartedReason::Rejected),
            StartupEnd::Gone(at) => waited(at),
            StartupEnd::InFlight => waited(until),
            StartupEnd::Unknown => PodFate::LeftOut,
        }
    }
}

impl StartupEnd {
    const fn from_outcome(outcome: Outcome, at: Timestamp) -> Self {
        match outcome {
            Outcome::Ready | Outcome::Completed => Self::Started,
            Outcome::Failed => Self::Failed,
            Outcome::Rejected => Self::Rejected,
            Outcome::Deleted | Outcome::Vanished | Outcome::Disrupted => Self::Gone(at),
            Outcome::Moved | Outcome::Preexisting | Outcome::Static => Self::Unknown,
        }
    }
}

impl NotStartedReason {
    /// What pods with it do: `wait for cni (network)`.
    pub(super) fn in_words(self, pods: u64) -> String {
        let one = pods == 1;
        let place = |waiting: WaitReason| {
            format!("{} ({})", waiting.cause().as_str(), waiting.stage().as_str())
        };
        match self {
            Self::Waits(waiting) => {
                let verb = if one { "waits" } else { "wait" };
                waiting.map_or_else(|| verb.to_owned(), |at| format!("{verb} for {}", place(at)))
            }
            Self::Failed(waiting) => waiting
                .map_or_else(|| "failed".to_owned(), |at| format!("failed after {}", place(at))),
            Self::Rejected if one => "was rejected by its node".to_owned(),
            Self::Rejected => "were rejected by their nodes".to_owned(),
        }
    }

    /// The names of its cause and stage, where it has them.
    pub(super) fn waiting(self) -> Option<WaitReason> {
        match self {
            Self::Waits(waiting) | Self::Failed(waiting) => waiting,
            Self::Rejected => None,
        }
    }

    /// What became of the pods.
    pub(super) const fn state(self) -> &'static str {
        match self {
            Self::Waits(_) => "waiting",
            Self::Failed(_) => "failed",
            Self::Rejected => "rejected",
        }
    }
}
