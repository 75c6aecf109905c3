//! Pods by themselves ([§8.4](crate::specification#s8-4)).

use serde_json::Value;

use super::document::is_without_pods;
use crate::oracle::reading::rules::Rules;

/// What a document is among those of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A bare pod of the first list
    OfFirstList,
    /// "Every other bare pod is an event like MODIFIED."
    Modified,
    /// No bare pod
    Other,
}

/// "The bare `Pod` documents with which a recording begins, Events and nodes aside, are its first list, of one moment.
/// That list ends before the first UID that occurs a second time, and before any other document of pods."
pub(super) fn roles(rules: &dyn Rules, documents: &[Value]) -> Vec<Role> {
    let mut listed: Vec<&Value> = Vec::new();
    let mut is_over = false;
    let role = |document| match document {
        document if is_without_pods(document) => Role::Other,
        document if !is_bare_pod(document) => {
            is_over = true;
            Role::Other
        }
        pod => {
            let uid = &pod["metadata"]["uid"];
            is_over |= rules.ends_bare_list(listed.contains(&uid), listed.len());
            listed.push(uid);
            match is_over {
                false => Role::OfFirstList,
                true => Role::Modified,
            }
        }
    };
    documents.iter().map(role).collect()
}

fn is_bare_pod(document: &Value) -> bool {
    document["kind"] == "Pod" && document.get("type").is_none() && document.get("items").is_none()
}
