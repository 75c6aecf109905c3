//! A plain client of the simulated API server: JSON values and lines, nothing of podinit's own.

use crate::SimulatedCluster;
use crate::container::{AppState, KubeletReport};
use crate::life::{PodChange, PodManifest};
use crate::node::CURRENT;
use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;

pub(super) const PODS: &str = "/api/v1/pods";

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// A connection of its own for each request, and no retries, unlike the kube client.
pub(super) struct Http(String);

pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) headers: HeaderMap,
    pub(super) json: Value,
}

impl Http {
    pub(super) fn to(cluster: &SimulatedCluster) -> Self {
        Self(cluster.url().authority().unwrap().to_string())
    }

    pub(super) async fn send(&self, path: &str) -> http::Response<Incoming> {
        self.send_accepting("application/json", path).await
    }

    pub(super) async fn send_accepting(
        &self,
        accept: &str,
        path: &str,
    ) -> http::Response<Incoming> {
        let stream = tokio::net::TcpStream::connect(&self.0).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let request = Request::get(path)
            .header("host", &self.0)
            .header("accept", accept)
            .body(Empty::<Bytes>::new())
            .unwrap();
        sender.send_request(request).await.unwrap()
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        Self::answer(self.send(path).await).await
    }

    /// The answer to `kubectl get`, which wants a table.
    pub(super) async fn get_table(&self, path: &str) -> Answer {
        Self::answer(self.send_accepting(TABLE, path).await).await
    }

    async fn answer(response: http::Response<Incoming>) -> Answer {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            code: parts.status.as_u16(),
            headers: parts.headers,
            json: serde_json::from_slice(&bytes).unwrap(),
        }
    }

    pub(super) async fn list(&self, query: &str) -> Value {
        let answer = self.get(&format!("{PODS}?{query}")).await;
        assert_eq!(answer.code, 200, "{}", answer.json);
        answer.json
    }

    pub(super) async fn watch(&self, query: &str) -> Lines {
        self.watch_path(&format!("{PODS}?watch=true&{query}")).await
    }

    /// A watch with the whole path and query given.
    pub(super) async fn watch_path(&self, path: &str) -> Lines {
        Lines::of(self.send(path).await)
    }

    /// A watch with tables in place of objects.
    pub(super) async fn watch_tables(&self, path: &str) -> Lines {
        Lines::of(self.send_accepting(TABLE, path).await)
    }
}

impl Lines {
    fn of(response: http::Response<Incoming>) -> Self {
        assert_eq!(response.status().as_u16(), 200);
        Lines { body: response.into_body(), buffer: BytesMut::new(), last: Bytes::new() }
    }
}

/// The lines of a watch stream.
pub(super) struct Lines {
    body: Incoming,
    buffer: BytesMut,
    /// The last event, for a test that fails
    last: Bytes,
}

impl Lines {
    /// The next line, or what is left at the plain end of the stream; an error where the
    /// connection broke.
    pub(super) async fn next_line(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end).freeze();
                self.buffer.advance(1);
                return Ok(Some(line));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
                Some(Err(error)) => return Err(error.to_string()),
                None if self.buffer.is_empty() => return Ok(None),
                None => return Ok(Some(self.buffer.split().freeze())),
            }
        }
    }

    pub(super) async fn next_event(&mut self) -> Value {
        let Some(line) = self.next_line().await.unwrap() else {
            panic!("the stream has ended after {:?}", self.last);
        };
        self.last = line;
        serde_json::from_slice(&self.last).unwrap()
    }

    pub(super) async fn assert_ended(&mut self) {
        assert_eq!(self.next_line().await, Ok(None));
    }
}

/// `TYPE name@version` of an event.
pub(super) fn brief(event: &Value) -> String {
    let metadata = &event["object"]["metadata"];
    format!(
        "{} {}@{}",
        event["type"].as_str().unwrap(),
        metadata["name"].as_str().unwrap_or("-"),
        metadata["resourceVersion"].as_str().unwrap_or("-"),
    )
}

pub(super) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap();
    (items.iter()).map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

pub(super) fn version(list: &Value) -> u64 {
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    version.parse().unwrap()
}

/// A pod that a test moves by hand; its UID is its name.
pub(super) fn manifest(name: &str) -> PodManifest {
    PodManifest {
        namespace: "shop".to_owned(),
        name: name.to_owned(),
        uid: name.to_owned(),
        labels: vec![("app".to_owned(), "web".to_owned())],
        ..PodManifest::default()
    }
}

pub(super) fn create(cluster: &SimulatedCluster, names: &[&str]) {
    for name in names {
        assert!(cluster.create(manifest(name)));
    }
}

pub(super) fn bind() -> PodChange {
    PodChange::Bind { node: CURRENT, stamped: true }
}

pub(super) fn report(sandbox: bool, app: AppState) -> PodChange {
    PodChange::Report(KubeletReport { sandbox, init_done: 0, app, restarts: 0 })
}
