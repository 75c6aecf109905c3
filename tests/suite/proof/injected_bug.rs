//! Bugs that a trial injects, to show that the audit finds them.

use podinit_core::lifecycle::{PodEvent, PodObservation, PodState};
use podinit_core::pod::PodUid;

/// Declares the bugs, and the list of them.
macro_rules! bugs {
    ($($(#[doc = $says:literal])* $bug:ident,)*) => {
        /// Which bug is injected.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Bug {
            #[default]
            None,
            $($(#[doc = $says])* $bug,)*
        }

        impl Bug {
            pub const ALL: &'static [Self] = &[$(Self::$bug),*];
        }
    };
}

bugs! {
    /// One duration is not observed
    DropsMeasured,
    /// One duration is observed twice
    DoublesMeasured,
    /// One outcome is not counted
    DropsOutcome,
    /// One pod is discovered twice
    DoublesDiscovery,
    /// One SLO event is not counted
    DropsSlo,
    /// One SLO event is counted twice
    DoublesSlo,
    /// All events of one pod get lost between the watch and the accounting
    LosesPod,
    /// Deletions get lost between the watch and the accounting
    LosesDeletions,
    /// All lists but the first get lost between the watch and the accounting
    LosesLists,
    /// The accounting does not learn that the API server was restored from a backup
    IgnoresRollback,
    /// An event is not delivered to the watch
    Undelivered,
    /// A process that goes on from a checkpoint watches from a later version than that of the checkpoint
    ResumesLate,
    /// A process that goes on from a checkpoint has the counters, but knows no pod
    KnowsNoPod,
    /// A process that goes on from a checkpoint knows the pods, but counts from zero
    CountsFromZero,
    /// A shard counts the pods of others that the API server sends it
    CountsAllShards,
    /// A shard whose pods are others than before keeps those that it had
    KeepsMoved,
}

/// A bug. Those that fault_at once do so at the n-th opportunity.
#[derive(Clone, Copy, Debug, Default)]
pub struct InjectedBug {
    pub bug: Bug,
    pub countdown: u32,
    /// The pod that it has struck
    pub lost: Option<PodUid>,
}

impl InjectedBug {
    /// How often the observation is counted: once, unless the bug is triggered.
    pub fn times(&mut self, observation: &PodObservation) -> u32 {
        let discovery = |from: PodState| from == PodState::Undiscovered;
        match (self.bug, observation) {
            (Bug::DropsMeasured, PodObservation::Measured { .. })
            | (Bug::DropsSlo, PodObservation::Slo { .. })
            | (Bug::DropsOutcome, PodObservation::Moved { to: PodState::Finished(_), .. }) => {
                u32::from(!self.triggers())
            }
            (Bug::DoublesMeasured, PodObservation::Measured { .. })
            | (Bug::DoublesSlo, PodObservation::Slo { .. }) => 1 + u32::from(self.triggers()),
            (Bug::DoublesDiscovery, PodObservation::Moved { from, .. }) if discovery(*from) => {
                1 + u32::from(self.triggers())
            }
            _ => 1,
        }
    }

    /// Whether the event gets lost.
    pub fn loses(&mut self, event: &PodEvent) -> bool {
        match (self.bug, event) {
            (Bug::LosesPod, PodEvent::Applied(pod) | PodEvent::Deleted(pod)) => {
                // The pod is new, or a list has delivered it before.
                if pod.started.is_none() && self.triggers() {
                    self.lost = Some(pod.uid);
                }
                self.lost == Some(pod.uid)
            }
            (Bug::LosesDeletions, PodEvent::Deleted(_))
            | (Bug::IgnoresRollback, PodEvent::RolledBack) => true,
            (Bug::LosesLists, PodEvent::Listed { .. }) => {
                // It has struck once the first one has been.
                let first = self.countdown > 0;
                self.countdown = 0;
                !first
            }
            _ => false,
        }
    }

    fn triggers(&mut self) -> bool {
        let triggers = self.countdown == 1;
        self.countdown = self.countdown.saturating_sub(1);
        triggers
    }
}
