//! The interface to access control: the server asks, an implementation of [`AccessControl`] decides.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use http::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderMap, StatusCode};
use rustls::ServerConfig;

use super::host::AllowedHosts;

/// Decides over connections and requests. Its decisions may change at any time; a connection keeps
/// the TLS configuration with which it began.
pub trait AccessControl: Send + Sync + 'static {
    /// The TLS configuration of a connection that begins now; `None` for plain HTTP.
    fn tls(&self) -> Option<Arc<ServerConfig>> {
        None
    }

    /// Counts a TLS handshake that failed.
    fn handshake_failed(&self) {}

    /// Counts a request under a name that is not this server's.
    fn foreign_host(&self) {}

    /// Headers for every response.
    fn headers(&self) -> Arc<[(HeaderName, HeaderValue)]> {
        Arc::default()
    }

    /// Decides whether a request is answered. Not called for probes.
    fn authorize(&self, request: AccessRequest) -> BoxFuture<'static, AccessVerdict>;

    /// Finds out whether it can decide.
    fn check(&self) -> BoxFuture<'static, Result<(), Undecidable>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Why access cannot be decided: one line that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Undecidable {
    pub why: String,
    /// Whether it does not pass by itself
    pub is_lasting: bool,
}

/// What a decision about a request can depend on.
#[derive(Clone, Debug)]
pub struct AccessRequest {
    /// The path of the URL, as it was sent
    pub path: String,
    /// Whether the client sent a certificate that the TLS configuration accepts
    pub has_certificate: bool,
    /// The header `Authorization`; `None` unless there is exactly one
    pub authorization: Option<HeaderValue>,
}

/// An extension of requests from a client that sent a certificate.
#[derive(Clone, Copy, Debug)]
pub(super) struct HasCertificate;

/// Whether a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessVerdict {
    /// It is
    Granted,
    /// The client is unknown: status 401
    Unauthenticated {
        /// The header `WWW-Authenticate`
        challenge: &'static str,
    },
    /// The client has no right to it: status 403
    Forbidden,
    /// There are too many requests: status 429
    TooManyRequests,
    /// It cannot be decided now: status 503
    Unavailable,
}

/// Answers everybody, in plain HTTP.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenAccess;

impl AccessControl for OpenAccess {
    fn authorize(&self, _request: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        Box::pin(std::future::ready(AccessVerdict::Granted))
    }
}

/// Passes a request on if it is for this server, or answers it. The answer does not repeat the name.
pub(super) async fn guard_host(
    State((hosts, access)): State<(AllowedHosts, Arc<dyn AccessControl>)>,
    request: Request,
    next: Next,
) -> Response {
    if hosts.allow(request.uri(), request.headers()) {
        return next.run(request).await;
    }
    access.foreign_host();
    let why = "podinit does not answer under this host name; allow it with --allowed-hosts, or use an \
               IP address or localhost";
    plain_text(StatusCode::FORBIDDEN, why)
}

/// Passes a request on if it is granted, or answers it.
pub(super) async fn guard(
    State(access): State<Arc<dyn AccessControl>>,
    request: Request,
    next: Next,
) -> Response {
    let asked = AccessRequest {
        path: request.uri().path().to_owned(),
        has_certificate: request.extensions().get::<HasCertificate>().is_some(),
        authorization: authorization(request.headers()),
    };
    match access.authorize(asked).await {
        AccessVerdict::Granted => next.run(request).await,
        AccessVerdict::Unauthenticated { challenge } => {
            let mut response = plain_text(StatusCode::UNAUTHORIZED, "unauthorized");
            let challenge = HeaderValue::from_static(challenge);
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            response
        }
        AccessVerdict::Forbidden => plain_text(StatusCode::FORBIDDEN, "forbidden"),
        AccessVerdict::TooManyRequests => {
            plain_text(StatusCode::TOO_MANY_REQUESTS, "too many requests")
        }
        AccessVerdict::Unavailable => {
            let why = "access cannot be decided at the moment, try again";
            let mut response = plain_text(StatusCode::SERVICE_UNAVAILABLE, why);
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
        // So that its Debug form does not show it.
        value.set_sensitive(true);
        value
    })
}

/// Adds the headers of every response.
pub(super) async fn headers(
    State(access): State<Arc<dyn AccessControl>>,
    mut response: Response,
) -> Response {
    for (name, value) in access.headers().iter() {
        response.headers_mut().insert(name, value.clone());
    }
    response
}

/// One line of plain text, as the body of a response. It never contains anything of the request.
pub(super) fn plain_text(status: StatusCode, text: &str) -> Response {
    const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
    (status, [(CONTENT_TYPE, TEXT)], format!("{text}\n")).into_response()
}
