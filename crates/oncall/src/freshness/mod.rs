//! How far an answer can be trusted: whether its source knows the present, and if not, since when and why.
//!
//! ```text
//! watches, first contact ─▶ FreshnessSource ─▶ Freshness ─▶ API | page | commands
//! ```

mod headline;
mod source;

pub use source::FreshnessSource;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use podinit_core::label_values;
use podinit_core::timestamp::Timestamp;

label_values! {
    /// What stands above everything else, the worst first.
    pub enum FreshnessState {
        /// It has never been in sync: it knows nothing yet, or what an earlier process has left
        Waiting => "waiting",
        /// It has lost the sync: what happened since is not known
        Blind => "blind",
        /// It is in sync with some of the namespaces that it watches, and not with the others
        Partial => "partial",
        /// It is in sync for the first time, has been for less than two minutes of its clock, and has seen few startups
        JustStarted => "just_started",
        /// It has found every pod that it knows in a list, and seen none start from its beginning
        Adopted => "adopted",
        /// It knows the present, and startups to compare with
        Current => "current",
    }
}

/// How far an answer of a running exporter can be trusted, at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "freshness")]
pub struct Freshness {
    /// waiting: never in sync so far; blind: it has lost the sync; partial: in sync with some of the namespaces that it
    /// watches; just_started: in sync for less than two minutes,
    /// with fewer than 20 startups to compare with;
    /// adopted: it has seen no pod start from its beginning; current: none of these
    pub state: FreshnessState,
    /// Whether every watch is in sync
    pub in_sync: bool,
    /// When this process began
    pub started: Timestamp,
    /// Since when every watch is in sync, or none is, or some are
    pub since: Timestamp,
    /// What it waits for while it is not in sync, in one line
    pub waits_for: Option<String>,
    /// Seconds since the API server was last heard, on behalf of the watch that has waited longest; `None`
    /// before the first contact
    pub age_seconds: Option<f64>,
    /// Whether it has seen no pod start from its beginning
    pub adopted_everything: bool,
    /// Which pods it sees, as in `--shard I/N`; `None` where it sees all
    pub shard: Option<String>,
    /// The kubeconfig with which kubectl reaches its cluster; only a demo names one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// No answer of the API server has said what the time is, so that nothing checks this machine's clock; left out
    /// where one has
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_unchecked: bool,
}

impl Default for Freshness {
    /// An exporter that has never been in sync.
    fn default() -> Self {
        Self {
            state: FreshnessState::Waiting,
            in_sync: false,
            started: Timestamp::EPOCH,
            since: Timestamp::EPOCH,
            waits_for: None,
            age_seconds: None,
            adopted_everything: false,
            shard: None,
            kubeconfig: None,
            clock_unchecked: false,
        }
    }
}

impl Freshness {
    /// Whether it knows the present of what it sees.
    pub const fn is_fresh(&self) -> bool {
        self.in_sync || matches!(self.state, FreshnessState::Partial)
    }

    /// The part that does not change from moment to moment, which the tag of an answer stands for.
    pub fn lasting(&self) -> Self {
        Self { age_seconds: None, ..self.clone() }
    }
}
