//! Random pod histories and their adversarial delivery, each from one seed.

mod bare;
mod bindings;
mod capacity;
mod containers;
mod delivery;
mod endings;
mod kube_events;
mod lives;
mod lone;
mod messages;
mod named;
mod node_lives;
mod nodes;
mod objectives;
mod revisions;
mod rng;
mod rollouts;
mod rollouts_delivery;

use serde_json::Value;

use super::build::{instant, time};
use super::reading::{Options, Timestamps};
pub(crate) use lone::lone_list;
pub(crate) use rng::Rng;
pub(crate) use rollouts::rollouts;

/// One recording and how it is to be replayed.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) documents: Vec<Value>,
    pub(crate) options: Options,
}

impl History {
    /// The same without nodes, which `capture` does not record.
    pub(crate) fn without_nodes(mut self) -> Self {
        let is_node =
            |item: &Value| item["kind"] == "Node" || item["status"]["nodeInfo"].is_object();
        self.documents.retain_mut(|document| {
            let is_list = document["kind"] == "NodeList";
            if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
                let was_empty = items.is_empty();
                items.retain(|item| !is_node(item));
                return !is_list && (was_empty || !items.is_empty());
            }
            !is_node(document) && !is_node(&document["object"])
        });
        self.options.nodes = false;
        for slo in &mut self.options.slos {
            slo.existing_capacity = false;
        }
        self.options.labels = &[];
        self
    }
}

/// The history that the seed stands for.
pub(crate) fn generate(seed: u64) -> History {
    let mut rng = Rng::new(seed);
    let log = lives::cluster(&mut rng);
    let (first, last) = (log[0].at, log[log.len() - 1].at);
    let documents = delivery::record(&mut rng, log);
    // With seeds of their own, so that other histories stay what they were without.
    let of_bare_pods = &mut Rng::new(seed ^ 0x6261_7265);
    let documents = match of_bare_pods.percent(15) {
        true => bare::scatter(of_bare_pods, documents),
        false => documents,
    };
    let documents = late(&mut Rng::new(seed ^ 0x6c61_7465), documents);
    let documents = revisions::label(&mut Rng::new(seed ^ 0x7265_7673), documents);
    let events = rng.percent(60);
    // A recording may hold Events that nobody asked for.
    let documents = match events || rng.percent(15) {
        // With seeds of their own, so that everything else of a history stays what it was without them.
        true => {
            let documents = kube_events::scatter(&mut rng, documents);
            let documents = bindings::scatter(&mut Rng::new(seed ^ 0x6269_6e64), documents);
            capacity::scatter(&mut Rng::new(!seed), documents)
        }
        false => documents,
    };
    let until = rng.percent(12).then(|| {
        let within = (last - first) * rng.fraction();
        instant((first + within).floor())
    });
    // With seeds of their own, too.
    let of_nodes = &mut Rng::new(seed ^ 0x6e6f_6465);
    let nodes = of_nodes.percent(45);
    let documents = match nodes || of_nodes.percent(10) {
        true => nodes::scatter(of_nodes, documents),
        false => documents,
    };
    let timestamps = rng.pick(&[Timestamps::Api, Timestamps::Fused]);
    let backfill = rng.percent(25);
    // And these.
    let of_names = &mut Rng::new(seed ^ 0x6e61_6d65);
    let milestones = of_names.pick(&named::MILESTONES);
    let mut slos = objectives::objectives(&mut rng);
    slos.extend(objectives::of_milestones(of_names, milestones));
    let options = Options {
        timestamps,
        backfill,
        until,
        slos: objectives::selecting(slos, &mut Rng::new(seed ^ 0x736c_6f73), events, nodes),
        milestones,
        events,
        nodes,
        labels: match nodes {
            true => of_nodes.pick(&LABELS),
            false => &[],
        },
        pool_label: of_nodes.percent(20).then_some("example.com/pool"),
        shard: None,
    };
    History { documents, options }
}

/// The same, and in one of six histories some documents are delivered late, to the end or for a while.
fn late(rng: &mut Rng, mut documents: Vec<Value>) -> Vec<Value> {
    if documents.is_empty() || !rng.percent(16) {
        return documents;
    }
    let lag = rng.pick(&[4.0, 6.0, 20.0, 70.0, 400.0]);
    let from = rng.below(documents.len());
    let until = match rng.percent(50) {
        true => documents.len(),
        false => from + rng.below(documents.len() - from),
    };
    for document in &mut documents[from..until] {
        if let Some(observed) = delivery::seconds_observed(document) {
            document["observedAt"] = time(observed + lag);
        }
    }
    documents
}

/// What `--labels` can add of nodes.
const LABELS: [&[&str]; 4] = [
    &[],
    &[],
    &["nodepool"],
    &["nodepool", "zone", "instance_type", "arch", "capacity_type", "kubelet_version"],
];

/// What `--labels` can add of workloads.
const LABELS_OF_WORKLOADS: &[&str] = &["workload_type", "workload"];

/// The documents as `replay` reads them: one a line.
pub(crate) fn text(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}
