//! The task that carries out commits, and the thread that writes them to disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self as blocking, RecvTimeoutError};
use std::time::Duration;
use std::{io, thread};

use anyhow::Context;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use super::commits::CommitRequests;
use super::snapshots::{SnapshotRequest, StateSnapshot};
use podinit_checkpoint::content::UnsealedCheckpoint;
use podinit_checkpoint::{CheckpointStore, Disk};

/// How often changes are written between scrapes.
const PERIOD: Duration = Duration::from_secs(15);

/// How long the disk may take for one write.
const LONGEST_WRITE: Duration = Duration::from_secs(5);

/// A checkpoint to write, and where to report its size or why it could not be written.
type CommitJob = (Box<UnsealedCheckpoint>, oneshot::Sender<io::Result<usize>>);

/// Carries out commits, one at a time.
pub(crate) struct Committer {
    commits: Arc<CommitRequests>,
    requests: mpsc::Sender<SnapshotRequest>,
    disk: blocking::SyncSender<CommitJob>,
    /// Writing the last snapshot failed
    again: bool,
    /// The last one is where the next process will not find it
    misplaced: Arc<AtomicBool>,
}

impl Committer {
    /// Starts the thread that writes to `store`. The runtime does not wait for this thread, so a disk
    /// that hangs cannot prevent the process from exiting.
    pub(super) fn start<D: Disk + Send + 'static>(
        store: CheckpointStore<D>,
        commits: Arc<CommitRequests>,
        requests: mpsc::Sender<SnapshotRequest>,
    ) -> anyhow::Result<Self> {
        // One job at a time: the next is sent after the answer to the one before.
        let (disk, jobs) = blocking::sync_channel(1);
        let misplaced = Arc::new(AtomicBool::new(false));
        let (found, asked, idle) = (Arc::clone(&misplaced), Arc::clone(&commits), commits.idle);
        let is_misplaced = move || {
            found.store(true, Relaxed);
            asked.want();
        };
        thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || write(store, &jobs, idle, is_misplaced))
            .context("cannot start the thread that writes the checkpoint")?;
        Ok(Self { commits, requests, disk, again: false, misplaced })
    }

    /// Commits when asked and periodically, until `stop`, and then a last time.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut periods = interval_at(Instant::now() + PERIOD, PERIOD);
        periods.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let commits = Arc::clone(&self.commits);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = commits.wanted() => {}
                _ = periods.tick() => {}
            }
            self.commit().await;
        }
        self.commit().await;
    }

    async fn commit(&mut self) {
        let number = self.commits.begin();
        let result = self.write().await;
        self.again = result.is_err();
        let gauges = &self.commits.gauges;
        match &result {
            Ok(Some(bytes)) => gauges.count_success(*bytes),
            Ok(None) => {}
            Err(_) => gauges.count_failure(),
        }
        self.commits.end(number, result.map(|_| ()));
    }

    /// Writes the state of the ingest task. Returns the size of the checkpoint, or `None` if the one on
    /// disk is up to date.
    async fn write(&mut self) -> Result<Option<usize>, String> {
        let (answer, answered) = oneshot::channel();
        let again = self.misplaced.swap(false, Relaxed) || self.again;
        let request = SnapshotRequest { again, answer };
        // Usually the ingest task ends after this one. If it has ended, the process is about to exit.
        let ended = |_| "the accounting of pods has ended".to_owned();
        self.requests.send(request).await.map_err(|_| ended(()))?;
        let unsealed = match answered.await.map_err(|_| ended(()))? {
            StateSnapshot::Unchanged => return Ok(None),
            StateSnapshot::Changed(unsealed) => unsealed,
        };
        let (done, written) = oneshot::channel();
        let hangs = |_| "the disk does not answer".to_owned();
        // It hangs if one job is under way and another one is waiting.
        self.disk.try_send((unsealed, done)).map_err(|_| hangs(()))?;
        let written = timeout(LONGEST_WRITE, written).await.map_err(|_| hangs(()))?;
        let dead = |_| "the thread that writes it has ended".to_owned();
        let written = written.map_err(dead)?;
        written.map(Some).map_err(|error| error.to_string())
    }
}

fn write<D: Disk>(
    mut store: CheckpointStore<D>,
    jobs: &blocking::Receiver<CommitJob>,
    idle: Duration,
    is_misplaced: impl Fn(),
) {
    loop {
        match jobs.recv_timeout(idle) {
            Ok((unsealed, done)) => {
                let document = unsealed.finish();
                let written = store.save(&document).map(|()| document.len());
                // The receiver is gone when the process is exiting.
                let _ = done.send(written);
            }
            Err(RecvTimeoutError::Timeout) if store.is_misplaced() => is_misplaced(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
