//! One document: what it is, and the time of the replay once it has been read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bare::{Role, roles};
use crate::oracle::instant::{self, Nanos};
use crate::oracle::reading::kube_event::KubeEvent;
use crate::oracle::reading::node::NodeSnapshot;
use crate::oracle::reading::rules::Rules;
use crate::oracle::reading::snapshot::Snapshot;

/// A document with the time of the replay once it has been read.
pub(super) struct Dated<'a> {
    pub(super) document: &'a Value,
    pub(super) now: Nanos,
    pub(super) role: Role,
    /// The latest API time in it that tells the time
    tells_until: Nanos,
}

impl Dated<'_> {
    pub(super) fn pods(&self) -> Vec<Snapshot> {
        pods_of(self.document, self.tells_until)
    }

    pub(super) fn nodes(&self) -> Vec<NodeSnapshot> {
        nodes_of(self.document, self.tells_until)
    }

    /// The type of a watch event
    pub(super) fn kind(&self) -> Option<&str> {
        match self.role {
            Role::Modified => Some("MODIFIED"),
            _ => self.document.get("type").map(|kind| kind.as_str().unwrap_or("")),
        }
    }
}

/// "Without `observedAt`, time is the greatest API time seen so far (for a list, the greatest in
/// it)"; "`--until` stops at the first later document". Time never goes back; it starts at the
/// Unix epoch.
///
/// "Without `observedAt`, API times more than 5 s later than both the present and the file's modification are not used
/// to tell the time. An `observedAt` takes the place of both for the document that has it."
pub(super) fn date<'a>(
    rules: &dyn Rules,
    documents: &'a [Value],
    until: Option<Nanos>,
) -> Vec<Dated<'a>> {
    let mut now = 0;
    let mut greatest_seen = 0;
    let mut greatest_observed = None;
    let mut dated = Vec::new();
    for (document, role) in documents.iter().zip(roles(rules, documents)) {
        greatest_observed = greatest_observed.max(observed_at(document));
        let observed = rules.bound(observed_at(document), greatest_observed);
        let tells_until = rules.latest_that_tells_time(observed);
        let greatest_in_it = greatest_api_time(document, tells_until);
        greatest_seen = greatest_seen.max(greatest_in_it);
        now = now.max(match observed_at(document) {
            _ if is_without_pods(document) => now,
            Some(observed) => observed,
            None if is_event(document) || role == Role::Modified => greatest_seen,
            None => greatest_in_it,
        });
        if until.is_some_and(|until| now > until) {
            break;
        }
        dated.push(Dated { document, now, role, tells_until });
    }
    dated
}

fn greatest_api_time(document: &Value, tells_until: Nanos) -> Nanos {
    pods_of(document, tells_until).iter().filter_map(Snapshot::greatest_api_time).max().unwrap_or(0)
}

fn pods_of(document: &Value, tells_until: Nanos) -> Vec<Snapshot> {
    let read = |pod: &Value| Snapshot { tells_until, ..Snapshot::read(pod) };
    if let Some(items) = document.get("items").and_then(Value::as_array) {
        let of_pods = items.iter().filter(|item| kind_of(document, item) == Kind::Pod);
        return of_pods.map(read).collect();
    }
    let pod = document.get("object").unwrap_or(document);
    match pod["kind"].as_str() {
        Some("Pod") if document["type"] != "BOOKMARK" => vec![read(pod)],
        _ => Vec::new(),
    }
}

/// [§9.5](crate::specification#s9-5): "`kind: Event`, alone, as an item of a `List` or `EventList`,
/// or in a watch event of type ADDED or MODIFIED; DELETED is ignored"
pub(super) fn kube_events_of(document: &Value) -> Vec<KubeEvent> {
    if let Some(items) = document.get("items").and_then(Value::as_array) {
        let events = items.iter().filter(|item| kind_of(document, item) == Kind::Event);
        return events.map(KubeEvent::read).collect();
    }
    let (event, counts) = match document.get("object") {
        Some(object) => (object, document["type"] == "ADDED" || document["type"] == "MODIFIED"),
        None => (document, true),
    };
    match counts && event["kind"] == "Event" {
        true => vec![KubeEvent::read(event)],
        false => Vec::new(),
    }
}

/// [§14.1](crate::specification#s14-1): "`NodeList`, nodes in a `List`, a bare `Node`, watch events"
fn nodes_of(document: &Value, tells_until: Nanos) -> Vec<NodeSnapshot> {
    let read = |node: &Value| NodeSnapshot { tells_until, ..NodeSnapshot::read(node) };
    if let Some(items) = document.get("items").and_then(Value::as_array) {
        let nodes = items.iter().filter(|item| kind_of(document, item) == Kind::Node);
        return nodes.map(read).collect();
    }
    let node = document.get("object").unwrap_or(document);
    match node["kind"] == "Node" && document["type"] != "BOOKMARK" {
        true => vec![read(node)],
        false => Vec::new(),
    }
}

/// [§9.5](crate::specification#s9-5): "A document of Events only is no list of pods, neither the
/// first nor a relist; Events do not move time, nor does their `observedAt`." The same of nodes:
/// [§14.1](crate::specification#s14-1).
pub(super) fn is_without_pods(document: &Value) -> bool {
    if let Some(items) = document.get("items").and_then(Value::as_array) {
        let is_pod = |item: &Value| kind_of(document, item) == Kind::Pod;
        return document["kind"] == "EventList"
            || document["kind"] == "NodeList"
            || (!items.is_empty() && !items.iter().any(is_pod));
    }
    let kind = &document.get("object").unwrap_or(document)["kind"];
    kind == "Event" || kind == "Node"
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pod,
    Event,
    Node,
}

/// "An item that does not state its kind is of the kind of its list; in a `List` it is a node if it has a
/// `status.nodeInfo`."
fn kind_of(document: &Value, item: &Value) -> Kind {
    if document["kind"] == "EventList" || item["kind"] == "Event" {
        return Kind::Event;
    }
    let states_none = !item["kind"].is_string();
    let is_node = item["kind"] == "Node"
        || states_none && document["kind"] == "NodeList"
        || states_none && document["kind"] == "List" && item["status"]["nodeInfo"].is_object();
    if is_node { Kind::Node } else { Kind::Pod }
}

pub(super) fn observed_at(document: &Value) -> Option<Nanos> {
    instant::parse(document.get("observedAt")?.as_str()?)
}

pub(super) fn is_event(document: &Value) -> bool {
    document.get("type").is_some()
}

pub(super) fn is_page(document: &Value) -> bool {
    document.get("items").is_some()
}

pub(super) fn has_further_page(document: &Value) -> bool {
    document
        .pointer("/metadata/continue")
        .and_then(Value::as_str)
        .is_some_and(|token| !token.is_empty())
}

pub(super) fn is_end_of_streamed_list(document: &Value) -> bool {
    document["type"] == "BOOKMARK"
        && document
            .pointer("/object/metadata/annotations/k8s.io~1initial-events-end")
            .and_then(Value::as_str)
            == Some("true")
}

/// [§7](crate::specification#s7) `podinit_watch_events_total{event}`: every watch event that was
/// read.
pub(super) fn count_types(dated: &[Dated<'_>]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for kind in
        dated.iter().filter(|dated| !is_without_pods(dated.document)).filter_map(Dated::kind)
    {
        *counts.entry(kind.to_owned()).or_insert(0) += 1;
    }
    counts
}
