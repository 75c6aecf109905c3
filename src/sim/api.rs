//! The HTTP server: the part of the Kubernetes API that a watcher of pods and their Events needs, and
//! `kubectl get` and `describe` of them.

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
use http::header::{CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tokio_util::sync::CancellationToken;

use super::faults::{Answer, FaultHandle, Request, Target};
use super::json::http_date;
use super::list::{expired, list};
use super::list_options::ListOptions;
use super::object::ObjectKey;
use super::representation::Representation;
use super::resource::Resource;
use super::sim_clock::SimClock;
use super::status::Failure;
use super::store::Store;
use super::watch_stream::WatchStream;
use super::{discovery, table, watch_event};

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
            .route("/api/v1/events", get(all_events))
            .route(
                "/api/v1/namespaces/{namespace}/{resource}",
                get(of_namespace),
            )
            .route("/api/v1/namespaces/{namespace}/{resource}/{name}", get(one))
            .route(
                "/api",
                get(|| async { json(StatusCode::OK, discovery::VERSIONS) }),
            )
            .route(
                "/apis",
                get(|| async { json(StatusCode::OK, discovery::GROUPS) }),
            )
            .route(
                "/api/v1",
                get(|| async { json(StatusCode::OK, discovery::resources()) }),
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
        let Some(representation) = Representation::accepted(&headers) else {
            return Failure::not_acceptable().into_response();
        };
        let mut options = match ListOptions::parse(served.resource, &uri) {
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
        if served.faults.shards()
            && let Err(failure) = options.know_shards()
        {
            return failure.into_response();
        }
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
            Some(Answer::Half { .. }) | None if options.watch => {
                self.watch(served, namespace, options, representation)
            }
            Some(Answer::Half { hangs }) => match self.list(served, namespace, &options) {
                Ok(parts) => streamed(self.half(parts, hangs)),
                Err(failure) => failure.into_response(),
            },
            None => match self.list(served, namespace, &options) {
                Ok(parts) => self.listed(served.resource, parts, representation),
                Err(failure) => failure.into_response(),
            },
        }
    }

    fn list(
        &self,
        served: &Served,
        namespace: Option<String>,
        options: &ListOptions,
    ) -> Result<Vec<Bytes>, Failure> {
        let modes = served.faults.modes();
        list(
            served.resource,
            &served.store,
            namespace.as_deref(),
            options,
            modes,
        )
    }

    fn listed(
        &self,
        resource: Resource,
        parts: Vec<Bytes>,
        representation: Representation,
    ) -> Response {
        match representation {
            Representation::Objects => {
                let parts = parts.into_iter().map(Ok::<_, Infallible>);
                streamed(Body::from_stream(stream::iter(parts)))
            }
            Representation::Table => {
                match table::of_list(resource, &parts.concat(), self.clock.now()) {
                    Ok(table) => json(StatusCode::OK, table),
                    Err(error) => Failure::internal(error.to_string()).into_response(),
                }
            }
        }
    }

    fn watch(
        &self,
        served: &Served,
        namespace: Option<String>,
        options: ListOptions,
        representation: Representation,
    ) -> Response {
        let resource = served.resource;
        let watch = WatchStream {
            resource,
            store: Arc::clone(&served.store),
            faults: served.faults.clone(),
            namespace,
            options,
            bookmark_interval: self.bookmark_interval,
            shutdown: self.shutdown.clone(),
        };
        let lines = match watch.open() {
            Ok(lines) => lines,
            Err(failure) => return failure.into_response(),
        };
        let clock = self.clock.clone();
        streamed(match representation {
            Representation::Objects => Body::from_stream(lines),
            Representation::Table => Body::from_stream(lines.map(move |lines| {
                lines.map(|lines| table::of_watch(resource, &lines, clock.now()))
            })),
        })
    }

    /// One object, by name.
    fn get(&self, served: &Served, key: &ObjectKey, headers: &HeaderMap) -> Response {
        let resource = served.resource;
        let Some(representation) = Representation::accepted(headers) else {
            return Failure::not_acceptable().into_response();
        };
        if served.faults.modes().forbidden {
            return Failure::forbidden_to(resource).into_response();
        }
        let Some(object) = served.store.get(key) else {
            return Failure::no_such_object(resource, &key.name).into_response();
        };
        match representation {
            Representation::Objects => json(
                StatusCode::OK,
                watch_event::document(resource, &object.json),
            ),
            Representation::Table => {
                let list = [b"{\"metadata\":{},\"items\":[", &*object.json, b"]}"].concat();
                self.listed(resource, vec![list.into()], representation)
            }
        }
    }

    fn served(&self, resource: &str) -> Option<&Served> {
        [&self.pods, &self.events]
            .into_iter()
            .find(|served| served.resource.plural() == resource)
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

async fn all_events(State(api): State<Api>, uri: Uri, headers: HeaderMap) -> Response {
    api.serve(&api.events, None, uri, headers).await
}

async fn of_namespace(
    State(api): State<Api>,
    Path((namespace, resource)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match api.served(&resource) {
        Some(served) => api.serve(served, Some(namespace), uri, headers).await,
        None => Failure::not_found().into_response(),
    }
}

async fn one(
    State(api): State<Api>,
    Path((namespace, resource, name)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Response {
    match api.served(&resource) {
        Some(served) => api.get(served, &ObjectKey::new(namespace, name), &headers),
        None => Failure::not_found().into_response(),
    }
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
