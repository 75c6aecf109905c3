//! A thread with a runtime of its own, whose tasks stand behind none of those that serve.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A thread with a runtime of its own, which ends when this is dropped.
pub struct OwnThread {
    handle: Handle,
    _stop: DropGuard,
}

impl OwnThread {
    /// Starts a thread of this name, for what takes long: it takes no more than one processor, and its tasks stand
    /// behind none of those that serve.
    ///
    /// # Errors
    /// Where the system grants no thread or no descriptor.
    pub fn named(name: &str) -> io::Result<Self> {
        Self::start(name, Builder::new_current_thread().enable_time().build()?)
    }

    /// Starts a thread of this name, which runs the tasks of `runtime`.
    ///
    /// # Errors
    /// Where the system grants no thread.
    pub(crate) fn start(name: &str, runtime: Runtime) -> io::Result<Self> {
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || runtime.block_on(stopped.cancelled()))?;
        Ok(Self { handle, _stop: stop.drop_guard() })
    }

    /// Spawns tasks on the thread.
    pub const fn handle(&self) -> &Handle {
        &self.handle
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn tasks_share_one_thread_which_ends_when_it_is_dropped() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let own = OwnThread::start("own", runtime).unwrap();
        let place = || async { thread::current().id() };
        let first = own.handle().spawn(place()).await.unwrap();
        let second = own.handle().spawn(place()).await.unwrap();
        assert_eq!(first, second);
        assert_ne!(first, thread::current().id());
        let endless = own.handle().spawn(std::future::pending::<()>());
        drop(own);
        assert!(endless.await.unwrap_err().is_cancelled());
    }
}
