//! Startups and a collector for tests of traces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use kube::Client;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use podinit_core::lifecycle::{
    EndedStartup, Interval, Namespaces, Observer, PodEvent, Selection, SloRule, TimestampMode,
    Tracker, TrackerConfig,
};
use podinit_core::pod::{
    ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition, Workload,
};
pub(crate) use podinit_testing::records::at;
use podinit_testing::records::{Ends, deliver};

/// The SLO of the fixtures: scheduled to ready within ten seconds.
pub(crate) const SLO: &str = "ready-in-time";

/// The UID of the pod with this number: random bits, as the API server's have, of a generator with a seed.
pub(crate) fn uid(number: u64) -> PodUid {
    let mut random = fastrand::Rng::with_seed(number);
    let [high, low] = [random.u64(..), random.u64(..)];
    PodUid::from_words([high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62])
}

/// A tracker with the SLO that has had its first list.
pub(crate) fn tracker(sink: &mut impl Observer) -> Tracker {
    let mut tracker = Tracker::new(TrackerConfig {
        timestamps: TimestampMode::Api,
        slos: Arc::new([SloRule {
            name: SLO.into(),
            interval: Interval::ScheduledToReady.into(),
            threshold: Duration::from_secs(10),
            grace: Duration::from_secs(5),
            namespaces: Namespaces::All,
            owner_kinds: Vec::new(),
            selection: Selection::default(),
        }]),
        ..TrackerConfig::default()
    });
    let (pods, began) = (Vec::new(), at(-1_000_000));
    let listed = PodEvent::Listed { pods: pods.into(), began };
    deliver(&mut tracker, sink, -1_000_000, listed);
    tracker
}

/// The pod with this number, created at second 0, on a node and owned by a Deployment.
fn pod(number: u64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(uid(number), "shop", format!("web-{number}"));
    pod.created = Some(at(0));
    pod.info.node = Some("node-a".into());
    pod.info.workload = Some(Arc::new(Workload { kind: "Deployment".into(), name: "web".into() }));
    pod
}

/// The startup of the pod with this number: bound at second 1, its network ready at 3, and all of it at
/// `ready`.
#[derive(Clone, Copy)]
pub(crate) struct Life {
    pub(crate) number: u64,
    pub(crate) ready: i64,
}

impl Life {
    /// Delivers each change at the second in which it happens.
    pub(crate) fn account(self, tracker: &mut Tracker, sink: &mut impl Observer) {
        let mut pod = pod(self.number);
        deliver(tracker, sink, 0, PodEvent::Applied(pod.clone()));
        let all = [ConditionType::ContainersReady, ConditionType::Ready];
        let steps: [(i64, &[ConditionType]); 3] = [
            (1, &[ConditionType::PodScheduled]),
            (3, &[ConditionType::PodReadyToStartContainers]),
            (self.ready, &all),
        ];
        for (second, kinds) in steps {
            for kind in kinds {
                let condition = StatusCondition {
                    status: ConditionStatus::True,
                    last_transition: Some(at(second)),
                };
                pod.conditions.insert(*kind, condition);
            }
            deliver(tracker, sink, second, PodEvent::Applied(pod.clone()));
        }
    }
}

/// The startup of the pod with this number, which took until `ready`.
pub(crate) fn ended(number: u64, ready: i64) -> EndedStartup {
    let mut ends = Ends::default();
    let mut tracker = tracker(&mut ends);
    Life { number, ready }.account(&mut tracker, &mut ends);
    ends.0.pop().expect("the startup has ended")
}

/// A collector in this process: what it was sent, and with which status it answers.
#[derive(Clone)]
pub(crate) struct Collector {
    status: Arc<Mutex<StatusCode>>,
    requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

impl Collector {
    pub(crate) fn new() -> Self {
        Self { status: Arc::new(Mutex::new(StatusCode::OK)), requests: Arc::default() }
    }

    pub(crate) fn answer_with(&self, status: StatusCode) {
        *self.status.lock().unwrap() = status;
    }

    pub(crate) fn router(&self) -> axum::Router {
        axum::Router::new().route("/v1/traces", post(receive)).with_state(self.clone())
    }

    /// A client of it, without a network between.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.router(), "default")
    }

    /// The requests that it took.
    pub(crate) fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The spans that it took.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let requests = self.requests();
        let resources = requests.into_iter().flat_map(|one| one.resource_spans);
        let scopes = resources.flat_map(|one| one.scope_spans);
        scopes.flat_map(|one| one.spans).collect()
    }

    /// The root spans that it took.
    pub(crate) fn roots(&self) -> Vec<Span> {
        let mut spans = self.spans();
        spans.retain(|span| span.parent_span_id.is_empty());
        spans
    }
}

async fn receive(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) -> Response {
    let status = *collector.status.lock().unwrap();
    if status.is_success() {
        assert_eq!(headers["content-type"], "application/x-protobuf");
        let request = ExportTraceServiceRequest::decode(body).expect("a request of OTLP");
        collector.requests.lock().unwrap().push(request);
    }
    status.into_response()
}
