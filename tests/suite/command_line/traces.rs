//! Startups as traces, over real HTTP: the demo sends them to a collector in this process, which reads them
//! as any collector does, with OpenTelemetry's own types.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::PATIENCE;
use crate::support::demo::Demo;
use crate::support::process::podinit;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// Between two questions to a process that can only be asked.
const PAUSE: Duration = Duration::from_millis(50);

type Received = Arc<Mutex<Vec<(HeaderMap, ExportTraceServiceRequest)>>>;

/// A collector on loopback. It ends with its runtime.
pub(crate) struct Collector {
    received: Received,
    address: SocketAddr,
    runtime: tokio::runtime::Runtime,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let received = Received::default();
        let router = axum::Router::new()
            .route("/v1/traces", post(receive))
            .with_state(Arc::clone(&received));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
        let listener = listener.unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { serve(listener, router).await });
        Self { received, address, runtime }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The spans that have arrived.
    fn spans(&self) -> Vec<Span> {
        let received = self.received.lock().unwrap();
        let requests = received.iter().map(|(_, request)| request.clone());
        let scopes = requests
            .flat_map(|request| request.resource_spans)
            .flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// Goes away, as a collector that is killed.
    pub(crate) fn kill(self) {
        self.runtime.shutdown_background();
    }
}

async fn serve(listener: tokio::net::TcpListener, router: axum::Router) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = hyper_util::service::TowerToHyperService::new(router.clone());
        let stream = hyper_util::rt::TokioIo::new(stream);
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection.serve_connection(stream, service).await;
        });
    }
}

async fn receive(State(received): State<Received>, headers: HeaderMap, body: Bytes) {
    let request = ExportTraceServiceRequest::decode(body).expect("a request of OTLP");
    received.lock().unwrap().push((headers, request));
}

/// A demo whose pods pull images, at a pace at which a test can wait for them.
fn demo(args: &[&str], variables: &[(&str, &str)]) -> Demo {
    let pace = ["--rate", "50", "--speed", "10", "--evidence", "events"];
    Demo::start_with(&[&pace, args].concat(), variables)
}

/// Asks until there is an answer.
fn until<T>(what: &str, ask: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < deadline, "still no {what}");
        std::thread::sleep(PAUSE);
    }
}

/// The value of a label of an exemplar of `family`, for each that has a trace: pod, trace and span.
fn linked(metrics: &str, family: &str) -> Vec<[String; 3]> {
    let lines = metrics.lines().filter(|line| line.starts_with(family));
    let exemplars = lines.filter_map(|line| Some(line.split_once(" # ")?.1));
    exemplars
        .filter_map(|exemplar| {
            let value = |name: &str| {
                let (_, rest) = exemplar.split_once(&format!("{name}=\""))?;
                Some(rest.split_once('"')?.0.to_owned())
            };
            Some([value("pod")?, value("trace_id")?, value("span_id")?])
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|one| one.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        other => Some(format!("{other:?}")),
    }
}

const OPENMETRICS: &str = "application/openmetrics-text;version=1.0.0";

#[test]
fn an_exemplar_leads_to_the_trace_of_its_pod() {
    let collector = Collector::start();
    let demo = demo(
        &["--otlp-endpoint", &collector.url(), "--otlp-sample-ratio", "1"],
        &[
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-scope-orgid=shop%201"),
            ("OTEL_SERVICE_NAME", "startups"),
        ],
    );
    let family = "podinit_created_to_ready_duration_seconds_bucket";
    let (pod, root) = until("exemplar with a trace that has arrived", || {
        let [pod, trace, span] = linked(&demo.metrics(OPENMETRICS), family).pop()?;
        let mut spans = collector.spans().into_iter();
        let found = spans.find(|sent| {
            (hex(&sent.trace_id), hex(&sent.span_id)) == (trace.clone(), span.clone())
        });
        Some((pod, found?))
    });
    assert!(root.parent_span_id.is_empty(), "the root shows the end-to-end duration");
    assert_eq!(attribute(&root, "k8s.pod.name"), Some(pod));
    let uid = attribute(&root, "k8s.pod.uid").unwrap();
    assert_eq!(uid.replace('-', ""), hex(&root.trace_id));
    let stage = "podinit_stage_duration_seconds_bucket{stage=\"network\"";
    until("exemplar of a stage whose span has arrived", || {
        let [pod, _, span] = linked(&demo.metrics(OPENMETRICS), stage).pop()?;
        let mut spans = collector.spans().into_iter();
        let found = spans.find(|sent| hex(&sent.span_id) == span)?;
        assert_eq!((&*found.name, attribute(&found, "k8s.pod.name")), ("network", Some(pod)));
        Some(())
    });
    let pull = until("span of an image pull", || {
        let mut spans = collector.spans().into_iter();
        spans.find(|span| span.name == "image pull")
    });
    let image = attribute(&pull, "container.image.name").unwrap();
    assert!(!image.is_empty() && !image.contains(':'), "{image}");
    let (headers, request) = collector.received.lock().unwrap()[0].clone();
    assert_eq!(headers["x-scope-orgid"], "shop 1");
    let resource = format!("{:?}", request.resource_spans[0].resource);
    assert!(resource.contains("\"startups\""), "{resource}");
    assert!(demo.terminate());
}

#[test]
fn a_collector_that_goes_away_holds_up_neither_the_accounting_nor_the_end() {
    let collector = Collector::start();
    let url = collector.url();
    let demo = demo(&["--otlp-sample-ratio", "1"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]);
    let value = |series: &str| demo.scrape().value(series).unwrap_or_default();
    until("trace", || (value("podinit_traces_sent_total") > 0.0).then_some(()));
    collector.kill();
    let failures = "podinit_trace_export_failures_total{reason=\"unreachable\"}";
    until("failure", || (value(failures) > 0.0).then_some(()));
    let ready = "podinit_pods_finished_total{outcome=\"ready\"}";
    let before = value(ready);
    until("more pods", || (value(ready) > before + 100.0).then_some(()));
    until("waiting trace", || (value("podinit_traces_queued") > 0.0).then_some(()));
    let scrape = demo.scrape();
    let in_flight = scrape.sum("podinit_inflight_pods");
    let finished = scrape.sum("podinit_pods_finished_total");
    let discovered = scrape.value("podinit_pods_discovered_total");
    assert_eq!(discovered, Some(finished + in_flight));
    assert!(demo.terminate());
}

#[test]
fn without_an_endpoint_nothing_of_traces_is_exposed() {
    let demo = demo(&[], &[]);
    let metrics = until("pod", || {
        let metrics = demo.metrics(OPENMETRICS);
        metrics.contains(" # {").then_some(metrics)
    });
    assert!(!metrics.contains("podinit_trace"));
    assert!(!metrics.contains("trace_id"));
}

#[test]
fn a_setting_that_podinit_cannot_follow_is_one_line_and_no_start() {
    let output = podinit(["demo", "--listen", "127.0.0.1:0"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317")
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let line = "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: podinit sends traces as http/protobuf only";
    assert!(text.contains(line), "{text}");
}
