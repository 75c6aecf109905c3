//! The metrics themselves over a real socket: each format read by a parser that is not podinit's.

use std::sync::Arc;

use crate::support::server::{Reply, exchange, request};
use podinit_expo::metrics::{Exposition, ExpositionBuilder, LabelConfig};
use podinit_exporter::process::metrics::ProcessCollector;
use podinit_http::{
    ExpositionFormat, HttpServer, ProcessHealth, ScrapeError, ScrapeTarget, ServerLimits,
};
use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model::{
    MetricFamily, MetricType,
};
use prost::Message;
use tokio_util::sync::CancellationToken;

struct Metrics(Arc<Exposition>);

impl ScrapeTarget for Metrics {
    fn encode(&self, format: ExpositionFormat) -> Result<Vec<u8>, ScrapeError> {
        let encoded = self.0.encode(format);
        encoded.map_err(|error| ScrapeError(error.to_string()))
    }
}

async fn scrape(accept: &str) -> Reply {
    let builder = ExpositionBuilder::new(LabelConfig::default());
    let builder = builder.collector(Box::new(ProcessCollector::new()));
    let (_recorder, exposition) = builder.build().unwrap();
    let server = HttpServer::bind(
        "127.0.0.1:0".parse().unwrap(),
        ServerLimits::default(),
        Arc::new(Metrics(exposition)),
        ProcessHealth::new(),
    )
    .unwrap();
    let address = server.local_addr();
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(server.serve(shutdown.clone()));
    let reply = exchange(address, &request("GET", "/metrics", &[("Accept", accept)])).await;
    shutdown.cancel();
    serving.await.unwrap();
    assert_eq!(reply.status, 200);
    reply
}

#[tokio::test]
async fn text_has_the_names_and_types_of_other_exporters() {
    let reply = scrape("text/plain").await;
    let text = reply.text();
    for line in [
        "# TYPE podinit_pods_discovered_total counter",
        "podinit_pods_discovered_total 0",
        "# TYPE process_cpu_seconds_total counter",
        "# TYPE process_resident_memory_bytes gauge",
        "# HELP process_open_fds Number of open file descriptors.",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}");
    }
    assert!(!text.contains("# EOF"));
}

#[tokio::test]
async fn openmetrics_is_read_by_its_parser() {
    let reply = scrape("application/openmetrics-text;version=1.0.0").await;
    assert!(reply.text().ends_with("# EOF\n"));
    // The parser refuses units on histograms, which OpenMetrics 1.0 allows.
    let lines = reply.text().lines();
    let without_units: String =
        lines.filter(|line| !line.starts_with("# UNIT")).flat_map(|line| [line, "\n"]).collect();
    let parsed = openmetrics_parser::openmetrics::parse_openmetrics(&without_units).unwrap();
    for family in ["podinit_pods_discovered", "process_cpu_seconds"] {
        assert!(parsed.families.contains_key(family), "{family}");
    }
}

#[tokio::test]
async fn protobuf_is_a_sequence_of_delimited_families() {
    let accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                  encoding=delimited";
    let reply = scrape(accept).await;
    let mut rest = reply.body.as_slice();
    let mut families = Vec::new();
    while !rest.is_empty() {
        families.push(MetricFamily::decode_length_delimited(&mut rest).unwrap());
    }
    let kind = |name: &str| {
        let found = families.iter().find(|family| family.name == name);
        found.map(MetricFamily::r#type)
    };
    let counter = Some(MetricType::Counter);
    assert_eq!(kind("podinit_pods_discovered_total"), counter);
    assert_eq!(kind("process_cpu_seconds_total"), counter);
    assert_eq!(kind("process_open_fds"), Some(MetricType::Gauge));
}
