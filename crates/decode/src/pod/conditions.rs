//! `status.conditions` of a pod.

use std::borrow::Cow;

use serde::de::{MapAccess, SeqAccess};

use super::lenient::{LenientField, LenientParsed, LenientSeed, LenientText, LenientTime, skip};
use podinit_core::label_value::LabelValue;
use podinit_core::label_values;
use podinit_core::pod::{
    ConditionStatus, ConditionType, DisruptionReason, InPlaceChanges, NotScheduled,
    NotScheduledReason, PodResize, ResizeState, SandboxNotReady, StatusCondition, StatusConditions,
};
use podinit_core::timestamp::Timestamp;

label_values! {
    /// The condition types that show no milestone. Of each, the first entry counts.
    enum OtherType {
        DisruptionTarget => "DisruptionTarget",
        PodResizePending => "PodResizePending",
        PodResizeInProgress => "PodResizeInProgress",
        /// Of OpenKruise
        InPlaceUpdateReady => "InPlaceUpdateReady",
    }
}

/// What is read of the conditions.
#[derive(Default)]
pub(crate) struct ReadConditions<'de> {
    pub conditions: StatusConditions,
    pub unschedulable: bool,
    pub not_scheduled: Option<Box<NotScheduled>>,
    pub sandbox_not_ready: Option<SandboxNotReady>,
    /// What Ready says that is not True
    pub not_true: Option<Cow<'de, str>>,
    /// What Ready=False says
    pub not_ready: Option<NotReady<'de>>,
    /// Those that show no milestone of Kubernetes, in their order
    pub others: Vec<OtherCondition<'de>>,
    pub disruption: Option<DisruptionReason>,
    /// The condition `InPlaceUpdateReady` counts only with the readiness gate of this name
    pub in_place: InPlaceChanges,
    /// The latest lastTransitionTime of any condition, also of those that podinit does not read
    pub(super) latest_transition: Option<Timestamp>,
    /// The latest lastHeartbeatTime, of a node
    pub latest_heartbeat: Option<Timestamp>,
    /// The lastTransitionTimes of those that `conditions` does not hold
    pub(super) other_transitions: Vec<Timestamp>,
}

/// What the message of Ready=False says.
pub(crate) struct NotReady<'de> {
    /// Its reason is that a readiness gate is not True
    pub of_gates: bool,
    pub message: Cow<'de, str>,
}

/// A condition that shows no milestone of Kubernetes.
pub(crate) struct OtherCondition<'de> {
    pub kind: Cow<'de, str>,
    pub condition: StatusCondition,
    pub message: Option<Cow<'de, str>>,
}

impl<'de> ReadConditions<'de> {
    fn take(&mut self, kind: ConditionType, entry: ConditionDetails<'de>) {
        self.conditions.insert(kind, entry.condition);
        match kind {
            ConditionType::PodScheduled => self.take_scheduled(entry),
            ConditionType::PodReadyToStartContainers => {
                let by_kubelet = entry.reason.as_deref() == Some("PodSandboxNotReady");
                if entry.is_false() && by_kubelet {
                    self.sandbox_not_ready =
                        SandboxNotReady::parse(&entry.message.unwrap_or_default());
                }
            }
            ConditionType::Ready => {
                let of_gates = entry.reason.as_deref() == Some("ReadinessGatesNotReady");
                let is_false = entry.is_false();
                self.not_true = entry.message.filter(|_| !entry.condition.is_true());
                let message = self.not_true.clone().filter(|_| is_false);
                self.not_ready = message.map(|message| NotReady { of_gates, message });
            }
            _ => {}
        }
    }

    fn take_scheduled(&mut self, entry: ConditionDetails<'_>) {
        if entry.condition.is_true() {
            return;
        }
        let reason = entry.reason.as_deref();
        let reason = reason.and_then(NotScheduledReason::from_text);
        let reason = reason.unwrap_or(NotScheduledReason::Other);
        let is_false = entry.is_false();
        self.unschedulable = is_false && reason == NotScheduledReason::Unschedulable;
        let says_all = is_false && reason == NotScheduledReason::SchedulingGated;
        let message = entry.message.filter(|_| !says_all);
        self.not_scheduled = Some(Box::new(NotScheduled {
            is_false,
            reason,
            message: message.unwrap_or_default().into(),
        }));
    }
}

/// The conditions that show no milestone.
#[derive(Default)]
struct OtherConditions<'de>([Option<ConditionDetails<'de>>; OtherType::ALL.len()]);

impl<'de> OtherConditions<'de> {
    fn take(&mut self, kind: OtherType, entry: ConditionDetails<'de>) {
        self.0[kind as usize].get_or_insert(entry);
    }

    fn holding(&self, kind: OtherType) -> Option<&ConditionDetails<'de>> {
        let entry = self.0[kind as usize].as_ref();
        entry.filter(|entry| entry.condition.is_true())
    }

    fn disruption(&self) -> Option<DisruptionReason> {
        let reason = self.holding(OtherType::DisruptionTarget)?.reason.as_deref();
        let reason = reason.and_then(DisruptionReason::from_text);
        Some(reason.unwrap_or(DisruptionReason::Other))
    }

    fn in_place(&self) -> InPlaceChanges {
        let update_ready = self.0[OtherType::InPlaceUpdateReady as usize].as_ref();
        InPlaceChanges {
            resize: self.resize(),
            update_ready: update_ready.map(|entry| entry.condition),
        }
    }

    fn resize(&self) -> Option<PodResize> {
        let pending = self.holding(OtherType::PodResizePending);
        let in_progress = self.holding(OtherType::PodResizeInProgress);
        let said = |entry: &ConditionDetails<'_>, reason| entry.reason.as_deref() == Some(reason);
        let state = match (pending, in_progress) {
            (None, None) => return None,
            (Some(pending), _) if said(pending, "Infeasible") => ResizeState::Infeasible,
            (Some(_), _) => ResizeState::Deferred,
            (None, Some(in_progress)) if said(in_progress, "Error") => ResizeState::Error,
            (None, Some(_)) => ResizeState::InProgress,
        };
        let times = [pending, in_progress].into_iter().flatten();
        let since = times.filter_map(|entry| entry.condition.last_transition).min();
        Some(PodResize { state, since })
    }
}

/// Reads [`ReadConditions`].
pub(super) struct ConditionsReader;

impl<'de> LenientField<'de> for ConditionsReader {
    type Value = ReadConditions<'de>;

    fn absent(self) -> ReadConditions<'de> {
        ReadConditions::default()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ReadConditions<'de>, A::Error> {
        let mut read = ReadConditions::default();
        let mut others = OtherConditions::default();
        while let Some(entry) = seq.next_element_seed(LenientSeed(EntryReader))? {
            let Some(entry) = entry else { continue };
            let ConditionEntry { kind, says: entry } = entry;
            let last_transition = entry.condition.last_transition;
            read.latest_transition = read.latest_transition.max(last_transition);
            read.latest_heartbeat = read.latest_heartbeat.max(entry.heartbeat);
            match kind {
                Some(ConditionTypeField::Milestone(kind))
                    if read.conditions.get(kind).is_none() =>
                {
                    read.take(kind, entry);
                    continue;
                }
                Some(ConditionTypeField::Other(kind)) => {
                    let (condition, message) = (entry.condition, entry.message.clone());
                    if let Some(known) = OtherType::from_text(&kind) {
                        others.take(known, entry);
                    }
                    read.others.push(OtherCondition { kind, condition, message });
                }
                Some(ConditionTypeField::Milestone(_)) | None => {}
            }
            read.other_transitions.extend(last_transition);
        }
        read.disruption = others.disruption();
        read.in_place = others.in_place();
        Ok(read)
    }
}

/// A condition type.
enum ConditionTypeField<'de> {
    /// It shows a milestone of Kubernetes
    Milestone(ConditionType),
    Other(Cow<'de, str>),
}

/// Reads a [`ConditionTypeField`]; `None` for what is no text.
struct TypeField;

impl<'de> LenientField<'de> for TypeField {
    type Value = Option<ConditionTypeField<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn text(self, text: &str) -> Self::Value {
        let milestone = ConditionType::from_text(text).map(ConditionTypeField::Milestone);
        Some(milestone.unwrap_or_else(|| ConditionTypeField::Other(Cow::Owned(text.to_owned()))))
    }

    fn borrowed_text(self, text: &'de str) -> Self::Value {
        let milestone = ConditionType::from_text(text).map(ConditionTypeField::Milestone);
        Some(milestone.unwrap_or(ConditionTypeField::Other(Cow::Borrowed(text))))
    }
}

/// One entry of `conditions`.
#[derive(Default)]
struct ConditionEntry<'de> {
    kind: Option<ConditionTypeField<'de>>,
    says: ConditionDetails<'de>,
}

/// What it says.
#[derive(Default)]
struct ConditionDetails<'de> {
    condition: StatusCondition,
    reason: Option<Cow<'de, str>>,
    message: Option<Cow<'de, str>>,
    heartbeat: Option<Timestamp>,
}

impl ConditionDetails<'_> {
    fn is_false(&self) -> bool {
        self.condition.status == ConditionStatus::False
    }
}

struct EntryReader;

impl<'de> LenientField<'de> for EntryReader {
    type Value = Option<ConditionEntry<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entry = ConditionEntry::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("type") => {
                    entry.kind = map.next_value_seed(LenientSeed(TypeField))?;
                }
                Some("status") => {
                    let status =
                        map.next_value_seed(LenientSeed(LenientParsed(condition_status)))?;
                    entry.says.condition.status = status.unwrap_or_default();
                }
                Some("reason") => {
                    entry.says.reason = map.next_value_seed(LenientSeed(LenientText))?
                }
                Some("message") => {
                    entry.says.message = map.next_value_seed(LenientSeed(LenientText))?
                }
                Some("lastHeartbeatTime") => {
                    entry.says.heartbeat = map.next_value_seed(LenientSeed(LenientTime))?;
                }
                Some("lastTransitionTime") => {
                    entry.says.condition.last_transition =
                        map.next_value_seed(LenientSeed(LenientTime))?;
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

#[cfg(test)]
#[path = "conditions_tests.rs"]
mod tests;
