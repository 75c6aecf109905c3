//! Bugs that are planted, to see that they are found.

use podinit::lifecycle::delivery::PodEvent;
use podinit::lifecycle::observation::{Observation, Position};

/// Which bug is planted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bug {
    #[default]
    None,
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
    /// One re-entry is counted twice
    DoublesReturn,
    /// One event gets lost between the watch and the accounting
    LosesEvent,
    /// One deletion gets lost between the watch and the accounting
    LosesDeletion,
    /// One list gets lost between the watch and the accounting
    LosesList,
    /// The watch is not told of an event
    Untold,
}

impl Bug {
    pub const ALL: [Self; 11] = [
        Self::DropsMeasured,
        Self::DoublesMeasured,
        Self::DropsOutcome,
        Self::DoublesDiscovery,
        Self::DropsSlo,
        Self::DoublesSlo,
        Self::DoublesReturn,
        Self::LosesEvent,
        Self::LosesDeletion,
        Self::LosesList,
        Self::Untold,
    ];
}

/// A bug that strikes once, at the n-th opportunity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    pub bug: Bug,
    pub countdown: u32,
}

impl Planted {
    /// How often the observation is counted: once, unless the bug strikes.
    pub fn times(&mut self, observation: &Observation) -> u32 {
        let discovery = |from: Position| from == Position::Undiscovered;
        match (self.bug, observation) {
            (Bug::DropsMeasured, Observation::Measured { .. })
            | (Bug::DropsSlo, Observation::Slo { .. })
            | (
                Bug::DropsOutcome,
                Observation::Moved {
                    to: Position::Finished(_),
                    ..
                },
            ) => u32::from(!self.strikes()),
            (Bug::DoublesMeasured, Observation::Measured { .. })
            | (Bug::DoublesSlo, Observation::Slo { .. })
            | (Bug::DoublesReturn, Observation::Reentered(_)) => 1 + u32::from(self.strikes()),
            (Bug::DoublesDiscovery, Observation::Moved { from, .. }) if discovery(*from) => {
                1 + u32::from(self.strikes())
            }
            _ => 1,
        }
    }

    /// Whether the event gets lost.
    pub fn loses(&mut self, event: &PodEvent) -> bool {
        match (self.bug, event) {
            // Most events but the first and the last of a pod may be made up for by the next one.
            (Bug::LosesEvent, PodEvent::Applied(pod)) => {
                let ready = podinit::pod::ConditionType::Ready;
                pod.conditions.holding(ready).is_some() && self.strikes()
            }
            (Bug::LosesDeletion, PodEvent::Deleted(_))
            | (Bug::LosesList, PodEvent::Listed { .. }) => self.strikes(),
            _ => false,
        }
    }

    fn strikes(&mut self) -> bool {
        let strikes = self.countdown == 1;
        self.countdown = self.countdown.saturating_sub(1);
        strikes
    }
}
