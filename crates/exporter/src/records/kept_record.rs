//! A record that is kept of a startup that has ended.

use std::sync::Arc;

use podinit_core::lifecycle::EndedStartup;

/// A record that is kept. Its number tells it from the others, and says in which order startups ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    pub number: u64,
    pub startup: Arc<EndedStartup>,
}
