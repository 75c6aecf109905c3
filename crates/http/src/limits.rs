//! Bounds on what clients can make the server hold.

use std::time::Duration;

/// Bounds on what clients can make the server hold.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Open connections. At the limit, the one that has been idle longest is closed.
    pub max_connections: usize,
    /// How long a connection must have been idle before it can be closed to make room
    pub min_idle: Duration,
    /// Scrapes in progress, from the request to the last byte that the kernel takes, of one client at
    /// most half of them. Further ones get status 503, unless a client does not read: its connection is
    /// closed instead. Clients that do not read can bring as many expositions into memory. Must be
    /// below `max_connections`, or scrapes could lock out probes.
    pub max_scrapes: usize,
    /// How long a client must have read nothing before its place can be given to another
    pub min_stall: Duration,
    /// Bytes of a request head; a longer one gets status 431
    pub max_head_bytes: usize,
    /// Headers of a request; more get status 431
    pub max_headers: usize,
    /// Time for a TLS handshake
    pub handshake_timeout: Duration,
    /// Time for a request head to arrive, counted from the previous response on a connection
    /// that is kept alive
    pub head_timeout: Duration,
    /// Time for a client to read something of a response
    pub stall_timeout: Duration,
    /// Time for a client to read a response
    pub write_timeout: Duration,
    /// Time for requests in progress at shutdown
    pub shutdown_grace: Duration,
}

impl Default for ServerLimits {
    /// 512 connections and 32 scrapes: a few scrapers are usual, and file descriptors are often
    /// limited to 1024. 10 s for a handshake. 20 s for a head, so that scrapes every 15 s reuse a
    /// connection. With 5 s of grace podinit ends within 10 s, the last write of its state included.
    fn default() -> Self {
        Self {
            max_connections: 512,
            min_idle: Duration::from_millis(250),
            max_scrapes: 32,
            min_stall: Duration::from_millis(250),
            max_head_bytes: 16 * 1024,
            max_headers: 64,
            handshake_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(20),
            stall_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
