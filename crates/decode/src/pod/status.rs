//! `status` of a pod.

use std::borrow::Cow;

use serde::de::MapAccess;

use super::conditions::{ConditionsReader, ReadConditions};
use super::container::{ContainerStatus, StatusesReader};
use super::lenient::{LenientField, LenientParsed, LenientSeed, LenientText, LenientTime, skip};
use crate::node::{NODE_INFO, NodeInfo};
use podinit_core::pod::PodPhase;
use podinit_core::timestamp::Timestamp;

/// What is read of a `status`.
#[derive(Default)]
pub struct PodStatus<'de> {
    pub phase: PodPhase,
    pub started: Option<Timestamp>,
    pub(crate) conditions: ReadConditions<'de>,
    pub has_nominated_node: bool,
    /// `reason` and `message` of the pod itself
    pub reason: Option<Cow<'de, str>>,
    pub message: Option<Cow<'de, str>>,
    pub init_containers: Vec<ContainerStatus<'de>>,
    pub containers: Vec<ContainerStatus<'de>>,
    /// Of a node
    pub(super) node_info: NodeInfo<'de>,
}

/// Reads a [`PodStatus`].
pub(crate) struct StatusReader;

impl<'de> LenientField<'de> for StatusReader {
    type Value = PodStatus<'de>;

    fn absent(self) -> Self::Value {
        PodStatus::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut status = PodStatus::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("phase") => {
                    let phase = map.next_value_seed(LenientSeed(LenientParsed(phase)))?;
                    status.phase = phase.unwrap_or_default();
                }
                Some("startTime") => {
                    status.started = map.next_value_seed(LenientSeed(LenientTime))?;
                }
                Some("conditions") => {
                    status.conditions = map.next_value_seed(LenientSeed(ConditionsReader))?;
                }
                Some("nominatedNodeName") => {
                    let name = map.next_value_seed(LenientSeed(LenientText))?;
                    status.has_nominated_node = name.is_some_and(|name| !name.is_empty());
                }
                Some("reason") => status.reason = map.next_value_seed(LenientSeed(LenientText))?,
                Some("message") => {
                    status.message = map.next_value_seed(LenientSeed(LenientText))?
                }
                Some("initContainerStatuses") => {
                    status.init_containers = map.next_value_seed(LenientSeed(StatusesReader))?;
                }
                Some("containerStatuses") => {
                    status.containers = map.next_value_seed(LenientSeed(StatusesReader))?;
                }
                Some("nodeInfo") => {
                    status.node_info = map.next_value_seed(LenientSeed(NODE_INFO))?
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(status)
    }
}

fn phase(text: &str) -> Option<PodPhase> {
    match text {
        "Succeeded" => Some(PodPhase::Succeeded),
        "Failed" => Some(PodPhase::Failed),
        _ => None,
    }
}
