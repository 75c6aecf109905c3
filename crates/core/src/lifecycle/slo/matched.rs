//! Which SLOs have matched no pod, and which kinds in them no pod has had ([§6.13](crate::specification#s6-13)): a
//! mistake in their selection shows nowhere else, because what counts nothing misses nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SloRule;
use crate::pod::{PodInfo, Workload};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// An SLO, or a kind in it, is named once it has been without a pod for so long.
const UNMATCHED_AFTER_NANOS: i64 = 600 * NANOS_PER_SECOND;

/// The most kinds that are remembered. Where pods have more, no kind is reported as without a pod.
const MOST_KINDS: usize = 64;

/// An SLO that has matched no pod for 10 minutes, or that names a kind which no pod has had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "unmatched_slo")]
pub struct UnmatchedSlo {
    /// Which SLO
    pub slo: Arc<str>,
    /// Since when it is in force
    pub since: Timestamp,
    /// Whether it has matched a pod since
    pub matched: bool,
    /// Those of its owner_kinds that no pod has had
    pub kinds: Vec<Box<str>>,
}

/// Since when an SLO is in force, and whether it has matched a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Matched {
    /// `None` before the first list
    since: Option<Timestamp>,
    matched: bool,
}

/// Which SLOs in force have matched a pod, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SloMatches {
    slos: Vec<Matched>,
    /// The kinds of the owners of pods; `None` where that is not known
    kinds: Option<BTreeSet<Box<str>>>,
}

impl SloMatches {
    /// SLOs that come into force with the first list.
    pub(in crate::lifecycle) fn new(rules: &[SloRule]) -> Self {
        Self { slos: vec![Matched::default(); rules.len()], kinds: Some(BTreeSet::new()) }
    }

    /// SLOs with unknown matches, which are never reported.
    pub(in crate::lifecycle) fn unknown(rules: &[SloRule]) -> Self {
        Self { slos: vec![Matched { since: None, matched: true }; rules.len()], kinds: None }
    }

    /// Puts the SLOs in force at `now`, unless they are: a list was delivered.
    pub(in crate::lifecycle) fn begin(&mut self, now: Timestamp) {
        for slo in &mut self.slos {
            slo.since.get_or_insert(now);
        }
    }

    /// Moves no beginning past `now`, which the corrected clock reads.
    pub(in crate::lifecycle) fn set_time(&mut self, now: Timestamp) {
        for slo in &mut self.slos {
            slo.since = slo.since.map(|since| now.min(since));
        }
    }

    /// Counts a pod, which was discovered now or while other SLOs were in force.
    pub(in crate::lifecycle) fn see(&mut self, rules: &[SloRule], pod: &PodInfo) {
        for (slo, rule) in self.slos.iter_mut().zip(rules) {
            slo.matched = slo.matched || rule.matches(pod);
        }
        let Some((kinds, owner)) = self.kinds.as_mut().zip(pod.workload.as_ref()) else {
            return;
        };
        if !kinds.contains(&owner.kind) {
            kinds.insert(owner.kind.clone());
            if kinds.len() > MOST_KINDS {
                self.kinds = None;
            }
        }
    }

    /// Puts the SLOs `new` in force at `now` in place of `old`. An SLO that selects the same pods as an old one keeps
    /// its match.
    pub(in crate::lifecycle) fn replace(
        &mut self,
        old: &[SloRule],
        new: &[SloRule],
        now: Option<Timestamp>,
    ) {
        let known = |rule: &SloRule| {
            let same = old.iter().position(|other| {
                other.namespaces == rule.namespaces && other.owner_kinds == rule.owner_kinds
            });
            same.and_then(|place| self.slos.get(place)).copied()
        };
        let in_force = Matched { since: now, matched: false };
        self.slos = new.iter().map(|rule| known(rule).unwrap_or(in_force)).collect();
    }

    /// The SLOs to report once everything is accounted for until `until`.
    pub(in crate::lifecycle) fn unmatched(
        &self,
        rules: &[SloRule],
        until: Timestamp,
    ) -> Vec<UnmatchedSlo> {
        let has_had = |kind: &str| {
            let known = self.kinds.as_ref();
            known.is_none_or(|known| known.iter().any(|one| Workload::of_kind_is(one, kind)))
        };
        let slos = rules.iter().zip(&self.slos).filter_map(|(rule, slo)| {
            let since = slo.since?;
            let kinds = rule.owner_kinds.iter().filter(|kind| !has_had(kind));
            let kinds: Vec<_> = kinds.cloned().collect();
            let is_named = until.nanos_since(since) >= UNMATCHED_AFTER_NANOS
                && (!slo.matched || !kinds.is_empty());
            let (slo, matched) = (Arc::clone(&rule.name), slo.matched);
            is_named.then_some(UnmatchedSlo { slo, since, matched, kinds })
        });
        slos.collect()
    }
}
