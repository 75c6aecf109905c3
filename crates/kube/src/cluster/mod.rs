//! The connection to one cluster: its client, which is replaced when its credentials are refused; requests with
//! deadlines and their errors; and the API server's clock.
//!
//! Nothing here knows how the client is made (`podinit-connect`), nor what is requested: [`crate::watch`],
//! `podinit-access` and `podinit-doctor` make the requests.

pub(crate) mod answer_body;
pub mod api_error;
pub mod api_server_clock;
pub mod client;
pub mod clock;
pub mod renewing_client;
mod tls_words;
pub mod transport;
