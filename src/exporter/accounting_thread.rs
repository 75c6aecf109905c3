//! The thread that reads the watches and accounts for what they deliver, and does nothing else.
//!
//! On the threads that serve, an event would wake one of them for the connection, which wakes another to
//! look for more work, and so on: two context switches for each event, and the tracker's memory in the
//! caches of two cores. Here the connection, the decoder and the tracker take turns without the system,
//! and no scrape stands in front of them. Where there are many events, it is woken for several at once.

use std::io;
use std::sync::Arc;

use tokio::runtime::Builder;

use super::own_thread::OwnThread;
use super::wakeup_coalescing::WakeupCoalescing;

/// Starts the thread.
///
/// # Errors
/// Where the system grants no thread or no descriptor.
pub(crate) fn start() -> io::Result<OwnThread> {
    let wakeups = Arc::new(WakeupCoalescing::default());
    let woken = Arc::clone(&wakeups);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .on_thread_unpark(move || woken.woken())
        .on_thread_park(move || wakeups.pause())
        .build()?;
    OwnThread::start("accounting", runtime)
}
