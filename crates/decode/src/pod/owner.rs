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

/// The owners that are read.
#[derive(Default)]
pub(super) struct Owners<'de> {
    /// The first with `controller: true`
    pub controller: Option<ControllerOwner<'de>>,
    /// The name of a NodeClaim of Karpenter, which controls no node that it owns
    pub node_claim: Option<Cow<'de, str>>,
}

/// Reads [`Owners`].
pub(super) struct OwnerReferences;

impl<'de> LenientField<'de> for OwnerReferences {
    type Value = Owners<'de>;

    fn absent(self) -> Self::Value {
        Owners::default()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut owners = Owners::default();
        while let Some(owner) = seq.next_element_seed(LenientSeed(OwnerReader))? {
            match owner {
                Some((owner, true)) => owners.controller = owners.controller.or(Some(owner)),
                Some((owner, false)) if owner.kind == "NodeClaim" => {
                    owners.node_claim = Some(owner.name);
                }
                Some(_) | None => {}
            }
        }
        Ok(owners)
    }
}

/// One owner reference, where it names the owner, and whether that is the controller.
struct OwnerReader;

impl<'de> LenientField<'de> for OwnerReader {
    type Value = Option<(ControllerOwner<'de>, bool)>;

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
        let owner = kind.zip(name).map(|(kind, name)| ControllerOwner { kind, name });
        Ok(owner.map(|owner| (owner, controller)))
    }
}
