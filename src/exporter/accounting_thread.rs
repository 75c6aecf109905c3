//! The thread that reads the watches and accounts for what they deliver, and does nothing else.
//!
//! On the threads that serve, an event would wake one of them for the connection, which wakes another to
//! look for more work, and so on: two context switches for each event, and the tracker's memory in the
//! caches of two cores. Here the connection, the decoder and the tracker take turns without the system,
//! and no scrape stands in front of them. Where there are many events, it is woken for several at once.

use std::io;
use std::sync::Arc;
use std::thread;

use tokio::runtime::{self, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::wakeup_coalescing::WakeupCoalescing;

/// A thread with a runtime of its own, which ends when this is dropped.
pub(crate) struct AccountingThread {
    handle: Handle,
    _stop: DropGuard,
}

impl AccountingThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// Where the system grants no thread or no descriptor.
    pub(crate) fn start() -> io::Result<Self> {
        let wakeups = Arc::new(WakeupCoalescing::default());
        let woken = Arc::clone(&wakeups);
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_unpark(move || woken.woken())
            .on_thread_park(move || wakeups.pause())
            .build()?;
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        thread::Builder::new()
            .name("accounting".to_owned())
            .spawn(move || runtime.block_on(stopped.cancelled()))?;
        Ok(Self {
            handle,
            _stop: stop.drop_guard(),
        })
    }

    /// Spawns tasks on the thread.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn tasks_share_one_thread_which_ends_when_it_is_dropped() {
        let accounting = AccountingThread::start().unwrap();
        let place = || async { thread::current().id() };
        let first = accounting.handle().spawn(place()).await.unwrap();
        let second = accounting.handle().spawn(place()).await.unwrap();
        assert_eq!(first, second);
        assert_ne!(first, thread::current().id());
        let endless = accounting.handle().spawn(std::future::pending::<()>());
        drop(accounting);
        assert!(endless.await.unwrap_err().is_cancelled());
    }
}
