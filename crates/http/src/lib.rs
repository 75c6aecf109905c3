//! HTTP with limits, and who may ask.
//!
//! - [`server`]: connections, routes, negotiation, one encoding for all scrapes of a moment, and the probes.
//! - [`web_config`]: TLS, client certificates, users and rate limits, from one file that is read again.
//! - [`access`]: passwords, and bearer tokens that the API server reviews.
//!
//! It knows instruments, the client of Kubernetes (for reviews) and files of settings. It must not know what it serves:
//! a scrape is whatever implements [`Scrape`](server::Scrape), and pages and APIs come as routers.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod access;
pub mod server;
pub mod web_config;
