//! The tasks of an exporter. If one ends before the shutdown, so does the process: it would go on
//! with stale figures, and nothing would show it.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// How long all tasks may take to end after the shutdown began. It leaves room for the server's grace
/// (5 s) and two writes of the checkpoint (5 s each: the one under way and the last), and is within
/// the 30 s that Kubernetes grants a pod.
const END_DEADLINE: Duration = Duration::from_secs(25);

/// Tasks that run until `shutdown`, each with the name that errors give it.
pub(crate) struct NamedTasks {
    running: JoinSet<&'static str>,
    shutdown: CancellationToken,
}

impl NamedTasks {
    pub(crate) fn new(shutdown: CancellationToken) -> Self {
        Self { running: JoinSet::new(), shutdown }
    }

    pub(crate) fn spawn(
        &mut self,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.spawn_on(&Handle::current(), name, task);
    }

    /// The same on another runtime.
    pub(crate) fn spawn_on(
        &mut self,
        runtime: &Handle,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        // An error span, so that every level of the log shows which task a line is from.
        let task = task.instrument(tracing::error_span!("task", name));
        let named = async move {
            task.await;
            name
        };
        self.running.spawn_on(named, runtime);
    }

    /// Waits for the shutdown, and then for all tasks. The `watches` are aborted at once.
    ///
    /// # Errors
    /// When a task or a watch ends before the shutdown, or a task fails or hangs after it.
    pub(crate) async fn run(mut self, mut watches: JoinSet<()>) -> anyhow::Result<()> {
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => {}
            Some(ended) = self.running.join_next() => return self.ended_early(ended),
            Some(ended) = watches.join_next() => {
                return self.ended_early(ended.map(|()| "a watch"));
            }
        }
        let all_ended = async {
            while let Some(ended) = self.running.join_next().await {
                ended.context("a task failed during the shutdown")?;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(END_DEADLINE, all_ended)
            .await
            .context("a task did not end in time during the shutdown; podinit ends without it")?
    }

    fn ended_early(&self, ended: Result<&str, JoinError>) -> anyhow::Result<()> {
        if self.shutdown.is_cancelled() {
            return Ok(());
        }
        Err(match ended {
            Ok(task) => {
                anyhow!("{task} has ended; podinit ends too, since its figures would go stale")
            }
            Err(error) => anyhow!(
                "a task has failed ({error}); podinit ends, since its figures would go stale"
            ),
        })
    }
}
