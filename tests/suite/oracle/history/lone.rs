//! Lone lists ([§13.2](crate::specification#s13-2)): what a random history comes to, with its Events, in one list or
//! several documents of one moment.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kube_events;
use super::rng::Rng;
use crate::oracle::build::time;

/// The documents of a lone list that the seed stands for.
pub(crate) fn lone_list(seed: u64) -> Vec<Value> {
    let rng = &mut Rng::new(seed ^ 0x6c6f_6e65);
    let mut pods = kube_events::pods(&super::generate(seed).documents);
    let is_node = |item: &Value| item["kind"] == "Node" || item["status"]["nodeInfo"].is_object();
    pods.retain(|item| item["metadata"]["uid"].is_string() && !is_node(item));
    let mut items = Vec::new();
    for pod in &mut pods {
        // So that more of them stand still in the stage of which Events tell.
        let before_network = rng.percent(50);
        if let (true, Some(all)) = (before_network, pod["status"]["conditions"].as_array_mut()) {
            all.retain(|one| one["type"] == "PodScheduled");
            pod["status"]["startTime"] = time(30.0);
        }
        for _ in 0..rng.pick(&[0, 1, 2, 5]) {
            let mut event = kube_events::event(rng, pod);
            if rng.percent(40) {
                let reason =
                    rng.pick(&["FailedMount", "NetworkNotReady", "FailedPrepareDynamicResources"]);
                event["reason"] = reason.into();
            }
            if rng.percent(30) {
                super::capacity::by_autoscaler(rng, &mut event);
            }
            items.push(dated(rng, event));
        }
        pod["kind"] = "Pod".into();
        items.push(pod.clone());
    }
    rng.shuffle(&mut items);
    let is_event = |item: &Value| item["kind"] == "Event";
    let list = |items: Vec<Value>| json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items});
    let mut documents = match rng.below(5) {
        // A list for each namespace.
        4 => {
            let mut lists = BTreeMap::<String, Vec<Value>>::new();
            for item in items {
                let namespace = item["metadata"]["namespace"].to_string();
                lists.entry(namespace).or_default().push(item);
            }
            return lists.into_values().map(list).collect();
        }
        // Each by itself, where each pod has a UID of its own.
        0 => return items,
        1 => {
            let (events, pods): (Vec<Value>, Vec<Value>) = items.into_iter().partition(is_event);
            vec![list(pods), list(events)]
        }
        2 => {
            let (mut events, pods): (Vec<Value>, Vec<Value>) =
                items.into_iter().partition(is_event);
            events.push(list(pods));
            events
        }
        _ => vec![list(items)],
    };
    let is_list_of_pods = |document: &&mut Value| {
        let items = document["items"].as_array();
        items.is_some_and(|items| items.is_empty() || !items.iter().all(is_event))
    };
    if rng.percent(30)
        && let Some(list) = documents.iter_mut().find(is_list_of_pods)
    {
        list["observedAt"] = time(rng.pick(&[100.0, 3_000.0, 20_000.0]));
    }
    documents.retain(|document| document["items"].as_array().is_none_or(|items| !items.is_empty()));
    documents
}

/// The Event with times of one interface or the other.
fn dated(rng: &mut Rng, mut event: Value) -> Value {
    let first = rng.below(400) as f64;
    let last = first + rng.pick(&[0.0, 0.0, 7.0, 100.0, 4_000.0]);
    let (first, mut last) = (time(first), time(last));
    if rng.percent(2) {
        last = "2031-01-01T00:00:00Z".into();
    }
    let times = match rng.below(8) {
        0 => [Value::Null, Value::Null, first, Value::Null],
        1 => [Value::Null, Value::Null, first, json!({"count": 2, "lastObservedTime": last})],
        2 => [first, Value::Null, Value::Null, Value::Null],
        3 => [first.clone(), last, first, Value::Null],
        _ => [first, last, Value::Null, Value::Null],
    };
    for (field, time) in
        ["firstTimestamp", "lastTimestamp", "eventTime", "series"].into_iter().zip(times)
    {
        event[field] = time;
    }
    event
}
