//! The process without its sockets: the ingest task, the committer, and what a scrape does.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::disk::GatedDisk;
use crate::ingest::IngestTask;
use crate::ingest_sink::IngestSink;
use crate::own_thread::OwnThread;
use crate::records::RecordKeeper;
use crate::saving::commits::CommitRequests;
use crate::saving::{ClusterRecovery, RestoredParts, StateCheckpoint};
use podinit_checkpoint::{CheckpointStore, Disk};
use podinit_connect::connect_to;
use podinit_core::lifecycle::{Delivery, PodEvent, SourceId, Tracker, TrackerConfig, Version};
use podinit_core::pod::{ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig};
use podinit_http::ProcessHealth;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::probe::ProbeResult;
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::WatchStats;
use podinit_sim::rng::Rng;

const START: i64 = 1_800_000_000;

/// So that a directory that is moved is noticed at once.
const IDLE: Duration = Duration::from_millis(1);

pub(super) struct Process {
    exposition: Arc<Exposition>,
    commits: Arc<CommitRequests>,
    deliveries: mpsc::Sender<Delivery>,
    served: CancellationToken,
    tasks: JoinSet<()>,
    /// Where pods are accounted for
    accounting: OwnThread,
    resumes: Option<Version>,
}

impl Process {
    /// Starts from what `disk` holds.
    pub(super) async fn start(disk: &GatedDisk, patience: Duration) -> Self {
        Self::start_on(CheckpointStore::with_disk(disk.clone()), patience).await
    }

    /// Starts from what `store` holds.
    pub(super) async fn start_on<D: Disk + Send + 'static>(
        store: CheckpointStore<D>,
        patience: Duration,
    ) -> Self {
        Self::start_with(store, patience, None).await
    }

    /// Starts from what `store` holds, with these records.
    pub(super) async fn start_with<D: Disk + Send + 'static>(
        store: CheckpointStore<D>,
        patience: Duration,
        records: Option<Box<dyn RecordKeeper>>,
    ) -> Self {
        let (mut checkpoint, mut snapshots) =
            StateCheckpoint::unread(store, Path::new("DIR"), Shard::ALL, crate::families(&[]));
        checkpoint.read().unwrap();
        let gauges = Arc::clone(&checkpoint.gauges);
        checkpoint.commits =
            Arc::new(CommitRequests::with_times(Arc::clone(&gauges), patience, IDLE));
        let stats = Arc::new(WatchStats::new(1));
        let (recorder, exposition) = ExpositionBuilder::new(LabelConfig::default())
            .watch(stats.clone())
            .source(Box::new(gauges))
            .build()
            .unwrap();
        let mut sink = IngestSink::new(recorder).keeping(records);
        let mut tracker = Tracker::new(TrackerConfig::default());
        let mut watch = WatchConfig { scopes: vec![PodScope::Cluster], ..WatchConfig::default() };
        let url = "http://127.0.0.1:1/".parse().unwrap();
        let recovery = ClusterRecovery {
            cluster: &connect_to(url, "the test".to_owned()).await.unwrap(),
            probed: &[ProbeResult::default()],
        };
        let clock: Arc<dyn DeliveryClock> = Arc::new(|| Timestamp::from_seconds(START));
        let parts = RestoredParts {
            tracker: &mut tracker,
            config: TrackerConfig::default(),
            sink: &mut sink,
            snapshots: &mut snapshots,
            watch: &mut watch,
        };
        checkpoint.recover(&recovery, parts);
        let (deliveries, receiver) = mpsc::channel(4);
        let ingest = IngestTask {
            tracker,
            sink,
            deliveries: receiver,
            events: mpsc::channel(1).1,
            clock,
            sources: Vec::new(),
            heartbeat: ProcessHealth::new().register_task("ingest", Duration::MAX),
            slos: mpsc::channel(1).1,
            stats,
            snapshots,
        };
        let commits = checkpoint.commits();
        let committer = checkpoint.committer().unwrap();
        let (served, committed) = (CancellationToken::new(), CancellationToken::new());
        let mut tasks = JoinSet::new();
        let accounting = OwnThread::named("accounting").unwrap();
        tasks.spawn_on(ingest.run(committed.clone()), accounting.handle());
        let stop = served.clone();
        tasks.spawn(async move {
            committer.run(stop).await;
            committed.cancel();
        });
        Self {
            exposition,
            commits,
            deliveries,
            served,
            tasks,
            accounting,
            resumes: watch.resume.into_iter().flatten().next(),
        }
    }

    /// How much of the history it has accounted for.
    pub(super) fn resumes_after(&self) -> usize {
        match self.resumes {
            Some(Version::Number(number)) => usize::try_from(number).unwrap(),
            _ => 0,
        }
    }

    /// Delivers events, and waits until they are accounted for.
    pub(super) async fn deliver(&mut self, events: &[Delivery]) {
        let Some(last) = events.last() else { return };
        let delivery = |event| Delivery { event, observed: None, ..last.clone() };
        // As a watch that was resumed: what was missed, and then that it is in sync.
        for delivery in events.iter().cloned().chain([delivery(PodEvent::Resumed)]) {
            self.deliveries.send(delivery).await.unwrap();
        }
        self.until_all_is_taken().await;
        // It is sent after the others were taken, so it is taken after they have been accounted for.
        let bookmark = delivery(PodEvent::Bookmark);
        self.deliveries.send(bookmark).await.unwrap();
        self.until_all_is_taken().await;
    }

    async fn until_all_is_taken(&self) {
        while self.deliveries.capacity() < self.deliveries.max_capacity() {
            tokio::task::yield_now().await;
        }
    }

    /// What a scrape would show now.
    pub(super) fn shows(&self) -> String {
        String::from_utf8(self.exposition.encode(ExpositionFormat::Text).unwrap()).unwrap()
    }

    /// A scrape, as the server makes it. Killing the process does not wait for it.
    pub(super) fn scrape(&self) -> oneshot::Receiver<String> {
        let (exposition, commits) = (Arc::clone(&self.exposition), Arc::clone(&self.commits));
        let (sent, received) = oneshot::channel();
        tokio::spawn(async move {
            let mut said = commits.are_durable();
            let mut body = exposition.encode(ExpositionFormat::Text).unwrap();
            if !commits.commit(said).await {
                said = commits.are_durable();
                body = exposition.encode(ExpositionFormat::Text).unwrap();
                commits.commit(said).await;
            }
            let _ = sent.send(String::from_utf8(body).unwrap());
        });
        received
    }

    /// Scrapes until a scrape says that all is durable, or that it is not.
    pub(super) async fn until_durable(&self, is_durable: bool) -> String {
        let expected = format!("podinit_checkpoint_durable {}\n", u8::from(is_durable));
        loop {
            let shown = self.scrape().await.unwrap();
            if shown.contains(&expected) {
                return shown;
            }
        }
    }

    /// Waits until another task of the thread that accounts has run.
    pub(super) async fn until_another_task_runs(&self) {
        self.accounting.handle().spawn(async {}).await.unwrap();
    }

    /// Waits until so many commits have been requested.
    pub(super) async fn until_asked(&self, number: u64) {
        while self.commits.begin() < number {
            tokio::task::yield_now().await;
        }
    }

    /// Shuts it down.
    pub(super) async fn end(mut self) {
        self.served.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }

    /// Kills it.
    pub(super) fn kill(mut self) {
        self.tasks.abort_all();
    }
}

/// The history of a namespace, of so many pods, from an empty list on: each delivery's version is
/// its position, counted from 1.
pub(super) fn history(seed: u64, pods: u64) -> Vec<Delivery> {
    let mut random = Rng::new(seed);
    let began = Timestamp::from_seconds(START);
    let mut events = vec![PodEvent::Listed { pods: Vec::new().into(), began }];
    let mut lives: Vec<(u64, u32)> = (0..pods).map(|pod| (pod, 0)).collect();
    while !lives.is_empty() {
        let last = u32::try_from(lives.len() - 1).unwrap();
        let chosen = random.within(0..=last) as usize;
        let (pod, step) = &mut lives[chosen];
        let snapshot = snapshot(*pod, *step, events.len() as u64 + 1);
        *step += 1;
        events.push(match *step {
            4 => PodEvent::Deleted(snapshot),
            _ => PodEvent::Applied(snapshot),
        });
        if *step == 4 {
            lives.swap_remove(chosen);
        }
    }
    (1..)
        .zip(events)
        .map(|(version, event)| {
            let now = Timestamp::from_seconds(START + i64::try_from(version).unwrap());
            let observed = (version > 1).then_some(now);
            Delivery {
                source: SourceId(0),
                event,
                now,
                observed,
                version: Some(Version::Number(version)),
            }
        })
        .collect()
}

/// A pod that is created, scheduled, and ready, or never is if its number can be divided by five.
fn snapshot(pod: u64, step: u32, version: u64) -> PodSnapshot {
    let uid = PodUid::from_text(&format!("uid-{pod}"));
    let mut snapshot = PodSnapshot::bare(uid, "ns", format!("pod-{pod}"));
    let at = |second: u64| Some(Timestamp::from_seconds(START + i64::try_from(second).unwrap()));
    snapshot.resource_version = Some(version);
    snapshot.created = at(pod);
    let kinds: &[ConditionType] = match step {
        0 => &[],
        1 => &[ConditionType::PodScheduled],
        _ if pod.is_multiple_of(5) => &[ConditionType::PodScheduled],
        _ => &ConditionType::ALL,
    };
    for kind in kinds {
        let condition = StatusCondition {
            status: ConditionStatus::True,
            last_transition: at(pod + 1 + u64::from(*kind != ConditionType::PodScheduled)),
        };
        snapshot.conditions.insert(*kind, condition);
    }
    snapshot
}
