//! The way from an API server to deliveries.
//!
//! - [`cluster`]: one client: deadlines, errors, renewal, and the API server's clock.
//! - [`watch`]: the one list-watch engine, for pods, Events and nodes: lists and their pages, resumption, backoff,
//!   reconciliation, and what is counted of all that.
//!
//! It knows bytes (`podinit-decode`), core's snapshots and the instruments that count. It must not know how a client is
//! made (`podinit-connect`), nor what is made of a delivery. A tracker, a metric of pods, a recording or a check are its
//! callers.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod cluster;
pub mod watch;
