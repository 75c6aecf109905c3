//! What the tracker receives: the events of one or more list-watches, with their times.

use super::version::Version;
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// One list-watch. There is one for the whole cluster, or one for each chosen namespace; a list
/// of one says nothing about the pods of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SourceId(pub u16);

/// What a list-watch delivered.
#[derive(Clone, Debug, PartialEq)]
pub enum PodEvent {
    /// ADDED or MODIFIED: the pod as it stands
    Applied(PodSnapshot),
    /// DELETED: the pod as it last stood
    Deleted(PodSnapshot),
    /// A list that completed, all its pages joined. The first one of a source is its first list
    /// (§5 rule 2), every further one closes a gap (rule 4).
    Listed {
        /// The pods that stood in it
        pods: Vec<PodSnapshot>,
        /// When the list was begun
        began: Timestamp,
    },
    /// A streamed list was closed whose pods have already been delivered one by one: only what
    /// does not stand in it is news
    StreamedListClosed {
        /// The pods that stand
        listed: Vec<PodUid>,
    },
    /// BOOKMARK: everything up to the delivery's version has been delivered
    Bookmark,
    /// The watch is no longer in sync; it is again with the next completed list or resumed watch
    SyncLost,
    /// The watch went on from the version where it had stopped
    Resumed,
    /// The API server was restored from a backup and is behind the versions told so far: they are
    /// of another history, and the list that follows is the truth, however old its versions
    RolledBack,
}

/// One event with the times that belong to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// Where it came from
    pub source: SourceId,
    /// What happened
    pub event: PodEvent,
    /// The time at which it is accounted for; never goes back
    pub now: Timestamp,
    /// The instant at which a watch event arrived (§4 `o`); `None` for lists, and for recorded
    /// events that do not say
    pub observed: Option<Timestamp>,
    /// Where the source stands in its history with this delivery, so that a watch from there
    /// brings what comes after it; `None` where it says nothing of that
    pub version: Option<Version>,
}
