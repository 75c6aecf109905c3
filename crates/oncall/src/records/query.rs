//! What readers ask, and what they get.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::filter::RecordFilter;
use podinit_core::lifecycle::{
    EndedRollout, EndedStartup, InFlightPosition, Interval, Latency, NodeFaults, Record,
    RecordedRelapse, RolloutProgress, UnmatchedSlo,
};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;

/// A question about records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordQuery {
    /// The pods in flight, by stage, in each the one that entered it first
    InFlight {
        filter: RecordFilter,
        /// Only those that are stuck
        stuck: bool,
        after: Option<InFlightPosition>,
        /// The most records of the answer
        limit: usize,
    },
    /// Startups that have ended
    Ended {
        filter: RecordFilter,
        sort: RecordOrder,
        after: Option<EndedPosition>,
        /// The most records of the answer
        limit: usize,
    },
    /// The nodes whose clocks are off, those that do not become schedulable, the SLOs that have matched no pod, the
    /// rollouts in progress, and those that have ended; no records
    BesidePods,
    /// The pod of this name, if it is in flight, or else its newest record
    Pod { namespace: String, name: String },
}

/// The order of startups that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOrder {
    /// The newest, the one that ended last first
    Newest,
    /// The slowest of the last hour, the slowest first
    Slowest(EndToEndDuration),
}

/// An end-to-end duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndToEndDuration {
    CreatedToReady,
    ScheduledToReady,
}

impl EndToEndDuration {
    /// Both durations.
    pub const ALL: [Self; 2] = [Self::CreatedToReady, Self::ScheduledToReady];

    /// The interval of this duration.
    pub const fn interval(self) -> Interval {
        match self {
            Self::CreatedToReady => Interval::CreatedToReady,
            Self::ScheduledToReady => Interval::ScheduledToReady,
        }
    }
}

/// A place among the startups that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndedPosition {
    /// The duration that they are sorted by; zero for the newest
    pub duration: Latency,
    /// The number of the record
    pub number: u64,
}

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryPosition {
    InFlight(InFlightPosition),
    Ended(EndedPosition),
}

/// The answer to a query.
#[derive(Clone, Debug, Default)]
pub struct QueryAnswer {
    /// Up to which instant everything was accounted for; `None` before anything was delivered
    pub now: Option<Timestamp>,
    pub records: Vec<Record>,
    /// What is wrong with nodes, where it was asked for
    pub node_faults: NodeFaults,
    /// The SLOs that have matched no pod, or name a kind without pods, where they were asked for
    pub unmatched_slos: Vec<UnmatchedSlo>,
    /// By how many nanoseconds deliveries are late, if they are and it was asked for
    pub late_by: Option<i64>,
    /// Of the records in flight, the pods that hold the rollout of their workload
    pub(crate) of_rollouts: Vec<PodUid>,
    /// The rollouts in progress, where they were asked for
    pub(crate) rollouts: Vec<RolloutProgress>,
    /// Those that have ended, the newest first, where they were asked for
    pub(crate) ended_rollouts: Vec<Arc<EndedRollout>>,
    /// Where to go on; `None` where there is no more
    pub(crate) next: Option<QueryPosition>,
}

/// A query, and where what is found goes.
#[derive(Debug)]
pub(super) struct QueryRequest {
    pub(super) query: RecordQuery,
    pub(super) found: oneshot::Sender<QueryMatches>,
}

/// An answer, in which the records of startups that have ended are still to be made: whoever asks does that.
#[derive(Debug, Default)]
pub(super) struct QueryMatches {
    pub(super) answer: QueryAnswer,
    /// The startups, and how the pods crash again that do
    pub(super) ended: Vec<(Arc<EndedStartup>, Option<RecordedRelapse>)>,
}

impl QueryMatches {
    /// The answer, its records made.
    pub(super) fn into_answer(self) -> QueryAnswer {
        let Self { mut answer, ended } = self;
        let records = ended.into_iter().map(|(startup, relapse)| Record {
            relapse: relapse.map(Box::new),
            ..startup.record()
        });
        answer.records.extend(records);
        answer
    }
}
