//! Puts changed configuration files in force while the process runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::process::signals::ReloadSignal;
use podinit_config::reload::{ChangeDetector, Reloadable};
use podinit_http::Heartbeat;
use podinit_kube::cluster::clock::DeliveryClock;

/// How often the files are read. After a change of a ConfigMap or a Secret the kubelet takes up to a
/// minute to update its files.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Reloads one configuration for as long as the process runs.
pub struct ReloadTask<R> {
    reloadable: R,
    changes: ChangeDetector,
    pub(crate) clock: Arc<dyn DeliveryClock>,
}

impl<R: Reloadable> ReloadTask<R> {
    /// `changes` knows the files with which the process started.
    pub fn new(reloadable: R, changes: ChangeDetector, clock: Arc<dyn DeliveryClock>) -> Self {
        Self { reloadable, changes, clock }
    }

    /// Reads the files every five seconds, and when `reload` requests it, until `shutdown`.
    pub async fn run(
        mut self,
        shutdown: CancellationToken,
        heartbeat: Heartbeat,
        mut reload: ReloadSignal,
    ) {
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                _ = polls.tick() => {}
                () = reload.requested() => {}
            }
            if !self.poll().await {
                break;
            }
            heartbeat.beat();
        }
        heartbeat.finish();
    }

    /// Reads the files once. Each change is counted and logged once; a broken file changes nothing
    /// else. False where nothing uses the configuration any more.
    pub async fn poll(&mut self) -> bool {
        let Some(result) = self.changes.poll(&self.reloadable, self.clock.now()) else {
            return true;
        };
        match result {
            Ok(config) => {
                let file = self.reloadable.path().display();
                tracing::info!(%file, "reloaded {}", R::NAME);
                self.reloadable.put_in_force(config).await
            }
            Err(error) => {
                tracing::warn!("{error}; podinit keeps {} that it read before", R::NAME);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::path::{Path, PathBuf};

    use tokio::sync::mpsc;
    use tokio::time::Instant;

    use super::*;
    use podinit_config::FileError;
    use podinit_config::reload::{ConfigInspection, FileState, ReloadStatus};
    use podinit_core::timestamp::Timestamp;
    use podinit_http::ProcessHealth;

    /// A configuration that is the contents of its file.
    struct Contents {
        path: PathBuf,
        in_force: mpsc::UnboundedSender<Vec<u8>>,
    }

    impl Reloadable for Contents {
        type Config = Vec<u8>;

        const NAME: &'static str = "the contents";

        fn path(&self) -> &Path {
            &self.path
        }

        fn inspect(&self) -> ConfigInspection<Vec<u8>, FileError> {
            let read = fs::read(&self.path);
            let files = vec![FileState::from_read(&read)];
            let result = Ok(read.unwrap());
            ConfigInspection { files, result }
        }

        fn report(&self, _status: ReloadStatus) {}

        async fn put_in_force(&mut self, config: Vec<u8>) -> bool {
            self.in_force.send(config).is_ok()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn files_are_read_again_when_that_is_requested() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (in_force, mut put_in_force) = mpsc::unbounded_channel();
        let path = file.path().to_owned();
        let contents = Contents { path, in_force };
        let clock: Arc<dyn DeliveryClock> = Arc::new(|| Timestamp::from_seconds(0));
        let (changes, _) = ChangeDetector::start(contents.inspect(), clock.now()).unwrap();
        let task = ReloadTask::new(contents, changes, clock);
        let (request, reload) = ReloadSignal::channel();
        let heartbeat = ProcessHealth::new().register_task("test", Duration::MAX);
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(task.run(shutdown.clone(), heartbeat, reload));
        // The first poll, at once.
        tokio::time::sleep(Duration::from_secs(1)).await;
        fs::write(file.path(), "changed").unwrap();
        let began = Instant::now();
        request.send(()).unwrap();
        assert_eq!(put_in_force.recv().await.unwrap(), b"changed");
        assert_eq!(began.elapsed(), Duration::ZERO);
        shutdown.cancel();
        running.await.unwrap();
    }
}
