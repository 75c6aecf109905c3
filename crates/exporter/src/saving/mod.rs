//! The checkpoint in the process: restoring the state from the last one, and writing the next.
//!
//! ```text
//! scrape ──asks──▶ Commits ──▶ Committer ──asks──▶ Snapshots (ingest task)
//!        ◀─durable─┘              │ ◀───── bytes ────┘
//!                                 └──▶ Store (thread)
//! ```

mod commits;
mod committer;
mod identity;
mod restore;
mod snapshots;
mod source_map;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

pub(crate) use commits::CommitRequests;
pub(crate) use committer::Committer;
pub use snapshots::SnapshotService;

use crate::CheckpointGauges;
use crate::ingest_sink::IngestSink;
use podinit_checkpoint::CheckpointLoad;
use podinit_checkpoint::content::{self, ContentError, DecodedCheckpoint, SavedScope};
use podinit_checkpoint::{
    CheckpointStore, Disk, LoadedCheckpoint, OpenError, OpenFault, RealDisk, frame,
};
use podinit_core::lifecycle::{Tracker, TrackerConfig};
use podinit_core::shard::Shard;
use podinit_instruments::FamilyDoc;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::probe::ProbeResult;
use source_map::SourceMap;

/// The checkpoint of a state directory.
pub struct StateCheckpoint<D = RealDisk> {
    store: CheckpointStore<D>,
    /// Its directory, for errors
    dir: PathBuf,
    /// Which shard the process is
    shard: Shard,
    /// Whose counts can be restored
    families: Vec<FamilyDoc>,
    pub(crate) gauges: Arc<CheckpointGauges>,
    /// What it holds, until the process has been restored from it
    found: Option<DecodedCheckpoint>,
    commits: Arc<CommitRequests>,
    requests: mpsc::Sender<snapshots::SnapshotRequest>,
}

/// What is known of the cluster before the state is restored.
pub(crate) struct ClusterRecovery<'a> {
    /// The API server that is going to be watched
    pub(crate) cluster: &'a ClusterClient,
    /// By scope: the pods that were listed in it
    pub(crate) probed: &'a [ProbeResult],
}

/// The parts of the process that are restored from a checkpoint.
pub(crate) struct RestoredParts<'a> {
    pub(crate) tracker: &'a mut Tracker,
    pub(crate) config: TrackerConfig,
    pub(crate) sink: &'a mut IngestSink,
    pub(crate) snapshots: &'a mut SnapshotService,
    pub(crate) watch: &'a mut WatchConfig,
}

impl StateCheckpoint {
    /// Opens the checkpoint of `shard` in `dir` and locks the directory until this process ends. Reads nothing of it yet;
    /// of what it holds, only counts of `families` are restored.
    ///
    /// # Errors
    /// When the directory cannot be used.
    pub fn open(
        dir: &Path,
        shard: Shard,
        families: Vec<FamilyDoc>,
    ) -> Result<(Self, SnapshotService), OpenError> {
        Ok(Self::unread(CheckpointStore::open(dir)?, dir, shard, families))
    }
}

impl<D: Disk + Send + 'static> StateCheckpoint<D> {
    /// The checkpoint in `store`, which is still to be read.
    pub(crate) fn unread(
        store: CheckpointStore<D>,
        dir: &Path,
        shard: Shard,
        families: Vec<FamilyDoc>,
    ) -> (Self, SnapshotService) {
        let gauges = Arc::new(CheckpointGauges::new());
        let (requests, receiver) = mpsc::channel(1);
        let checkpoint = Self {
            store,
            dir: dir.to_owned(),
            shard,
            families,
            commits: Arc::new(CommitRequests::new(Arc::clone(&gauges))),
            gauges,
            found: None,
            requests,
        };
        (checkpoint, SnapshotService::new(receiver))
    }

    /// Reads what there is. One that cannot be used is renamed and kept. With many pods this takes seconds of CPU.
    ///
    /// # Errors
    /// When it is the state of a shard of another index: the same shard goes on when only the number of shards has
    /// changed.
    pub(crate) fn read(&mut self) -> Result<(), OpenError> {
        match self.store.load() {
            LoadedCheckpoint::Absent => self.gauges.count_load(CheckpointLoad::Absent),
            LoadedCheckpoint::Rejected(rejection) => {
                rejected(&self.gauges, rejection.reason, &rejection.why, rejection.set_aside);
            }
            LoadedCheckpoint::Found(bytes) => match read(&bytes, &self.families) {
                Ok(decoded) => self.found = Some(decoded),
                Err(error) => {
                    let reason = error.reason();
                    let renamed = self.store.set_aside(reason);
                    rejected(&self.gauges, reason, &error.to_string(), renamed);
                }
            },
        }
        match self.found.as_ref().map(|found| found.content.scope.shard) {
            Some(saved) if saved.index() != self.shard.index() => Err(OpenError {
                dir: self.dir.clone(),
                cause: OpenFault::OtherShard { saved, present: self.shard },
            }),
            _ => Ok(()),
        }
    }

    /// Where scrapes ask for commits.
    pub(crate) fn commits(&self) -> Arc<CommitRequests> {
        Arc::clone(&self.commits)
    }

    /// The task that writes it from now on.
    pub(crate) fn committer(self) -> anyhow::Result<Committer> {
        Committer::start(self.store, self.commits, self.requests)
    }

    /// Restores the process from the checkpoint that was found, unless it is about another cluster.
    pub(crate) fn recover(&mut self, from: &ClusterRecovery<'_>, parts: RestoredParts<'_>) {
        let (server, authority) = identity::fingerprints(from.cluster);
        let scope = SavedScope {
            server,
            authority,
            watched: source_map::watched(parts.watch),
            shard: parts.watch.selectors.shard.unwrap_or_default(),
            pod_labels: parts.watch.decode.value_names(),
        };
        if let Some(DecodedCheckpoint { content, pods, skipped }) = self.found.take() {
            let sources = SourceMap::matched(&content.scope.watched, &scope.watched);
            match identity::foreign(&content, &pods, &scope, &sources, from.probed) {
                Some(why) => {
                    let renamed = self.store.set_aside(CheckpointLoad::ForeignCluster);
                    rejected(&self.gauges, CheckpointLoad::ForeignCluster, why, renamed);
                }
                None => {
                    tracing::info!(pods = pods.len(), "restored from the checkpoint");
                    if skipped > 0 {
                        tracing::warn!(
                            skipped,
                            "another version of podinit has written the checkpoint; what this one does not know is skipped"
                        );
                    }
                    parts.watch.knows_pods = true;
                    let before = content.scope.shard;
                    let resharded = before != scope.shard;
                    if !resharded {
                        self.gauges.count_load(CheckpointLoad::Restored);
                        let scopes = scope.watched.len();
                        parts.watch.resume = restore::resume(&content, &sources, scopes);
                    }
                    let labels = &scope.pod_labels;
                    *parts.tracker =
                        restore::restore(content, pods, parts.config, &sources, labels, parts.sink);
                    if parts.sink.recorder.awaits_list() {
                        parts.watch.resume.clear();
                    }
                    if resharded {
                        let (tracker, sink) = (parts.tracker, parts.sink);
                        let moved = tracker.reshard(before, scope.shard, sink);
                        self.gauges.count_load(CheckpointLoad::Resharded);
                        tracing::warn!(
                            %before, now = %scope.shard, moved,
                            "the number of shards has changed; pods in flight of other shards have moved"
                        );
                    }
                }
            }
        }
        parts.snapshots.begin(scope);
    }
}

/// How often a long read is told of.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// Reads a file whose frame the store has checked, and says how far it is.
fn read(bytes: &[u8], families: &[FamilyDoc]) -> Result<DecodedCheckpoint, ContentError> {
    tracing::info!(bytes = bytes.len(), "reading the checkpoint");
    let mut told = Instant::now();
    let tell = |percent: u64| {
        if told.elapsed() >= TOLD_EVERY {
            told = Instant::now();
            tracing::info!(percent, "still reading the checkpoint");
        }
    };
    match frame::read(bytes) {
        Ok(sections) => content::decode_telling(&sections, families, tell),
        // The store has read it with success before.
        Err(_) => Err(ContentError::Missing(0)),
    }
}

/// Counts and logs that the checkpoint is not used.
fn rejected(
    gauges: &CheckpointGauges,
    reason: CheckpointLoad,
    why: &str,
    renamed: std::io::Result<String>,
) {
    gauges.count_load(reason);
    match renamed {
        Ok(file) => tracing::warn!(
            why,
            file,
            "podinit cannot use the checkpoint and has set it aside; counters begin at zero"
        ),
        Err(error) => {
            tracing::warn!(why, %error, "podinit can neither use the checkpoint nor set it aside; counters begin at zero")
        }
    }
}
