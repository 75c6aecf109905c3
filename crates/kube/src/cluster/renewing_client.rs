//! A client that is replaced when its credentials are refused or expire.
//!
//! Credentials can be refused before they expire, a plugin may state no expiry, and certificates and
//! tokens in the kubeconfig can be replaced. So when the API server answers 401, or either side rejects
//! the other's certificate, the configuration is read again as at the start, and a new client made from
//! it replaces the old one. While that fails, the old one stays. The same happens shortly before the
//! expiry that a credential plugin has stated.
//!
//! At most one client is made at a time, since that may run a credential plugin.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use http::{Request, Response, StatusCode};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::Instant;

use podinit_text::error_text::root_causes;

/// The least time between two renewals, since each may run a credential plugin.
const PAUSE: Duration = Duration::from_secs(20);

/// How long before its expiry a credential is renewed.
const MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// There is no client, since there are no credentials: one line that says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCredentials(pub String);

/// A client, and when its credentials expire.
#[derive(Clone)]
pub struct MadeClient {
    pub client: Client,
    pub expires: Option<Timestamp>,
}

impl MadeClient {
    fn expires_within(&self, margin: SignedDuration) -> bool {
        self.expires.is_some_and(|expires| Timestamp::now() + margin >= expires)
    }
}

/// Makes a client from the current configuration.
pub type MakeClient =
    Box<dyn Fn() -> BoxFuture<'static, Result<MadeClient, NoCredentials>> + Send + Sync>;

/// A client that renews itself. Clones share the current client.
#[derive(Clone)]
pub struct RenewingClient(Arc<RenewingState>);

struct RenewingState {
    current: Mutex<CurrentClient>,
    make: MakeClient,
}

struct CurrentClient {
    /// What the last renewal that succeeded has made; why there is nothing otherwise
    made: Result<MadeClient, NoCredentials>,
    /// When the last renewal began
    renewed: Option<Instant>,
    /// The renewal that runs
    renewal: Option<ClientRenewal>,
}

type ClientRenewal = Shared<BoxFuture<'static, ()>>;

impl RenewingClient {
    /// Uses `client` until its credentials are refused, and then what `make` makes. Without a client,
    /// `make` makes the first one for the first request.
    pub fn new(client: Option<MadeClient>, make: MakeClient) -> Self {
        let current = CurrentClient {
            made: client.ok_or_else(|| NoCredentials("not obtained yet".to_owned())),
            renewed: None,
            renewal: None,
        };
        Self(Arc::new(RenewingState { current: Mutex::new(current), make }))
    }

    /// This as a client of kube.
    pub fn into_client(self, namespace: String) -> Client {
        let service = tower::service_fn(move |request| {
            let this = self.clone();
            async move { this.send(request).await }
        });
        Client::new(service, namespace)
    }

    /// Waits until there are credentials, or the attempt to obtain them has failed.
    pub(super) async fn obtain(&self) -> Result<(), NoCredentials> {
        self.client().await.map(drop)
    }

    /// The client for a request. Waits for a renewal only if the credentials that there are cannot work.
    async fn client(&self) -> Result<Client, NoCredentials> {
        let renewal = {
            let mut current = self.0.current.lock();
            if let Ok(made) = current.made.clone()
                && !made.expires_within(SignedDuration::ZERO)
            {
                if made.expires_within(MARGIN) {
                    self.renew(&mut current);
                }
                return Ok(made.client);
            }
            self.renew(&mut current)
        };
        if let Some(renewal) = renewal {
            renewal.await;
        }
        let current = self.0.current.lock();
        current.made.as_ref().map(|made| made.client.clone()).map_err(Clone::clone)
    }

    /// Makes a new client in the background, unless that was tried a moment ago. Until it is ready,
    /// requests use the old one.
    fn renew(&self, current: &mut CurrentClient) -> Option<ClientRenewal> {
        if let Some(renewal) = &current.renewal {
            return Some(renewal.clone());
        }
        if current.renewed.is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        current.renewed = Some(Instant::now());
        let this = self.clone();
        // A task, so that it completes even if nobody waits for it any more.
        let task = tokio::spawn(async move {
            let made = (this.0.make)().await;
            let mut current = this.0.current.lock();
            current.renewal = None;
            match made {
                Ok(made) => {
                    tracing::debug!("the credentials were read again");
                    current.made = Ok(made);
                }
                Err(error) => {
                    tracing::debug!(%error, "the credentials cannot be read again");
                    if current.made.is_err() {
                        current.made = Err(error);
                    }
                }
            }
        });
        let renewal = task.map(drop).boxed().shared();
        current.renewal = Some(renewal.clone());
        Some(renewal)
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, kube::Error> {
        let client = self.client().await;
        let client = client.map_err(|error| kube::Error::Service(Box::new(error)))?;
        let result = client.send(request).await;
        let refused = match &result {
            Ok(response) => response.status() == StatusCode::UNAUTHORIZED,
            Err(error) => is_about_certificates(&root_causes(error)),
        };
        if refused {
            self.renew(&mut self.0.current.lock());
        }
        result
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::Router;
    use tokio::time::advance;

    use super::*;

    fn answering(status: StatusCode) -> Client {
        let router = Router::new().fallback(move || async move { status });
        let service = tower::ServiceBuilder::new()
            .map_request(|request: Request<Body>| request.map(axum::body::Body::new))
            .service(router);
        Client::new(service, "default")
    }

    async fn status(client: &Client) -> Result<StatusCode, kube::Error> {
        let request = Request::get("/").body(Body::empty()).unwrap();
        client.send(request).await.map(|response| response.status())
    }

    /// Counts how often it is asked for a client; each attempt takes `takes` and has this result.
    fn counting(
        takes: Duration,
        made: impl Fn(usize) -> Result<MadeClient, NoCredentials> + Clone + Send + Sync + 'static,
    ) -> (MakeClient, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let make: MakeClient = Box::new(move || {
            let number = counter.fetch_add(1, Ordering::SeqCst);
            let made = made.clone();
            Box::pin(async move {
                tokio::time::sleep(takes).await;
                made(number)
            })
        });
        (make, asked)
    }

    fn valid(seconds: i64) -> MadeClient {
        MadeClient {
            client: answering(StatusCode::OK),
            expires: Some(Timestamp::now() + SignedDuration::from_secs(seconds)),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_fails_is_asked_once_at_a_time_and_not_again_at_once() {
        let (make, asked) = counting(Duration::from_secs(30), |number| match number {
            0 => Err(NoCredentials("the plugin failed".to_owned())),
            _ => Ok(valid(3600)),
        });
        let client = RenewingClient::new(None, make).into_client("default".to_owned());
        let requests = (0..10).map(|_| status(&client));
        for failed in futures::future::join_all(requests).await {
            assert!(failed.unwrap_err().to_string().contains("the plugin failed"));
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert_eq!(status(&client).await.unwrap(), StatusCode::OK);
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_not_followed_by_an_attempt_at_once() {
        let failing = |_| Err(NoCredentials("no".to_owned()));
        let (make, asked) = counting(Duration::ZERO, failing);
        let client = RenewingClient::new(None, make).into_client("default".to_owned());
        for _ in 0..100 {
            assert!(status(&client).await.is_err());
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        advance(PAUSE).await;
        assert!(status(&client).await.is_err());
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_are_renewed_before_they_expire_and_waited_for_after() {
        let (make, asked) = counting(Duration::from_secs(5), |_| Ok(valid(3600)));
        let renewing = RenewingClient::new(Some(valid(30)), make);
        let client = renewing.clone().into_client("default".to_owned());
        let began = Instant::now();
        assert_eq!(status(&client).await.unwrap(), StatusCode::OK);
        assert_eq!(began.elapsed(), Duration::ZERO, "it waits though it need not");
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        renewing.0.current.lock().made = Ok(valid(-1));
        advance(PAUSE).await;
        let began = Instant::now();
        assert_eq!(status(&client).await.unwrap(), StatusCode::OK);
        assert_eq!(began.elapsed(), Duration::from_secs(5));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
}
