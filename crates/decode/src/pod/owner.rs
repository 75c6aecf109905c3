//! `metadata.ownerReferences`: what controls a pod.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess};

use super::DecodeContext;
use super::intern::WorkloadLookup;
use super::lenient::{LenientField, LenientFlag, LenientSeed, LenientText, skip};
use podinit_core::pod::{LastingName, TemplateHash, Workload};

/// The owner that controls the pod.
pub(super) struct ControllerOwner<'de> {
    kind: Cow<'de, str>,
    name: Cow<'de, str>,
}

impl ControllerOwner<'_> {
    /// The name that lasts of the owner of a pod with these labels.
    pub(super) fn lasting_name(&self, template_hashes: &[TemplateHash<'_>]) -> LastingName<'_> {
        LastingName::new(&self.kind, &self.name, template_hashes)
    }

    /// The workload of the owner of a pod with these labels.
    pub(super) fn workload(
        &self,
        template_hashes: &[TemplateHash<'_>],
        context: &mut DecodeContext,
    ) -> Arc<Workload> {
        let LastingName { kind, name } = self.lasting_name(template_hashes);
        let make = || Arc::new(Workload { kind: kind.into(), name: (*name).into() });
        let key = WorkloadLookup { kind, name: &name };
        context.workloads.get(&key, make)
    }
}

/// The first owner reference with `controller: true`.
pub(super) struct OwnerReferences;

impl<'de> LenientField<'de> for OwnerReferences {
    type Value = Option<ControllerOwner<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut controller = None;
        while let Some(owner) = seq.next_element_seed(LenientSeed(OwnerReader))? {
            controller = controller.or(owner);
        }
        Ok(controller)
    }
}

/// One owner reference, where it is the controller's and names it.
struct OwnerReader;

impl<'de> LenientField<'de> for OwnerReader {
    type Value = Option<ControllerOwner<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut kind, mut name, mut controller) = (None, None, false);
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("kind") => kind = map.next_value_seed(LenientSeed(LenientText))?,
                Some("name") => name = map.next_value_seed(LenientSeed(LenientText))?,
                Some("controller") => controller = map.next_value_seed(LenientSeed(LenientFlag))?,
                _ => skip(&mut map)?,
            }
        }
        Ok(kind.zip(name).filter(|_| controller).map(|(kind, name)| ControllerOwner { kind, name }))
    }
}
