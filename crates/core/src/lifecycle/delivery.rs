//! What the tracker receives: the events of one or more list-watches, with their times.

use serde::{Deserialize, Serialize};

use super::nodes::NodeEvent;
use super::version::Version;
use crate::kube_event::KubeEvent;
use crate::pod::packed::PackedPods;
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// One list-watch. There is one for the whole cluster, or one for each chosen namespace; a list
/// of one says nothing about the pods of another.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct SourceId(pub u16);

/// What a list-watch delivered.
#[derive(Clone, Debug, PartialEq)]
pub enum PodEvent {
    /// ADDED or MODIFIED: the pod's current state
    Applied(PodSnapshot),
    /// DELETED: the pod's last state
    Deleted(PodSnapshot),
    /// A list that completed, all its pages joined. The first one of a source is its first list
    /// ([§5.2](crate::specification#s5-2)), every further one closes a gap
    /// ([§5.4](crate::specification#s5-4)).
    Listed {
        pods: PackedPods,
        /// When the list was begun
        began: Timestamp,
    },
    /// A list that was made beside the watch, which has come at least as far: it finds what the watch has lost
    /// ([§5.4](crate::specification#s5-4)). It is no first list, and closes no gap
    Reconciled {
        pods: PackedPods,
        /// When the list was begun
        began: Timestamp,
        /// Its version. Pods of later versions may be absent from it
        version: u64,
    },
    /// A streamed list has ended whose pods were delivered one by one: pods that are not in it are
    /// gone ([§8.6](crate::specification#s8-6))
    StreamedListClosed {
        /// The pods in the list
        listed: Vec<PodUid>,
    },
    /// Something of pods of other shards, which are not accounted for
    /// ([§12](crate::specification#s12)); it moves time like any other event
    OtherShard,
    /// An Event about a pod ([§9.5](crate::specification#s9-5)). It is of no list-watch of pods and
    /// says nothing about how far one is
    Event(KubeEvent),
    /// This number of Events about pods of other shards
    OtherShardEvents(u64),
    /// Something of nodes ([§14.1](crate::specification#s14-1)). Like Events it is of no list-watch of pods
    Nodes(NodeEvent),
    /// BOOKMARK: everything up to the delivery's version has been delivered
    Bookmark,
    /// The watch is no longer in sync. The next completed list or resumed watch brings it back in sync
    SyncLost,
    /// The watch resumed from the version where it had stopped. What happened meanwhile may still be on its way
    Resumed,
    /// The watch resumed, and has delivered what happened meanwhile
    CaughtUp,
    /// The API server was restored from a backup and is behind the versions delivered so far. They
    /// belong to another history, and the list that follows is current, however old its versions are
    RolledBack,
}

impl PodEvent {
    /// Whether it may change many pods at once.
    pub const fn is_about_many(&self) -> bool {
        match self {
            Self::Listed { .. }
            | Self::Reconciled { .. }
            | Self::StreamedListClosed { .. }
            | Self::RolledBack => true,
            Self::Nodes(event) => !matches!(event, NodeEvent::Applied(_) | NodeEvent::Deleted(_)),
            _ => false,
        }
    }
}

/// One event with its source and its times.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub source: SourceId,
    pub event: PodEvent,
    /// The time at which it is accounted for; never goes back
    pub now: Timestamp,
    /// The instant at which a watch event arrived (`o` in [§4.3](crate::specification#s4-3)); `None` for lists, and for recorded
    /// events that do not say
    pub observed: Option<Timestamp>,
    /// The version that the source has reached with this delivery: a watch from there delivers what
    /// comes after it; `None` if the delivery does not state one
    pub version: Option<Version>,
}
