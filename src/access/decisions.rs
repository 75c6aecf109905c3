//! Decisions that stay valid for a while.

use std::collections::HashMap;

use tokio::time::Instant;

use super::fingerprint::Fingerprint;
use crate::server::Verdict;

/// A bounded cache of decisions. When it is full, the one that expires next is evicted: refusals expire
/// sooner than grants, so unknown clients cannot evict known ones.
#[derive(Debug)]
pub(super) struct Decisions {
    most: usize,
    entries: HashMap<Fingerprint, Decision>,
}

#[derive(Clone, Copy, Debug)]
struct Decision {
    verdict: Verdict,
    until: Instant,
}

impl Decisions {
    /// Room for `most` decisions, at least one.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            entries: HashMap::new(),
        }
    }

    /// The decision, if it is still valid at `now`.
    pub(super) fn get(&self, key: &Fingerprint, now: Instant) -> Option<Verdict> {
        let decision = self.entries.get(key)?;
        (now < decision.until).then_some(decision.verdict)
    }

    /// Caches a decision that expires at `until`.
    pub(super) fn put(&mut self, key: Fingerprint, verdict: Verdict, until: Instant) {
        if self.entries.len() >= self.most && !self.entries.contains_key(&key) {
            let next = self
                .entries
                .iter()
                .min_by_key(|(_, decision)| decision.until);
            let next = next.map(|(key, decision)| (*key, decision.until));
            if let Some((next, forgotten)) = next {
                if forgotten > until {
                    return;
                }
                self.entries.remove(&next);
            }
        }
        self.entries.insert(key, Decision { verdict, until });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::*;
    use crate::access::fingerprint::Fingerprints;

    #[tokio::test(start_paused = true)]
    async fn decisions_expire() {
        let fingerprints = Fingerprints::new().unwrap();
        let key = fingerprints.of(&[b"a"]);
        let mut decisions = Decisions::new(8);
        let now = Instant::now();
        let until = now + Duration::from_secs(10);
        decisions.put(key, Verdict::Granted, until);
        let just_before = until - Duration::from_nanos(1);
        assert_eq!(decisions.get(&key, just_before), Some(Verdict::Granted));
        assert_eq!(decisions.get(&key, until), None);
        assert_eq!(decisions.get(&fingerprints.of(&[b"b"]), now), None);
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_clients_cannot_evict_known_ones() {
        let fingerprints = Fingerprints::new().unwrap();
        let known = fingerprints.of(&[b"known"]);
        let mut decisions = Decisions::new(8);
        let now = Instant::now();
        decisions.put(known, Verdict::Granted, now + Duration::from_secs(120));
        for stranger in 0..1000_u32 {
            let key = fingerprints.of(&[&stranger.to_be_bytes()]);
            decisions.put(key, Verdict::Forbidden, now + Duration::from_secs(10));
            assert_eq!(decisions.get(&key, now), Some(Verdict::Forbidden));
            assert!(decisions.entries.len() <= 8);
        }
        assert_eq!(decisions.get(&known, now), Some(Verdict::Granted));
    }
}
