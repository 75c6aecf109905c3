//! The newest startups that have ended, of which those that were rejected or failed are kept apart: a loop of failures
//! must not push out what starts well ([§13.10](crate::specification#s13-10)).

use std::collections::VecDeque;

use podinit_core::lifecycle::Outcome;

/// How many rejected or failed startups are kept, and how many others: as many as a search for problems takes.
pub(crate) const MOST_NEWEST: usize = 1_000;

/// The newest startups of each kind, the oldest first.
#[derive(Debug)]
pub struct NewestRecords<T> {
    failed: VecDeque<T>,
    others: VecDeque<T>,
}

impl<T> Default for NewestRecords<T> {
    /// No startups yet.
    fn default() -> Self {
        Self { failed: VecDeque::new(), others: VecDeque::new() }
    }
}

impl<T> NewestRecords<T> {
    /// Keeps a startup that ended with `outcome`, in place of the oldest of its kind.
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

    /// The kept startups, the oldest of each kind first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.failed.iter().chain(&self.others)
    }

    /// The kept startups, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.failed.iter_mut().chain(&mut self.others)
    }
}
