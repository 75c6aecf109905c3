//! The form of pods and of records in a checkpoint, stated without the types of the core: what older checkpoints
//! hold, and what is written again of them.

use std::time::Duration;

use podinit_core::pod::{PodInfo, PodUid};
use serde::Serialize;

/// Nanoseconds since the epoch.
pub(super) type Time = i64;

#[derive(Clone, Debug, Serialize)]
pub(super) struct PodForm {
    pub uid: [u8; 16],
    /// Version, source, static or not, second of creation, offsets of the conditions
    pub last_seen: (u64, u16, bool, u32, [u32; 5]),
    pub info: PodInfo,
    pub startup: StartupForm,
    pub discovered: Time,
    pub slos: Vec<(u16, bool)>,
    pub evidence: EvidenceForm,
    pub images: Vec<(Option<String>, bool, ImageForm)>,
    pub is_stateful: bool,
    pub has_startup_sli: bool,
    pub lacks_network_condition: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct StartupForm {
    pub times: [Option<Time>; 9],
    pub reached: u16,
    pub types_seen: u16,
    pub decided: u16,
    pub kept_evidence: Option<Time>,
    pub has_init_containers: bool,
    pub has_readiness_gates: bool,
    pub seen_gated: bool,
    pub seen_unschedulable: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct EvidenceForm {
    pub terminating: bool,
    pub scheduling: &'static str,
    pub acknowledged: bool,
    pub warning: Option<&'static str>,
    pub sandbox_not_ready: Option<&'static str>,
    pub containers: Vec<ContainerForm>,
    pub has_more_containers: bool,
    pub disruption: Option<&'static str>,
}

impl Default for EvidenceForm {
    fn default() -> Self {
        Self {
            terminating: false,
            scheduling: "queue",
            acknowledged: false,
            warning: None,
            sandbox_not_ready: None,
            containers: Vec::new(),
            has_more_containers: false,
            disruption: None,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct ContainerForm {
    pub name: &'static str,
    pub init: bool,
    pub restartable: bool,
    pub problem: Option<&'static str>,
    pub succeeded: bool,
    pub started: bool,
    pub pulling: bool,
    pub pulled: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(super) enum ImageForm {
    Unknown,
    Present,
    Pulled { end: Option<Time>, with_wait: Duration },
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct CollectedForm {
    /// Stage with cause, and milliseconds since the epoch
    pub causes: Vec<(u8, u64)>,
    pub preexisting: u16,
    pub network_evidence: Option<&'static str>,
    pub network_time: Option<&'static str>,
    pub verdicts: Vec<Option<VerdictForm>>,
    pub message: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) enum VerdictForm {
    Good,
    Bad(Option<u8>),
    Excluded(&'static str),
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct EndedForm {
    pub pod: PodForm,
    pub collected: CollectedForm,
    pub images: Vec<String>,
    pub waiting: u8,
    pub outcome: &'static str,
    pub at: Time,
}

/// The section `pods` has this before a pod whose startup is under way.
pub(super) const IN_FLIGHT: u8 = 0;

/// The bytes of a UID.
pub(super) fn uid(text: &str) -> [u8; 16] {
    let [high, low] = PodUid::from_text(text).words().map(u128::from);
    (high << 64 | low).to_be_bytes()
}
