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
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER, VARY};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tokio_util::sync::CancellationToken;

use super::faults::{Answer, FaultHandle, Protobuf, Request, Target};
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
use super::{compression, discovery, protobuf, table, watch_event};

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

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const PROTOBUF_WATCH: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// A list in protobuf is sent in parts of this length, so that items are cut anywhere.
const PROTOBUF_PART: usize = 16 * 1024;

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
        let Some(representation) = representation(served, &headers) else {
            return Failure::not_acceptable().into_response();
        };
        let takes_gzip = compression::takes_gzip(&headers);
        let answer = self.answer(served, namespace, &uri, representation, takes_gzip);
        let answer = answer.await;
        answer.unwrap_or_else(|failure| refused(&failure, representation))
    }

    async fn answer(
        &self,
        served: &Served,
        namespace: Option<String>,
        uri: &Uri,
        representation: Representation,
        takes_gzip: bool,
    ) -> Result<Response, Failure> {
        let mut options = ListOptions::parse(served.resource, uri)?;
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
        if served.faults.shards() {
            options.know_shards()?;
        }
        if served.faults.modes().forbidden {
            return Err(Failure::forbidden_to(served.resource));
        }
        match answer {
            Some(Answer::Never) => {
                self.shutdown.cancelled().await;
                Err(Failure::internal("the server is shutting down"))
            }
            Some(Answer::Fail(failure)) => Err(failure),
            Some(Answer::Expired) => Err(match &options.continuation {
                Some(continuation) => expired(continuation),
                None => Failure::too_old(1, served.store.version()),
            }),
            Some(Answer::Half { .. }) | None if options.watch => {
                self.watch(served, namespace, options, representation)
            }
            Some(Answer::Half { hangs }) => {
                let parts = self.list(served, namespace, &options)?;
                let whole = self.listed(served.resource, parts, representation)?;
                Ok(typed(representation, self.half(&whole.concat(), hangs)))
            }
            None => {
                let parts = self.list(served, namespace, &options)?;
                let parts = self.listed(served.resource, parts, representation)?;
                sent(representation, parts, takes_gzip)
            }
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

    /// The list whose JSON is in `parts`, in its representation, in parts as well.
    fn listed(
        &self,
        resource: Resource,
        parts: Vec<Bytes>,
        representation: Representation,
    ) -> Result<Vec<Bytes>, Failure> {
        match representation {
            Representation::Json => Ok(parts),
            Representation::Protobuf => {
                let list = as_protobuf(&parts.concat())?;
                let parts = list.chunks(PROTOBUF_PART);
                Ok(parts.map(Bytes::copy_from_slice).collect())
            }
            Representation::Table => table::of_list(resource, &parts.concat(), self.clock.now())
                .map(|table| vec![table.into()])
                .map_err(|error| Failure::internal(error.to_string())),
        }
    }

    fn watch(
        &self,
        served: &Served,
        namespace: Option<String>,
        options: ListOptions,
        representation: Representation,
    ) -> Result<Response, Failure> {
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
        let lines = watch.open()?;
        let clock = self.clock.clone();
        let body = match representation {
            Representation::Json => Body::from_stream(lines),
            Representation::Protobuf => {
                Body::from_stream(lines.map(|lines| lines.map(|lines| protobuf::events(&lines))))
            }
            Representation::Table => Body::from_stream(lines.map(move |lines| {
                lines.map(|lines| table::of_watch(resource, &lines, clock.now()))
            })),
        };
        let mut response = typed(representation, body);
        if representation == Representation::Protobuf {
            let content_type = HeaderValue::from_static(PROTOBUF_WATCH);
            response.headers_mut().insert(CONTENT_TYPE, content_type);
        }
        Ok(response)
    }

    /// One object, by name.
    fn get(&self, served: &Served, key: &ObjectKey, headers: &HeaderMap) -> Response {
        let Some(representation) = representation(served, headers) else {
            return Failure::not_acceptable().into_response();
        };
        match self.named(served, key, representation) {
            Ok(object) => typed(representation, object.into()),
            Err(failure) => refused(&failure, representation),
        }
    }

    fn named(
        &self,
        served: &Served,
        key: &ObjectKey,
        representation: Representation,
    ) -> Result<Vec<u8>, Failure> {
        let resource = served.resource;
        if served.faults.modes().forbidden {
            return Err(Failure::forbidden_to(resource));
        }
        let object = served.store.get(key);
        let object = object.ok_or_else(|| Failure::no_such_object(resource, &key.name))?;
        let document = watch_event::document(resource, &object.json);
        match representation {
            Representation::Json => Ok(document),
            Representation::Protobuf => as_protobuf(&document),
            Representation::Table => {
                let list = [b"{\"metadata\":{},\"items\":[", &*object.json, b"]}"].concat();
                let parts = self.listed(resource, vec![list.into()], representation)?;
                Ok(parts.concat())
            }
        }
    }

    fn served(&self, resource: &str) -> Option<&Served> {
        [&self.pods, &self.events]
            .into_iter()
            .find(|served| served.resource.plural() == resource)
    }

    fn half(&self, whole: &[u8], hangs: bool) -> Body {
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

/// The representation that a client takes of those that are offered.
fn representation(served: &Served, headers: &HeaderMap) -> Option<Representation> {
    let protobuf = served.faults.modes().protobuf;
    let accepted = Representation::accepted(headers, protobuf != Protobuf::Absent);
    accepted
        .filter(|accepted| (*accepted, protobuf) != (Representation::Protobuf, Protobuf::Refused))
}

fn as_protobuf(json: &[u8]) -> Result<Vec<u8>, Failure> {
    protobuf::document(json).ok_or_else(|| Failure::internal("this has no form in protobuf"))
}

/// The answer that `failure` is, in the encoding that the client takes.
fn refused(failure: &Failure, representation: Representation) -> Response {
    let mut response = failure.clone().into_response();
    if representation == Representation::Protobuf
        && let Ok(status) = as_protobuf(failure.to_json().as_bytes())
    {
        *response.body_mut() = status.into();
        let content_type = HeaderValue::from_static(PROTOBUF);
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    response
}

fn typed(representation: Representation, body: Body) -> Response {
    let content_type = match representation {
        Representation::Json | Representation::Table => "application/json",
        Representation::Protobuf => PROTOBUF,
    };
    (
        [(CONTENT_TYPE, HeaderValue::from_static(content_type))],
        body,
    )
        .into_response()
}

/// The answer that consists of `parts`, compressed where that is taken and worth it.
fn sent(
    representation: Representation,
    parts: Vec<Bytes>,
    takes_gzip: bool,
) -> Result<Response, Failure> {
    let compressed = match takes_gzip {
        true => compression::gzip(&parts),
        false => Ok(None),
    };
    let compressed = compressed.map_err(|error| Failure::internal(error.to_string()))?;
    let Some(compressed) = compressed else {
        let parts = parts.into_iter().map(Ok::<_, Infallible>);
        let body = Body::from_stream(stream::iter(parts));
        return Ok(typed(representation, body));
    };
    let mut response = typed(representation, compressed.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    Ok(response)
}

fn json(code: StatusCode, body: impl Into<Body>) -> Response {
    (code, typed(Representation::Json, body.into())).into_response()
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
