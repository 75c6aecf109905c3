//! An API server with many pods and nodes, none of which it holds: a list is made as it is sent.

mod answers;
mod exporter;
mod readers;
mod template;

use std::io::{BufRead, BufReader, BufWriter};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

pub use exporter::Exporter;
pub use readers::{end_beside, read_beside};
use template::Template;

/// What state the pods are in.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// All of them ready
    Ready,
    /// All of them waiting for their containers
    InFlight,
    /// None can pull its image: the pods of one Deployment
    Failing,
    /// None can pull its image, and each has an image, a node, a workload and a namespace of its own
    FailingApart,
}

/// In what form the API server sends lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Json,
    /// And compressed
    Protobuf,
}

/// Which pods there are.
#[derive(Clone, Copy, Debug)]
pub struct Pods {
    pub count: usize,
    /// How long the JSON of each is
    pub bytes: usize,
    pub state: State,
}

/// A listening API server. Its threads end with the process.
pub struct Cluster {
    address: SocketAddr,
    watched: Receiver<()>,
    expire: Sender<()>,
    beat: Sender<usize>,
}

/// The objects of one kind.
struct Objects {
    /// Such as `Pod`
    kind: &'static str,
    count: usize,
    template: Template,
}

/// What the threads of connections share.
struct Shared {
    form: Form,
    pods: Objects,
    nodes: Objects,
    /// Of those there are none
    events: Objects,
    watch: Sender<()>,
    /// Says when a watch has expired
    expired: Mutex<Receiver<()>>,
    /// Says how many nodes send a heartbeat
    beats: Mutex<Receiver<usize>>,
}

impl Cluster {
    pub fn start(pods: Pods, form: Form) -> Self {
        Self::with_nodes(pods, 0, form)
    }

    /// With so many nodes, all of them Ready.
    pub fn with_nodes(pods: Pods, nodes: usize, form: Form) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (watch, watched) = channel();
        let (expire, expired) = channel();
        let (beat, beats) = channel();
        let objects = |kind, count, template| Objects { kind, count, template };
        let shared = Arc::new(Shared {
            form,
            pods: objects("Pod", pods.count, Template::of_pod(pods.state, pods.bytes)),
            nodes: objects("Node", nodes, Template::of_node()),
            events: objects("Event", 0, Template::default()),
            watch,
            expired: Mutex::new(expired),
            beats: Mutex::new(beats),
        });
        thread::spawn(move || {
            for connection in listener.incoming() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(connection.unwrap(), &shared));
            }
        });
        Self { address, watched, expire, beat }
    }

    pub fn kubeconfig(&self) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: big\n\
             clusters: [{{name: big, cluster: {{server: \"http://{}\"}}}}]\n\
             contexts: [{{name: big, context: {{cluster: big, user: nobody}}}}]\n",
            self.address
        )
    }

    /// Waits until a watch is asked for, which happens when the list is complete.
    pub fn until_listed(&self) {
        self.watched.recv().expect("the API server has failed");
    }

    /// Sends so many updates of nodes that change nothing, and returns when they are sent.
    pub fn send_heartbeats(&self, count: usize) {
        self.beat.send(count).expect("the API server has failed");
        self.until_listed();
    }

    /// Ends the watch with status 410: what happened meanwhile is not known any more.
    pub fn expire_watch(&self) {
        self.expire.send(()).expect("the API server has failed");
    }
}

/// Answers the requests of one connection until the other side ends it.
fn serve(connection: TcpStream, shared: &Shared) {
    connection.set_nodelay(true).unwrap();
    let mut requests = BufReader::new(connection.try_clone().unwrap());
    let mut out = BufWriter::with_capacity(1 << 16, connection);
    loop {
        let mut request = String::new();
        if !matches!(requests.read_line(&mut request), Ok(length) if length > 0) {
            return;
        }
        let mut header = String::new();
        let mut takes_protobuf = false;
        while requests.read_line(&mut header).is_ok() && header.trim_end() != "" {
            takes_protobuf |= header.contains("application/vnd.kubernetes.protobuf");
            header.clear();
        }
        let form = match takes_protobuf {
            true => shared.form,
            false => Form::Json,
        };
        let streamed = parameter(&request, "sendInitialEvents").is_some();
        let objects = match &request {
            request if request.contains("/api/v1/nodes") => &shared.nodes,
            request if request.contains("/api/v1/events") => &shared.events,
            _ => &shared.pods,
        };
        let answered = match (parameter(&request, "watch"), form) {
            (None, Form::Json) => answers::json_list(&mut out, page(&request, objects), objects),
            (None, Form::Protobuf) => {
                answers::protobuf_list(&mut out, page(&request, objects), objects)
            }
            (Some(_), _) if streamed => answers::streamed_list(&mut out, objects, shared.form),
            (Some(_), form) => match objects.kind {
                "Node" => answers::heartbeats(&mut out, shared, form),
                "Event" => answers::silence(&mut out),
                _ => {
                    shared.watch.send(()).ok();
                    answers::watch(&mut out, &shared.expired)
                }
            },
        };
        if answered.is_err() {
            return;
        }
    }
}

/// The numbers of the objects that a list asks for.
fn page(request: &str, objects: &Objects) -> std::ops::Range<usize> {
    let number = |name| parameter(request, name).map(|text| text.parse::<usize>().unwrap());
    let begin = number("continue").unwrap_or(0);
    begin..(objects.count).min(begin + number("limit").unwrap_or(objects.count))
}

fn parameter<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let query = request.split_ascii_whitespace().nth(1)?.split_once('?')?.1;
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}
