//! Who may ask, and how: access control, and the web configuration that says so.
//!
//! - [`web_config`]: TLS, client certificates, users and rate limits, from one file.
//! - [`AccessGate`]: decides over each request by it, and by bearer tokens that the API server reviews ([`kubernetes`]).
//! - [`WebSettings`]: the file of an exporter, which is read again while it runs.
//!
//! It knows the server's question ([`AccessControl`](podinit_http::AccessControl)), the client of Kubernetes (for reviews) and files
//! of settings. It must not know flags, nor what is served. The exporter does not know it.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod basic;
mod credentials;
mod gate;
pub mod kubernetes;
mod settings;
pub mod web_config;

pub use gate::AccessGate;
pub use settings::{WatchedReload, WebReload, WebSettings};
