//! Connections: accepting them, keeping them within [`ServerLimits`], and ending them.
//!
//! `axum::serve` has neither timers nor limits, so this loop over hyper's connections replaces it.
//!
//! **Probes must be answered when all connections are taken.** The limit on scrapes is below the
//! limit on connections, so some connection is always free of scrapes. At the limit, the one of those
//! that has been idle longest is closed. It must have been idle for a little while (`min_idle`), since
//! the request of a new client may be on its way; until then the next client waits in the kernel's
//! backlog. A client whose connection is closed before its first request gets status 503.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::access::AccessControl;
use super::activity::ConnectionActivity;
use super::connection::ServingContext;
use super::limits::ServerLimits;

/// How long to wait when the system has no resources for another connection (file descriptors,
/// memory): long enough not to spin, short enough to accept soon after.
const PAUSE_AFTER_FAULT: Duration = Duration::from_millis(100);

/// How long connections without a request in progress stay open at shutdown, for a request that is
/// just arriving or a short response that is just being sent.
const SHUTDOWN_COURTESY: Duration = Duration::from_millis(500);

/// Accepts and serves until `shutdown`, then drains.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    access: Arc<dyn AccessControl>,
    limits: ServerLimits,
    shutdown: CancellationToken,
) {
    let mut connections = OpenConnections::new(router, access, limits, shutdown.clone());
    let mut faulty = false;
    loop {
        let full_until = connections.make_room(Instant::now());
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            () = connections.next_end() => {}
            () = sleep_until(full_until.unwrap_or_else(Instant::now)), if full_until.is_some() => {}
            accepted = listener.accept(), if full_until.is_none() => match accepted {
                Ok((stream, peer)) => {
                    if std::mem::take(&mut faulty) {
                        tracing::info!("accepting connections again");
                    }
                    connections.start(stream, client_of(peer));
                }
                Err(error) if concerns_one_client(&error) => {}
                Err(error) => {
                    if !std::mem::replace(&mut faulty, true) {
                        tracing::warn!(%error, "cannot accept connections; podinit tries again");
                    }
                    sleep(PAUSE_AFTER_FAULT).await;
                }
            }
        }
    }
    drop(listener);
    connections.drain().await;
}

/// Whether only one client failed, before it was accepted, and not the listener.
fn concerns_one_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

struct OpenConnections {
    serving: ServingContext,
    tasks: JoinSet<()>,
    /// The connections that count towards the limit; one is removed when it ends or is evicted
    open: HashMap<Id, (AbortHandle, Arc<ConnectionActivity>)>,
}

impl OpenConnections {
    fn new(
        router: Router,
        access: Arc<dyn AccessControl>,
        limits: ServerLimits,
        shutdown: CancellationToken,
    ) -> Self {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_timeout)
            .max_header_size(limits.max_head_bytes)
            .max_headers(limits.max_headers)
            // Above the head limit, so that the head limit applies first; 8 KiB is hyper's minimum.
            .max_buf_size((2 * limits.max_head_bytes).max(8192))
            // A client may close its side after its request, as `nc -N` does.
            .half_close(true);
        Self {
            serving: ServingContext {
                builder,
                router: TowerToHyperService::new(router),
                access,
                limits,
                shutdown,
            },
            tasks: JoinSet::new(),
            open: HashMap::new(),
        }
    }

    fn start(&mut self, stream: TcpStream, client: IpAddr) {
        let activity = Arc::new(ConnectionActivity::new(Instant::now(), client));
        let serving = self.serving.clone();
        let handle = self.tasks.spawn(serving.run(stream, Arc::clone(&activity)));
        self.open.insert(handle.id(), (handle, activity));
    }

    /// Waits for a connection to end; forever when there is none.
    async fn next_end(&mut self) {
        let id = match self.tasks.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => {
                if error.is_panic() {
                    tracing::error!("a connection ended with a panic: a bug in podinit");
                }
                error.id()
            }
            None => return std::future::pending().await,
        };
        self.open.remove(&id);
    }

    /// Closes one connection at the limit. If none may be closed yet, returns when to try again.
    fn make_room(&mut self, now: Instant) -> Option<Instant> {
        if self.open.len() < self.serving.limits.max_connections {
            return None;
        }
        let candidates = self.open.iter().filter(|(_, (_, activity))| !activity.is_scraping());
        let oldest = candidates
            .map(|(id, (_, activity))| (activity.last(), *id))
            .min_by_key(|(last, _)| *last);
        match oldest {
            Some((last, id)) if now.duration_since(last) >= self.serving.limits.min_idle => {
                if let Some((_, activity)) = self.open.remove(&id) {
                    activity.evict();
                }
                None
            }
            Some((last, _)) => Some(last + self.serving.limits.min_idle),
            None => Some(now + self.serving.limits.min_idle),
        }
    }

    /// Lets requests in progress finish. The token has already asked every connection to stop.
    async fn drain(mut self) {
        let now = Instant::now();
        let courtesy = now + SHUTDOWN_COURTESY.min(self.serving.limits.shutdown_grace);
        let grace = now + self.serving.limits.shutdown_grace;
        if self.all_ended_by(courtesy).await {
            return;
        }
        for (handle, activity) in self.open.values() {
            if !activity.is_answering() {
                handle.abort();
            }
        }
        if !self.all_ended_by(grace).await {
            let cut = self.open.len();
            tracing::warn!(connections = cut, "closing connections that did not finish in time");
            self.tasks.shutdown().await;
        }
    }

    async fn all_ended_by(&mut self, deadline: Instant) -> bool {
        while !self.tasks.is_empty() {
            if timeout_at(deadline, self.next_end()).await.is_err() {
                return false;
            }
        }
        true
    }
}

/// What stands for a client where clients get equal shares: its IP address; of IPv6 the first 64 bits,
/// since whoever has one address has all of its network.
pub(super) fn client_of(peer: SocketAddr) -> IpAddr {
    match peer.ip().to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let network = address.to_bits() >> 64 << 64;
            Ipv6Addr::from_bits(network).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_client_is_an_address_or_a_network() {
        for (peer, client) in [
            ("10.0.0.1:5", "10.0.0.1"),
            ("[::ffff:10.0.0.1]:5", "10.0.0.1"),
            ("[fd00:1:2:3:4:5:6:7]:5", "fd00:1:2:3::"),
            ("[::1]:5", "::1"),
        ] {
            let client: IpAddr = client.parse().unwrap();
            assert_eq!(client_of(peer.parse().unwrap()), client, "{peer}");
        }
    }
}
