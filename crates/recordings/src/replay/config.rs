//! How a recording is replayed.

use podinit_core::lifecycle::{Backfill, TrackerConfig};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;

/// How a recording is read.
#[derive(Clone, Debug, Default)]
pub struct ReplayConfig {
    /// How pods are tracked
    pub tracker: TrackerConfig,
    /// The pods to account for; those of others move time as in an account of all
    pub shard: Option<Shard>,
    /// Stop at the first later document, and move time to this instant
    pub until: Option<Timestamp>,
    /// All lists before the first watch event are one list, whatever they hold ([§8.4](crate::specification#s8-4))
    pub same_moment: bool,
    /// What becomes of a recording that shows one moment
    pub one_moment: MomentRule,
}

/// What becomes of a recording that shows one moment: one list, or several of different namespaces, and nothing that
/// happened after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MomentRule {
    /// Each list is what it is
    #[default]
    Ordinary,
    /// It is one list, whose pods are observed as if they had been watched ([§8.8](crate::specification#s8-8))
    Observed,
    /// It is one list, and all of it happens at its end, Events by their times ([§13.2](crate::specification#s13-2))
    Present,
}

impl ReplayConfig {
    /// The same for a report. The pods of the first list are observed where that is asked for or where there is nothing
    /// else, as far as their times can be trusted.
    #[must_use]
    pub fn observed(mut self) -> Self {
        if self.tracker.backfill != Backfill::Nothing {
            self.tracker.backfill = Backfill::Trusted;
        }
        Self { one_moment: MomentRule::Observed, ..self }
    }
}
