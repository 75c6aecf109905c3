//! An API server with many pods, none of which it holds: a page is made as it is sent.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};

/// How many pods there are.
pub(crate) const PODS: usize = 100_000;

/// How long the JSON of each is.
const POD_BYTES: usize = 8192;

/// Stand in the template where a pod's number belongs.
const NUMBER: &str = "#######";

/// What state the pods are in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pods {
    /// All of them ready
    Ready,
    /// All of them waiting for their containers
    InFlight,
}

/// A listening API server. Its threads end with the process.
pub(crate) struct Cluster {
    address: SocketAddr,
    watched: Receiver<()>,
}

impl Cluster {
    pub(crate) fn start(pods: Pods) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (watch, watched) = channel();
        let template = template(pods);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (watch, template) = (watch.clone(), template.clone());
                thread::spawn(move || serve(connection.unwrap(), &template, &watch));
            }
        });
        Self { address, watched }
    }

    pub(crate) fn kubeconfig(&self) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: big\n\
             clusters: [{{name: big, cluster: {{server: \"http://{}\"}}}}]\n\
             contexts: [{{name: big, context: {{cluster: big, user: nobody}}}}]\n",
            self.address
        )
    }

    /// Waits until a watch is asked for, which happens when the list is complete.
    pub(crate) fn until_listed(&self) {
        self.watched.recv().expect("the API server has failed");
    }
}

/// Answers the requests of one connection until the other side ends it.
fn serve(connection: TcpStream, template: &str, watch: &Sender<()>) {
    connection.set_nodelay(true).unwrap();
    let mut requests = BufReader::new(connection.try_clone().unwrap());
    let mut answers = BufWriter::with_capacity(1 << 16, connection);
    loop {
        let mut request = String::new();
        if !matches!(requests.read_line(&mut request), Ok(length) if length > 0) {
            return;
        }
        let mut header = String::new();
        while requests.read_line(&mut header).is_ok() && header.trim_end() != "" {
            header.clear();
        }
        let answered = match parameter(&request, "watch") {
            None => list(&mut answers, &request, template),
            Some(_) => {
                watch.send(()).ok();
                open_watch(&mut answers)
            }
        };
        if answered.is_err() {
            return;
        }
    }
}

/// One page. Its length is sent first, then pod by pod.
fn list(out: &mut impl Write, request: &str, template: &str) -> std::io::Result<()> {
    let number = |name| parameter(request, name).map(|text| text.parse::<usize>().unwrap());
    let begin = number("continue").unwrap_or(0);
    let end = PODS.min(begin + number("limit").unwrap_or(PODS));
    let mut metadata = json!({"resourceVersion": "9000000"});
    if end < PODS {
        metadata["continue"] = end.to_string().into();
        metadata["remainingItemCount"] = (PODS - end).into();
    }
    let head =
        format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":[");
    let length = head.len() + (end - begin) * (POD_BYTES + 1) - 1 + "]}".len();
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{head}"
    )?;
    for number in begin..end {
        if number > begin {
            out.write_all(b",")?;
        }
        let number = format!("{number:07}");
        for (index, part) in template.split(NUMBER).enumerate() {
            if index > 0 {
                out.write_all(number.as_bytes())?;
            }
            out.write_all(part.as_bytes())?;
        }
    }
    out.write_all(b"]}")?;
    out.flush()
}

/// A watch in which nothing happens: its body has begun, and stays open.
fn open_watch(out: &mut impl Write) -> std::io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    out.write_all(head.as_bytes())?;
    out.flush()
}

fn parameter<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let query = request.split_ascii_whitespace().nth(1)?.split_once('?')?.1;
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// The JSON of a pod, with [`NUMBER`] in the place of its number and `managedFields` that fill it
/// up, as they do in real pods.
fn template(pods: Pods) -> String {
    let time = "2026-11-21T07:56:00Z";
    let ready = match pods {
        Pods::Ready => "True",
        Pods::InFlight => "False",
    };
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "lastTransitionTime": time});
    let pod = |filling: &str| -> Value {
        json!({
            "metadata": {
                "name": format!("checkout-7c9d8f6b5d-{NUMBER}"),
                "namespace": "shop",
                "uid": format!("6d14ca8c-7af5-46a4-8768-00000{NUMBER}"),
                "resourceVersion": format!("8{NUMBER}"),
                "creationTimestamp": time,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                    "name": "checkout-7c9d8f6b5d", "uid": "00000000-0000-4000-8000-000000000001"}],
                "managedFields": [{"manager": "kubelet", "fieldsV1": {filling: {}}}],
            },
            "spec": {"nodeName": "node-017", "containers": [{"name": "app", "image": "app:1.42.0"}]},
            "status": {
                "phase": "Running",
                "startTime": time,
                "conditions": [condition("PodScheduled", "True"),
                    condition("PodReadyToStartContainers", "True"),
                    condition("Initialized", "True"),
                    condition("ContainersReady", ready), condition("Ready", ready)],
            },
        })
    };
    let bare = pod("").to_string().len();
    let text = pod(&"f".repeat(POD_BYTES - bare)).to_string();
    assert_eq!(text.len(), POD_BYTES);
    text
}
