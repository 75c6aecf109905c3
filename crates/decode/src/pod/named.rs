//! Gates by name, and the conditions that they and milestones of your own need
//! ([§16](crate::specification#s16)).

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess};

use super::conditions::{OtherCondition, ReadConditions};
use super::lenient::{LenientField, LenientSeed, LenientText, skip};
use podinit_core::pod::{ConditionType, GateList, GateNames, NamedConditions, StatusCondition};

/// What is read of a list of gates.
#[derive(Default)]
pub(super) struct GateListSeed {
    /// There is one
    pub any: bool,
    /// One is `InPlaceUpdateReady`, of OpenKruise
    pub(super) in_place_update: bool,
    /// The names that are followed
    pub names: GateList,
}

/// Reads [`GateListSeed`], each named by this field.
pub(super) struct GatesReader(pub &'static str);

impl<'de> LenientField<'de> for GatesReader {
    type Value = GateListSeed;

    fn absent(self) -> GateListSeed {
        GateListSeed::default()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<GateListSeed, A::Error> {
        let mut gates = GateListSeed::default();
        while let Some(name) = seq.next_element_seed(LenientSeed(NameReader(self.0)))? {
            gates.any = true;
            let name = name.unwrap_or_default();
            gates.in_place_update |= name == "InPlaceUpdateReady";
            gates.names.push(&name);
        }
        Ok(gates)
    }
}

/// Reads the field of this key of an object.
struct NameReader(&'static str);

impl<'de> LenientField<'de> for NameReader {
    type Value = Option<Cow<'de, str>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut name = None;
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some(key) if key == self.0 => {
                    name = map.next_value_seed(LenientSeed(LenientText))?
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(name)
    }
}

impl ReadConditions<'_> {
    /// The conditions of the gates, and of the milestones that show these types; none for a pod with neither.
    pub(crate) fn named(
        &self,
        gates: Option<Arc<GateNames>>,
        milestones: &[String],
    ) -> Option<Box<NamedConditions>> {
        let types = gates.iter().flat_map(|gates| gates.readiness.iter());
        let readiness = types.map(|kind| self.of_type(kind)).collect();
        let of_milestones: Vec<_> = milestones.iter().map(|kind| self.of_type(kind)).collect();
        let has_milestone = of_milestones.iter().any(Option::is_some);
        let milestones = if has_milestone { of_milestones.into() } else { Box::default() };
        (gates.is_some() || has_milestone)
            .then(|| Box::new(NamedConditions { gates, readiness, milestones }))
    }

    fn of_type(&self, kind: &str) -> Option<StatusCondition> {
        match ConditionType::ALL.into_iter().find(|known| known.as_str() == kind) {
            Some(known) => self.conditions.get(known),
            None => self.other(kind).map(|other| other.condition),
        }
    }

    /// The first of a type.
    fn other(&self, kind: &str) -> Option<&OtherCondition<'_>> {
        self.others.iter().find(|other| other.kind == kind)
    }

    /// What says why a pod with or without readiness gates is not Ready although its containers are: the condition of the
    /// first gate that is not True, or else Ready=False.
    pub(crate) fn said_of_ready(
        &self,
        has_gates: bool,
        named: Option<&NamedConditions>,
    ) -> Option<Box<str>> {
        let said = self.not_ready.as_ref()?;
        if !has_gates {
            self.conditions.holding(ConditionType::ContainersReady)?;
            return Some(said.message.as_ref().into());
        }
        let by_kubelet = Some(&*said.message).filter(|_| said.of_gates)?;
        let open = named.and_then(NamedConditions::first_open);
        let message = open.and_then(|kind| self.other(kind)?.message.as_deref());
        let message = message.filter(|message| !message.is_empty());
        Some(message.unwrap_or(by_kubelet).into())
    }
}
