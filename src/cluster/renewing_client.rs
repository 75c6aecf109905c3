//! A client that is replaced when its credentials are refused.
//!
//! The kube client reads token files again every minute, and runs credential plugins again when
//! their credentials expire. It does not notice that credentials are refused before they expire, that
//! a plugin stated no expiry, or that certificates and tokens in the kubeconfig were replaced. So
//! when the API server answers 401, or either side rejects the other's certificate, the
//! configuration is read again as at the start, and a new client made from it replaces the old one.
//! While that fails, the old one stays.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use tokio::time::Instant;
use tower_service::Service;

use super::api_error::root_causes;
use super::options::ConnectError;

/// The least time between two renewals, since each may run a credential plugin.
const PAUSE: Duration = Duration::from_secs(20);

/// Makes a client from the current configuration.
pub(super) type MakeClient =
    Box<dyn Fn() -> BoxFuture<'static, Result<Client, ConnectError>> + Send + Sync>;

/// A client that renews itself. Clones share the current client.
#[derive(Clone)]
pub(super) struct RenewingClient(Arc<Shared>);

struct Shared {
    current: Mutex<Current>,
    make: MakeClient,
}

struct Current {
    client: Client,
    /// When the last renewal began
    renewed: Option<Instant>,
}

impl RenewingClient {
    /// A client that uses `client` until its credentials are refused, and then what `make` makes.
    pub(super) fn wrap(client: Client, make: MakeClient) -> Client {
        let namespace = client.default_namespace().to_owned();
        let current = Mutex::new(Current {
            client,
            renewed: None,
        });
        Client::new(Self(Arc::new(Shared { current, make })), namespace)
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        // Every change is one assignment, so that a panic leaves nothing half-changed.
        (self.0.current.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a new client in the background. Until it is ready, requests use the old one.
    fn renew(&self) {
        let mut current = self.current();
        if current.renewed.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        current.renewed = Some(Instant::now());
        let this = self.clone();
        tokio::spawn(async move {
            match (this.0.make)().await {
                Ok(client) => {
                    tracing::debug!("the credentials were read again");
                    this.current().client = client;
                }
                Err(error) => tracing::debug!(%error, "the credentials cannot be read again"),
            }
        });
    }
}

impl Service<Request<Body>> for RenewingClient {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let client = this.current().client.clone();
            let result = client.send(request).await;
            let refused = match &result {
                Ok(response) => response.status() == StatusCode::UNAUTHORIZED,
                Err(error) => is_about_certificates(&root_causes(error)),
            };
            if refused {
                this.renew();
            }
            result
        })
    }
}

impl fmt::Debug for RenewingClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RenewingClient").finish_non_exhaustive()
    }
}

/// Whether a connection failed because one side rejected the other's certificate. hyper loses the
/// types of such errors; the words are those of rustls.
fn is_about_certificates(error: &str) -> bool {
    error.contains("certificate") || error.contains("received fatal alert")
}
