//! The newest startups that have ended, of which those that were rejected or failed are kept apart: a loop of failures
//! must not push out what starts well ([§13.10](crate::specification#s13-10)).

use std::collections::VecDeque;

use podinit_core::lifecycle::Outcome;

/// So many are kept of those that were rejected or failed, and so many of the others: as many as a search for problems
/// takes.
pub(crate) const MOST_NEWEST: usize = 1_000;

/// The newest of either kind, the oldest first.
#[derive(Debug)]
pub struct NewestRecords<T> {
    failed: VecDeque<T>,
    others: VecDeque<T>,
}

impl<T> Default for NewestRecords<T> {
    /// None yet.
    fn default() -> Self {
        Self { failed: VecDeque::new(), others: VecDeque::new() }
    }
}

impl<T> NewestRecords<T> {
    /// Keeps one that ended so, in place of the oldest of its kind.
    pub fn push(&mut self, outcome: Outcome, startup: T) {
        let kind = match outcome.is_failure() {
            true => &mut self.failed,
            false => &mut self.others,
        };
        if kind.len() == MOST_NEWEST {
            kind.pop_front();
        }
        kind.push_back(startup);
    }

    /// All of them, the oldest of each kind first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.failed.iter().chain(&self.others)
    }

    /// The same, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.failed.iter_mut().chain(&mut self.others)
    }
}
