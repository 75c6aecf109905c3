//! The fields of a node that are kept: what podinit reads of it ([§14](crate::specification#s14)).

use serde_json::{Map, Value};

use super::keyed_hash::Anonymizer;
use super::rule::{
    API_VERSION, AnonymizeRule, KIND, KeptFields, NAME, REASON, RESOURCE_VERSION, TIME, UID,
};
use podinit_core::node::{
    ARCH_LABEL, CAPACITY_TYPE_LABEL, INSTANCE_TYPE_LABEL, POOL_LABELS, ZONE_LABEL, is_startup_taint,
};

pub(super) const FIELDS: KeptFields = &[
    ("apiVersion", API_VERSION),
    ("kind", KIND),
    ("metadata", AnonymizeRule::Object(METADATA)),
    ("spec", AnonymizeRule::Object(SPEC)),
    ("status", AnonymizeRule::Object(STATUS)),
];

const METADATA: KeptFields = &[
    ("name", NAME),
    ("uid", UID),
    ("resourceVersion", RESOURCE_VERSION),
    ("creationTimestamp", TIME),
    ("deletionTimestamp", TIME),
    ("labels", AnonymizeRule::Within(labels)),
];

const SPEC: KeptFields = &[
    ("unschedulable", AnonymizeRule::Flag),
    (
        "taints",
        AnonymizeRule::Each(&AnonymizeRule::Object(&[
            ("key", AnonymizeRule::Text(taint)),
            ("effect", AnonymizeRule::Word("NoSchedule PreferNoSchedule NoExecute")),
        ])),
    ),
];

const STATUS: KeptFields = &[
    (
        "conditions",
        AnonymizeRule::Each(&AnonymizeRule::Object(&[
            (
                "type",
                AnonymizeRule::Word(
                    "Ready MemoryPressure DiskPressure PIDPressure NetworkUnavailable",
                ),
            ),
            ("status", AnonymizeRule::Word("True False Unknown")),
            ("reason", REASON),
            ("lastTransitionTime", TIME),
        ])),
    ),
    ("nodeInfo", AnonymizeRule::Object(&[("kubeletVersion", AnonymizeRule::Text(version))])),
];

/// Values of labels that say nothing of who runs the cluster.
const COMMON: &str = "amd64 arm64 s390x ppc64le riscv64 spot on-demand reserved";

/// The labels that podinit reads, with hashed values. A pool label that the user has chosen is not among them.
fn labels(anonymizer: &Anonymizer, labels: &Value, _: &Map<String, Value>) -> Option<Value> {
    let others = [ZONE_LABEL, INSTANCE_TYPE_LABEL, ARCH_LABEL, CAPACITY_TYPE_LABEL];
    let labels = labels.as_object()?;
    let kept = POOL_LABELS.into_iter().chain(others).filter_map(|key| {
        let value = anonymizer.word_of(COMMON, labels.get(key)?.as_str()?);
        Some((key.to_owned(), value.into()))
    });
    Some(Value::Object(kept.collect()))
}

/// The key of a startup taint stays, but for the part of it that somebody has chosen.
fn taint(anonymizer: &Anonymizer, key: &str) -> String {
    match key.split_once('/') {
        Some((prefix, name)) if is_startup_taint(key) => {
            // Of some prefixes every name counts.
            match is_startup_taint(&format!("{prefix}/")) {
                true => format!("{prefix}/{}", anonymizer.name(name)),
                false => key.to_owned(),
            }
        }
        _ => anonymizer.name(key),
    }
}

/// The numbers of a version, without what a vendor has added.
fn version(anonymizer: &Anonymizer, version: &str) -> String {
    let text = version.strip_prefix('v').unwrap_or(version);
    let mut numbers = text.splitn(3, '.').map(|part| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        (1..=4).contains(&digits).then(|| &part[..digits])
    });
    let mut next = || numbers.next().flatten();
    match (next(), next(), next()) {
        (Some(major), Some(minor), Some(patch)) => format!("v{major}.{minor}.{patch}"),
        _ => anonymizer.name(version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_nodes_apart_stays_and_names_go() {
        let anonymizer = Anonymizer::with_key([7; 32]);
        let hashed = |text: &str| anonymizer.name(text);
        let node = serde_json::json!({
            "kind": "Node",
            "metadata": {"name": "node-a", "uid": "u", "annotations": {"a": "b"}, "labels": {
                "karpenter.sh/nodepool": "payroll", "kubernetes.io/arch": "arm64",
                "karpenter.sh/capacity-type": "spot", "team": "payroll",
            }},
            "spec": {"podCIDR": "10.0.0.0/24", "taints": [
                {"key": "node.cilium.io/agent-not-ready", "value": "x", "effect": "NoSchedule"},
                {"key": "readiness.k8s.io/payroll", "effect": "NoSchedule"},
                {"key": "payroll", "effect": "NoExecute"},
            ]},
            "status": {
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "conditions": [{"type": "Ready", "status": "True", "message": "m"}],
                "nodeInfo": {"kubeletVersion": "v1.36.2-gke.1100", "machineID": "m"},
            },
        });
        let expected = serde_json::json!({
            "kind": "Node",
            "metadata": {"name": hashed("node-a"), "uid": anonymizer.uid("u"), "labels": {
                "karpenter.sh/nodepool": hashed("payroll"), "kubernetes.io/arch": "arm64",
                "karpenter.sh/capacity-type": "spot",
            }},
            "spec": {"taints": [
                {"key": "node.cilium.io/agent-not-ready", "effect": "NoSchedule"},
                {"key": format!("readiness.k8s.io/{}", hashed("payroll")), "effect": "NoSchedule"},
                {"key": hashed("payroll"), "effect": "NoExecute"},
            ]},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "nodeInfo": {"kubeletVersion": "v1.36.2"},
            },
        });
        assert_eq!(anonymizer.object(&node), expected);
        assert_eq!(version(&anonymizer, "fake"), hashed("fake"));
    }
}
