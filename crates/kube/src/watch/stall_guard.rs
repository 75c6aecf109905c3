//! The deadlines of one open watch: when silence makes it stale or dead, and when it is proven to
//! work.

use std::time::Duration;

use tokio::time::Instant;

use super::config::ReflectorConfig;

/// What arrives so much later than the API server stated or was to do it shows the past.
pub(super) const IN_TIME: Duration = Duration::from_secs(5);

/// When data last arrived in this watch, and since when it delivers what was missed.
#[derive(Debug)]
pub(super) struct StallGuard {
    opened: Instant,
    last_byte: Option<Instant>,
    /// What was missed is arriving; `None` while in sync, and while a silence that lost sync lasts
    settling: Option<SettlingDelivery>,
}

/// How the delivery of what was missed goes.
#[derive(Clone, Copy, Debug)]
struct SettlingDelivery {
    since: Instant,
    stated: StatedVersion,
}

/// The version that the API server is at, as it stated since what was missed began to arrive. A watch that has come
/// so far has delivered all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatedVersion {
    /// It has not answered yet
    Pending,
    /// It does not state it
    Unknown,
    /// So it stated at this moment
    Version(u64, Instant),
}

/// Which deadlines have passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PassedDeadlines {
    /// Silent for so long that it is given up as dead
    pub(super) dead: bool,
    /// Silent for so long that it no longer counts as in sync
    pub(super) stale: bool,
    /// Open for so long that it works
    pub(super) made_progress: bool,
    /// What was missed has been delivered
    pub(super) settled: Option<SettledState>,
}

/// Whether it is known that what was missed has been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettledState {
    Known,
    /// It has taken so long, or the API server does not state its version
    Assumed,
}

impl SettlingDelivery {
    const fn new(since: Instant) -> Self {
        Self { since, stated: StatedVersion::Pending }
    }
}

impl StallGuard {
    /// A watch that was opened now, by a list-watch that is in sync or not.
    pub(super) fn opened(synced: bool) -> Self {
        let opened = Instant::now();
        Self { opened, last_byte: None, settling: (!synced).then(|| SettlingDelivery::new(opened)) }
    }

    /// Bytes arrived at `now`.
    pub(super) fn heard(&mut self, now: Instant, synced: bool) {
        self.last_byte = Some(now);
        if !synced {
            self.settling.get_or_insert(SettlingDelivery::new(now));
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

    /// Whether the API server is to be asked for its version, and has not answered yet.
    pub(super) fn wants_version(&self) -> bool {
        self.settling.is_some_and(|settling| settling.stated == StatedVersion::Pending)
    }

    /// What the API server says of its version.
    pub(super) const fn states(&mut self, stated: StatedVersion) {
        if let Some(settling) = &mut self.settling {
            settling.stated = stated;
        }
    }

    /// Whether the watch was settling, and has delivered all of what was missed, now that it has come to `version`. After a
    /// silence, one that comes there late shows the past: the API server is to be asked again.
    pub(super) fn has_come_to(&mut self, version: Option<u64>, after_silence: bool) -> bool {
        let Some(SettlingDelivery { stated: StatedVersion::Version(stated, at), .. }) =
            self.settling
        else {
            return false;
        };
        let has_come = version >= Some(stated);
        if has_come && after_silence && at.elapsed() > IN_TIME {
            self.settling = Some(SettlingDelivery::new(Instant::now()));
            return false;
        }
        has_come
    }

    /// Ends the settling. True if the watch was settling.
    pub(super) const fn settle(&mut self) -> bool {
        self.settling.take().is_some()
    }

    /// What is due at `now`. After a silence, silence shows no more that nothing was missed.
    pub(super) fn due(
        &self,
        config: &ReflectorConfig,
        now: Instant,
        synced: bool,
        after_silence: bool,
    ) -> PassedDeadlines {
        PassedDeadlines {
            dead: now >= self.dead_at(config),
            stale: synced && now >= self.stale_at(config),
            made_progress: now >= self.progress_at(config),
            settled: self
                .settled_at(config, after_silence)
                .filter(|(at, _)| now >= *at)
                .map(|(_, settled)| settled),
        }
    }

    /// When something is due next.
    pub(super) fn next_due(
        &self,
        config: &ReflectorConfig,
        synced: bool,
        after_silence: bool,
        made_progress: bool,
    ) -> Instant {
        let stale = synced.then(|| self.stale_at(config));
        let proof = (!made_progress).then(|| self.progress_at(config));
        let settled = self.settled_at(config, after_silence).map(|(at, _)| at);
        [stale, proof, settled].into_iter().flatten().fold(self.dead_at(config), Instant::min)
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

    fn settled_at(
        &self,
        config: &ReflectorConfig,
        after_silence: bool,
    ) -> Option<(Instant, SettledState)> {
        let SettlingDelivery { since, stated } = self.settling?;
        let quiet = self.last_contact().max(since) + config.settle_quiet;
        let (quiet, longest) = match stated {
            StatedVersion::Pending => (None, config.settle_longest),
            StatedVersion::Unknown => (Some((quiet, SettledState::Assumed)), config.settle_longest),
            StatedVersion::Version(..) if after_silence => (None, config.idle_timeout),
            StatedVersion::Version(..) => (Some((quiet, SettledState::Known)), config.idle_timeout),
        };
        let longest = (since + longest, SettledState::Assumed);
        Some(match quiet {
            Some(quiet) if quiet.0 <= longest.0 => quiet,
            _ => longest,
        })
    }
}
