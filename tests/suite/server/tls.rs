//! TLS as real clients meet it, over loopback.

use std::time::Duration;

use crate::support::access::{Authority, Client, Pki, TLS};
use crate::support::server::{Running, Source, body_of, request, start_with};
use podinit_http::ServerLimits;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Starts a server with TLS and further lines of `tls_server_config`.
fn serve(pki: &Pki, more: &str) -> Running {
    let (gate, _) = pki.gate(&format!("{TLS}{more}"));
    start_with(Source::default(), ServerLimits::default(), gate)
}

#[tokio::test]
async fn scrapes_and_probes_are_encrypted() {
    let pki = Pki::new();
    let server = serve(&pki, "");
    for client in [
        pki.client(),
        pki.client().speaking(&[&TLS12]),
        pki.client().speaking(&[&TLS13]),
        pki.client().offering(&["h2", "http/1.1"]),
    ] {
        let reply = client.ask(server.address, "/metrics", &[]).await.unwrap();
        assert_eq!(reply.status, 200);
        assert_eq!(reply.body, body_of(podinit_http::ExpositionFormat::Text, 1000));
        assert!(client.is_let_in(server.address).await);
    }
    // Nobody is spoken to in plain HTTP, or in HTTP/2.
    let mut plain = server.connect().await;
    plain.write_all(b"GET /livez HTTP/1.1\r\n\r\n").await.unwrap();
    let mut received = Vec::new();
    let _ = plain.read_to_end(&mut received).await;
    assert!(!received.windows(4).any(|four| four == b"HTTP"));
    assert!(!pki.client().offering(&["h2"]).is_let_in(server.address).await);
}

#[tokio::test]
async fn each_client_auth_type_lets_in_whom_it_should() {
    let pki = Pki::new();
    let nobody = pki.client();
    let known = nobody.as_who(&pki.authority.issue("prometheus.example"));
    let stranger = nobody.as_who(&Authority::new().issue("prometheus.example"));
    const YES: Option<u16> = Some(200);
    const NO_CERTIFICATE: Option<u16> = Some(403);
    const NO_HANDSHAKE: Option<u16> = None;
    let ca = "  client_ca_file: ca.crt\n";
    for (kind, more, answers) in [
        ("NoClientCert", "", [YES, YES, YES]),
        ("RequestClientCert", "", [YES, YES, YES]),
        ("RequireAnyClientCert", "", [NO_CERTIFICATE, YES, YES]),
        ("RequireClientCert", "", [NO_CERTIFICATE, YES, YES]),
        ("VerifyClientCertIfGiven", ca, [YES, YES, NO_HANDSHAKE]),
        ("RequireAndVerifyClientCert", ca, [NO_CERTIFICATE, YES, NO_HANDSHAKE]),
    ] {
        let server = serve(&pki, &format!("  client_auth_type: {kind}\n{more}"));
        for versions in [&TLS12, &TLS13] {
            for (client, answer) in [&nobody, &known, &stranger].into_iter().zip(answers) {
                let client = client.speaking(&[versions]);
                let status = client.status(server.address, "/metrics").await;
                assert_eq!(status, answer, "{kind} {versions:?}");
                // A kubelet that probes has no certificate.
                let is_let_in = client.is_let_in(server.address).await;
                assert_eq!(is_let_in, answer != NO_HANDSHAKE, "{kind} {versions:?}");
            }
        }
    }
}

#[tokio::test]
async fn only_named_clients_are_let_in_where_names_are_given() {
    let pki = Pki::new();
    let names = "  client_allowed_sans: [prometheus.example, 10.0.0.7]\n";
    let verified = "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n";
    let server = serve(&pki, &format!("{verified}{names}"));
    let issued = |name: &str| pki.client().as_who(&pki.authority.issue(name));
    for (client, status) in [
        (issued("prometheus.example"), Some(200)),
        (issued("10.0.0.7"), Some(200)),
        (issued("10.0.0.8"), None),
        (issued("other.example"), None),
        (issued("sub.prometheus.example"), None),
        (pki.client().as_who(&Authority::new().issue("prometheus.example")), None),
        (pki.client(), Some(403)),
    ] {
        assert_eq!(client.status(server.address, "/metrics").await, status);
    }
}

#[tokio::test]
async fn versions_that_are_not_wanted_are_refused() {
    let pki = Pki::new();
    let (old, new) = (pki.client().speaking(&[&TLS12]), pki.client().speaking(&[&TLS13]));
    let server = serve(&pki, "  min_version: TLS13\n");
    assert!(!old.is_let_in(server.address).await);
    assert!(new.is_let_in(server.address).await);
    let server = serve(&pki, "  max_version: TLS12\n");
    assert!(old.is_let_in(server.address).await);
    assert!(!new.is_let_in(server.address).await);
    // The certificate's key is not RSA.
    let suites = "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\n";
    let server = serve(&pki, suites);
    assert!(!old.is_let_in(server.address).await);
    assert!(new.is_let_in(server.address).await);
}

#[tokio::test]
async fn a_new_certificate_is_for_new_connections() {
    let pki = Pki::new();
    let (gate, _) = pki.gate(TLS);
    let server = start_with(Source::default(), ServerLimits::default(), gate.clone());
    assert!(pki.client().is_let_in(server.address).await);
    let other = Authority::new();
    pki.serve_as(&other.issue("localhost"));
    gate.set(pki.config(TLS));
    assert!(!pki.client().is_let_in(server.address).await);
    assert!(Client::new(&other).is_let_in(server.address).await);
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_is_not_completed_ends_the_connection() {
    let pki = Pki::new();
    let (gate, stats) = pki.gate(TLS);
    let server = start_with(Source::default(), ServerLimits::default(), gate);
    for sent in [&b""[..], b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"] {
        let mut stream = server.connect().await;
        stream.write_all(sent).await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        assert!(received.is_empty());
    }
    assert_eq!(stats.handshake_failures(), 2);
}

#[tokio::test]
async fn clients_that_complete_no_handshake_cannot_keep_others_out() {
    let pki = Pki::new();
    let (gate, _) = pki.gate(TLS);
    let limits = ServerLimits {
        max_connections: 4,
        max_scrapes: 2,
        min_idle: Duration::ZERO,
        ..ServerLimits::default()
    };
    let server = start_with(Source::default(), limits, gate);
    let mut silent = Vec::new();
    for _ in 0..12 {
        silent.push(server.connect().await);
    }
    assert!(pki.client().is_let_in(server.address).await);
}

#[tokio::test]
async fn a_scraper_that_does_not_read_is_cut_off_and_no_longer_counts() {
    let pki = Pki::new();
    let source = Source { size: 32 << 20, ..Source::default() };
    let limits = ServerLimits { max_scrapes: 1, ..ServerLimits::default() };
    let (gate, _) = pki.gate(TLS);
    let server = start_with(source, limits, gate);
    let mut stream = pki.client().connect(server.address).await.unwrap();
    stream.write_all(&request("GET", "/metrics", &[])).await.unwrap();
    server.source.until_begun(1).await;
    let status = pki.client().status(server.address, "/metrics").await;
    assert_eq!(status, Some(503));

    // The encoding has to end on its own time before the clock can be set forward.
    stream.get_ref().0.readable().await.unwrap();
    tokio::time::pause();
    tokio::time::sleep(limits.write_timeout + Duration::from_secs(1)).await;
    tokio::time::resume();
    let mut received = Vec::new();
    assert!(stream.read_to_end(&mut received).await.is_err());
    assert!(received.len() < 32 << 20);
    let reply = pki.client().ask_with("HEAD", server.address, "/metrics", &[]).await;
    assert_eq!(reply.unwrap().status, 200);
}

#[tokio::test]
async fn a_handshake_under_way_does_not_delay_the_end() {
    let pki = Pki::new();
    let (gate, stats) = pki.gate(TLS);
    let server = start_with(Source::default(), ServerLimits::default(), gate);
    let mut silent = server.connect().await;
    assert!(pki.client().is_let_in(server.address).await);
    server.shutdown.cancel();
    server.task.await.unwrap();
    let mut received = Vec::new();
    let _ = silent.read_to_end(&mut received).await;
    assert!(received.is_empty());
    assert_eq!(stats.handshake_failures(), 0);
}
