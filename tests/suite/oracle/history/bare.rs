//! Recordings of pods by themselves: what `jq '.items[]'` makes of a list, and `kubectl get -w -o json` of a watch.

use serde_json::Value;

use super::rng::Rng;

/// Takes lists apart at the beginning of a recording, and what surrounds the pods of watch events away.
pub(super) fn scatter(rng: &mut Rng, documents: Vec<Value>) -> Vec<Value> {
    let (takes_lists_apart, unpacked) = (rng.percent(70), rng.pick(&[0, 30, 100]));
    let mut bare = Vec::new();
    for document in documents {
        let is_beginning = bare.iter().all(|before: &Value| before["kind"] == "Pod");
        let is_of_pod = document["object"]["kind"] == "Pod";
        let is_change = document["type"] == "ADDED" || document["type"] == "MODIFIED";
        if takes_lists_apart && is_beginning && document["kind"] == "PodList" {
            let items = document["items"].as_array().into_iter().flatten();
            bare.extend(items.map(|pod| with_time_of(&document, pod)));
        } else if is_of_pod && is_change && rng.percent(unpacked) {
            bare.push(with_time_of(&document, &document["object"]));
        } else {
            bare.push(document);
        }
    }
    bare
}

fn with_time_of(document: &Value, pod: &Value) -> Value {
    let mut pod = pod.clone();
    if let Some(observed) = document.get("observedAt") {
        pod["observedAt"] = observed.clone();
    }
    pod
}
