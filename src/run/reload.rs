//! Puts changed configuration files in force while the process runs.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::cluster::clock::Clock;
use crate::config_file::reload::{ChangeDetector, Inspection, ReloadStatus};
use crate::config_file::yaml::FileError;
use crate::server::Heartbeat;

/// How often the files are read. After a change of a ConfigMap or a Secret the kubelet takes up to a
/// minute to update its files.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// A configuration that can be read again and replaced.
pub(super) trait Reloadable: Send + 'static {
    /// What the files say
    type Config: Send;

    /// What log lines call it.
    const NAME: &'static str;

    /// The file that names all others.
    fn path(&self) -> &Path;

    /// Reads the files.
    fn inspect(&self) -> Inspection<Self::Config, FileError>;

    /// Exposes the outcome of a reload.
    fn report(&self, status: ReloadStatus);

    /// Replaces the configuration in force. False where nothing uses it any more.
    fn put_in_force(&mut self, config: Self::Config) -> impl Future<Output = bool> + Send;
}

/// Reloads one configuration for as long as the process runs.
pub(super) struct ReloadTask<R> {
    reloadable: R,
    changes: ChangeDetector,
    pub(super) clock: Arc<dyn Clock>,
}

impl<R: Reloadable> ReloadTask<R> {
    /// `changes` knows the files with which the process started.
    pub(super) fn new(reloadable: R, changes: ChangeDetector, clock: Arc<dyn Clock>) -> Self {
        Self {
            reloadable,
            changes,
            clock,
        }
    }

    /// Reads the files every [`POLL_INTERVAL`] until `shutdown`.
    pub(super) async fn run(mut self, shutdown: CancellationToken, heartbeat: Heartbeat) {
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while shutdown.run_until_cancelled(polls.tick()).await.is_some() {
            if !self.poll().await {
                break;
            }
            heartbeat.beat();
        }
        heartbeat.finish();
    }

    /// Reads the files once. Each change is counted and logged once; a broken file changes nothing
    /// else. False where nothing uses the configuration any more.
    pub(super) async fn poll(&mut self) -> bool {
        let inspection = self.reloadable.inspect();
        let Some(result) = self.changes.compare(inspection, self.clock.now()) else {
            return true;
        };
        self.reloadable.report(self.changes.status());
        match result {
            Ok(config) => {
                let file = self.reloadable.path().display();
                tracing::info!(%file, "reloaded {}", R::NAME);
                self.reloadable.put_in_force(config).await
            }
            Err(error) => {
                tracing::warn!("{error}; {} in force is unchanged", R::NAME);
                true
            }
        }
    }
}
