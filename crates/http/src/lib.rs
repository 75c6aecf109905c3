//! The HTTP server: exposition and probes, for clients that cannot be trusted.
//!
//! ```text
//! listener ─► connections ─► connection ─► routes ─┬─► Access ─┬─► negotiation ─► shared_encoding ─► Scrape
//! (bind)      (limits)       (TLS)                 │           └─► page and other routes
//!                                                  └─► health
//! ```
//!
//! [`ServerLimits`] bounds everything that clients can make the server hold: connections, scrapes in
//! progress, header bytes, the time to send a request and the time to read a response. No client can
//! create a series.
//!
//! It knows instruments, and how a reload of settings ends. It must not know what it serves, nor whom: a scrape is
//! whatever implements [`ScrapeTarget`], pages and APIs come as routers, and who may ask is whatever [`AccessControl`]
//! says.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod access;
mod access_stats;
mod activity;
mod connection;
mod connections;
mod health;
mod host;
mod limits;
mod listener;
mod metrics_path;
pub mod negotiation;
mod quality_list;
mod routes;
mod scrape;
mod scrape_permits;
mod shared_encoding;
mod write_deadline;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::access::OpenAccess;
pub use access::{AccessControl, AccessRequest, AccessVerdict, Undecidable};
pub use access_stats::{AccessStats, Refusal};
pub use health::{Heartbeat, ProcessHealth, SourceHealth};
pub use host::{AllowedHost, AllowedHosts};
pub use limits::ServerLimits;
use listener::BindError;
pub use listener::try_bind;
pub use metrics_path::MetricsPath;
pub use podinit_instruments::ExpositionFormat;
pub use scrape::{ScrapeError, ScrapeTarget};

/// A server that is bound to its address.
pub struct HttpServer {
    listener: TcpListener,
    local_addr: SocketAddr,
    source: Arc<dyn ScrapeTarget>,
    health: ProcessHealth,
    access: Arc<dyn AccessControl>,
    hosts: AllowedHosts,
    limits: ServerLimits,
    metrics: MetricsPath,
    page: Option<Router>,
    /// Besides the server's own
    routes: Router,
}

impl HttpServer {
    /// Binds `address`; with port 0 the system chooses one. `[::]` accepts IPv4 connections too, and
    /// becomes `0.0.0.0` on a machine without IPv6. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// One line that says why the address cannot be bound and what to do.
    pub fn bind(
        address: SocketAddr,
        limits: ServerLimits,
        source: Arc<dyn ScrapeTarget>,
        health: ProcessHealth,
    ) -> Result<Self, BindError> {
        let (listener, local_addr) = listener::bind(address)?;
        Ok(Self {
            listener,
            local_addr,
            source,
            health,
            access: Arc::new(OpenAccess),
            hosts: AllowedHosts::default(),
            limits,
            metrics: MetricsPath::default(),
            page: None,
            routes: Router::new(),
        })
    }

    /// Lets `access` decide over TLS and over each request. Without it everybody is answered, in
    /// plain HTTP.
    pub fn with_access(self, access: Arc<dyn AccessControl>) -> Self {
        Self { access, ..self }
    }

    /// What decides over them.
    pub fn access(&self) -> Arc<dyn AccessControl> {
        Arc::clone(&self.access)
    }

    /// Answers only under these names, but for the probes. Without it, under every name.
    pub fn with_hosts(self, hosts: AllowedHosts) -> Self {
        Self { hosts, ..self }
    }

    /// Answers scrapes at this path. Without it, at `/metrics`. No other route may have it.
    pub fn with_metrics_at(self, metrics: MetricsPath) -> Self {
        Self { metrics, ..self }
    }

    /// Serves these routes, `/` among them, under the same access control and limit as [`HttpServer::with_routes`].
    pub fn with_page(self, page: Router) -> Self {
        Self { page: Some(page), ..self }
    }

    /// Serves these routes besides its own: under the same access control, and at most
    /// [`ServerLimits::max_scrapes`] responses at a time. They must have no fallback for all paths.
    pub fn with_routes(self, routes: Router) -> Self {
        Self { routes, ..self }
    }

    /// The address that was bound, with the port that the system may have chosen.
    pub const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until `shutdown` is cancelled. Then it stops accepting, lets requests in progress
    /// finish within [`ServerLimits::shutdown_grace`], and closes the remaining connections.
    pub async fn serve(self, shutdown: CancellationToken) {
        let Self { listener, source, health, access, hosts, limits, metrics, page, routes, .. } =
            self;
        let scrapes = (metrics, source);
        let router = routes::router(scrapes, health, (page, routes), (&access, hosts), &limits);
        connections::serve(listener, router, access, limits, shutdown).await;
    }
}
