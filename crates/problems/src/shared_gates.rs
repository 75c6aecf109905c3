//! Readiness gates that one controller names for each pod or each target ([§13.6](crate::specification#s13-6)).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podinit_core::lifecycle::Cause;

/// So many names with the same prefix are one value.
const LEAST_NAMES: usize = 3;

/// The prefixes that stand for the names of readiness gates.
#[derive(Debug, Default)]
pub(super) struct SharedGates(BTreeSet<Arc<str>>);

impl SharedGates {
    /// Those of the readiness gates that hold pods, which may come more than once.
    pub(super) fn new<'a>(gates: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (prefix, name) in gates.filter_map(|gate| gate.split_once('/')) {
            let names = names.entry(prefix).or_default();
            // More names change nothing.
            if names.len() < LEAST_NAMES {
                names.insert(name);
            }
        }
        let shared = names.into_iter().filter(|(_, names)| names.len() >= LEAST_NAMES);
        Self(shared.map(|(prefix, _)| prefix.into()).collect())
    }

    /// What stands for `gate` where it gives `cause`.
    pub(super) fn shown<'a>(&self, cause: Cause, gate: &'a str) -> &'a str {
        match gate.split_once('/') {
            Some((prefix, _)) if cause == Cause::ReadinessGate && self.0.contains(prefix) => prefix,
            _ => gate,
        }
    }
}
