//! An API server that does what the test says, request by request, behind the real kube client
//! and in the test's own time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use kube::Client;
use kube::client::Body;
use podinit_core::lifecycle::{Delivery, PodEvent};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_kube::watch::config::{ListMode, ReflectorConfig};
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason, WatchStats};
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_sim::protobuf;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Reply = Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>;

/// The time at which every test begins.
pub const START: Timestamp = Timestamp::from_seconds(1_800_000_000);

/// The scripted API server with the list-watches that talk to it.
pub struct FakeApi {
    calls: mpsc::UnboundedReceiver<Call>,
    pub deliveries: mpsc::Receiver<Delivery>,
    pub stats: Arc<WatchStats>,
    pub cancel: CancellationToken,
    pub tasks: JoinSet<()>,
    /// Questions for the version that the API server is at, which nobody has answered
    asked: VecDeque<Call>,
    began: Instant,
}

impl FakeApi {
    /// One cluster-wide list-watch that lists in pages.
    pub fn start() -> Self {
        Self::start_with(vec![PodScope::Cluster], PodSelectors::default(), |_| {})
    }

    pub fn start_with(
        scopes: Vec<PodScope>,
        selectors: PodSelectors,
        adjust: impl FnOnce(&mut ReflectorConfig),
    ) -> Self {
        let mut config = WatchConfig { scopes, selectors, ..WatchConfig::default() };
        config.reflector.lists = ListMode::Pages;
        adjust(&mut config.reflector);
        Self::start_as(config)
    }

    pub fn start_as(mut config: WatchConfig) -> Self {
        let (client, calls) = scripted_client();
        config.reflector.seed.get_or_insert(1);
        let began = Instant::now();
        let clock = move || {
            let elapsed = began.elapsed().as_nanos();
            START.plus_nanos(i64::try_from(elapsed).unwrap())
        };
        let stats = Arc::new(WatchStats::new(config.scopes.len()));
        let cancel = CancellationToken::new();
        let (sender, deliveries) = mpsc::channel(64);
        let tasks = spawn(&client, &config, Arc::new(clock), &stats, &sender, &cancel);
        Self { calls, deliveries, stats, cancel, tasks, asked: VecDeque::new(), began }
    }

    /// The next request, questions for the version aside; time passes until there is one.
    pub async fn call(&mut self) -> Call {
        loop {
            let call = self.any_call().await;
            match call.asks_for_version() {
                true => self.asked.push_back(call),
                false => return call,
            }
        }
    }

    /// The next request.
    pub async fn any_call(&mut self) -> Call {
        self.calls.recv().await.expect("the list-watch has ended")
    }

    /// The next question for the version that the API server is at.
    pub async fn asked(&mut self) -> Call {
        match self.asked.pop_front() {
            Some(call) => call,
            None => {
                let call = self.any_call().await;
                assert!(call.asks_for_version(), "{}", call.uri);
                call
            }
        }
    }

    /// The next request, which must be a watch from `version`.
    pub async fn watch_from(&mut self, version: &str) -> Call {
        let call = self.call().await;
        assert!(call.uri.contains("watch=true"), "{}", call.uri);
        let wanted = format!("&resourceVersion={version}");
        assert!(call.uri.ends_with(&wanted), "{} from {version}", call.uri);
        call
    }

    /// Answers the first list and opens the watch.
    pub async fn synced(&mut self, version: &str, pods: &[String]) -> Writer {
        self.call().await.list(version, None, pods);
        assert!(self.next_delivery().await.starts_with("Listed"));
        self.watch_from(version).await.stream()
    }

    /// The next delivery, bookmarks aside, in words.
    pub async fn next_delivery(&mut self) -> String {
        loop {
            let delivery = self.deliveries.recv().await;
            let delivery = delivery.expect("the list-watch has ended");
            if delivery.event != PodEvent::Bookmark {
                return in_words(&delivery);
            }
        }
    }

    /// Whether nothing has been delivered that was not taken, bookmarks aside.
    pub fn no_delivery(&mut self) -> bool {
        while let Ok(delivery) = self.deliveries.try_recv() {
            if delivery.event != PodEvent::Bookmark {
                return false;
            }
        }
        true
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub fn errors(&self, reason: WatchErrorReason) -> u64 {
        self.stats.errors(reason)
    }

    pub fn all_errors(&self) -> u64 {
        WatchErrorReason::ALL.into_iter().map(|reason| self.errors(reason)).sum()
    }

    pub fn relists(&self, reason: RelistReason) -> u64 {
        self.stats.relists(reason)
    }
}

/// A client, and the requests that it makes.
pub fn scripted_client() -> (Client, mpsc::UnboundedReceiver<Call>) {
    let (calls_in, calls) = mpsc::unbounded_channel();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (reply, replied) = oneshot::channel();
        let call = Call {
            uri: request.uri().to_string(),
            accept: request.headers()["accept"].to_str().unwrap().to_owned(),
            takes_gzip: request.headers().get("accept-encoding").is_some(),
            reply,
        };
        calls_in.send(call).ok();
        async move { replied.await.unwrap_or_else(|_| Err("connection reset".into())) }
    });
    (Client::new(service, "default"), calls)
}

/// A request that waits for its answer; dropped, it is a connection that broke.
pub struct Call {
    pub uri: String,
    pub accept: String,
    /// Whether the answer may be compressed
    pub takes_gzip: bool,
    reply: oneshot::Sender<Reply>,
}

impl Call {
    fn asks_for_version(&self) -> bool {
        self.uri == "/api/v1/pods?&limit=1"
    }

    /// A page of a list.
    pub fn list(self, version: &str, token: Option<&str>, pods: &[String]) {
        let token = token.map_or_else(String::new, |token| format!(r#","continue":"{token}""#));
        let items = pods.join(",");
        self.body(&format!(
            r#"{{"kind":"PodList","metadata":{{"resourceVersion":"{version}"{token}}},"items":[{items}]}}"#
        ));
    }

    /// A body with status 200.
    pub fn body(self, body: &str) {
        self.stream().write(body);
    }

    /// A status that is no success, with the message of a Status object.
    pub fn refuse(self, code: u16, message: &str) {
        self.refuse_with(code, message, None);
    }

    pub fn refuse_with(self, code: u16, message: &str, retry_after: Option<u32>) {
        let mut response = Response::builder().status(code);
        if let Some(seconds) = retry_after {
            response = response.header("Retry-After", seconds);
        }
        let body = format!(r#"{{"kind":"Status","code":{code},"message":"{message}"}}"#);
        let body = Full::new(Bytes::from(body)).map_err(|never| match never {});
        let response = response.body(body.boxed_unsync()).unwrap();
        self.reply.send(Ok(response)).ok();
    }

    /// Begins to answer with status 200, without a word about the encoding.
    pub fn stream(self) -> Writer {
        self.stream_of(Response::builder())
    }

    /// Begins to answer with status 200, in protobuf.
    pub fn protobuf(self) -> Writer {
        let content_type = "application/vnd.kubernetes.protobuf;stream=watch";
        self.stream_of(Response::builder().header("Content-Type", content_type))
    }

    /// Begins to answer with status 200, compressed.
    pub fn gzip(self) -> Writer {
        self.stream_of(Response::builder().header("Content-Encoding", "gzip"))
    }

    fn stream_of(self, response: http::response::Builder) -> Writer {
        let (writer, chunks) = mpsc::unbounded_channel();
        let frames = stream::unfold(chunks, |mut chunks: mpsc::UnboundedReceiver<_>| async move {
            let frame = chunks.recv().await?;
            Some((frame, chunks))
        });
        let response = response.body(StreamBody::new(frames).boxed_unsync()).unwrap();
        self.reply.send(Ok(response)).ok();
        Writer(writer)
    }
}

/// The rest of a body; dropped, the body ends as it should.
pub struct Writer(mpsc::UnboundedSender<Result<Frame<Bytes>, BoxError>>);

impl Writer {
    pub fn write(&self, text: &str) {
        self.bytes(text.as_bytes().to_vec());
    }

    pub fn bytes(&self, bytes: Vec<u8>) {
        self.0.send(Ok(Frame::data(Bytes::from(bytes)))).ok();
    }

    pub fn event(&self, kind: &str, object: &str) {
        self.write(&event(kind, object));
    }

    pub fn bookmark(&self, version: &str) {
        let object = format!(r#"{{"kind":"Pod","metadata":{{"resourceVersion":"{version}"}}}}"#);
        self.event("BOOKMARK", &object);
    }

    pub fn error(&self, code: u16, message: &str) {
        self.event("ERROR", &format!(r#"{{"kind":"Status","code":{code},"message":"{message}"}}"#));
    }

    /// An event in protobuf.
    pub fn frame(&self, kind: &str, object: &str) {
        let event = protobuf::event(event(kind, object).as_bytes()).unwrap();
        self.bytes(protobuf::framed(&event));
    }

    /// The connection breaks.
    pub fn reset(self) {
        self.0.send(Err("connection reset by peer".into())).ok();
    }

    /// Whether the reader has let go of the body.
    pub async fn abandoned(&self) {
        self.0.closed().await;
    }
}

pub fn event(kind: &str, object: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

pub fn pod(name: &str, version: u64) -> String {
    format!(
        r#"{{"kind":"Pod","metadata":{{"name":"{name}","namespace":"ns","uid":"uid-{name}","resourceVersion":"{version}"}}}}"#
    )
}

pub fn in_words(delivery: &Delivery) -> String {
    let one = |pod: &PodSnapshot| {
        let version = pod.resource_version.map_or_else(|| "?".into(), |v| v.to_string());
        format!("{}@{version}", pod.info.name)
    };
    let text = match &delivery.event {
        PodEvent::Applied(pod) => format!("Applied {}", one(pod)),
        PodEvent::Deleted(pod) => format!("Deleted {}", one(pod)),
        PodEvent::Listed { pods, .. } => {
            let pods: Vec<String> = pods.copies().map(|pod| one(&pod)).collect();
            format!("Listed {}", pods.join(" "))
        }
        PodEvent::Reconciled { pods, version, .. } => {
            let pods: Vec<String> = pods.copies().map(|pod| one(&pod)).collect();
            format!("Reconciled {version}: {}", pods.join(" "))
        }
        PodEvent::StreamedListClosed { listed } => format!("Closed {}", listed.len()),
        PodEvent::Bookmark => "Bookmark".into(),
        PodEvent::SyncLost => "SyncLost".into(),
        PodEvent::Resumed => "Resumed".into(),
        PodEvent::CaughtUp => "CaughtUp".into(),
        PodEvent::RolledBack => "RolledBack".into(),
        PodEvent::OtherShard => "OtherShard".into(),
        PodEvent::Nodes(event) => format!("Nodes {event:?}"),
        PodEvent::Event(event) => format!("Event {:?}", event.reason),
        PodEvent::OtherShardEvents(count) => format!("{count} Events of other shards"),
    };
    match delivery.source.0 {
        0 => text,
        source => format!("{source}: {text}"),
    }
}

pub fn page(names: std::ops::Range<usize>) -> Vec<String> {
    names.map(|n| pod(&format!("p{n}"), n as u64)).collect()
}
