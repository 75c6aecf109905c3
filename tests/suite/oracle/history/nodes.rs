//! Nodes among the documents of a recording ([§14](crate::specification#s14)): machines that come, flap, are
//! drained and go, and the lists, streams, gaps and lies by which a recorder learns of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::node_lives::{NodeVersion, cluster};
use super::rng::Rng;
use crate::oracle::build::{ORIGIN, at, expired};
use crate::oracle::figures::seconds;
use crate::oracle::instant::parse;
use crate::oracle::reading::Snapshot;

/// Puts nodes into a recording, and its pods on them.
pub(super) fn scatter(rng: &mut Rng, mut documents: Vec<Value>) -> Vec<Value> {
    settle(rng, &mut documents);
    let times = times(&documents);
    let pods = documents.iter().flat_map(pods_of);
    let created: Vec<f64> = pods
        .filter_map(|pod| Snapshot::read(pod).created)
        .map(|created| seconds(created - ORIGIN))
        .filter(|created| (-200.0..5_000.0).contains(created))
        .collect();
    let log = cluster(rng, &created);
    let mut recorder = Recorder {
        observed: rng.pick(&[0, 50, 100, 100]),
        clock: rng.pick(&[0.0, 0.0, 0.0, -0.4, -1.5, -3.0]),
        rng,
        log,
        documents: Vec::new(),
        met: BTreeSet::new(),
    };
    recorder.run(documents, &times);
    recorder.documents
}

/// Pods on several nodes, some of them of DaemonSets, some without a creation.
fn settle(rng: &mut Rng, documents: &mut [Value]) {
    let mut fates: BTreeMap<String, (&'static str, usize)> = BTreeMap::new();
    for document in documents {
        let mut settle = |pod: &mut Value, rng: &mut Rng| {
            let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
            let (name, fate) = *fates.entry(uid.to_owned()).or_insert_with(|| {
                let names = ["node-1", "node-1", "node-2", "node-3"];
                (rng.pick(&names), rng.below(40))
            });
            if pod["spec"]["nodeName"].is_string() {
                pod["spec"]["nodeName"] = name.into();
            }
            let metadata = &mut pod["metadata"];
            match fate {
                0..6 => {
                    let owner =
                        json!({"kind": "DaemonSet", "name": "agent", "controller": fate < 5});
                    metadata["ownerReferences"] = json!([owner]);
                }
                6 => {
                    metadata.as_object_mut().and_then(|fields| fields.remove("creationTimestamp"));
                }
                _ => {}
            }
        };
        if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
            let pods = items.iter_mut().filter(|item| item["kind"] == "Pod");
            pods.for_each(|pod| settle(pod, rng));
        } else if document["kind"] == "Pod" {
            settle(document, rng);
        } else if document["object"]["kind"] == "Pod" && document["type"] != "BOOKMARK" {
            settle(&mut document["object"], rng);
        }
    }
}

fn pods_of(document: &Value) -> Vec<&Value> {
    let items = document["items"].as_array().into_iter().flatten();
    let all = items.chain([document, &document["object"]]);
    all.filter(|pod| pod["kind"] == "Pod" && pod["metadata"]["uid"].is_string()).collect()
}

/// About when each document came, in seconds after the origin.
fn times(documents: &[Value]) -> Vec<f64> {
    let mut latest = 0.0;
    let times = documents.iter().map(|document| {
        let observed = document["observedAt"].as_str().and_then(parse);
        let stated =
            pods_of(document).into_iter().filter_map(|pod| Snapshot::read(pod).greatest_api_time());
        let time = observed.or(stated.max()).map(|time| seconds(time - ORIGIN));
        latest = match time {
            Some(time) if (latest..1e5).contains(&time) => time,
            _ => latest,
        };
        latest
    });
    times.collect()
}

struct Recorder<'r> {
    rng: &'r mut Rng,
    log: Vec<NodeVersion>,
    documents: Vec<Value>,
    observed: usize,
    clock: f64,
    met: BTreeSet<String>,
}

impl Recorder<'_> {
    fn run(&mut self, pods: Vec<Value>, times: &[f64]) {
        let lag = self.rng.pick(&[0.0, 0.0, 0.0, 4.0, -4.0, 30.0]);
        let mut place = match self.rng.percent(50) {
            true => self.rng.below(self.log.len()),
            false => 0,
        };
        if self.rng.percent(65) {
            self.list_somehow(place);
        }
        for (mut document, time) in pods.into_iter().zip(times) {
            while self.log.get(place).is_some_and(|next| next.at + lag <= *time) {
                place = self.go_on(place);
            }
            let is_list = document["items"].is_array()
                && document["kind"] != "EventList"
                && !document["metadata"]["continue"].is_string();
            if is_list && self.rng.percent(25) {
                self.mix(place, &mut document);
            }
            self.documents.push(document);
        }
        while place < self.log.len() {
            place = self.go_on(place);
        }
        if self.rng.percent(20) {
            self.list_somehow(place);
        }
    }

    /// Delivers what comes at this place of the log, well or badly, and says where to go on.
    fn go_on(&mut self, place: usize) -> usize {
        match self.rng.below(100) {
            0..6 => {
                let after = (place + 1 + self.rng.below(5)).min(self.log.len());
                if self.rng.percent(20) {
                    self.documents.push(expired());
                }
                self.list_somehow(after);
                return after;
            }
            6..9 => self.list_somehow(place),
            9..11 => self.write(place, bookmark(false)),
            // Missed without a trace.
            11..14 => return place + 1,
            14..19 if place + 1 < self.log.len() => {
                self.deliver(place + 1, place + 1);
                self.deliver(place, place + 1);
                return place + 2;
            }
            _ => {}
        }
        self.deliver(place, place);
        if self.rng.percent(10) {
            let older = self.rng.below(place + 1);
            self.deliver(older, place);
        }
        place + 1
    }

    fn deliver(&mut self, place: usize, time_of: usize) {
        let version = self.log[place].clone();
        let is_new = self.met.insert(version.uid.clone());
        let kind = match (version.is_deletion, is_new) {
            _ if self.rng.percent(2) => self.rng.pick(&["ADDED", "MODIFIED"]),
            (true, _) => "DELETED",
            (false, true) => "ADDED",
            (false, false) => "MODIFIED",
        };
        self.write(time_of, json!({"type": kind, "object": version.node}));
    }

    fn write(&mut self, place: usize, document: Value) {
        let happened = self.log[place.min(self.log.len() - 1)].at;
        let delay = match self.rng.below(10) {
            0 => 3.0,
            1 => 1.0,
            2 => 0.0,
            3 => self.rng.pick(&[25.0, 40.0]),
            _ => self.rng.fraction(),
        };
        let document = match self.rng.percent(self.observed) {
            true => at(happened + delay + self.clock, document),
            false => document,
        };
        self.documents.push(document);
    }

    /// The nodes that exist before this place of the log.
    fn standing(&mut self, place: usize) -> Vec<Value> {
        let mut standing: Vec<&NodeVersion> = Vec::new();
        for version in &self.log[..place] {
            standing.retain(|held| held.uid != version.uid);
            if !version.is_deletion {
                standing.push(version);
            }
        }
        let nodes = standing.iter().map(|version| version.node.clone()).collect();
        self.met.extend(standing.iter().map(|version| version.uid.clone()));
        nodes
    }

    fn list_somehow(&mut self, place: usize) {
        let mut nodes = self.standing(place);
        if self.rng.percent(3) && place > 0 {
            let again = self.rng.below(place);
            nodes.push(self.log[again].node.clone());
        }
        match self.rng.below(20) {
            0..9 => {
                let kind = self.rng.pick(&["NodeList", "NodeList", "List"]);
                if self.rng.percent(40) {
                    // In a `List`, what has no `nodeInfo` either would be a pod.
                    let is_clear = |node: &&mut Value| {
                        kind == "NodeList" || node["status"]["nodeInfo"].is_object()
                    };
                    let nodes = nodes.iter_mut().filter(is_clear);
                    nodes.for_each(without_kind);
                }
                // An empty `List` would be one of pods.
                let kind = if nodes.is_empty() { "NodeList" } else { kind };
                self.write(place, list(kind, &nodes));
            }
            9..12 => {
                let (first, second) = nodes.split_at(self.rng.below(nodes.len() + 1));
                self.write(place, page(first));
                self.write(place, list("NodeList", second));
            }
            12 => {
                // A list that never completes is none.
                if self.documents.is_empty() || self.rng.percent(50) {
                    self.write(place, list("NodeList", &nodes));
                } else if let [node] = &nodes[..] {
                    self.write(place, node.clone());
                }
            }
            13 => {
                if let Some(node) = nodes.first() {
                    self.write(place, node.clone());
                }
            }
            14..17 => self.write(place, list("NodeList", &nodes)),
            _ => {
                for node in &nodes {
                    self.write(place, json!({"type": "ADDED", "object": node}));
                }
                let closes = !self.rng.percent(15);
                self.write(place, bookmark(closes));
            }
        }
    }

    /// Puts the nodes between the pods of a list.
    fn mix(&mut self, place: usize, document: &mut Value) {
        let nodes = self.standing(place);
        document["kind"] = "List".into();
        let Some(items) = document["items"].as_array_mut() else {
            return;
        };
        for mut node in nodes {
            if self.rng.percent(20) && node["status"]["nodeInfo"].is_object() {
                without_kind(&mut node);
            }
            items.insert(self.rng.below(items.len() + 1), node);
        }
    }
}

fn without_kind(node: &mut Value) {
    let fields = node.as_object_mut();
    fields.map(|fields: &mut Map<String, Value>| fields.remove("kind"));
}

fn list(kind: &str, nodes: &[Value]) -> Value {
    json!({"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "1000"}, "items": nodes})
}

fn page(nodes: &[Value]) -> Value {
    let mut page = list("NodeList", nodes);
    page["metadata"]["continue"] = "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ".into();
    page
}

fn bookmark(ends_streamed_list: bool) -> Value {
    let mut object =
        json!({"kind": "Node", "apiVersion": "v1", "metadata": {"resourceVersion": "2000"}});
    if ends_streamed_list {
        object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    json!({"type": "BOOKMARK", "object": object})
}
