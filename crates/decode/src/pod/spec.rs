//! `spec` of a pod.

use std::sync::Arc;

use serde::de::MapAccess;

use super::DecodeContext;
use super::container::ContainersReader;
use super::fixed::ReadinessGates;
use super::lenient::{
    LenientField, LenientFlag, LenientParsed, LenientSeed, LenientText, NonEmpty, skip,
};
use super::named::GatesReader;
use super::restarts::{RestartPolicies, RestartPolicy};
use super::spec_field::SpecField;
use super::volumes::{PodVolumes, VolumesReader};
use crate::node::StartupTaints;
use podinit_core::pod::{ContainerProbes, ContainerSpec, GateNames};

/// What is read of a `spec`.
#[derive(Default)]
pub struct PodSpec {
    pub node: Option<Arc<str>>,
    /// `nodeName` is set
    pub is_bound: bool,
    pub host_network: bool,
    pub gated: bool,
    pub init_containers: Vec<ContainerSpec>,
    pub containers: Vec<ContainerSpec>,
    /// Of `containers`, where they are wanted
    pub probes: Vec<ContainerProbes>,
    /// Of `initContainers` and `containers`, where they are wanted
    pub(super) init_images: Vec<Arc<str>>,
    pub images: Vec<Arc<str>>,
    pub(crate) restarts: RestartPolicies,
    pub(crate) volumes: PodVolumes,
    /// `resourceClaims` is not empty
    pub(super) has_resource_claims: bool,
    pub readiness_gates: ReadinessGates,
    pub gates: GateNames,
    /// The values of the wanted fields, in their order; empty where none is there
    pub fields: Vec<Box<str>>,
    /// Of a node
    pub unschedulable: bool,
    pub startup_taints: Vec<Arc<str>>,
}

/// Reads a [`PodSpec`].
pub(super) struct SpecReader<'c>(pub &'c mut DecodeContext);

impl<'de> LenientField<'de> for SpecReader<'_> {
    type Value = PodSpec;

    fn absent(self) -> PodSpec {
        PodSpec::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<PodSpec, A::Error> {
        let Self(context) = self;
        let mut spec = PodSpec::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("nodeName") => {
                    let wanted = context.options.node;
                    let share = LenientParsed(|text: &str| {
                        (!text.is_empty()).then(|| wanted.then(|| context.text(text)))
                    });
                    let node = map.next_value_seed(LenientSeed(share))?;
                    spec.is_bound = node.is_some();
                    spec.node = node.flatten();
                }
                Some("restartPolicy") => {
                    spec.restarts.pod =
                        map.next_value_seed(LenientSeed(LenientParsed(RestartPolicy::parse)))?;
                }
                Some("hostNetwork") => {
                    spec.host_network = map.next_value_seed(LenientSeed(LenientFlag))?
                }
                Some("schedulingGates") => {
                    let gates = map.next_value_seed(LenientSeed(GatesReader("name")))?;
                    spec.gated = gates.any;
                    spec.gates.scheduling = gates.names;
                }
                Some("initContainers") => {
                    let reader = ContainersReader {
                        context,
                        probes: None,
                        images: &mut spec.init_images,
                        restarts: &mut spec.restarts,
                    };
                    spec.init_containers = map.next_value_seed(LenientSeed(reader))?;
                }
                Some("containers") => {
                    let reader = ContainersReader {
                        context,
                        probes: Some(&mut spec.probes),
                        images: &mut spec.images,
                        restarts: &mut spec.restarts,
                    };
                    spec.containers = map.next_value_seed(LenientSeed(reader))?;
                }
                Some("volumes") => {
                    spec.volumes = map.next_value_seed(LenientSeed(VolumesReader(context)))?;
                }
                Some("resourceClaims") => {
                    spec.has_resource_claims = map.next_value_seed(LenientSeed(NonEmpty))?;
                }
                Some("readinessGates") => {
                    let gates = map.next_value_seed(LenientSeed(GatesReader("conditionType")))?;
                    spec.readiness_gates =
                        ReadinessGates { any: gates.any, in_place_update: gates.in_place_update };
                    spec.gates.readiness = gates.names;
                }
                Some("unschedulable") => {
                    spec.unschedulable = map.next_value_seed(LenientSeed(LenientFlag))?;
                }
                Some("taints") => {
                    spec.startup_taints = map.next_value_seed(LenientSeed(StartupTaints))?;
                }
                key => {
                    let wanted = &context.options.spec_fields;
                    let place = key.and_then(|key| SpecField::place(key, wanted));
                    let Some(place) = place else {
                        skip(&mut map)?;
                        continue;
                    };
                    let value = map.next_value_seed(LenientSeed(LenientText))?.unwrap_or_default();
                    spec.fields.resize(wanted.len(), Box::default());
                    spec.fields[place] = SpecField::value(&value);
                }
            }
        }
        let PodSpec { restarts, containers, .. } = &mut spec;
        restarts.apply(containers);
        Ok(spec)
    }
}
