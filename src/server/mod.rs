//! The HTTP server: exposition, probes and a landing page, for clients that cannot be trusted.
//!
//! ```text
//! listener ─► connections ─► connection ─► routes ─┬─► Access ─┬─► negotiation ─► shared_encoding ─► Scrape
//! (bind)      (limits)       (TLS)                 │           └─► landing_page
//!                                                  └─► health
//! ```
//!
//! [`Limits`] bounds everything that clients can make the server hold: connections, scrapes in
//! progress, header bytes, the time to send a request and the time to read a response. No client can
//! create a series.

mod access;
mod activity;
pub mod compression;
mod connection;
mod connections;
mod health;
mod landing_page;
mod listener;
pub mod negotiation;
mod quality_list;
mod routes;
mod shared_encoding;
mod stream;
mod write_deadline;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::access::Open;
pub use access::{Access, AccessRequest, Verdict};
pub use health::{Health, Heartbeat, SourceHealth};
pub use listener::BindError;
pub use negotiation::Format;

/// Binds `address` as [`Server::bind`] does, and releases it at once. Returns the address that was
/// bound. Must be called within a tokio runtime.
///
/// # Errors
/// One line that says why the address cannot be bound and what to do.
pub fn try_bind(address: SocketAddr) -> Result<SocketAddr, BindError> {
    listener::bind(address).map(|(_listener, local_addr)| local_addr)
}

/// What the server exposes.
pub trait Scrape: Send + Sync + 'static {
    /// Encodes the current exposition in `format`. Called on a thread that may block, by one caller
    /// at a time.
    ///
    /// # Errors
    /// One line that says what could not be encoded. The scrape is answered with it and status 500.
    fn encode(&self, format: Format) -> Result<Vec<u8>, ScrapeError>;

    /// Completes when everything that was encoded before this call is durable, or when waiting
    /// longer would be worse than to answer. No body is sent before.
    fn made_durable(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// What the landing page shows besides its links.
    fn status(&self) -> Status {
        Status::default()
    }
}

/// Why an exposition could not be encoded: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot encode the metrics: {0}")]
pub struct ScrapeError(pub String);

/// The current state of the exporter, for the landing page; `None` is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether the watch is in sync
    pub synced: Option<bool>,
    /// Pods that have not finished their startup
    pub pods_in_flight: Option<u64>,
}

/// Bounds on what clients can make the server hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections. At the limit, the one that has been idle longest is closed.
    pub max_connections: usize,
    /// How long a connection must have been idle before it can be closed to make room
    pub min_idle: Duration,
    /// Scrapes in progress, from the request to the last byte that the kernel takes. Further ones
    /// get status 503. Clients that do not read can bring as many expositions into memory. Must be
    /// below `max_connections`, or scrapes could lock out probes.
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
    /// Time for a client to read a response
    pub write_timeout: Duration,
    /// Time for requests in progress at shutdown
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    /// 512 connections and 32 scrapes: a few scrapers are usual, and file descriptors are often
    /// limited to 1024. 10 s for a handshake. 20 s for a head, so that scrapes every 15 s reuse a
    /// connection. 10 s of grace fit into the 30 s that Kubernetes grants a pod to end.
    fn default() -> Self {
        Self {
            max_connections: 512,
            min_idle: Duration::from_millis(250),
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

/// One line of plain text, as the body of a response. It never contains anything of the request.
fn plain_text(status: StatusCode, text: &str) -> Response {
    const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
    (status, [(CONTENT_TYPE, TEXT)], format!("{text}\n")).into_response()
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
    /// Binds `address`; with port 0 the system chooses one. `[::]` accepts IPv4 connections too, and
    /// becomes `0.0.0.0` on a machine without IPv6. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// One line that says why the address cannot be bound and what to do.
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

    /// Lets `access` decide over TLS and over each request. Without it everybody is answered, in
    /// plain HTTP.
    pub fn with_access(self, access: Arc<dyn Access>) -> Self {
        Self { access, ..self }
    }

    /// The address that was bound, with the port that the system may have chosen.
    pub const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until `shutdown` is cancelled. Then it stops accepting, lets requests in progress
    /// finish within [`Limits::shutdown_grace`], and closes the remaining connections.
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
