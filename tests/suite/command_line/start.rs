//! `podinit serve` as a cluster's cold boot meets it: the binary, in front of an API server whose
//! connections fail at first in one of the ways in which real ones do. What takes minutes is in
//! `crates/exporter/src/first_contact_tests.rs`, in paused time.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::support::access::{Authority, Identity};
use crate::support::process::{KilledChild, podinit};
use crate::support::{PATIENCE, get};

/// What happens to a connection.
#[derive(Clone)]
enum Front {
    /// Closed at once, before the handshake
    Cut,
    /// Answered with something that is no TLS
    Garbage,
    /// With a certificate that podinit does not trust or understand
    Certificate(Identity),
    /// As it should be
    Well(Identity),
}

fn acceptor(identity: &Identity) -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn meet(mut stream: TcpStream, front: Front, router: axum::Router) {
    let identity = match front {
        Front::Cut => return,
        Front::Garbage => {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            return;
        }
        Front::Certificate(identity) | Front::Well(identity) => identity,
    };
    let Ok(stream) = acceptor(&identity).accept(stream).await else {
        return;
    };
    let service = TowerToHyperService::new(router);
    let connection = hyper::server::conn::http1::Builder::new();
    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
}

/// A simulated API server behind TLS.
struct Api {
    simulated: SimulatedCluster,
    front: Arc<Mutex<Front>>,
    address: SocketAddr,
}

impl Api {
    async fn start(front: Front) -> Self {
        let simulated = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
        let front = Arc::new(Mutex::new(front));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (fronts, router) = (Arc::clone(&front), simulated.router());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let front = fronts.lock().unwrap().clone();
                tokio::spawn(meet(stream, front, router.clone()));
            }
        });
        Self { simulated, front, address }
    }

    fn put(&self, name: &str) {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
        });
        self.simulated.put_json(pod).unwrap();
    }
}

/// The binary. Killed at the end.
struct Podinit {
    _process: KilledChild,
    log: Receiver<String>,
    address: String,
    _directory: tempfile::TempDir,
}

impl Podinit {
    fn start(api: &Api, authority: &Authority) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let kubeconfig = directory.path().join("config");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
             clusters: [{{name: c, cluster: {{server: \"https://localhost:{}\", \
             certificate-authority-data: {}}}}}]\n\
             contexts: [{{name: a, context: {{cluster: c, user: u}}}}]\n",
            api.address.port(),
            STANDARD.encode(&authority.certificate),
        );
        std::fs::write(&kubeconfig, text).unwrap();
        let mut process = podinit(["serve", "--listen", "127.0.0.1:0", "--connect-timeout", "0s"])
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let (sender, log) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut podinit = Self {
            _process: KilledChild(process),
            log,
            address: String::new(),
            _directory: directory,
        };
        let listening = podinit.line_with("listening");
        let (_, rest) = listening.split_once("address=").unwrap();
        rest.split_whitespace().next().unwrap().clone_into(&mut podinit.address);
        podinit
    }

    /// The next line of the log that contains this.
    fn line_with(&self, text: &str) -> String {
        let mut last = String::new();
        loop {
            let line = self.log.recv_timeout(PATIENCE);
            let line = line
                .unwrap_or_else(|error| panic!("{text:?} is not logged after {last:?}: {error}"));
            if line.contains(text) {
                return line;
            }
            last = line;
        }
    }

    fn get(&self, path: &str) -> String {
        get(&self.address, path).unwrap()
    }

    /// Waits until a scrape has this line.
    fn shows(&self, line: &str) {
        let began = Instant::now();
        loop {
            let answer = self.get("/metrics");
            if answer.lines().any(|found| found == line) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{line} is missing: {answer}");
            std::thread::yield_now();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_in_front_of_connections_that_fail_ends_in_sync() {
    let (own, foreign) = (Authority::new(), Authority::new());
    let well = Front::Well(own.issue("localhost"));
    for (name, front) in [
        ("a handshake that is cut", Front::Cut),
        ("no TLS", Front::Garbage),
        ("another authority", Front::Certificate(foreign.issue("localhost"))),
        ("another name", Front::Certificate(own.issue("elsewhere"))),
    ] {
        let api = Api::start(front).await;
        api.put("old");
        let podinit = Podinit::start(&api, &own);
        let waiting = podinit.line_with("waiting for it");
        assert!(waiting.contains("cannot reach the API server"), "{name}: {waiting}");
        assert!(podinit.get("/livez").starts_with("HTTP/1.1 200"), "{name}");
        assert!(podinit.get("/readyz").starts_with("HTTP/1.1 503"), "{name}");
        podinit.shows("podinit_synced 0");
        well.clone_into(&mut api.front.lock().unwrap());
        podinit.line_with("the API server answers");
        podinit.shows("podinit_synced 1");
        api.put("new");
        podinit.shows("podinit_pods_discovered_total 2");
        assert!(podinit.get("/readyz").starts_with("HTTP/1.1 200"), "{name}");
    }
}
