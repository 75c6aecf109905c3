//! `status` of a pod.

use serde::de::{MapAccess, SeqAccess};

use super::container::{ContainerStatus, StatusesReader};
use super::lenient::{Lenient, LenientField, Parsed, Text, skip};
use crate::decode::rfc3339;
use crate::label_value::LabelValue;
use crate::pod::{Condition, ConditionStatus, ConditionType, Conditions, Phase};
use crate::timestamp::Timestamp;

/// What is read of a `status`.
#[derive(Default)]
pub(crate) struct Status<'de> {
    pub(crate) phase: Phase,
    pub(crate) started: Option<Timestamp>,
    pub(crate) conditions: Conditions,
    pub(crate) unschedulable: bool,
    /// The latest lastTransitionTime of any condition, also of those that podinit does not read.
    pub(crate) latest_transition: Option<Timestamp>,
    pub(crate) init_containers: Vec<ContainerStatus<'de>>,
    pub(crate) containers: Vec<ContainerStatus<'de>>,
}

/// Reads a [`Status`].
pub(crate) struct StatusReader;

impl<'de> LenientField<'de> for StatusReader {
    type Value = Status<'de>;

    fn absent(self) -> Self::Value {
        Status::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut status = Status::default();
        while let Some(key) = map.next_key_seed(Lenient(Text))? {
            match key.as_deref() {
                Some("phase") => {
                    let phase = map.next_value_seed(Lenient(Parsed(phase)))?;
                    status.phase = phase.unwrap_or_default();
                }
                Some("startTime") => {
                    status.started = map.next_value_seed(Lenient(Parsed(rfc3339::parse)))?;
                }
                Some("conditions") => {
                    map.next_value_seed(Lenient(ConditionsReader(&mut status)))?;
                }
                Some("initContainerStatuses") => {
                    status.init_containers = map.next_value_seed(Lenient(StatusesReader))?;
                }
                Some("containerStatuses") => {
                    status.containers = map.next_value_seed(Lenient(StatusesReader))?;
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(status)
    }
}

fn phase(text: &str) -> Option<Phase> {
    match text {
        "Succeeded" => Some(Phase::Succeeded),
        "Failed" => Some(Phase::Failed),
        _ => None,
    }
}

/// Adds the conditions of an array to a status.
struct ConditionsReader<'s, 'de>(&'s mut Status<'de>);

impl<'de> LenientField<'de> for ConditionsReader<'_, '_> {
    type Value = ();

    fn absent(self) {}

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self(status) = self;
        while let Some(entry) = seq.next_element_seed(Lenient(EntryReader))? {
            let Some(entry) = entry else { continue };
            let last_transition = entry.condition.last_transition;
            status.latest_transition = status.latest_transition.max(last_transition);
            let Some(kind) = entry.kind else { continue };
            let first = status.conditions.get(kind).is_none();
            if first && kind == ConditionType::PodScheduled {
                status.unschedulable =
                    entry.for_unschedulable && entry.condition.status == ConditionStatus::False;
            }
            status.conditions.insert(kind, entry.condition);
        }
        Ok(())
    }
}

/// One entry of `conditions`.
#[derive(Default)]
struct Entry {
    kind: Option<ConditionType>,
    condition: Condition,
    for_unschedulable: bool,
}

struct EntryReader;

impl<'de> LenientField<'de> for EntryReader {
    type Value = Option<Entry>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entry = Entry::default();
        while let Some(key) = map.next_key_seed(Lenient(Text))? {
            match key.as_deref() {
                Some("type") => {
                    entry.kind = map.next_value_seed(Lenient(Parsed(ConditionType::from_text)))?;
                }
                Some("status") => {
                    let status = map.next_value_seed(Lenient(Parsed(condition_status)))?;
                    entry.condition.status = status.unwrap_or_default();
                }
                Some("reason") => {
                    let reason = map.next_value_seed(Lenient(Text))?;
                    entry.for_unschedulable = reason.as_deref() == Some("Unschedulable");
                }
                Some("lastTransitionTime") => {
                    entry.condition.last_transition =
                        map.next_value_seed(Lenient(Parsed(rfc3339::parse)))?;
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(Some(entry))
    }
}

fn condition_status(text: &str) -> Option<ConditionStatus> {
    match text {
        "True" => Some(ConditionStatus::True),
        "False" => Some(ConditionStatus::False),
        _ => None,
    }
}
