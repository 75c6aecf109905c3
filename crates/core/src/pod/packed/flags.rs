//! What of a snapshot is true or not, its phase, and which optional fields it has.

use crate::pod::PodPhase;

/// A set of flags, one bit each.
#[derive(Clone, Copy, Default)]
pub(super) struct BitFlags(u16);

impl BitFlags {
    pub(super) const SUCCEEDED: u16 = 1;
    pub(super) const FAILED: u16 = 1 << 1;
    pub(super) const UNSCHEDULABLE: u16 = 1 << 2;
    pub(super) const NOMINATED_NODE: u16 = 1 << 3;
    pub(super) const TERMINATING: u16 = 1 << 4;
    pub(super) const GATED: u16 = 1 << 5;
    pub(super) const INIT_CONTAINERS: u16 = 1 << 6;
    pub(super) const VOLUMES: u16 = 1 << 7;
    pub(super) const READINESS_GATES: u16 = 1 << 8;
    pub(super) const STATIC: u16 = 1 << 9;
    pub(super) const HOST_NETWORK: u16 = 1 << 10;
    pub(super) const VERSION: u16 = 1 << 11;
    pub(super) const NODE: u16 = 1 << 12;
    pub(super) const WORKLOAD: u16 = 1 << 13;
    pub(super) const IMAGES: u16 = 1 << 14;
    pub(super) const BOUND: u16 = 1 << 15;

    /// The flags that are set.
    pub(super) fn from_flags<const N: usize>(flags: [(u16, bool); N]) -> Self {
        let set = flags.into_iter().filter(|(_, is_set)| *is_set);
        Self(set.fold(0, |flags, (flag, _)| flags | flag))
    }

    pub(super) const fn from_bytes(bytes: [u8; 2]) -> Self {
        Self(u16::from_le_bytes(bytes))
    }

    pub(super) const fn to_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    pub(super) const fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }

    pub(super) const fn phase(self) -> PodPhase {
        match (self.has(Self::SUCCEEDED), self.has(Self::FAILED)) {
            (true, _) => PodPhase::Succeeded,
            (false, true) => PodPhase::Failed,
            (false, false) => PodPhase::Active,
        }
    }
}
