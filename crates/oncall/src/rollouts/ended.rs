//! The newest rollouts that have ended.

use std::collections::VecDeque;
use std::sync::Arc;

use podinit_core::lifecycle::EndedRollout;

/// How many are kept ([§17.5](crate::specification#s17-5)).
const MOST_ENDED: usize = 1_000;

/// The newest rollouts that have ended, the oldest first.
#[derive(Debug, Default)]
pub struct EndedRollouts(VecDeque<Arc<EndedRollout>>);

impl EndedRollouts {
    /// Keeps one, in place of the oldest.
    pub fn push(&mut self, rollout: impl Into<Arc<EndedRollout>>) {
        if self.0.len() == MOST_ENDED {
            self.0.pop_front();
        }
        self.0.push_back(rollout.into());
    }

    /// The kept ones, the oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<EndedRollout>> {
        self.0.iter().cloned().collect()
    }

    /// The kept ones, the newest first.
    pub(crate) fn newest(&self) -> Vec<Arc<EndedRollout>> {
        self.0.iter().rev().cloned().collect()
    }
}
