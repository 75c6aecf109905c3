//! Labels that name the revision of a pod's workload ([§10.1](crate::specification#s10-1)), which are read of its newest
//! version.

use serde_json::Value;

use super::rng::Rng;

/// Gives them to the pods of some controllers.
pub(super) fn label(rng: &mut Rng, mut documents: Vec<Value>) -> Vec<Value> {
    let values = rng.pick(&[&["a"] as &[&str], &["a", "b"], &["a", "", "a", "c"]]);
    let salt = rng.below(1_000) as u64;
    for document in &mut documents {
        if document.get("object").is_some() {
            of_pod(&mut document["object"], values, salt);
        } else if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
            items.iter_mut().for_each(|item| of_pod(item, values, salt));
        } else {
            of_pod(document, values, salt);
        }
    }
    documents
}

fn of_pod(pod: &mut Value, values: &[&str], salt: u64) {
    if !pod["spec"].is_object() || !pod["metadata"]["ownerReferences"].is_array() {
        return;
    }
    let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
    let number = uid.bytes().fold(salt, |hash, byte| hash.wrapping_mul(31) + u64::from(byte));
    let value = values[(number / 7) as usize % values.len()];
    let label = match number % 7 {
        0 => return,
        1 | 2 => "pod-template-hash",
        3 => "rollouts-pod-template-hash",
        _ => "controller-revision-hash",
    };
    pod["metadata"]["labels"][label] = value.into();
}
