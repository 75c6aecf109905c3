//! A client that is made anew when its credentials are refused.
//!
//! Token files are read again every minute and credential plugins run when what they gave expires;
//! the kube client does both. What it cannot know is that credentials are refused before their
//! time, that a plugin stated no expiry, or that certificates and tokens in the kubeconfig itself
//! were replaced. So when the API server answers 401, or either side refuses the other's
//! certificate, the configuration is read again as at the start, and a client made of it takes the
//! place of the one before. While that fails the old one stays.

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

/// The configuration is not read again sooner than this after the last time: that may run a
/// credential plugin.
const PAUSE: Duration = Duration::from_secs(20);

/// Makes a client from the configuration as it stands now.
pub(super) type Remake =
    Box<dyn Fn() -> BoxFuture<'static, Result<Client, ConnectError>> + Send + Sync>;

/// A client that renews itself. Clones share what was renewed.
#[derive(Clone)]
pub(super) struct Renewing(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    remake: Remake,
}

struct State {
    client: Client,
    /// When a new one was last made, or begun to be made
    renewed: Option<Instant>,
}

impl Renewing {
    /// A client that answers as `client` does until its credentials are refused, and from then on
    /// as what `remake` makes.
    pub(super) fn of(client: Client, remake: Remake) -> Client {
        let namespace = client.default_namespace().to_owned();
        let state = Mutex::new(State {
            client,
            renewed: None,
        });
        Client::new(Self(Arc::new(Shared { state, remake })), namespace)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is one assignment.
        (self.0.state.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a new client beside everything else; requests meanwhile get the old one.
    fn renew(&self) {
        let mut state = self.state();
        if state.renewed.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        state.renewed = Some(Instant::now());
        let this = self.clone();
        tokio::spawn(async move {
            match (this.0.remake)().await {
                Ok(client) => {
                    tracing::debug!("the credentials were read again");
                    this.state().client = client;
                }
                Err(error) => tracing::debug!(%error, "the credentials cannot be read again"),
            }
        });
    }
}

impl Service<Request<Body>> for Renewing {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let client = this.state().client.clone();
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

impl fmt::Debug for Renewing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Renewing").finish_non_exhaustive()
    }
}

/// Whether a connection failed because one side did not accept the other's certificate. The types
/// of such errors are lost on their way through hyper; their words are rustls's.
fn is_about_certificates(error: &str) -> bool {
    error.contains("certificate") || error.contains("received fatal alert")
}
