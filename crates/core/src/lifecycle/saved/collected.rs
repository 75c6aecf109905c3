//! The saved form of what only records show ([§11](crate::specification#s11)): of a pod in flight, what
//! its record has collected so far; and the startups that have ended.
//!
//! Where a pod waited is saved as a number, because a pod has up to 16 causes. What the numbers stand for
//! is saved once, by name ([`WaitingNames`]), so that a later podinit may have more causes.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::label_value::LabelValue;
use crate::lifecycle::cause::{BadReason, Cause, MOST_FOLLOWED, WaitReason};
use crate::lifecycle::enum_set::EnumSet;
use crate::lifecycle::interval::{Interval, Stage};
use crate::lifecycle::messages::MOST_BYTES_OF_ONE;
use crate::lifecycle::network_evidence::{NetworkEvidence, NetworkTime};
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::record::{MOST_CAUSES, RecordedCause};
use crate::lifecycle::slo_verdict::{ExclusionReason, SloVerdict};
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

/// What the record of a pod in flight has collected that is counted nowhere.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedCollected {
    /// Its last causes, the oldest first; empty as long as it has had one only
    pub(in crate::lifecycle) causes: Vec<SavedCause>,
    /// The intervals that had ended when the pod was adopted
    pub(in crate::lifecycle) preexisting: EnumSet<Interval>,
    /// What gave the time of NetworkReady; `None` for its condition
    pub(in crate::lifecycle) network_evidence: Option<NetworkEvidence>,
    /// How far that time can be from the truth, where that is known
    pub(in crate::lifecycle) network_time: Option<NetworkTime>,
    /// For each SLO that matches it its event, once it has had it; empty where that is not known
    pub(in crate::lifecycle) verdicts: Vec<Option<SavedVerdict>>,
    /// What Kubernetes says of its present cause
    pub(in crate::lifecycle) message: Option<Box<str>>,
}

/// What the newest version of a pod in flight shows that earlier checkpoints do not have.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SavedShown {
    /// A bit each: it has no network condition, and shows that the network is there, which was all in earlier checkpoints;
    /// its init containers run again; and, the last bit, it can never be Ready any more
    pub(in crate::lifecycle) signs: u8,
    /// The message is not about its cause, but about its last warning
    pub(in crate::lifecycle) is_announced: bool,
    /// By container, a bit: whether its status says `started: true`
    pub(in crate::lifecycle) has_started: u64,
    /// How long its init containers have run
    pub(in crate::lifecycle) init_runs: Duration,
}

/// A startup that has ended. One that is written is borrowed.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedEnded<P = Box<PodInFlight>> {
    /// What was known of the pod
    pub pod: P,
    /// What its record had collected
    pub(in crate::lifecycle) collected: SavedCollected,
    /// The images of its containers
    pub images: Vec<Arc<str>>,
    /// Where it waited last
    pub(in crate::lifecycle) waiting: SavedWaiting,
    /// How it ended
    pub(in crate::lifecycle) outcome: Outcome,
    /// When it ended
    pub(in crate::lifecycle) at: Timestamp,
}

/// A cause for which a pod waited, and when podinit first saw it, in milliseconds since the epoch.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::lifecycle) struct SavedCause(SavedWaiting, u64);

/// The event of a pod for an SLO.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::lifecycle) enum SavedVerdict {
    Good,
    Bad(Option<SavedWaiting>),
    Excluded(ExclusionReason),
}

/// A pair of stage and cause, by its number in [`WaitingNames`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::lifecycle) struct SavedWaiting(u8);

const _: () = assert!(BadReason::COUNT <= u8::MAX as usize);

/// The names of stage and cause for which the numbers of a checkpoint stand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WaitingNames(Vec<(String, String)>);

/// The pairs of stage and cause for which the numbers of a checkpoint stand: each, or its name where only a
/// later podinit knows it.
#[derive(Debug)]
pub struct WaitingTable(Vec<Result<BadReason, String>>);

/// Why a number stands for no pair of stage and cause that this podinit knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadWaiting {
    /// The checkpoint has no name for it
    Unnamed,
    /// Only a later podinit knows the pair
    Unknown(String),
}

impl From<WaitReason> for SavedWaiting {
    fn from(waiting: WaitReason) -> Self {
        Self(waiting.index() as u8)
    }
}

impl SavedWaiting {
    /// `None` where the pod was not known before.
    fn of(reason: BadReason) -> Option<Self> {
        (reason != BadReason::NotKnown).then(|| Self(reason.index() as u8))
    }
}

impl Default for WaitingNames {
    /// Those of this podinit.
    fn default() -> Self {
        let names = BadReason::all().filter_map(|reason| {
            let (stage, cause) = (reason.stage()?.as_str(), reason.cause()?.as_str());
            Some((stage.to_owned(), cause.to_owned()))
        });
        Self(names.collect())
    }
}

impl From<WaitingNames> for WaitingTable {
    fn from(WaitingNames(names): WaitingNames) -> Self {
        let known = names.into_iter().map(|(stage, cause)| {
            let known = Stage::from_text(&stage).zip(Cause::from_text(&cause));
            let known = known.and_then(|(stage, cause)| BadReason::new(stage, cause));
            known.ok_or_else(|| format!("{stage}: {cause}"))
        });
        Self(known.collect())
    }
}

impl WaitingTable {
    /// The pair for which a number of a pod that waits stands.
    pub(in crate::lifecycle) fn get(
        &self,
        saved: SavedWaiting,
    ) -> Result<WaitReason, UnreadWaiting> {
        match self.bad(saved)? {
            BadReason::Waiting(waiting) => Ok(waiting),
            BadReason::NotKnown | BadReason::Rejected(_) => Err(UnreadWaiting::Unnamed),
        }
    }

    /// The pair for which a number of a bad event stands.
    fn bad(&self, saved: SavedWaiting) -> Result<BadReason, UnreadWaiting> {
        let known = self.0.get(usize::from(saved.0));
        let known = known.ok_or(UnreadWaiting::Unnamed)?;
        known.clone().map_err(UnreadWaiting::Unknown)
    }
}

impl SavedCollected {
    /// Checks what was read of a pod that so many SLOs match.
    ///
    /// # Errors
    /// What no pod can have.
    pub fn check(&self, slos: usize) -> Result<(), &'static str> {
        let message = self.message.as_deref().unwrap_or_default();
        if self.causes.len() > MOST_CAUSES {
            return Err("more causes than are kept");
        }
        if !self.preexisting.is_known() {
            return Err("no such interval");
        }
        if message.len() > MOST_BYTES_OF_ONE {
            return Err("a message that is longer than is kept");
        }
        match [0, slos].contains(&self.verdicts.len()) {
            true => Ok(()),
            false => Err("results of other SLOs than those that match"),
        }
    }
}

impl SavedEnded {
    /// Checks what was read of a startup that ended when so many SLOs were in force.
    ///
    /// # Errors
    /// What no startup can have.
    pub fn check(&self, slos: usize) -> Result<(), &'static str> {
        self.pod.check(slos)?;
        if self.images.len() > MOST_FOLLOWED {
            return Err("more images than are kept");
        }
        self.collected.check(self.pod.slos())
    }
}

impl From<RecordedCause> for SavedCause {
    fn from(cause: RecordedCause) -> Self {
        // A time before the epoch is no time of a pod.
        let nanos = cause.began.as_nanos().max(0);
        let began = (nanos / NANOS_PER_MILLI).cast_unsigned();
        Self(cause.waiting.into(), began)
    }
}

impl SavedCause {
    pub(in crate::lifecycle) fn recorded(
        self,
        table: &WaitingTable,
    ) -> Result<RecordedCause, UnreadWaiting> {
        let millis = i64::try_from(self.1).unwrap_or(i64::MAX);
        Ok(RecordedCause {
            waiting: table.get(self.0)?,
            began: Timestamp::from_nanos(millis.saturating_mul(NANOS_PER_MILLI)),
            container: None,
        })
    }
}

impl From<SloVerdict> for SavedVerdict {
    fn from(verdict: SloVerdict) -> Self {
        match verdict {
            SloVerdict::Good => Self::Good,
            SloVerdict::Bad(reason) => Self::Bad(SavedWaiting::of(reason)),
            SloVerdict::Excluded(reason) => Self::Excluded(reason),
        }
    }
}

impl SavedVerdict {
    pub(in crate::lifecycle) fn verdict(
        self,
        table: &WaitingTable,
    ) -> Result<SloVerdict, UnreadWaiting> {
        Ok(match self {
            Self::Good => SloVerdict::Good,
            Self::Bad(None) => SloVerdict::Bad(BadReason::NotKnown),
            Self::Bad(Some(pair)) => SloVerdict::Bad(table.bad(pair)?),
            Self::Excluded(reason) => SloVerdict::Excluded(reason),
        })
    }
}
