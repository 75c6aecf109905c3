//! The HTTP server: the part of the Kubernetes API that a watcher of pods and their Events needs, and
//! kubectl's `get`, `describe`, `events` and `logs` of pods and of what they name.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER, VARY};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tokio_util::sync::CancellationToken;

use super::faults::{FaultAnswer, FaultHandle, FaultTarget, ProtobufSupport, ReceivedRequest};
use super::list::{expired, list};
use super::list_options::ListOptions;
use super::object::{ObjectKey, ServedKind};
use super::related::{ClusterView, RelatedKind};
use super::representation::{Representation, gzip, takes_gzip};
use super::scene::Scene;
use super::sim_clock::SimClock;
use super::status::StatusFailure;
use super::store::ObjectStore;
use super::watch_stream::WatchStream;
use super::{discovery, log, protobuf, table, watch_event};
use podinit_core::timestamp::Timestamp;

/// One resource: its objects, and what can go wrong with requests for them.
#[derive(Clone, Debug)]
pub(super) struct ServedResource {
    pub(super) resource: ServedKind,
    pub(super) store: Arc<ObjectStore>,
    pub(super) faults: FaultHandle,
}

/// What the handlers share.
#[derive(Clone, Debug)]
pub(super) struct ApiHandlerState {
    pub(super) pods: ServedResource,
    pub(super) events: ServedResource,
    pub(super) nodes: ServedResource,
    pub(super) namespaces: ServedResource,
    /// Deployments, ReplicaSets, and resources of which there is no object
    pub(super) workloads: Vec<ServedResource>,
    pub(super) bookmark_interval: Duration,
    pub(super) shutdown: CancellationToken,
    pub(super) clock: SimClock,
    /// What breaks, and when
    pub(super) scene: Option<(Scene, Timestamp)>,
}

/// A list in protobuf is sent in parts of this length, so that items are cut anywhere.
const PROTOBUF_PART: usize = 16 * 1024;

impl ApiHandlerState {
    /// The routes.
    pub(super) fn router(self) -> Router {
        let clock = self.clock.clone();
        let dated = map_response(move |response| std::future::ready(dated(response, &clock)));
        let mut router = Router::new()
            .route("/api/v1/{*path}", get(core_v1))
            .route("/apis/{group}/{version}/{*path}", get(any_group))
            .route("/readyz", get(|| async { "ok" }))
            .route("/livez", get(|| async { "ok" }))
            .fallback(|| async { StatusFailure::not_found() });
        for (path, document) in discovery::documents() {
            let answer = move || async move { typed(Representation::Json, document) };
            router = router.route(&path, get(answer));
        }
        router.with_state(self).layer(dated)
    }

    /// The resource of that group, version and name, if it is served from a store.
    fn served(&self, group: &str, version: &str, plural: &str) -> Option<&ServedResource> {
        let core = [&self.pods, &self.events, &self.nodes, &self.namespaces];
        core.into_iter().chain(&self.workloads).find(|served| {
            let names = served.resource.names();
            (names.group, names.version, names.plural) == (group, version, plural)
        })
    }

    /// Answers a list or a watch.
    async fn answer(
        &self,
        served: &ServedResource,
        namespace: Option<String>,
        uri: &Uri,
        headers: &HeaderMap,
        representation: Representation,
    ) -> Result<Response, StatusFailure> {
        let mut options = ListOptions::parse(served.resource, uri)?;
        let target = match (options.watch, &options.continuation) {
            (true, _) => FaultTarget::Watch,
            (false, Some(_)) => FaultTarget::NextPage,
            (false, None) => FaultTarget::List,
        };
        let answer = served.faults.receive(ReceivedRequest {
            target,
            path: uri.path().to_owned(),
            query: uri.query().unwrap_or_default().to_owned(),
        });
        if served.faults.shards() {
            options.know_shards()?;
        }
        let modes = served.faults.modes();
        if modes.forbidden {
            return Err(StatusFailure::forbidden_to(served.resource));
        }
        let half = match answer {
            Some(FaultAnswer::Never) => {
                self.shutdown.cancelled().await;
                return Err(StatusFailure::internal("the server is shutting down"));
            }
            Some(FaultAnswer::Fail(failure)) => return Err(failure),
            Some(FaultAnswer::Expired) => {
                return Err(match &options.continuation {
                    Some(continuation) => expired(continuation),
                    None => StatusFailure::too_old(1, served.store.version()),
                });
            }
            Some(FaultAnswer::Half { hangs }) => Some(hangs),
            None => None,
        };
        if options.watch {
            return self.watch(served, namespace, options, representation);
        }
        let parts = list(served.resource, &served.store, namespace.as_deref(), &options, modes)?;
        let parts = self.represented(served.resource, parts, representation)?;
        match half {
            Some(hangs) => Ok(typed(representation, self.half(&parts.concat(), hangs))),
            None => sent(representation, parts, takes_gzip(headers)),
        }
    }

    /// The list whose JSON is in `parts`, in its representation, in parts as well.
    fn represented(
        &self,
        resource: ServedKind,
        parts: Vec<Bytes>,
        representation: Representation,
    ) -> Result<Vec<Bytes>, StatusFailure> {
        match representation {
            Representation::Json => Ok(parts),
            Representation::Protobuf => {
                let list = as_protobuf(&parts.concat())?;
                let parts = list.chunks(PROTOBUF_PART);
                Ok(parts.map(Bytes::copy_from_slice).collect())
            }
            Representation::Table => table::of_list(resource, &parts.concat(), self.clock.now())
                .map(|table| vec![table.into()])
                .map_err(|error| StatusFailure::internal(error.to_string())),
        }
    }

    fn watch(
        &self,
        served: &ServedResource,
        namespace: Option<String>,
        options: ListOptions,
        representation: Representation,
    ) -> Result<Response, StatusFailure> {
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
        let clock = self.clock.clone();
        let lines = watch.open()?.map_ok(move |lines| match representation {
            Representation::Json => lines,
            Representation::Protobuf => protobuf::events(&lines),
            Representation::Table => table::of_watch(resource, &lines, clock.now()).into(),
        });
        let content_type = HeaderValue::from_static(representation.content_type(true));
        Ok(([(CONTENT_TYPE, content_type)], Body::from_stream(lines)).into_response())
    }

    /// Answers with one object, by name.
    fn named(
        &self,
        served: &ServedResource,
        key: &ObjectKey,
        representation: Representation,
    ) -> Result<Response, StatusFailure> {
        let resource = served.resource;
        if served.faults.modes().forbidden {
            return Err(StatusFailure::forbidden_to(resource));
        }
        let object = served.store.get(key);
        let object = object.ok_or_else(|| StatusFailure::no_such_object(resource, &key.name))?;
        let document = match representation {
            Representation::Json => watch_event::document(resource, &object.json),
            Representation::Protobuf => {
                as_protobuf(&watch_event::document(resource, &object.json))?
            }
            Representation::Table => {
                let list = [b"{\"metadata\":{},\"items\":[", &*object.json, b"]}"].concat();
                self.represented(resource, vec![list.into()], representation)?.concat()
            }
        };
        Ok(typed(representation, document))
    }

    /// Answers for a resource whose objects are made when they are asked for.
    fn related(
        &self,
        kind: RelatedKind,
        namespace: Option<&str>,
        name: Option<&str>,
        headers: &HeaderMap,
    ) -> Response {
        let view = ClusterView { pods: &self.pods.store, scene: self.scene, now: self.clock.now() };
        let as_table = Representation::accepted(headers, false) == Some(Representation::Table);
        let answer = kind.answer(&view, namespace, name, as_table);
        answer.map_or_else(IntoResponse::into_response, |document| {
            typed(Representation::Json, document.to_string())
        })
    }

    /// The log of a container of the pod at `key`.
    fn log(&self, key: &ObjectKey, query: &str) -> Result<String, StatusFailure> {
        let object = self.pods.store.get(key);
        let object =
            object.ok_or_else(|| StatusFailure::no_such_object(ServedKind::Pods, &key.name))?;
        let pod = serde_json::from_slice(&object.json);
        let pod = pod.map_err(|error| StatusFailure::internal(error.to_string()))?;
        log::pod_log(&pod, &log::Wanted::parse(query)?, self.clock.now())
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

/// Whatever is asked for of the core group.
async fn core_v1(
    State(api): State<ApiHandlerState>,
    Path(path): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    of_group(&api, ("", "v1"), &path, &uri, &headers).await
}

/// Whatever is asked for of another group.
async fn any_group(
    State(api): State<ApiHandlerState>,
    Path((group, version, path)): Path<(String, String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    of_group(&api, (&group, &version), &path, &uri, &headers).await
}

/// A list, a watch or an object of a resource of the `group` and version.
async fn of_group(
    api: &ApiHandlerState,
    (group, version): (&str, &str),
    path: &str,
    uri: &Uri,
    headers: &HeaderMap,
) -> Response {
    let (namespace, resource, name) = match *path.split('/').collect::<Vec<_>>() {
        [resource] => (None, resource, None),
        [resource @ ("nodes" | "namespaces"), name] => (None, resource, Some(name)),
        ["namespaces", namespace, "pods", name, "log"] if group.is_empty() => {
            let key = ObjectKey::new(namespace, name);
            let text = api.log(&key, uri.query().unwrap_or_default());
            return text.map_or_else(IntoResponse::into_response, IntoResponse::into_response);
        }
        ["namespaces", namespace, resource] => (Some(namespace), resource, None),
        ["namespaces", namespace, resource, name] => (Some(namespace), resource, Some(name)),
        _ => return StatusFailure::not_found().into_response(),
    };
    let served = api.served(group, version, resource);
    let is_right =
        |served: &&ServedResource| !(served.resource.is_of_cluster() && namespace.is_some());
    let Some(served) = served.filter(is_right) else {
        return match RelatedKind::served(group, version, resource) {
            Some(kind) => api.related(kind, namespace, name, headers),
            None => StatusFailure::not_found().into_response(),
        };
    };
    let protobuf = served.faults.modes().protobuf;
    let has_protobuf = served.resource.has_protobuf() && protobuf != ProtobufSupport::Absent;
    let accepted = Representation::accepted(headers, has_protobuf);
    let refused = (Some(Representation::Protobuf), ProtobufSupport::Refused);
    let Some(representation) = accepted.filter(|_| (accepted, protobuf) != refused) else {
        return StatusFailure::not_acceptable().into_response();
    };
    let namespace = namespace.map(str::to_owned);
    let answer = match name {
        Some(name) => {
            let key = ObjectKey::new(namespace.unwrap_or_default(), name);
            api.named(served, &key, representation)
        }
        None => api.answer(served, namespace, uri, headers, representation).await,
    };
    answer.unwrap_or_else(|failure| failed(&failure, representation))
}

/// The answer with the date of the simulated clock; the server would put that of the machine.
fn dated(mut response: Response, clock: &SimClock) -> Response {
    let now = Duration::from_nanos(clock.now().as_nanos().max(0).unsigned_abs());
    if let Ok(date) = HeaderValue::try_from(httpdate::fmt_http_date(UNIX_EPOCH + now)) {
        response.headers_mut().insert(DATE, date);
    }
    response
}

fn as_protobuf(json: &[u8]) -> Result<Vec<u8>, StatusFailure> {
    protobuf::document(json).ok_or_else(|| StatusFailure::internal("this has no form in protobuf"))
}

fn typed(representation: Representation, body: impl Into<Body>) -> Response {
    let content_type = HeaderValue::from_static(representation.content_type(false));
    ([(CONTENT_TYPE, content_type)], body.into()).into_response()
}

/// The answer that `failure` is, in the encoding that the client takes.
fn failed(failure: &StatusFailure, representation: Representation) -> Response {
    let json = failure.to_json();
    let mut response = match representation {
        Representation::Protobuf => match protobuf::document(json.as_bytes()) {
            Some(status) => typed(representation, status),
            None => typed(Representation::Json, json),
        },
        _ => typed(Representation::Json, json),
    };
    *response.status_mut() =
        StatusCode::from_u16(failure.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = failure.retry_after_seconds() {
        let seconds = HeaderValue::from(seconds);
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}

impl IntoResponse for StatusFailure {
    fn into_response(self) -> Response {
        failed(&self, Representation::Json)
    }
}

/// The answer that consists of `parts`, compressed where that is taken and worth it.
fn sent(
    representation: Representation,
    parts: Vec<Bytes>,
    takes_gzip: bool,
) -> Result<Response, StatusFailure> {
    let compressed = match takes_gzip {
        true => gzip(&parts).map_err(|error| StatusFailure::internal(error.to_string()))?,
        false => None,
    };
    let Some(compressed) = compressed else {
        let parts = parts.into_iter().map(Ok::<_, Infallible>);
        return Ok(typed(representation, Body::from_stream(stream::iter(parts))));
    };
    let encoded = [
        (CONTENT_ENCODING, HeaderValue::from_static("gzip")),
        (VARY, HeaderValue::from_static("Accept-Encoding")),
    ];
    Ok((encoded, typed(representation, compressed)).into_response())
}
