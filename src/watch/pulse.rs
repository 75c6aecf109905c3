//! The times of one open watch: what its silence means, and when it has proved itself.

use tokio::time::Instant;

use super::config::ReflectorConfig;

/// When the API server was heard in this watch, and since when it delivers what was missed.
#[derive(Debug)]
pub(super) struct Pulse {
    opened: Instant,
    last_byte: Option<Instant>,
    /// Since when the missed events have been coming in; `None` while in sync, and after a
    /// silence that has not been broken
    settling: Option<Instant>,
}

/// What a moment in the life of a watch calls for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// It has been silent for so long that it is taken for dead
    pub(super) dead: bool,
    /// It has been silent for so long that it no longer counts as in sync
    pub(super) stale: bool,
    /// It has lasted
    pub(super) proven: bool,
    /// What was missed has been delivered
    pub(super) settled: bool,
}

impl Pulse {
    /// A watch that was opened now, by a list-watch that is in sync or not.
    pub(super) fn opened(synced: bool) -> Self {
        let opened = Instant::now();
        Self {
            opened,
            last_byte: None,
            settling: (!synced).then_some(opened),
        }
    }

    /// Bytes arrived.
    pub(super) fn heard(&mut self, synced: bool) {
        let now = Instant::now();
        self.last_byte = Some(now);
        if !synced {
            self.settling.get_or_insert(now);
        }
    }

    /// Whether any byte has arrived.
    pub(super) const fn spoke(&self) -> bool {
        self.last_byte.is_some()
    }

    /// How long the watch has been open.
    pub(super) fn lived(&self) -> std::time::Duration {
        self.opened.elapsed()
    }

    /// Ends the settling, and says whether there was one.
    pub(super) const fn settle(&mut self) -> bool {
        self.settling.take().is_some()
    }

    /// What is due now.
    pub(super) fn due(&self, config: &ReflectorConfig, synced: bool) -> Due {
        let now = Instant::now();
        Due {
            dead: now >= self.dead_at(config),
            stale: synced && now >= self.stale_at(config),
            proven: now >= self.proven_at(config),
            settled: self.settled_at(config).is_some_and(|at| now >= at),
        }
    }

    /// When something is due next.
    pub(super) fn next_due(&self, config: &ReflectorConfig, synced: bool, proven: bool) -> Instant {
        let stale = synced.then(|| self.stale_at(config));
        let proof = (!proven).then(|| self.proven_at(config));
        [stale, proof, self.settled_at(config)]
            .into_iter()
            .flatten()
            .fold(self.dead_at(config), Instant::min)
    }

    fn last_contact(&self) -> Instant {
        self.last_byte.unwrap_or(self.opened)
    }

    fn dead_at(&self, config: &ReflectorConfig) -> Instant {
        self.last_contact() + config.idle_timeout
    }

    fn stale_at(&self, config: &ReflectorConfig) -> Instant {
        self.last_contact() + config.stale_after
    }

    fn proven_at(&self, config: &ReflectorConfig) -> Instant {
        self.opened + config.proven_after
    }

    fn settled_at(&self, config: &ReflectorConfig) -> Option<Instant> {
        self.settling.map(|since| {
            let quiet = self.last_contact().max(since) + config.settle_quiet;
            quiet.min(since + config.settle_longest)
        })
    }
}
