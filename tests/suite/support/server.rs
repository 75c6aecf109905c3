//! A server on loopback with a source that tests control, and a client that is as raw as a
//! hostile one.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use axum::Router;
use axum::routing::get;
use podinit_http::{
    AccessControl, ExpositionFormat, HttpServer, MetricsPath, ProcessHealth, ScrapeError,
    ScrapeTarget, ServerLimits,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What a scrape yields: the format's name, padded to `size` bytes.
pub struct Source {
    pub size: usize,
    pub failure: Option<String>,
    pub gate: Gate,
    pub begun: AtomicU64,
}

/// Encodings wait while it is shut.
#[derive(Default)]
pub struct Gate {
    shut: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    pub fn set_shut(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let shut = self.shut.lock().unwrap();
        drop(self.changed.wait_while(shut, |shut| *shut).unwrap());
    }
}

impl Default for Source {
    fn default() -> Self {
        Self { size: 1000, failure: None, gate: Gate::default(), begun: AtomicU64::new(0) }
    }
}

impl Source {
    /// Waits until the given number of encodings have begun.
    pub async fn until_begun(&self, count: u64) {
        while self.begun.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    }
}

pub fn body_of(format: ExpositionFormat, size: usize) -> Vec<u8> {
    let mut body = format!("{format:?} ").into_bytes();
    body.resize(size, b'.');
    body
}

impl ScrapeTarget for Source {
    fn encode(&self, format: ExpositionFormat) -> Result<Vec<u8>, ScrapeError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.gate.wait();
        match &self.failure {
            Some(failure) => Err(ScrapeError(failure.clone())),
            None => Ok(body_of(format, self.size)),
        }
    }
}

pub struct Running {
    pub address: SocketAddr,
    pub health: ProcessHealth,
    pub source: Arc<Source>,
    pub shutdown: CancellationToken,
    pub task: JoinHandle<()>,
}

pub fn start(source: Source, limits: ServerLimits) -> Running {
    start_server(source, limits, |server| server)
}

/// A server with its metrics at `path`.
pub fn start_at(path: MetricsPath, source: Source, limits: ServerLimits) -> Running {
    start_server(source, limits, |server| server.with_metrics_at(path))
}

/// A server behind a gate.
pub fn start_with(source: Source, limits: ServerLimits, access: Arc<dyn AccessControl>) -> Running {
    start_server(source, limits, |server| server.with_access(access))
}

/// A server with routes besides its own.
pub fn start_routes(
    source: Source,
    limits: ServerLimits,
    routes: Router,
    access: Option<Arc<dyn AccessControl>>,
) -> Running {
    start_server(source, limits, |server| {
        let server = server.with_routes(routes);
        match access {
            Some(access) => server.with_access(access),
            None => server,
        }
    })
}

fn start_server(
    source: Source,
    limits: ServerLimits,
    gated: impl FnOnce(HttpServer) -> HttpServer,
) -> Running {
    let source = Arc::new(source);
    let health = ProcessHealth::new();
    let shutdown = CancellationToken::new();
    let server = HttpServer::bind(
        "127.0.0.1:0".parse().unwrap(),
        limits,
        Arc::clone(&source) as Arc<dyn ScrapeTarget>,
        health.clone(),
    );
    let server = server.unwrap_or_else(|error| panic!("{error}"));
    let page = Router::new().route("/", get(async || "the page"));
    let server = gated(server.with_page(page));
    Running {
        address: server.local_addr(),
        health,
        source,
        shutdown: shutdown.clone(),
        task: tokio::spawn(server.serve(shutdown)),
    }
}

/// A response as it came over the wire.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// Splits what was received until the end of the stream.
    pub fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.expect("a complete head");
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_owned(), value.to_owned())
        };
        Self {
            status: status.parse().unwrap(),
            headers: lines.map(header).collect(),
            body: bytes[end + 4..].to_vec(),
        }
    }
}

impl Running {
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes as they are and takes all that comes until the server closes.
    pub async fn exchange(&self, request: &[u8]) -> Reply {
        exchange(self.address, request).await
    }

    /// One request on a connection of its own.
    pub async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.exchange(&request(method, path, headers)).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[]).await
    }
}

/// Sends bytes as they are and takes all that comes until the server closes.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has heard enough closes; the answer then still has to be read.
    let _ = stream.write_all(request).await;
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received).await;
    Reply::parse(&received)
}

pub fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: podinit\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}
