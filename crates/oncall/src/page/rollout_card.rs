//! The rollouts in progress, and those that ended lately.

use std::time::Duration;

use super::link::query;
use crate::explain::addressed;
use crate::problems::{PodFilter, ProblemSnapshot};
use crate::rollouts::{Rollout, RolloutFilter, Rollouts};
use podinit_core::timestamp::Timestamp;

/// How many are shown.
const MOST: usize = 8;
/// One that ended longer ago is not shown.
const LATELY: Duration = Duration::from_secs(3_600);

/// The rollouts as the page shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RolloutCards {
    pub in_progress: Vec<RolloutCard>,
    /// What is said of those that ended lately
    pub ended: Vec<String>,
    /// How many more are in progress
    pub more: usize,
}

/// A rollout in progress.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RolloutCard {
    /// The workload, and the page of it
    pub name: String,
    pub page: String,
    /// What the sentence says behind the name
    pub says: String,
    /// How many hundredths of its pods are of the new revision and up
    pub ready: u32,
    pub is_stuck: bool,
    pub command: String,
}

impl RolloutCards {
    /// Those of the pods that are wanted, the worst first. A part of the pods by node or cause is not one of rollouts.
    pub(super) fn new(
        seen: &ProblemSnapshot,
        wanted: &PodFilter,
        kubeconfig: Option<&str>,
        now: Timestamp,
    ) -> Self {
        if wanted.node.is_some() || wanted.cause.is_some() {
            return Self::default();
        }
        let filter = RolloutFilter {
            namespace: wanted.namespace.clone(),
            workload: wanted.workload.clone(),
        };
        let told = Rollouts::told(&seen.rollouts, &filter, MOST);
        let in_progress = told.rollouts.iter().filter_map(|one| card(one, kubeconfig));
        let in_progress: Vec<RolloutCard> = in_progress.collect();
        let is_late =
            |one: &&Rollout| one.end.as_ref().is_some_and(|end| end.at.plus(LATELY) >= now);
        let ended = told.rollouts.iter().filter(is_late);
        let more = seen
            .rollouts
            .in_progress
            .iter()
            .filter(|one| filter.fits(&one.namespace, &one.workload));
        Self {
            ended: ended.map(|one| one.sentence.clone()).collect(),
            more: more.count() - in_progress.len(),
            in_progress,
        }
    }

    /// Whether there is nothing to show.
    pub(super) const fn is_empty(&self) -> bool {
        self.in_progress.is_empty() && self.ended.is_empty()
    }
}

/// The card of a rollout in progress.
fn card(rollout: &Rollout, kubeconfig: Option<&str>) -> Option<RolloutCard> {
    let standing = rollout.in_progress.as_ref()?;
    let name = format!("{}/{}", rollout.namespace, rollout.workload.name);
    let says = rollout.sentence.strip_prefix(&name).and_then(|rest| rest.strip_prefix(": "));
    let workload = rollout.workload.to_string();
    Some(RolloutCard {
        page: query(&[("namespace", &rollout.namespace), ("workload", &workload)]),
        says: says.unwrap_or(&rollout.sentence).to_owned(),
        ready: 100 * standing.new.up / rollout.wanted.max(standing.new.live()).max(1),
        is_stuck: standing.stuck,
        command: addressed(&standing.next_command, kubeconfig),
        name,
    })
}
