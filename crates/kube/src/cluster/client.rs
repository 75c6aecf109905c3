//! A client of one API server, whoever has made it.

use std::sync::Arc;

use kube::Client;

use super::api_server_clock::{ApiServerClock, observing_dates};
use super::renewing_client::{NoCredentials, RenewingClient};

/// A client of one API server, and how messages name it.
#[derive(Clone)]
pub struct ClusterClient {
    /// The client. It has no deadline for reading: callers set one for each request.
    pub client: Client,
    /// The API server's URL
    pub server: String,
    /// Where the configuration came from
    pub origin: String,
    /// The CA certificates (DER) that are configured for the API server, if any
    pub authority: Vec<Vec<u8>>,
    /// The proxy that requests go through, without its credentials
    pub proxy: Option<String>,
    /// The server's certificate is not verified (`insecure-skip-tls-verify`)
    pub unverified: bool,
    /// What obtains the credentials, where they have to be obtained
    pub credentials: Option<RenewingClient>,
}

impl ClusterClient {
    /// Passes the dates of all answers from now on to `clock`.
    #[must_use]
    pub fn observing_dates(self, clock: Arc<ApiServerClock>) -> Self {
        Self { client: observing_dates(self.client, clock), ..self }
    }

    /// Obtains the credentials before the first request does: a plugin may take long, or ask somebody.
    /// Returns at once while it has failed a moment ago.
    ///
    /// # Errors
    /// Why there are none.
    pub async fn obtain_credentials(&self) -> Result<(), NoCredentials> {
        match &self.credentials {
            Some(credentials) => credentials.obtain().await,
            None => Ok(()),
        }
    }
}
