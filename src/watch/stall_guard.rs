//! The deadlines of one open watch: when silence makes it stale or dead, and when it is proven to
//! work.

use tokio::time::Instant;

use super::config::ReflectorConfig;

/// When data last arrived in this watch, and since when it delivers what was missed.
#[derive(Debug)]
pub(super) struct StallGuard {
    opened: Instant,
    last_byte: Option<Instant>,
    /// Since when missed events have been arriving; `None` while in sync, and while a silence
    /// that lost sync lasts
    settling: Option<Instant>,
}

/// Which deadlines have passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Silent for so long that it is given up as dead
    pub(super) dead: bool,
    /// Silent for so long that it no longer counts as in sync
    pub(super) stale: bool,
    /// Open for so long that it works
    pub(super) made_progress: bool,
    /// What was missed has been delivered
    pub(super) settled: bool,
}

impl StallGuard {
    /// A watch that was opened now, by a list-watch that is in sync or not.
    pub(super) fn opened(synced: bool) -> Self {
        let opened = Instant::now();
        Self {
            opened,
            last_byte: None,
            settling: (!synced).then_some(opened),
        }
    }

    /// Bytes arrived at `now`.
    pub(super) fn heard(&mut self, now: Instant, synced: bool) {
        self.last_byte = Some(now);
        if !synced {
            self.settling.get_or_insert(now);
        }
    }

    /// Whether any byte has arrived.
    pub(super) const fn has_data(&self) -> bool {
        self.last_byte.is_some()
    }

    /// How long the watch has been open.
    pub(super) fn open_for(&self) -> std::time::Duration {
        self.opened.elapsed()
    }

    /// Ends the settling. True if the watch was settling.
    pub(super) const fn settle(&mut self) -> bool {
        self.settling.take().is_some()
    }

    /// What is due at `now`.
    pub(super) fn due(&self, config: &ReflectorConfig, now: Instant, synced: bool) -> Due {
        Due {
            dead: now >= self.dead_at(config),
            stale: synced && now >= self.stale_at(config),
            made_progress: now >= self.progress_at(config),
            settled: self.settled_at(config).is_some_and(|at| now >= at),
        }
    }

    /// When something is due next.
    pub(super) fn next_due(
        &self,
        config: &ReflectorConfig,
        synced: bool,
        made_progress: bool,
    ) -> Instant {
        let stale = synced.then(|| self.stale_at(config));
        let proof = (!made_progress).then(|| self.progress_at(config));
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

    fn progress_at(&self, config: &ReflectorConfig) -> Instant {
        self.opened + config.progress_after
    }

    fn settled_at(&self, config: &ReflectorConfig) -> Option<Instant> {
        self.settling.map(|since| {
            let quiet = self.last_contact().max(since) + config.settle_quiet;
            quiet.min(since + config.settle_longest)
        })
    }
}
