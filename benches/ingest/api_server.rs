//! An API server with no pods at first, and a watch that plays the lives of pods at a chosen rate. It speaks TLS, as
//! every kube-apiserver does.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::support::AT_ONCE;
use super::template::{LifeSteps, Pod};

const EMPTY_LIST: &str =
    r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}"#;

/// What the measurement and the threads of the server share.
pub(crate) struct ApiServer {
    /// Watch events a second; 0 is none
    pub(crate) rate: AtomicU64,
    /// Watch events sent
    pub(crate) sent: AtomicUsize,
    /// Its certificate, in PEM
    pub(crate) certificate: String,
    tls: Arc<ServerConfig>,
    /// Over how many namespaces the pods are spread
    namespaces: usize,
    /// By pod and step: when its event was sent
    times: Mutex<Vec<[Option<SystemTime>; LifeSteps::COUNT]>>,
}

impl ApiServer {
    pub(crate) fn start(namespaces: usize) -> io::Result<(Arc<Self>, SocketAddr)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = signing_key.serialize_der().try_into().unwrap();
        let tls = ServerConfig::builder().with_no_client_auth();
        let server = Arc::new(Self {
            rate: AtomicU64::new(0),
            sent: AtomicUsize::new(0),
            certificate: cert.pem(),
            tls: Arc::new(tls.with_single_cert(vec![cert.der().clone()], key).unwrap()),
            namespaces,
            times: Mutex::default(),
        });
        let serving = Arc::clone(&server);
        spawn(move || {
            for connection in listener.incoming().flatten() {
                let server = Arc::clone(&serving);
                // Ends when the client closes the connection.
                spawn(move || server.connection(connection));
            }
        });
        Ok((server, address))
    }

    /// When the event of `step` of a pod was sent.
    pub(crate) fn sent_at(&self, pod: usize, step: usize) -> Option<SystemTime> {
        let times = self.times.lock();
        times.get(pod).copied()?.get(step).copied()?
    }

    /// When the last event was sent.
    pub(crate) fn last_sent(&self) -> Option<SystemTime> {
        let times = self.times.lock();
        let newest = times.iter().rev().take(AT_ONCE);
        newest.flatten().copied().flatten().max()
    }

    fn connection(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let tls = ServerConnection::new(Arc::clone(&self.tls)).map_err(io::Error::other)?;
        let mut requests = BufReader::new(StreamOwned::new(tls, stream));
        loop {
            let mut request = String::new();
            if requests.read_line(&mut request)? == 0 {
                return Ok(());
            }
            let mut head = String::new();
            while requests.read_line(&mut head)? > 2 {}
            let protobuf = head.contains("vnd.kubernetes.protobuf");
            let stream = requests.get_mut();
            if request.contains("watch=") && !request.contains("sendInitialEvents") {
                return self.watch(stream, protobuf);
            }
            let status = match request.contains("sendInitialEvents") {
                true => "422 Unprocessable Entity",
                false => "200 OK",
            };
            let length = EMPTY_LIST.len();
            write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{EMPTY_LIST}"
            )?;
        }
    }

    /// Plays lives until the connection breaks. Each event is a chunk and a write of its own, as an API
    /// server sends it.
    fn watch(&self, stream: &mut impl Write, protobuf: bool) -> io::Result<()> {
        let media_type = match protobuf {
            true => "application/vnd.kubernetes.protobuf;stream=watch",
            false => "application/json",
        };
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )?;
        let steps = LifeSteps::new(protobuf);
        let mut chunk = Vec::new();
        let (mut due, mut last_rate) = (Instant::now(), 0);
        for number in 0.. {
            let (step, pod) = (number / AT_ONCE % LifeSteps::COUNT, number % AT_ONCE);
            let pod = pod + number / (AT_ONCE * LifeSteps::COUNT) * AT_ONCE;
            let rate = loop {
                match self.rate.load(Relaxed) {
                    0 => sleep(Duration::from_millis(10)),
                    rate => break rate,
                }
            };
            if rate != last_rate {
                (due, last_rate) = (Instant::now(), rate);
            }
            due += Duration::from_secs(1) / u32::try_from(rate).unwrap_or(u32::MAX);
            sleep(due.saturating_duration_since(Instant::now()));
            let times = self.stamp(pod, step);
            let pod =
                Pod { number: pod, namespace: pod % self.namespaces, version: number + 2, times };
            steps.write(step, &pod, &mut chunk);
            stream.write_all(&chunk)?;
            self.sent.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    fn stamp(&self, pod: usize, step: usize) -> [Option<SystemTime>; LifeSteps::COUNT] {
        let mut times = self.times.lock();
        if times.len() <= pod {
            times.resize(pod + 1, Default::default());
        }
        times[pod][step] = Some(SystemTime::now());
        times[pod]
    }
}
