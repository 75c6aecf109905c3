//! Sends what the OTLP exporter has encoded, with the HTTP client that podinit uses for everything: the same
//! TLS, proxies and errors, and no second client in the binary.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::USER_AGENT;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use kube::Client;
use kube::client::Body;
use opentelemetry_http::{HttpClient, HttpError};
use parking_lot::Mutex;
use tokio::time::timeout;

use super::answer::CollectorAnswer;
use podinit_kube::cluster::api_error::ApiError;
use podinit_kube::cluster::transport::{AGENT, read_into, timed_out};

/// How many bytes are read of an answer.
const ANSWER_LIMIT: usize = 64 * 1024;

/// A client of one collector. The OTLP exporter turns every failure into text, so this keeps what the
/// collector made of the last request; clones share it.
#[derive(Clone)]
pub(super) struct CollectorClient {
    client: Client,
    timeout: Duration,
    last: Arc<Mutex<Option<CollectorAnswer>>>,
}

impl CollectorClient {
    /// `client` is one of the collector's scheme and host.
    pub(super) fn new(client: Client, timeout: Duration) -> Self {
        Self { client, timeout, last: Arc::default() }
    }

    /// What the collector made of the last request, once.
    pub(super) fn take_answer(&self) -> Option<CollectorAnswer> {
        self.last.lock().take()
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ApiError> {
        let (mut parts, body) = request.into_parts();
        // The client adds scheme and host.
        parts.uri = path_of(&parts.uri);
        let agent = HeaderValue::from_static(AGENT);
        parts.headers.insert(USER_AGENT, agent);
        let request = Request::from_parts(parts, Body::from(body));
        let answered = async {
            let sent = self.client.send(request).await;
            let response = sent.map_err(|error| ApiError::from_client(&error))?;
            let (parts, body) = response.into_parts();
            let mut read = Vec::new();
            read_into(&mut read, body, self.timeout, ANSWER_LIMIT).await?;
            Ok(Response::from_parts(parts, Bytes::from(read)))
        };
        let answered = timeout(self.timeout, answered).await;
        answered.unwrap_or_else(|_| Err(timed_out("no complete answer", self.timeout)))
    }
}

fn path_of(uri: &Uri) -> Uri {
    let path = uri.path_and_query().cloned();
    Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")))
}

/// The trait is declared with `async_trait`, whose form of a method this spells out.
impl HttpClient for CollectorClient {
    fn send_bytes<'me, 'a>(
        &'me self,
        request: Request<Bytes>,
    ) -> BoxFuture<'a, Result<Response<Bytes>, HttpError>>
    where
        'me: 'a,
        Self: 'a,
    {
        Box::pin(async move {
            let sent = self.send(request).await;
            let answer = match &sent {
                Ok(response) => CollectorAnswer::of_response(response),
                Err(error) => CollectorAnswer::of_error(error),
            };
            *self.last.lock() = Some(answer);
            sent.map_err(|error| error.detail.into())
        })
    }
}

impl std::fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollectorClient").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
