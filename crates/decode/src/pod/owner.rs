//! `metadata.ownerReferences`: what controls a pod.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess};

use super::DecodeContext;
use super::intern::WorkloadKey;
use super::lenient::{Flag, Lenient, LenientField, Text, skip};
use podinit_core::pod::{LastingName, TemplateHash, Workload};

/// The owner that controls the pod.
pub(super) struct Owner<'de> {
    kind: Cow<'de, str>,
    name: Cow<'de, str>,
}

impl Owner<'_> {
    /// The workload of the owner of a pod with these labels.
    pub(super) fn workload(
        &self,
        template_hashes: &[TemplateHash<'_>],
        context: &mut DecodeContext,
    ) -> Arc<Workload> {
        let LastingName { kind, name } = LastingName::of(&self.kind, &self.name, template_hashes);
        let make = || Arc::new(Workload { kind: kind.into(), name: (*name).into() });
        let key = WorkloadKey { kind, name: &name };
        context.workloads.get(&key, make)
    }
}

/// The first owner reference with `controller: true`.
pub(super) struct Owners;

impl<'de> LenientField<'de> for Owners {
    type Value = Option<Owner<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut controller = None;
        while let Some(owner) = seq.next_element_seed(Lenient(OwnerReader))? {
            controller = controller.or(owner);
        }
        Ok(controller)
    }
}

/// One owner reference, where it is the controller's and names it.
struct OwnerReader;

impl<'de> LenientField<'de> for OwnerReader {
    type Value = Option<Owner<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut kind, mut name, mut controller) = (None, None, false);
        while let Some(key) = map.next_key_seed(Lenient(Text))? {
            match key.as_deref() {
                Some("kind") => kind = map.next_value_seed(Lenient(Text))?,
                Some("name") => name = map.next_value_seed(Lenient(Text))?,
                Some("controller") => controller = map.next_value_seed(Lenient(Flag))?,
                _ => skip(&mut map)?,
            }
        }
        Ok(kind.zip(name).filter(|_| controller).map(|(kind, name)| Owner { kind, name }))
    }
}
