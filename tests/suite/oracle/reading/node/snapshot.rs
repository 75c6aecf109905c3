//! One version of one node, as its JSON states it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::oracle::instant::Nanos;
use crate::oracle::reading::snapshot::api_time;

/// What [§14](crate::specification#s14) speaks of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeSnapshot {
    pub(crate) uid: String,
    pub(crate) name: String,
    pub(crate) version: Option<u64>,
    pub(crate) created: Option<Nanos>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) kubelet_version: String,
    /// `spec.unschedulable`
    pub(crate) is_cordoned: bool,
    /// The keys
    pub(crate) taints: Vec<String>,
    /// Whether the condition Ready is True, and its LTT
    pub(crate) is_ready: bool,
    pub(crate) ready_since: Option<Nanos>,
    /// The LTTs of all conditions
    pub(crate) transitions: Vec<Nanos>,
    /// [§8.7](crate::specification#s8-7): the latest API time that tells the time
    pub(crate) tells_until: Nanos,
}

impl NodeSnapshot {
    pub(crate) fn read(node: &Value) -> Self {
        let text = |path: &str| {
            let value = node.pointer(path).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let list = |path: &str| {
            let list = node.pointer(path).and_then(Value::as_array);
            list.cloned().unwrap_or_default()
        };
        let labels = node.pointer("/metadata/labels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten();
        let conditions = list("/status/conditions");
        let ready = conditions.iter().find(|condition| condition["type"] == "Ready");
        let since = |condition: &Value| api_time(condition.get("lastTransitionTime"));
        Self {
            uid: text("/metadata/uid"),
            name: text("/metadata/name"),
            version: text("/metadata/resourceVersion").parse().ok(),
            created: api_time(node.pointer("/metadata/creationTimestamp")),
            labels: labels
                .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect(),
            kubelet_version: text("/status/nodeInfo/kubeletVersion"),
            is_cordoned: node.pointer("/spec/unschedulable") == Some(&Value::Bool(true)),
            taints: list("/spec/taints")
                .iter()
                .filter_map(|taint| taint["key"].as_str().map(str::to_owned))
                .collect(),
            is_ready: ready.is_some_and(|ready| ready["status"] == "True"),
            ready_since: ready.and_then(since),
            transitions: conditions.iter().filter_map(since).collect(),
            tells_until: Nanos::MAX,
        }
    }

    /// [§4](crate::specification#s4): "API times are creationTimestamp, startTime and the LTTs".
    pub(crate) fn greatest_api_time(&self) -> Option<Nanos> {
        self.created
            .into_iter()
            .chain(self.transitions.iter().copied())
            .filter(|time| *time <= self.tells_until)
            .max()
    }
}
