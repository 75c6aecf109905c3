//! Whether nodes are on their way for the pods of a problem, as autoscalers say
//! ([§10.4](crate::specification#s10-4)).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{NodeChoices, Progress, Record, Stage};
use podinit_core::timestamp::Timestamp;

/// Whether nodes are on their way.
// What an autoscaler says of an unschedulable pod, or of most of the pods of a problem. Of several pods it has the
// earliest time and the most frequent reason. The state is never unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "autoscaling")]
pub struct FoundCapacity {
    /// `scaling_up`, `no_scale_up`, `scale_up_failed` or `nominated`
    #[serde(rename = "capacity")]
    #[schemars(with = "String")]
    pub state: CapacityState,
    /// Who says so, where that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// When podinit first heard that
    pub since: Timestamp,
    /// Why no node comes, in their words
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Arc<str>>,
    /// How often it has chosen another node within 30 minutes, where it has for most of the pods; of these the one of which
    /// most nodes came, and then the least has been chosen
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<NodeChoices>,
}

impl FoundCapacity {
    /// The capacity of the pod of `record`; `None` unless an autoscaler has said something.
    pub(super) fn from_record(record: &Record) -> Option<Self> {
        let Progress::InFlight { waiting, .. } = record.progress else {
            return None;
        };
        let known = record.unschedulable.as_ref()?;
        let says = waiting.stage() == Stage::Unschedulable && known.state != CapacityState::Unknown;
        Some(Self {
            state: known.state,
            by: known.by.clone(),
            since: known.since?,
            why: known.message.clone().filter(|_| known.state.is_refusal()),
            choices: known.choices,
        })
        .filter(|_| says)
    }
}

/// The capacity that more than half of the unschedulable pods have; `None` without such a majority.
pub(super) fn shared<'a>(
    unschedulable: impl Iterator<Item = Option<&'a FoundCapacity>>,
) -> Option<FoundCapacity> {
    let mut all = 0;
    let mut groups = BTreeMap::new();
    for said in unschedulable {
        all += 1;
        if let Some(said) = said {
            let (pods, since, whys, choices) = groups
                .entry((said.state, &said.by))
                .or_insert_with(|| (0_usize, said.since, BTreeMap::new(), Vec::new()));
            *pods += 1;
            choices.extend(said.choices);
            *since = said.since.min(*since);
            if let Some(why) = &said.why {
                *whys.entry(why).or_insert(0_usize) += 1;
            }
        }
    }
    let ((state, by), (_, since, whys, choices)) =
        groups.into_iter().find(|(_, (pods, ..))| 2 * pods > all)?;
    let why = whys.into_iter().max_by_key(|(_, pods)| *pods);
    let choices = Some(choices).filter(|choices| 2 * choices.len() > all);
    let least = |choices: &NodeChoices| (choices.came, Reverse(choices.chosen));
    Some(FoundCapacity {
        state,
        by: by.clone(),
        since,
        why: why.map(|(why, _)| Arc::clone(why)),
        choices: choices.and_then(|choices| choices.into_iter().max_by_key(least)),
    })
}
