//! The task that carries commits out, and the thread that writes.

use std::sync::{Arc, mpsc as blocking};
use std::time::Duration;
use std::{io, thread};

use anyhow::Context;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use super::commits::Commits;
use super::snapshots::{Request, Snapshot};
use crate::checkpoint::frame::Writer;
use crate::checkpoint::{Disk, Store};

/// How often what has changed is written while nobody scrapes.
const PERIOD: Duration = Duration::from_secs(15);

/// How long the disk may take for one write.
const LONGEST_WRITE: Duration = Duration::from_secs(5);

/// A checkpoint on its way to the disk, and where to tell of its arrival.
type Job = (Writer, oneshot::Sender<io::Result<usize>>);

/// Carries out one commit after the other.
pub(in crate::run) struct Committer {
    commits: Arc<Commits>,
    requests: mpsc::Sender<Request>,
    disk: blocking::SyncSender<Job>,
    /// The last snapshot was not written
    again: bool,
}

impl Committer {
    /// Starts the thread that writes to `store`. It is a thread of its own, and not one that the
    /// runtime waits for, so that a disk that hangs cannot keep the process from ending.
    pub(super) fn start<D: Disk + Send + 'static>(
        store: Store<D>,
        commits: Arc<Commits>,
        requests: mpsc::Sender<Request>,
    ) -> anyhow::Result<Self> {
        // Jobs are handed over one at a time: the next one follows the answer to the one before.
        let (disk, jobs) = blocking::sync_channel(1);
        thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || write(store, &jobs))
            .context("cannot start the thread that writes the checkpoint")?;
        Ok(Self {
            commits,
            requests,
            disk,
            again: false,
        })
    }

    /// Commits when it is wanted, and now and then, until `stop`; then a last time.
    pub(in crate::run) async fn run(mut self, stop: CancellationToken) {
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

    /// Writes what the ingest task knows now. The size of the checkpoint, or `None` if the one on the
    /// disk says it already.
    async fn write(&mut self) -> Result<Option<usize>, String> {
        let (answer, answered) = oneshot::channel();
        let again = self.again;
        let request = Request { again, answer };
        // The ingest task ends after this one; otherwise the process is about to end.
        let ended = |_| "the accounting of pods has ended".to_owned();
        self.requests.send(request).await.map_err(|_| ended(()))?;
        let writer = match answered.await.map_err(|_| ended(()))? {
            Snapshot::Unchanged => return Ok(None),
            Snapshot::Changed(writer) => writer,
        };
        let (done, written) = oneshot::channel();
        let hangs = |_| "the disk does not answer".to_owned();
        // With a job under way and another one waiting, it hangs.
        self.disk.try_send((writer, done)).map_err(|_| hangs(()))?;
        let written = timeout(LONGEST_WRITE, written)
            .await
            .map_err(|_| hangs(()))?;
        let dead = |_| "the thread that writes it has ended".to_owned();
        let written = written.map_err(dead)?;
        written.map(Some).map_err(|error| error.to_string())
    }
}

fn write<D: Disk>(mut store: Store<D>, jobs: &blocking::Receiver<Job>) {
    while let Ok((writer, done)) = jobs.recv() {
        let document = writer.finish();
        let written = store.save(&document).map(|()| document.len());
        // Nobody waits any more when the process ends.
        let _ = done.send(written);
    }
}
