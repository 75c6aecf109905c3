//! The API server of the proof: lists and watches of a [`History`] behind the real client, without
//! a connection, in virtual time, and with everything that can go wrong.
//!
//! Nothing counts as delivered before the client has taken it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::DATE;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;
use parking_lot::{Mutex, MutexGuard};
use podinit_sim::rng::Rng;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::proof::delivery_log::DeliveryLog;
use crate::proof::history::{History, Place};
use crate::proof::server_faults::ServerFaults;
use crate::proof::shard::{HashRange, ServerSharding};
use crate::proof::{list, watch};

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub type Reply = Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>;

/// The namespaces of the simulator's pods.
pub const NAMESPACES: [&str; 8] =
    ["shop", "payments", "search", "media", "batch", "data", "kube-system", "ops"];

/// What the server is made of.
#[derive(Debug)]
pub struct State {
    pub history: History,
    pub faults: ServerFaults,
    pub sharding: ServerSharding,
    pub rng: Rng,
    /// By list-watch: those of the first process, then those of the next
    pub logs: Vec<DeliveryLog>,
    pub lists: HashMap<String, list::Open>,
    /// A position of the API server's clock
    pub epoch: (Instant, i64),
}

impl State {
    /// The API server's clock, in nanoseconds.
    pub fn now(&self) -> i64 {
        self.epoch.1 + i64::try_from(self.epoch.0.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Whether a version belongs into the answer to a request of a list-watch, which may be cut down to a
    /// shard.
    pub fn answers(&self, source: usize, shard: Option<HashRange>, place: Place) -> bool {
        let pod = self.history.nature(place);
        self.logs[source].watches(pod) && shard.is_none_or(|range| range.holds(pod.hash))
    }
}

/// The server. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Server {
    state: Arc<Mutex<State>>,
    pub changed: Arc<Notify>,
}

impl Server {
    pub fn new(seed: u64, epoch: i64, sharding: ServerSharding, logs: Vec<DeliveryLog>) -> Self {
        let state = State {
            history: History::new(),
            faults: ServerFaults::default(),
            sharding,
            rng: Rng::fork(seed, 2),
            logs,
            lists: HashMap::new(),
            epoch: (Instant::now(), epoch),
        };
        Self { state: Arc::new(Mutex::new(state)), changed: Arc::default() }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// A client of it, for the process with these list-watches. Must be called within a runtime.
    pub fn client(&self, sources: Range<usize>) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (server, sources) = (server.clone(), sources.clone());
            async move {
                let mut response = server.answer(&request.uri().to_string(), sources).await?;
                let date = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(
                    &jiff::Timestamp::from_nanosecond(server.lock().now().into())?,
                )?;
                response.headers_mut().insert(DATE, date.try_into()?);
                Ok::<_, BoxError>(response)
            }
        });
        Client::new(service, "default")
    }

    async fn answer(&self, uri: &str, mut sources: Range<usize>) -> Reply {
        let latency = Duration::from_micros(self.lock().rng.below(20_000));
        sleep(latency).await;
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let query: HashMap<&str, &str> =
            (query.split('&')).filter_map(|pair| pair.split_once('=')).collect();
        let source = {
            let state = self.lock();
            let namespace = path.split('/').nth(4).filter(|_| path.contains("/namespaces/"));
            sources
                .find(|source| state.logs[*source].scope == namespace)
                .ok_or_else(|| format!("no such scope: {path}"))?
        };
        if self.lock().faults.refuses() {
            return self.refusal();
        }
        match query.get("watch") {
            Some(_) => watch::answer(self, source, &query),
            None => list::answer(self, source, &query),
        }
    }

    /// One of the ways in which requests are refused for a while.
    fn refusal(&self) -> Reply {
        match self.lock().rng.below(6) {
            0 => Err("connection refused".into()),
            1 => status(429, "too many requests"),
            2 => status(403, "pods is forbidden"),
            3 => status(503, "the server is currently unable to handle the request"),
            4 => status(504, "the request timed out"),
            _ => status(500, "etcdserver: leader changed"),
        }
    }
}

/// An answer that is no success.
pub fn status(code: u16, message: &str) -> Reply {
    let body = format!(r#"{{"kind":"Status","code":{code},"message":"{message}"}}"#);
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {});
    Ok(Response::builder().status(code).body(body.boxed_unsync())?)
}
