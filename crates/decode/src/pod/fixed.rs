//! What of a pod comes from its metadata and its spec, which most of its versions have in common.

use std::sync::Arc;

use podinit_core::pod::{Claims, ContainerSpec, GateNames, PodInfo, PodUid, Revision};
use podinit_core::timestamp::Timestamp;

/// What is read of the metadata and the spec of a pod, but for what every version changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FixedPart {
    pub uid: PodUid,
    pub info: PodInfo,
    pub revision: Option<Revision>,
    pub created: Option<Timestamp>,
    pub is_static: bool,
    pub is_bound: bool,
    pub gated: bool,
    /// Its gates by name
    pub gates: Option<Arc<GateNames>>,
    /// Without what statuses say; init containers first
    pub containers: Box<[ContainerSpec]>,
    /// How many of them are init containers
    pub init_containers: usize,
    pub is_stateful: bool,
    pub volume_images: Option<Arc<[Arc<str>]>>,
    pub claims: Claims,
    pub claim_names: Option<Arc<[Arc<str>]>>,
    pub readiness_gates: ReadinessGates,
    /// Its restart policy is `Always`, or none that Kubernetes defines
    pub(super) restarts_always: bool,
}

/// What is read of `readinessGates`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadinessGates {
    /// There is one
    pub any: bool,
    /// One is `InPlaceUpdateReady`, of OpenKruise
    pub(super) in_place_update: bool,
}
