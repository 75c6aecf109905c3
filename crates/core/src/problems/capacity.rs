//! Whether nodes are on their way for the pods of a problem, as autoscalers say
//! ([§10.4](crate::specification#s10-4)).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kube_event::CapacityState;
use crate::lifecycle::{Progress, Record, Stage};
use crate::timestamp::Timestamp;

/// What an autoscaler says of a pod that is unschedulable, or of most of the pods of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCapacity {
    /// Never [`CapacityState::Unknown`]
    pub state: CapacityState,
    /// Who says so, such as `cluster-autoscaler`, where that is known
    pub by: Option<Arc<str>>,
    /// When podinit first heard that; of several pods, the earliest
    pub since: Timestamp,
}

impl FoundCapacity {
    /// Of the pod that `record` is of.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let Progress::InFlight { waiting, .. } = record.progress else {
            return None;
        };
        let known = record.unschedulable.as_ref()?;
        let says = waiting.stage() == Stage::Unschedulable && known.state != CapacityState::Unknown;
        Some(Self {
            state: known.state,
            by: known.by.clone(),
            since: known.since?,
        })
        .filter(|_| says)
    }
}

/// What is said of more than half of the pods that are unschedulable, of each of which this is said.
pub(super) fn shared<'a>(
    unschedulable: impl Iterator<Item = Option<&'a FoundCapacity>>,
) -> Option<FoundCapacity> {
    let mut all = 0;
    let mut groups = BTreeMap::new();
    for said in unschedulable {
        all += 1;
        if let Some(said) = said {
            let group = groups
                .entry((said.state, &said.by))
                .or_insert((0_usize, said.since));
            *group = (group.0 + 1, group.1.min(said.since));
        }
    }
    let ((state, by), (_, since)) = groups.into_iter().find(|(_, (pods, _))| 2 * pods > all)?;
    Some(FoundCapacity {
        state,
        by: by.clone(),
        since,
    })
}
