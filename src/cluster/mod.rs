//! The connection to one cluster: which one is meant, the client with its proxies and credentials,
//! requests with deadlines and the errors that they end with, and the time that the API server tells.
//!
//! Nothing here knows what is asked for. [`crate::watch`] and [`crate::doctor`] make the requests.

pub mod api_error;
pub mod client;
pub mod clock;
pub mod disciplined;
pub(crate) mod http_date;
mod kubeconfig;
pub mod options;
mod proxy;
mod renewal;
pub(crate) mod transport;
mod witness;
