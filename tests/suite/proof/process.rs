//! The processes of a trial: one for all pods, or one for each shard.

use std::ops::Range;
use std::time::Duration;

use tokio::time::Instant;

use crate::proof::classes::Class;
use crate::proof::delivery_log::DeliveryLog;
use crate::proof::exporter::{Exporter, Settings};
use crate::proof::ingest::Disk;
use crate::proof::server::NAMESPACES;
use crate::proof::shard::{HashRange, ServerSharding, ShardNumber};
use crate::proof::trial::World;

/// How many shards there are, until they are numbered anew and after that.
const SHARDS: usize = 4;
const SHARDS_THEN: usize = 6;

/// A process, which runs or not.
pub struct Process {
    /// The shard that it is
    shard: Option<ShardNumber>,
    /// Its list-watches
    sources: Range<usize>,
    pub exporter: Option<Exporter>,
    /// Where it keeps its checkpoint, if it has one
    disk: Option<Disk>,
    /// When it starts again
    starts_at: Option<Instant>,
}

impl Process {
    fn of(shard: Option<ShardNumber>, sources: Range<usize>, has_disk: bool) -> Self {
        Self { shard, sources, exporter: None, disk: has_disk.then(Disk::default), starts_at: None }
    }

    /// The processes for these faults, and the log of each of their list-watches.
    pub fn all(parts: &[Class]) -> (Vec<Self>, Vec<DeliveryLog>) {
        let has_disk = parts.iter().any(|part| part.has_checkpoint());
        if parts.iter().any(|part| part.is_of_shards()) {
            let shards = (0..SHARDS).map(|index| {
                let count = SHARDS;
                Self::of_shard(ShardNumber { index, count }, has_disk)
            });
            return shards.unzip();
        }
        let scopes: Vec<_> = match parts.contains(&Class::Sources) {
            true => NAMESPACES.into_iter().map(Some).collect(),
            false => vec![None],
        };
        let process = Self::of(None, 0..scopes.len(), has_disk);
        let logs = scopes.into_iter();
        let logs = logs.map(|scope| DeliveryLog::of(scope, HashRange::ALL));
        (vec![process], logs.collect())
    }

    /// A shard, and the log of its one list-watch.
    fn of_shard(shard: ShardNumber, has_disk: bool) -> (Self, DeliveryLog) {
        let process = Self::of(Some(shard), shard.index..shard.index + 1, has_disk);
        (process, DeliveryLog::of(None, HashRange::of(Some(shard))))
    }

    /// What has been delivered to its list-watches.
    pub fn logs<'a>(&self, logs: &'a [DeliveryLog]) -> &'a [DeliveryLog] {
        &logs[self.sources.clone()]
    }
}

impl World {
    /// Starts a process from its checkpoint, if it has one: what was delivered after that has gone down with
    /// the process before.
    pub fn start_process(&mut self, number: usize) {
        self.starts += 1;
        let settings = self.settings();
        let process = &mut self.processes[number];
        process.starts_at = None;
        let durable = (process.disk.as_ref()).and_then(|disk| disk.lock().clone());
        {
            let state = &mut *self.server.lock();
            let logs = &mut state.logs[process.sources.clone()];
            match &durable {
                None => {
                    let range = HashRange::of(process.shard);
                    for log in logs {
                        *log = DeliveryLog::of(log.scope, range);
                    }
                }
                Some(durable) => {
                    durable.accounted.forget_the_rest(logs);
                    for log in logs {
                        log.go_on(durable.shard, process.shard, &state.history);
                    }
                }
            }
        }
        process.exporter = Some(Exporter::start(
            &self.server,
            Settings { shard: process.shard, ..settings },
            process.sources.clone(),
            &self.offset,
            process.disk.as_ref(),
        ));
    }

    fn settings(&self) -> Settings {
        let slow = self.parts.contains(&Class::SlowAccounting);
        Settings {
            seed: self.trial.seed ^ self.starts,
            fused: self.trial.seed.is_multiple_of(4) || !self.trial.seed.is_multiple_of(3),
            injected: self.trial.injected,
            slow: match slow {
                true => Duration::from_millis(8),
                false => Duration::ZERO,
            },
            queue: slow.then_some(8),
            shard: None,
        }
    }

    /// Kills a process.
    pub async fn kill(&mut self, number: usize) {
        if let Some(exporter) = self.processes[number].exporter.take() {
            exporter.stop().await;
        }
    }

    /// Kills one of the shards, or numbers all of them anew if that is due and has not been done. The API
    /// server may be another one from now on.
    pub async fn strike_shards(&mut self, renumber: bool) {
        let sharding = *self.shard_rng.pick(&ServerSharding::ALL);
        self.server.lock().sharding = sharding;
        if renumber && self.processes.len() == SHARDS {
            self.reshard().await;
        } else {
            self.kill_a_shard().await;
        }
    }

    /// Kills one of the shards, which starts again later.
    async fn kill_a_shard(&mut self) {
        let number = self.shard_rng.below(self.processes.len() as u64) as usize;
        let down = Duration::from_millis(self.shard_rng.below(30_000));
        if self.processes[number].exporter.is_some() {
            self.kill(number).await;
            self.processes[number].starts_at = Some(Instant::now() + down);
        }
    }

    /// Kills all shards, each at its own time, and starts more of them when none runs any more.
    async fn reshard(&mut self) {
        for number in 0..self.processes.len() {
            self.kill(number).await;
        }
        let starts_at = Instant::now() + Duration::from_millis(self.shard_rng.below(30_000));
        let logs = &mut self.server.lock().logs;
        for index in 0..SHARDS_THEN {
            let count = SHARDS_THEN;
            let shard = ShardNumber { index, count };
            if index == self.processes.len() {
                let (process, log) = Process::of_shard(shard, true);
                self.processes.push(process);
                logs.push(log);
            }
            self.processes[index].shard = Some(shard);
            self.processes[index].starts_at = Some(starts_at);
        }
    }

    /// Starts the processes that are due.
    pub fn start_what_is_due(&mut self, now: Instant) {
        for number in 0..self.processes.len() {
            let due = self.processes[number].starts_at;
            if due.is_some_and(|due| due <= now) {
                self.start_process(number);
            }
        }
    }
}
