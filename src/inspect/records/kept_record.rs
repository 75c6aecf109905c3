//! A record that is kept of a startup that has ended.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use podinit_core::lifecycle::EndedStartup;

/// A record that is kept. Its number tells it from the others, and says in which order startups ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRecord {
    pub number: u64,
    pub startup: Arc<EndedStartup>,
}
