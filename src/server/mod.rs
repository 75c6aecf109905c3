//! The HTTP side: exposition, probes and a landing page, for clients that are not to be trusted.
//!
//! ```text
//! listener ─► connections ─► connection ─► routes ─┬─► Access ─┬─► negotiation ─► snapshot ─► Scrape
//! (bind)      (limits)       (TLS)                 │           └─► page
//!                                                  └─► health
//! ```
//!
//! Everything a client can make the server hold is bounded by [`Limits`]: connections, scrapes
//! under way, header bytes, the time to send a request and the time to take a response. No
//! client can bring about a new series.

mod access;
mod activity;
mod answer;
pub mod compression;
mod connection;
mod connections;
mod health;
mod listener;
pub mod negotiation;
mod page;
mod quality;
mod routes;
mod snapshot;
mod stream;
mod write_deadline;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::access::Open;
pub use access::{Access, Asked, Verdict};
pub use health::{Health, Heartbeat, SourceHealth};
pub use listener::BindError;
pub use negotiation::Format;

/// Finds out whether `address` could be listened on, as [`Server::bind`] does it, and lets go of it
/// at once; the address that was had. Must be called within a tokio runtime.
///
/// # Errors
/// One line that says why the address cannot be had and what to do.
pub fn try_bind(address: SocketAddr) -> Result<SocketAddr, BindError> {
    listener::bind(address).map(|(_listener, local_addr)| local_addr)
}

/// What the server exposes.
pub trait Scrape: Send + Sync + 'static {
    /// The exposition as it stands, in `format`. Called on a thread that may block, by one
    /// caller at a time.
    ///
    /// # Errors
    /// One line that says what could not be encoded. The scrape gets status 500 with it.
    fn encode(&self, format: Format) -> Result<Vec<u8>, ScrapeError>;

    /// Completes when everything that was encoded before this call is durable, or when waiting
    /// longer would be worse than to answer. No body is sent before.
    fn made_durable(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// What the landing page shows beside its links.
    fn status(&self) -> Status {
        Status::default()
    }
}

/// Why an exposition could not be encoded: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot encode the metrics: {0}")]
pub struct ScrapeError(pub String);

/// What is known of the exporter's work at the moment; `None` is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether the watch is in sync
    pub synced: Option<bool>,
    /// Pods that have not finished their startup
    pub pods_in_flight: Option<u64>,
}

/// How much clients can make the server hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections. At the limit, the one that has been silent longest makes way.
    pub max_connections: usize,
    /// How long a connection may be silent before it can be made to give way
    pub min_silence: Duration,
    /// Scrapes under way, from the request to the last byte taken. Further ones get status 503.
    /// At most so many expositions are in memory, and clients that do not read can bring that
    /// about. Must be below `max_connections`, or scrapes could keep probes out.
    pub max_scrapes: usize,
    /// Bytes of a request head; a longer one gets status 431
    pub max_head_bytes: usize,
    /// Headers of a request; more get status 431
    pub max_headers: usize,
    /// Time for a TLS handshake
    pub handshake_timeout: Duration,
    /// Time for a request head to arrive, counted from the previous response on a connection
    /// that is kept alive
    pub head_timeout: Duration,
    /// Time for a client to take a response
    pub write_timeout: Duration,
    /// Time for requests under way at shutdown
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    /// 512 connections and 32 scrapes: a few scrapers are usual, and file descriptors are often
    /// limited to 1024. 10 s for a handshake. 20 s for a head, so that scrapes every 15 s reuse a
    /// connection. 10 s of grace fit into the 30 s that Kubernetes grants a pod to end.
    fn default() -> Self {
        Self {
            max_connections: 512,
            min_silence: Duration::from_millis(250),
            max_scrapes: 32,
            max_head_bytes: 16 * 1024,
            max_headers: 64,
            handshake_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(20),
            write_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

/// A server that is bound to its address.
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    source: Arc<dyn Scrape>,
    health: Health,
    access: Arc<dyn Access>,
    limits: Limits,
}

impl Server {
    /// Binds `address`; port 0 lets the system choose. `[::]` takes IPv4 connections too, and
    /// becomes `0.0.0.0` on a machine without IPv6. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// One line that says why the address cannot be had and what to do.
    pub fn bind(
        address: SocketAddr,
        limits: Limits,
        source: Arc<dyn Scrape>,
        health: Health,
    ) -> Result<Self, BindError> {
        let (listener, local_addr) = listener::bind(address)?;
        Ok(Self {
            listener,
            local_addr,
            source,
            health,
            access: Arc::new(Open),
            limits,
        })
    }

    /// Lets `access` decide who is answered, and through what. Without it everybody is, in plain
    /// HTTP.
    pub fn with_access(self, access: Arc<dyn Access>) -> Self {
        Self { access, ..self }
    }

    /// The address that was bound, with the port that the system chose.
    pub const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until `shutdown` is cancelled, then stops accepting, lets requests under way
    /// finish within [`Limits::shutdown_grace`], and closes what is left.
    pub async fn serve(self, shutdown: CancellationToken) {
        let Self {
            listener,
            source,
            health,
            access,
            limits,
            ..
        } = self;
        let router = routes::router(source, health, &access, limits.max_scrapes);
        connections::serve(listener, router, access, limits, shutdown).await;
    }
}
