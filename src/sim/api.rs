//! The HTTP server: the part of the Kubernetes API that a watcher of pods and their Events needs.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::{ACCEPT, CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tokio_util::sync::CancellationToken;

use super::faults::{Answer, FaultHandle, Request, Target};
use super::json::http_date;
use super::list::{expired, list};
use super::list_options::ListOptions;
use super::resource::Resource;
use super::sim_clock::SimClock;
use super::status::Failure;
use super::store::Store;
use super::watch_stream::WatchStream;

/// One resource: its objects, and what can go wrong with requests for them.
#[derive(Clone, Debug)]
pub(super) struct Served {
    pub(super) resource: Resource,
    pub(super) store: Arc<Store>,
    pub(super) faults: FaultHandle,
}

/// What the handlers share.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) pods: Served,
    pub(super) events: Served,
    pub(super) bookmark_interval: Duration,
    pub(super) shutdown: CancellationToken,
    pub(super) clock: SimClock,
}

const VERSION: &str = r#"{"major":"1","minor":"37","gitVersion":"v1.37.1","gitCommit":"0000000000000000000000000000000000000000","gitTreeState":"clean","buildDate":"2026-09-10T00:00:00Z","goVersion":"go1.26.3","compiler":"gc","platform":"linux/amd64"}"#;

impl Api {
    /// The routes.
    pub(super) fn router(self) -> Router {
        let clock = self.clock.clone();
        let dated = map_response(move |response| std::future::ready(dated(response, &clock)));
        Router::new()
            .route("/api/v1/pods", get(all_pods))
            .route(
                "/api/v1/namespaces/{namespace}/pods",
                get(pods_of_namespace),
            )
            .route("/api/v1/events", get(all_events))
            .route(
                "/api/v1/namespaces/{namespace}/events",
                get(events_of_namespace),
            )
            .route("/version", get(|| async { json(StatusCode::OK, VERSION) }))
            .route("/readyz", get(|| async { "ok" }))
            .route("/livez", get(|| async { "ok" }))
            .fallback(|| async { Failure::not_found() })
            .with_state(self)
            .layer(dated)
    }

    async fn serve(
        &self,
        served: &Served,
        namespace: Option<String>,
        uri: Uri,
        headers: HeaderMap,
    ) -> Response {
        if !accepts_json(&headers) {
            return Failure::not_acceptable().into_response();
        }
        let options = match ListOptions::parse(served.resource, &uri) {
            Ok(options) => options,
            Err(failure) => return failure.into_response(),
        };
        let target = match (options.watch, &options.continuation) {
            (true, _) => Target::Watch,
            (false, Some(_)) => Target::NextPage,
            (false, None) => Target::List,
        };
        let answer = served.faults.receive(Request {
            target,
            path: uri.path().to_owned(),
            query: uri.query().unwrap_or_default().to_owned(),
        });
        if served.faults.modes().forbidden {
            return Failure::forbidden_to(served.resource).into_response();
        }
        match answer {
            Some(Answer::Never) => {
                self.shutdown.cancelled().await;
                Failure::internal("the server is shutting down").into_response()
            }
            Some(Answer::Fail(failure)) => failure.into_response(),
            Some(Answer::Expired) => match &options.continuation {
                Some(continuation) => expired(continuation).into_response(),
                None => Failure::too_old(1, served.store.version()).into_response(),
            },
            Some(Answer::Half { hangs }) => self.answer(served, namespace, options, Some(hangs)),
            None => self.answer(served, namespace, options, None),
        }
    }

    /// The right answer, or the first half of it.
    fn answer(
        &self,
        served: &Served,
        namespace: Option<String>,
        options: ListOptions,
        half_hangs: Option<bool>,
    ) -> Response {
        if options.watch {
            let watch = WatchStream {
                resource: served.resource,
                store: Arc::clone(&served.store),
                faults: served.faults.clone(),
                namespace,
                options,
                bookmark_interval: self.bookmark_interval,
                shutdown: self.shutdown.clone(),
            };
            return match watch.open() {
                Ok(stream) => streamed(Body::from_stream(stream)),
                Err(failure) => failure.into_response(),
            };
        }
        let parts = list(
            served.resource,
            &served.store,
            namespace.as_deref(),
            &options,
            served.faults.modes(),
        );
        match (parts, half_hangs) {
            (Err(failure), _) => failure.into_response(),
            (Ok(parts), None) => {
                let parts = parts.into_iter().map(Ok::<_, Infallible>);
                streamed(Body::from_stream(stream::iter(parts)))
            }
            (Ok(parts), Some(hangs)) => streamed(self.half(parts, hangs)),
        }
    }

    fn half(&self, parts: Vec<Bytes>, hangs: bool) -> Body {
        let whole = parts.concat();
        let half = Bytes::copy_from_slice(&whole[..whole.len() / 2]);
        let shutdown = self.shutdown.clone();
        let rest = stream::once(async move {
            if hangs {
                shutdown.cancelled().await;
            }
            // An error at once would take the place of what is not flushed yet.
            tokio::task::yield_now().await;
            Err(io::Error::from(io::ErrorKind::ConnectionReset))
        });
        Body::from_stream(stream::iter([Ok(half)]).chain(rest))
    }
}

async fn all_pods(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    api.serve(&api.pods, None, uri, headers).await
}

async fn pods_of_namespace(
    State(api): State<Api>,
    Path(namespace): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    api.serve(&api.pods, Some(namespace), uri, headers).await
}

async fn all_events(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    api.serve(&api.events, None, uri, headers).await
}

async fn events_of_namespace(
    State(api): State<Api>,
    Path(namespace): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    (api.serve(&api.events, Some(namespace), uri, headers)).await
}

/// Whether JSON is among what the client takes.
fn accepts_json(headers: &HeaderMap) -> bool {
    let Some(accept) = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()) else {
        return true;
    };
    accept.split(',').any(|range| {
        let media = range.split(';').next().unwrap_or_default().trim();
        matches!(media, "application/json" | "application/*" | "*/*" | "")
    })
}

/// The answer with the date of the simulated clock; the server would put that of the machine.
fn dated(mut response: Response, clock: &SimClock) -> Response {
    if let Ok(date) = HeaderValue::try_from(http_date(clock.now())) {
        response.headers_mut().insert(DATE, date);
    }
    response
}

fn streamed(body: Body) -> Response {
    let content_type = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (content_type, body).into_response()
}

fn json(code: StatusCode, body: impl Into<Body>) -> Response {
    (code, streamed(body.into())).into_response()
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = json(self.code, self.to_json());
        if let Some(seconds) = self.retry_after_seconds {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
