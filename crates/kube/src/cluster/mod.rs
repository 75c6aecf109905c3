//! The connection to one cluster: which cluster is chosen, the client with its proxies and
//! credentials, requests with deadlines and their errors, and the API server's clock.
//!
//! Nothing here knows what is requested. [`crate::watch`], `podinit-http` and `podinit-tools` make
//! the requests.

pub(crate) mod answer_body;
pub mod api_error;
pub mod api_server_clock;
pub mod client;
mod client_go;
pub mod clock;
mod creations;
pub mod credentials;
mod error_text;
mod kubeconfig;
mod kubeconfig_entry;
pub mod options;
mod proxy;
mod renewing_client;
pub mod transport;
