//! Rollouts ([§17](crate::specification#s17)): which are in progress, what holds each and why, and how the last ones
//! ended.
//!
//! ```text
//! Tracker ─ RolloutProgress ─┐
//! finding ─ what pods have ──┼─▶ FoundRollouts ─▶ Rollouts ─▶ /api/v1/rollouts, page, table | json
//! RecordStore ─ EndedRollout ┘         └─▶ podinit_rollouts_stuck
//! ```

mod ended;
mod found;
mod routes;
mod table;
mod wording;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ended::EndedRollouts;
pub(crate) use found::{FoundRollouts, RolloutParts};
pub use routes::router;

use crate::answer::{is_zero, with_freshness};
use crate::freshness::Freshness;
use podinit_core::lifecycle::{
    EndedRollout, HeldNanos, RolloutHolder, RolloutOutcome, StandingPods,
};
use podinit_core::pod::Workload;
use podinit_core::timestamp::Timestamp;
use podinit_recordings::reader::ClockAhead;
use podinit_text::human_time::since;
use podinit_text::strangers_text;

/// The rollouts in progress at an instant, and those that ended before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "rollouts", transform = with_freshness)]
pub struct Rollouts {
    /// Up to which instant everything was accounted for when they were found; `None` before anything was
    #[schemars(with = "Option<String>")]
    pub time: Option<Timestamp>,
    /// How many seconds ago an exporter found them; left out before it did
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<f64>,
    /// Whether the source knows the present
    pub fresh: bool,
    /// How far an exporter can be trusted; left out of a list or a recording
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Freshness")]
    pub freshness: Option<Freshness>,
    /// The clocks by which a recording states times that lie in the future; left out where there are none
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks_ahead: Vec<ClockAhead>,
    /// Those in progress, the worst first, and those last that their controllers have held for more than a day; then those
    /// that have ended, the newest first
    pub rollouts: Vec<Rollout>,
    /// How many more there are than were asked for; left out where there are none
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
    /// Why there can be no rollouts, in one line; left out where there can be
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none_because: Option<String>,
}

/// One rollout of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "rollout")]
pub struct Rollout {
    pub namespace: Arc<str>,
    pub workload: Arc<Workload>,
    /// When it began
    pub began: Timestamp,
    /// It was in progress when podinit first saw the workload, so `began` is a guess; left out where it was not
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found_in_progress: bool,
    /// How many pods were wanted when it began
    pub wanted: u32,
    /// For how many seconds each has held it
    pub held_seconds: HeldSeconds,
    /// How it stands; left out of one that has ended
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<RolloutStanding>,
    /// How it ended; left out of one in progress
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RolloutEnd>,
    /// All of this for people
    pub sentence: String,
}

/// For how many seconds each has held a rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "held_seconds")]
pub struct HeldSeconds {
    /// Pods that start
    pub starting: f64,
    /// Pods that were up and are not
    pub not_ready: f64,
    /// Pods of other revisions that are ending
    pub ending: f64,
    /// Nothing that pods show
    pub controller: f64,
}

/// How a rollout in progress stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "rollout_standing")]
pub struct RolloutStanding {
    /// The pods of the new revision
    pub new: StandingPods,
    /// The pods of the other revisions
    pub others: StandingPods,
    /// What holds it: starting, not_ready, ending or controller
    pub held_by: RolloutHolder,
    /// Since when that has
    pub held_since: Timestamp,
    /// When a pod of the new revision last became Ready, or when it began
    pub last_ready: Timestamp,
    /// When a pod of it last changed
    pub changed: Timestamp,
    /// Whether `podinit_rollouts_stuck` counts it: pods hold it that cannot start or are down, and no pod has become Ready
    /// for 10 minutes
    pub stuck: bool,
    /// The cause of most of the pods that hold it and are affected; left out where none is
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What Kubernetes says of them
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A command that shows more
    pub next_command: String,
}

/// How a rollout ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "rollout_end")]
pub struct RolloutEnd {
    /// completed: the pods are of the new revision; rolled_back: of another; superseded: the next rollout began;
    /// removed: no pod was left for 10 minutes
    pub outcome: RolloutOutcome,
    /// When it ended
    pub at: Timestamp,
    /// How many seconds it took; left out where its begin or its end is not known
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// Which rollouts are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RolloutFilter {
    pub namespace: Option<String>,
    /// The name of a workload, or its kind and name, as in `Deployment/web`
    pub workload: Option<String>,
}

impl RolloutFilter {
    pub(crate) fn fits(&self, namespace: &str, workload: &Workload) -> bool {
        let is_of = |wanted: &str| match wanted.split_once('/') {
            Some((kind, name)) => {
                let is_kind = workload.kind.eq_ignore_ascii_case(kind) || workload.is_of_kind(kind);
                is_kind && *workload.name == *name
            }
            None => *workload.name == *wanted,
        };
        self.namespace.as_deref().is_none_or(|wanted| wanted == namespace)
            && self.workload.as_deref().is_none_or(is_of)
    }
}

impl From<HeldNanos> for HeldSeconds {
    fn from(held: HeldNanos) -> Self {
        let seconds = |holder| held.of(holder) as f64 / 1e9;
        Self {
            starting: seconds(RolloutHolder::Starting),
            not_ready: seconds(RolloutHolder::NotReady),
            ending: seconds(RolloutHolder::Ending),
            controller: seconds(RolloutHolder::Controller),
        }
    }
}

impl Rollout {
    /// One that has ended, as it is told at `now`.
    fn from_ended(ended: &EndedRollout, now: Timestamp) -> Self {
        Self {
            namespace: Arc::clone(&ended.workload.namespace),
            workload: Arc::clone(&ended.workload.workload),
            began: ended.began,
            found_in_progress: ended.found,
            wanted: ended.wanted,
            held_seconds: ended.held.into(),
            in_progress: None,
            end: Some(RolloutEnd {
                outcome: ended.outcome,
                at: ended.ended,
                seconds: ended.is_exact.then(|| since(ended.began, ended.ended)),
            }),
            sentence: wording::ended(ended, now),
        }
    }
}

impl Rollouts {
    /// Why an exporter or a command that sees a shard of the pods tells of none.
    pub fn of_shard(shard: &str) -> Self {
        let why = format!(
            "with --shard {shard} podinit sees a part of the pods of each workload, so it cannot tell of rollouts; ask a \
             podinit that sees all pods"
        );
        Self { fresh: true, none_because: Some(why), ..Self::default() }
    }

    /// Those that fit, at most `limit`.
    pub(crate) fn told(found: &FoundRollouts, filter: &RolloutFilter, limit: usize) -> Self {
        let now = found.at.unwrap_or(Timestamp::EPOCH);
        let fits = |one: &&Rollout| filter.fits(&one.namespace, &one.workload);
        let in_progress: Vec<&Rollout> = found.in_progress.iter().filter(fits).collect();
        let fits =
            |one: &&Arc<EndedRollout>| filter.fits(&one.workload.namespace, &one.workload.workload);
        let ended: Vec<_> = found.ended.iter().filter(fits).collect();
        let all = in_progress.len() + ended.len();
        let ended = ended.into_iter().map(|one| Rollout::from_ended(one, now));
        let rollouts = in_progress.into_iter().cloned().chain(ended).take(limit);
        let rollouts: Vec<Rollout> = rollouts.collect();
        Self {
            time: found.at,
            fresh: true,
            more: all - rollouts.len(),
            rollouts,
            ..Self::default()
        }
    }

    /// These and those of other namespaces, at most `limit`.
    pub(crate) fn merged(mut self, other: Self, limit: usize) -> Self {
        self.fresh &= other.fresh;
        self.rollouts.extend(other.rollouts);
        let now = self.time.unwrap_or(Timestamp::EPOCH);
        self.rollouts.sort_by_cached_key(|one| found::order(one, now));
        self.more += other.more + self.rollouts.len().saturating_sub(limit);
        self.rollouts.truncate(limit);
        self
    }

    /// As JSON.
    ///
    /// # Errors
    /// Never for what this crate makes: it holds no maps.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }
}
