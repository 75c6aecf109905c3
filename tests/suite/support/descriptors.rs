//! File descriptors for tests that open thousands of connections, and connections that do not hang.

use std::os::fd::AsFd;

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::sync::{Mutex, MutexGuard};

/// Held by the one test that may open thousands of descriptors: the limit is the process's.
static MANY: Mutex<()> = Mutex::const_new(());

/// Descriptors that other tests of this process may need at the same time.
const OTHERS: u64 = 1000;

/// Raises the limit to `wanted` and what other tests need. Other tests that ask for descriptors wait
/// until the guard is dropped.
pub async fn reserve(wanted: u64) -> MutexGuard<'static, ()> {
    let guard = MANY.lock().await;
    raise(wanted + OTHERS);
    guard
}

/// [`reserve`] for tests without a runtime.
pub fn reserve_blocking(wanted: u64) -> MutexGuard<'static, ()> {
    let guard = MANY.blocking_lock();
    raise(wanted + OTHERS);
    guard
}

/// Ends a connection that the server's kernel lost in a full queue of connections: it never acknowledges what is
/// sent. Without this, the client sends it again for a quarter of an hour.
pub fn end_if_lost(connection: impl AsFd) {
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_user_timeout(connection, 60_000).unwrap();
    #[cfg(not(target_os = "linux"))]
    let _ = connection;
}

fn raise(wanted: u64) {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = limit.maximum.map_or(Some(wanted), |most| Some(most.min(wanted)));
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let current = getrlimit(Resource::Nofile).current;
    assert!(
        current.is_none_or(|current| current >= wanted),
        "this test needs {wanted} file descriptors: raise the limit (ulimit -Hn)"
    );
}
