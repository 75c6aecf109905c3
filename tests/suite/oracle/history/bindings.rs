//! The Events of schedulers that have bound the pods of a recording ([§4.8](crate::specification#s4-8)).

use serde_json::Value;

use super::kube_events::{event, insert, pods};
use super::rng::Rng;
use crate::oracle::build::ORIGIN;
use crate::oracle::instant::{SECOND, parse, rfc3339};

/// Puts them between the documents of a recording.
pub(super) fn scatter(rng: &mut Rng, mut documents: Vec<Value>) -> Vec<Value> {
    for pod in pods(&documents) {
        if rng.percent(40) {
            let event = scheduled(rng, &pod);
            insert(rng, &mut documents, &pod, event);
        }
    }
    documents
}

/// What a scheduler says when it has bound the pod, as its recorder writes it: in the second of the condition, or near
/// it.
fn scheduled(rng: &mut Rng, pod: &Value) -> Value {
    let mut event = event(rng, pod);
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let mut stated = conditions.filter(|condition| condition["type"] == "PodScheduled");
    let stated = stated.find_map(|condition| condition["lastTransitionTime"].as_str());
    // No time lies before an absurd one.
    let second = stated.and_then(parse).filter(|second| *second > SECOND).unwrap_or(ORIGIN);
    let after = rng.pick(&[0, 125_000, 250_000, 500_000, 999_999, 1_000_000, -1, 60_000_000]);
    event["eventTime"] = match rng.below(12) {
        0 => Value::Null,
        1 => "soon".into(),
        _ => rfc3339(second + after * 1_000).into(),
    };
    event["reason"] = rng.pick(&["Scheduled", "Scheduled", "Scheduled", "Preempted"]).into();
    event["message"] = "Successfully assigned ns/web to node-1".into();
    event["firstTimestamp"] = Value::Null;
    event["reportingComponent"] = "default-scheduler".into();
    if let Some(involved) = event["involvedObject"].as_object_mut() {
        involved.remove("fieldPath");
    }
    event
}
