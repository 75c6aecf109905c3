//! The rows of workloads: what `kubectl get deployments` and `kubectl get replicasets` show.

use serde_json::{Value, json};

use super::{TableColumn, age, text};
use podinit_core::timestamp::Timestamp;

pub(super) const DEPLOYMENT_COLUMNS: [TableColumn; 6] =
    columns(["Ready", "Up-to-date", "Available"]);
pub(super) const REPLICA_SET_COLUMNS: [TableColumn; 6] = columns(["Desired", "Current", "Ready"]);
/// Of resources of which there is no object.
pub(super) const OTHER_COLUMNS: [TableColumn; 1] = [("Name", 0)];

const fn columns([first, second, third]: [&'static str; 3]) -> [TableColumn; 6] {
    [("Name", 0), (first, 0), (second, 0), (third, 0), ("Age", 0), ("Images", 1)]
}

/// The cells of a Deployment, with its age at `now`.
pub(super) fn deployment_cells(deployment: &Value, now: Timestamp) -> Value {
    let [replicas, ready] =
        [&deployment["spec"]["replicas"], &deployment["status"]["readyReplicas"]];
    let ready = format!("{}/{}", count(ready), count(replicas));
    let updated = ["updatedReplicas", "availableReplicas"];
    let [updated, available] = updated.map(|name| count(&deployment["status"][name]).to_string());
    cells(deployment, [ready, updated, available], now)
}

/// The cells of a ReplicaSet, with its age at `now`.
pub(super) fn replica_set_cells(replica_set: &Value, now: Timestamp) -> Value {
    let (spec, status) = (&replica_set["spec"], &replica_set["status"]);
    let counts = [&spec["replicas"], &status["replicas"], &status["readyReplicas"]];
    cells(replica_set, counts.map(|number| count(number).to_string()), now)
}

/// The name of any object.
pub(super) fn other_cells(object: &Value, _: Timestamp) -> Value {
    json!([text(&object["metadata"]["name"])])
}

fn cells(object: &Value, [first, second, third]: [String; 3], now: Timestamp) -> Value {
    let metadata = &object["metadata"];
    let age = age(&metadata["creationTimestamp"], now);
    let image = text(&object["spec"]["template"]["spec"]["containers"][0]["image"]);
    json!([text(&metadata["name"]), first, second, third, age, image])
}

/// A number of pods, which is left out where it is 0.
fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}
