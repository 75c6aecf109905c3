//! Who is answered, and through what: the questions that the server asks of whoever decides.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use rustls::ServerConfig;

use super::answer::line;

/// Decides over connections and requests. Its answers may change at any time; a connection keeps
/// the encryption with which it began.
pub trait Access: Send + Sync + 'static {
    /// How a connection that begins now is encrypted; `None` for plain HTTP.
    fn tls(&self) -> Option<Arc<ServerConfig>> {
        None
    }

    /// A client did not complete its handshake, or was refused in it.
    fn handshake_failed(&self) {}

    /// Headers for every response.
    fn headers(&self) -> Arc<[(HeaderName, HeaderValue)]> {
        Arc::default()
    }

    /// Whether a request is answered. Not asked for the probes.
    fn judge(&self, request: Asked) -> BoxFuture<'static, Verdict>;
}

/// What is known of a request when it is judged.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path as it was sent
    pub path: String,
    /// Whether the client has shown a certificate that the TLS configuration takes
    pub has_certificate: bool,
    /// The header `Authorization`; `None` where there is not exactly one
    pub authorization: Option<HeaderValue>,
}

/// Marks the requests of a client that has shown a certificate.
#[derive(Clone, Copy, Debug)]
pub(super) struct HasCertificate;

/// Whether a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is
    Granted,
    /// Nobody knows who asks: status 401
    Unauthenticated {
        /// What `WWW-Authenticate` says: how to ask
        challenge: &'static str,
    },
    /// Whoever asks may not: status 403
    Forbidden,
    /// Too many ask: status 429
    TooManyRequests,
    /// It cannot be decided now: status 503
    Unavailable,
}

/// Answers everybody, in plain HTTP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open;

impl Access for Open {
    fn judge(&self, _request: Asked) -> BoxFuture<'static, Verdict> {
        Box::pin(std::future::ready(Verdict::Granted))
    }
}

/// Lets a request through to its answer, or answers in its place.
pub(super) async fn guard(
    State(access): State<Arc<dyn Access>>,
    request: Request,
    next: Next,
) -> Response {
    let asked = Asked {
        path: request.uri().path().to_owned(),
        has_certificate: request.extensions().get::<HasCertificate>().is_some(),
        authorization: authorization(request.headers()),
    };
    match access.judge(asked).await {
        Verdict::Granted => next.run(request).await,
        Verdict::Unauthenticated { challenge } => {
            let mut response = line(StatusCode::UNAUTHORIZED, "unauthorized");
            let challenge = HeaderValue::from_static(challenge);
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            response
        }
        Verdict::Forbidden => line(StatusCode::FORBIDDEN, "forbidden"),
        Verdict::TooManyRequests => line(StatusCode::TOO_MANY_REQUESTS, "too many requests"),
        Verdict::Unavailable => {
            let why = "access cannot be decided at the moment, try again";
            let mut response = line(StatusCode::SERVICE_UNAVAILABLE, why);
            let second = HeaderValue::from_static("1");
            response.headers_mut().insert(RETRY_AFTER, second);
            response
        }
    }
}

fn authorization(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let first = all.next()?;
    all.next().is_none().then(|| {
        let mut value = first.clone();
        // Its Debug form says no more than that.
        value.set_sensitive(true);
        value
    })
}

/// Adds the headers of every response.
pub(super) async fn headers(
    State(access): State<Arc<dyn Access>>,
    mut response: Response,
) -> Response {
    for (name, value) in access.headers().iter() {
        response.headers_mut().insert(name, value.clone());
    }
    response
}
