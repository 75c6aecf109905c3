//! The health of the process, which `/livez` and `/readyz` report.
//!
//! *Ready* depends on the cluster: every source has completed its first list, or fails while another has completed
//! its own. It stays so when a watch is lost later: the histograms are still worth a scrape, and `podinit_synced`
//! shows the loss. *Live*
//! depends on this process alone: each of its tasks runs and has sent a heartbeat within its deadline.
//! An API server that is unreachable must never get podinit restarted.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// So many sources that fail are named.
const MOST_NAMED: usize = 3;

/// The health of the process; clones share it.
///
/// The code that starts sources and tasks registers each of them once, so both lists are short.
#[derive(Clone, Debug)]
pub struct ProcessHealth(Arc<HealthState>);

#[derive(Debug)]
struct HealthState {
    started: Instant,
    sources: Mutex<Vec<Arc<RegisteredSource>>>,
    tasks: Mutex<Vec<Arc<TaskState>>>,
}

struct RegisteredSource {
    name: String,
    listed: AtomicBool,
    /// Why it is not in sync, in a word or two, if its requests fail
    fails: Box<dyn Fn() -> Option<&'static str> + Send + Sync>,
}

impl fmt::Debug for RegisteredSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[derive(Debug)]
struct TaskState {
    name: String,
    deadline: Duration,
    /// Milliseconds from `HealthState::started` to the last heartbeat
    last_beat: AtomicU64,
    ended: AtomicBool,
}

impl Default for ProcessHealth {
    fn default() -> Self {
        Self::new()
    }
}

impl ProcessHealth {
    /// Without tasks, thus live; without sources, thus not ready.
    pub fn new() -> Self {
        Self(Arc::new(HealthState {
            started: Instant::now(),
            sources: Mutex::default(),
            tasks: Mutex::default(),
        }))
    }

    /// Adds a source. Readiness waits for its first list. Register every source before the first one
    /// starts.
    pub fn register_source(&self, name: impl Into<String>) -> SourceHealth {
        self.register_source_that(name, || None)
    }

    /// The same with a source that says why it fails, in a word or two.
    pub fn register_source_that(
        &self,
        name: impl Into<String>,
        fails: impl Fn() -> Option<&'static str> + Send + Sync + 'static,
    ) -> SourceHealth {
        let source = Arc::new(RegisteredSource {
            name: name.into(),
            listed: AtomicBool::new(false),
            fails: Box::new(fails),
        });
        self.0.sources.lock().push(Arc::clone(&source));
        SourceHealth(source)
    }

    /// Adds a task that sends a heartbeat at least once in `deadline`.
    pub fn register_task(&self, name: impl Into<String>, deadline: Duration) -> Heartbeat {
        let task = Arc::new(TaskState {
            name: name.into(),
            deadline,
            last_beat: AtomicU64::new(self.now()),
            ended: AtomicBool::new(false),
        });
        self.0.tasks.lock().push(Arc::clone(&task));
        Heartbeat { health: self.clone(), task }
    }

    /// Whether every source has completed its first list, but for those that fail while another has completed its
    /// own.
    ///
    /// # Errors
    /// One line that says which sources have not completed it.
    pub fn readiness(&self) -> Result<(), String> {
        let sources = self.0.sources.lock();
        if sources.is_empty() {
            return Err("starting: no watch has begun".to_owned());
        }
        // Acquire: a reader that sees the list as completed also sees what was accounted before.
        let has_listed = |source: &RegisteredSource| source.listed.load(Ordering::Acquire);
        let some_have = sources.iter().any(|source| has_listed(source));
        let mut waiting = sources
            .iter()
            .filter(|source| !(has_listed(source) || some_have && (source.fails)().is_some()));
        match (waiting.next(), waiting.count()) {
            (None, _) => Ok(()),
            (Some(source), 0) => Err(format!("waiting for the first list of {}", source.name)),
            (Some(source), more) => {
                Err(format!("waiting for the first list of {} and {more} more", source.name))
            }
        }
    }

    /// Which sources fail while others do not: how many do not, and why the first ones do.
    pub fn missing(&self) -> Option<String> {
        let sources = self.0.sources.lock();
        let failing = sources.iter().filter_map(|source| Some((&source.name, (source.fails)()?)));
        let failing: Vec<_> = failing.collect();
        let (all, fail) = (sources.len(), failing.len());
        if fail == 0 || fail == all {
            return None;
        }
        let mut text = format!("{} of {all} namespaces", all - fail);
        for (name, why) in failing.iter().take(MOST_NAMED) {
            let short = name.rsplit(' ').next().unwrap_or(name);
            text += &format!("; {short}: {why}");
        }
        if fail > MOST_NAMED {
            text += &format!("; and {} more", fail - MOST_NAMED);
        }
        Some(text)
    }

    /// Whether every task runs and has sent a heartbeat within its deadline.
    ///
    /// # Errors
    /// One line that names the first task that does not.
    pub fn liveness(&self) -> Result<(), String> {
        let now = self.now();
        for task in self.0.tasks.lock().iter() {
            if task.ended.load(Ordering::Relaxed) {
                return Err(format!("task {} has ended", task.name));
            }
            let silent =
                Duration::from_millis(now.saturating_sub(task.last_beat.load(Ordering::Relaxed)));
            if silent > task.deadline {
                let seconds = silent.as_secs();
                return Err(format!("task {} has sent no heartbeat for {seconds} s", task.name));
            }
        }
        Ok(())
    }

    /// Milliseconds since the start. Monotonic, so that setting the clock makes no task look dead.
    fn now(&self) -> u64 {
        u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Reports the first list of one source.
#[derive(Debug)]
pub struct SourceHealth(Arc<RegisteredSource>);

impl SourceHealth {
    /// Call this when a list has been accounted for. Further calls change nothing.
    pub fn listed(&self) {
        self.0.listed.store(true, Ordering::Release);
    }
}

/// Held by one task. Dropping it reports that the task has ended in any way: by a return, a panic or
/// an abort. A task that ends because of the shutdown calls [`Heartbeat::finish`] instead.
#[derive(Debug)]
pub struct Heartbeat {
    health: ProcessHealth,
    task: Arc<TaskState>,
}

impl Heartbeat {
    /// Reports that the task works. Two atomic operations, cheap enough for every event.
    pub fn beat(&self) {
        let now = self.health.now();
        // Relaxed: nothing but the time is published. `max` keeps it monotonic.
        self.task.last_beat.fetch_max(now, Ordering::Relaxed);
    }

    /// Reports an orderly end: the task no longer counts.
    pub fn finish(self) {
        self.health.0.tasks.lock().retain(|task| !Arc::ptr_eq(task, &self.task));
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.task.ended.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ready_when_every_source_has_listed() {
        let health = ProcessHealth::new();
        assert_eq!(health.readiness(), Err("starting: no watch has begun".into()));
        let first = health.register_source("namespace a");
        let second = health.register_source("namespace b");
        assert_eq!(
            health.readiness(),
            Err("waiting for the first list of namespace a and 1 more".into())
        );
        first.listed();
        assert_eq!(health.readiness(), Err("waiting for the first list of namespace b".into()));
        second.listed();
        assert_eq!(health.readiness(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_fails_is_named_and_keeps_no_other_from_being_ready() {
        let health = ProcessHealth::new();
        let forbidden = Arc::new(AtomicBool::new(true));
        let sources = ["a", "b", "c"].map(|namespace| {
            let forbidden = Arc::clone(&forbidden);
            health.register_source_that(format!("pods of namespace {namespace}"), move || {
                (namespace == "b" && forbidden.load(Ordering::Relaxed)).then_some("forbidden")
            })
        });
        let waits =
            |left: &str| Err(format!("waiting for the first list of pods of namespace {left}"));
        assert_eq!(health.readiness(), waits("a and 2 more"));
        sources[0].listed();
        assert_eq!(health.readiness(), waits("c"));
        sources[2].listed();
        assert_eq!(health.readiness(), Ok(()));
        let missing = health.missing();
        assert_eq!(missing.as_deref(), Some("2 of 3 namespaces; b: forbidden"));
        forbidden.store(false, Ordering::Relaxed);
        assert_eq!((health.readiness(), health.missing()), (waits("b"), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_task_is_named_until_its_next_heartbeat() {
        let health = ProcessHealth::new();
        let heartbeat = health.register_task("ingest", Duration::from_secs(30));
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(health.liveness(), Ok(()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(health.liveness(), Err("task ingest has sent no heartbeat for 31 s".into()));
        heartbeat.beat();
        assert_eq!(health.liveness(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_is_dead_unless_it_finished() {
        let health = ProcessHealth::new();
        let finished = health.register_task("watch", Duration::from_secs(30));
        let dropped = health.register_task("ingest", Duration::from_secs(30));
        finished.finish();
        assert_eq!(health.liveness(), Ok(()));
        let task = tokio::spawn(async move {
            let _heartbeat = dropped;
            panic!("as a bug would");
        });
        assert!(task.await.is_err());
        assert_eq!(health.liveness(), Err("task ingest has ended".into()));
    }
}
