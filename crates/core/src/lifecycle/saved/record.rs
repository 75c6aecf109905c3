//! The saved form of what only records show ([§11](crate::specification#s11)): of a pod in flight, what
//! its record has collected so far; and the startups that have ended.
//!
//! Where a pod waited is saved as a number, because a pod has up to 16 causes. What the numbers stand for
//! is saved once, by name ([`WaitingNames`]), so that a later podinit may have more causes.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::evidence::Named;
use super::{SavedInFlight, form};
use crate::lifecycle::cause::{MOST_FOLLOWED, WaitReason};
use crate::lifecycle::interval::Interval;
use crate::lifecycle::messages::MOST_BYTES_OF_ONE;
use crate::lifecycle::network_evidence::{NetworkEvidence, NetworkTime};
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::record::{MOST_CAUSES, RecordedCause};
use crate::lifecycle::slo_verdict::{ExclusionReason, SloVerdict};
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

/// What the record of a pod in flight has collected that is counted nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCollected {
    /// Its last causes, the oldest first; empty as long as it has had one only
    pub causes: Vec<SavedCause>,
    /// By interval, a bit: whether it had ended when the pod was adopted
    pub preexisting: u16,
    /// What gave the time of NetworkReady; `None` for its condition
    pub network_evidence: Option<Named<NetworkEvidence>>,
    /// How far that time can be from the truth, where that is known
    pub network_time: Option<Named<NetworkTime>>,
    /// For each SLO that matches it its event, once it has had it; empty where that is not known
    pub verdicts: Vec<Option<SavedVerdict>>,
    /// What Kubernetes says of its present cause
    pub message: Option<Box<str>>,
}

/// A startup that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEnded {
    /// What was known of the pod
    pub pod: SavedInFlight,
    /// What its record had collected
    pub collected: SavedCollected,
    /// The images of its containers
    pub images: Vec<Arc<str>>,
    /// Where it waited last
    pub waiting: SavedWaiting,
    /// How it ended
    pub outcome: Named<Outcome>,
    /// When it ended
    #[serde(with = "form::time")]
    pub at: Timestamp,
}

/// A cause for which a pod waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCause {
    /// The cause, and the stage in which it was
    pub waiting: SavedWaiting,
    /// When podinit first saw it, in milliseconds since the epoch
    pub began: u64,
}

/// The event of a pod for an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SavedVerdict {
    Good,
    Bad(Option<SavedWaiting>),
    Excluded(#[serde(with = "exclusion_reason")] ExclusionReason),
}

/// A pair of stage and cause, by its number in [`WaitingNames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedWaiting(u8);

/// The names of stage and cause for which the numbers of a checkpoint stand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WaitingNames(Vec<(String, String)>);

/// The pairs of stage and cause for which the numbers of a checkpoint stand.
#[derive(Clone, Debug)]
pub struct WaitingTable {
    names: WaitingNames,
    known: Vec<Option<WaitReason>>,
}

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
        const _: () = assert!(WaitReason::COUNT <= u8::MAX as usize);
        Self(waiting.index() as u8)
    }
}

impl SavedWaiting {
    /// The pair; `None` for a number of another podinit that was not translated.
    pub(super) fn get(self) -> Option<WaitReason> {
        WaitReason::ALL.get(usize::from(self.0)).copied()
    }
}

impl Default for WaitingNames {
    /// Those of this podinit.
    fn default() -> Self {
        let names = WaitReason::ALL.map(|waiting| {
            let (stage, cause) = (waiting.stage().as_str(), waiting.cause().as_str());
            (stage.to_owned(), cause.to_owned())
        });
        Self(names.into())
    }
}

impl From<WaitingNames> for WaitingTable {
    fn from(names: WaitingNames) -> Self {
        let known = names.0.iter();
        let known = known.map(|(stage, cause)| WaitReason::from_texts(stage, cause));
        Self {
            known: known.collect(),
            names,
        }
    }
}

impl WaitingTable {
    /// The same pair under the number that it has here.
    fn translate(&self, saved: &mut SavedWaiting) -> Result<(), UnreadWaiting> {
        let number = usize::from(saved.0);
        match self.known.get(number) {
            Some(Some(waiting)) => *saved = SavedWaiting::from(*waiting),
            Some(None) => {
                let name = self.names.0.get(number);
                let name = name.map(|(stage, cause)| format!("{stage}: {cause}"));
                return Err(UnreadWaiting::Unknown(name.unwrap_or_default()));
            }
            None => return Err(UnreadWaiting::Unnamed),
        }
        Ok(())
    }
}

impl SavedCollected {
    /// Replaces the numbers of the podinit that has written it.
    ///
    /// # Errors
    /// If one of them stands for nothing that is known here.
    pub fn translate(&mut self, table: &WaitingTable) -> Result<(), UnreadWaiting> {
        for cause in &mut self.causes {
            table.translate(&mut cause.waiting)?;
        }
        for verdict in &mut self.verdicts {
            if let Some(SavedVerdict::Bad(Some(waiting))) = verdict {
                table.translate(waiting)?;
            }
        }
        Ok(())
    }

    /// Checks what was read of a pod that so many SLOs match.
    ///
    /// # Errors
    /// What no pod can have.
    pub fn check(&self, slos: usize) -> Result<(), &'static str> {
        if self.causes.len() > MOST_CAUSES {
            return Err("more causes than are kept");
        }
        if u32::from(self.preexisting) >> Interval::ALL.len() != 0 {
            return Err("no such interval");
        }
        if self
            .message
            .as_ref()
            .is_some_and(|said| said.len() > MOST_BYTES_OF_ONE)
        {
            return Err("a message that is longer than is kept");
        }
        match [0, slos].contains(&self.verdicts.len()) {
            true => Ok(()),
            false => Err("results of other SLOs than those that match"),
        }
    }
}

impl SavedEnded {
    /// Replaces the numbers of the podinit that has written it.
    ///
    /// # Errors
    /// If one of them stands for nothing that is known here.
    pub fn translate(&mut self, table: &WaitingTable) -> Result<(), UnreadWaiting> {
        table.translate(&mut self.waiting)?;
        self.collected.translate(table)
    }

    /// Checks what was read of a startup that ended when so many SLOs were in force.
    ///
    /// # Errors
    /// What no startup can have.
    pub fn check(&self, slos: usize) -> Result<(), &'static str> {
        self.pod.check(slos)?;
        if self.images.len() > MOST_FOLLOWED {
            return Err("more images than are kept");
        }
        self.collected.check(self.pod.slos.len())
    }
}

impl From<RecordedCause> for SavedCause {
    fn from(cause: RecordedCause) -> Self {
        // A time before the epoch is no time of a pod.
        let nanos = cause.began.as_nanos().max(0);
        Self {
            waiting: SavedWaiting::from(cause.waiting),
            began: (nanos / NANOS_PER_MILLI).cast_unsigned(),
        }
    }
}

impl SavedCause {
    pub(super) fn recorded(self) -> Option<RecordedCause> {
        let millis = i64::try_from(self.began).unwrap_or(i64::MAX);
        Some(RecordedCause {
            waiting: self.waiting.get()?,
            began: Timestamp::from_nanos(millis.saturating_mul(NANOS_PER_MILLI)),
            container: None,
        })
    }
}

impl From<SloVerdict> for SavedVerdict {
    fn from(verdict: SloVerdict) -> Self {
        match verdict {
            SloVerdict::Good => Self::Good,
            SloVerdict::Bad(waiting) => Self::Bad(waiting.map(SavedWaiting::from)),
            SloVerdict::Excluded(reason) => Self::Excluded(reason),
        }
    }
}

impl From<SavedVerdict> for SloVerdict {
    fn from(saved: SavedVerdict) -> Self {
        match saved {
            SavedVerdict::Good => Self::Good,
            SavedVerdict::Bad(waiting) => Self::Bad(waiting.and_then(SavedWaiting::get)),
            SavedVerdict::Excluded(reason) => Self::Excluded(reason),
        }
    }
}

/// A reason by its name, so that a later podinit may add some.
mod exclusion_reason {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        reason: &ExclusionReason,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        reason.as_str().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ExclusionReason, D::Error> {
        let name = <&str>::deserialize(deserializer)?;
        let mut all = ExclusionReason::ALL.into_iter();
        let known = all.find(|reason| reason.as_str() == name);
        known.ok_or_else(|| de::Error::custom("no such reason"))
    }
}
