//! How a list-watch behaves: deadlines, sizes, waits.

use std::ops::RangeInclusive;
use std::time::Duration;

use podinit_decode::ObjectEncoding;

/// How lists are requested. Where the first two turn out not to work, pages are requested instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListMode {
    /// Each in one answer, which the API server takes from its cache
    #[default]
    Whole,
    /// As the beginning of a watch (WatchList, KEP-3157)
    Stream,
    /// In pages
    Pages,
}

/// The settings of a list-watch. The defaults are right for production; tests choose others.
#[derive(Clone, Debug)]
pub struct ReflectorConfig {
    /// The encoding to ask for. API servers that do not offer it answer in JSON
    pub encoding: ObjectEncoding,
    /// How to request lists
    pub lists: ListMode,
    /// Between two lists that look for what the watch has lost without a sign; `None` for no such list
    pub reconcile_interval: Option<Duration>,
    /// Pods per page of a list
    pub page_limit: u32,
    /// Largest list page, in bytes; a longer one is requested again with fewer pods. Of a list in one answer,
    /// the most bytes that are held undecoded
    pub max_page_bytes: usize,
    /// Largest watch event, in bytes; a longer one is skipped
    pub max_line_bytes: usize,
    /// Until the API server begins to answer
    pub header_timeout: Duration,
    /// Between two pieces of a list page
    pub chunk_timeout: Duration,
    /// For a whole list page, however steadily it trickles
    pub page_timeout: Duration,
    /// For a list in one answer, however steadily it trickles. API servers end theirs after a minute
    pub list_timeout: Duration,
    /// Without a byte in an open watch, after which it is taken for dead
    pub idle_timeout: Duration,
    /// Without a byte in an open watch, after which the watch no longer counts as in sync
    pub stale_after: Duration,
    /// Without an open watch, since the last one brought something or ended in order, after which it no longer
    /// counts as in sync. Watches end and are resumed all the time, and connections break, which is no loss of
    /// sync.
    pub reopen_grace: Duration,
    /// After a loss of sync, a resumed watch first delivers what was missed. It counts as in sync again when a
    /// bookmark arrives, or an event no older than the version that the API server states meanwhile, or when it
    /// has been silent for this long once the API server has stated it or refuses to,
    pub settle_quiet: Duration,
    /// or at the latest after this time where the API server states no version, and after `idle_timeout` where it
    /// does.
    pub settle_longest: Duration,
    /// Seconds after which the API server is asked to end a watch, chosen at random.
    ///
    /// API servers send a bookmark about every minute and two seconds before they end a watch, so
    /// this bounds the silence of a healthy but quiet one: with less than `stale_after`, silence
    /// means that something is wrong.
    pub watch_seconds: RangeInclusive<u32>,
    /// A watch that ended sooner than this and brought nothing is not reopened at once
    pub short_watch: Duration,
    /// A watch that lasted this long works, even if nothing happened
    pub progress_after: Duration,
    /// First wait after a failure
    pub backoff_base: Duration,
    /// Longest wait after a failure
    pub backoff_cap: Duration,
    /// Seeds the jitter, so that a test can be repeated; by default it differs in every process
    pub seed: Option<u64>,
}

impl ReflectorConfig {
    /// The random numbers of a list-watch: those of the seed, if there is one.
    pub(crate) fn random(&self) -> fastrand::Rng {
        self.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed)
    }
}

impl Default for ReflectorConfig {
    fn default() -> Self {
        Self {
            encoding: ObjectEncoding::Json,
            lists: ListMode::Whole,
            reconcile_interval: None,
            page_limit: 500,
            max_page_bytes: 32 << 20,
            max_line_bytes: 8 << 20,
            header_timeout: Duration::from_secs(30),
            chunk_timeout: Duration::from_secs(30),
            page_timeout: Duration::from_secs(120),
            list_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(60),
            stale_after: Duration::from_secs(30),
            reopen_grace: Duration::from_secs(2),
            settle_quiet: Duration::from_millis(500),
            settle_longest: Duration::from_secs(10),
            watch_seconds: 22..=28,
            short_watch: Duration::from_secs(1),
            progress_after: Duration::from_secs(10),
            backoff_base: Duration::from_millis(500),
            backoff_cap: Duration::from_secs(30),
            seed: None,
        }
    }
}
