//! Under which host names a process answers: what a page of another site can read by DNS rebinding.

use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::demo::Demo;

/// Whatever is not a probe, known or unknown.
const PROTECTED: [&str; 5] = ["/", "/metrics", "/api/v1/stuck", "/style.css", "/nothing"];

fn status(demo: &Demo, host: &str, path: &str) -> String {
    let (head, _) = demo.get_as(host, path, "*/*");
    head.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn on_loopback_a_foreign_host_gets_one_line_and_nothing_else() {
    let demo = Demo::start(&[]);
    let port = demo.address.rsplit(':').next().unwrap();
    for path in PROTECTED {
        let (head, body) = demo.get_as("rebound.example", path, "*/*");
        assert!(head.starts_with("HTTP/1.1 403 "), "{path}: {head}");
        let line = String::from_utf8(body).unwrap();
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.contains("--allowed-hosts"), "{line}");
        assert!(!line.contains("rebound"), "{line}");
    }
    for own in ["localhost", "127.0.0.1", "[::1]", "10.1.2.3"] {
        let host = format!("{own}:{port}");
        assert_eq!(status(&demo, &host, "/metrics"), "200", "{host}");
        assert_eq!(status(&demo, &host, "/"), "200", "{host}");
    }
    for probe in ["/livez", "/healthz"] {
        assert_eq!(status(&demo, "rebound.example", probe), "200", "{probe}");
    }
    assert_ne!(status(&demo, "rebound.example", "/readyz"), "403");
    let refused = "podinit_http_requests_refused_total{reason=\"foreign_host\"}";
    let refused = demo.scrape().value(refused);
    assert_eq!(refused, Some(PROTECTED.len() as f64));
    assert!(demo.terminate());
}

#[test]
fn names_can_be_allowed() {
    let demo = Demo::start(&["--allowed-hosts", "podinit.example,.corp.example"]);
    for (host, expected) in [
        ("podinit.example", "200"),
        ("a.corp.example:80", "200"),
        ("corp.example", "403"),
        ("localhost", "200"),
    ] {
        assert_eq!(status(&demo, host, "/metrics"), expected, "{host}");
    }
    assert!(demo.terminate());
    let demo = Demo::start(&["--allowed-hosts", "*"]);
    assert_eq!(status(&demo, "rebound.example", "/metrics"), "200");
    assert!(demo.terminate());
}

/// The API server of the demo knows no credentials: whoever reaches it reads all.
#[tokio::test]
async fn the_simulated_api_server_answers_under_names_of_loopback_alone() {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    let url = cluster.url();
    let port = url.port_u16().unwrap();
    let get = async |host: &str, path: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    for path in ["/api/v1/pods", "/version", "/readyz", "/nothing"] {
        for host in ["rebound.example", "10.1.2.3", ""] {
            let answer = get(host, path).await;
            assert!(answer.starts_with("HTTP/1.1 403 "), "{host} {path}: {answer}");
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let status: Value = serde_json::from_str(body).unwrap();
            assert_eq!(status["kind"], "Status", "{status}");
            assert!(!body.contains("rebound"), "{body}");
        }
    }
    for own in ["localhost", "127.0.0.1", "[::1]"] {
        let answer = get(&format!("{own}:{port}"), "/api/v1/pods").await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{own}: {answer}");
    }
}
