//! `metadata` of a pod, managed fields included.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::json::{raw, time};
use super::managed_fields::ManagedFields;
use super::pod::Pod;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generate_name: Option<&'a str>,
    namespace: &'a str,
    uid: &'a str,
    resource_version: String,
    generation: u32,
    creation_timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_grace_period_seconds: Option<i64>,
    labels: Pairs<'a>,
    annotations: Pairs<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_references: Option<[OwnerReference<'a>; 1]>,
    managed_fields: Vec<ManagedFields>,
}

/// A map in the order in which it is given.
struct Pairs<'a>(Vec<(&'a str, &'a str)>);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnerReference<'a> {
    api_version: &'static str,
    kind: &'static str,
    name: &'a str,
    uid: &'a str,
    controller: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    block_owner_deletion: bool,
}

const CREATED_FIELDS: &str = r#"{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{}},"f:ownerReferences":{".":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"REGION\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},"f:volumeMounts":{".":{}}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{},"f:volumes":{".":{}}}}"#;
const STATUS_FIELDS: &str = r#"{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},"f:podIPs":{},"f:startTime":{}}}"#;

impl<'a> Metadata<'a> {
    pub(super) fn of(pod: &'a Pod, resource_version: u64) -> Self {
        let manifest = &pod.manifest;
        let mut annotations = vec![
            ("prometheus.io/port", "8080"),
            ("prometheus.io/scrape", "true"),
        ];
        if manifest.mirror {
            // The kubelet stores the hash of the static pod's manifest under all of these.
            let hash = manifest.uid.as_str();
            annotations = vec![
                ("kubernetes.io/config.hash", hash),
                ("kubernetes.io/config.mirror", hash),
                ("kubernetes.io/config.source", "file"),
            ];
        }
        let mut managed_fields = vec![ManagedFields::update(
            "kube-controller-manager",
            "v1",
            time(pod.created),
            raw(CREATED_FIELDS),
        )];
        if let Some((_, at)) = pod.report {
            managed_fields.push(ManagedFields {
                subresource: Some("status"),
                ..ManagedFields::update("kubelet", "v1", time(at), raw(STATUS_FIELDS))
            });
        }
        Self {
            name: &manifest.name,
            generate_name: manifest.generate_name.as_deref(),
            namespace: &manifest.namespace,
            uid: &manifest.uid,
            resource_version: resource_version.to_string(),
            generation: pod.generation,
            creation_timestamp: time(pod.created),
            deletion_timestamp: pod.deletion.map(|(at, _)| time(at)),
            deletion_grace_period_seconds: pod.deletion.map(|(_, grace)| grace),
            labels: pairs(&manifest.labels),
            annotations: Pairs(annotations),
            owner_references: manifest.owner.as_ref().map(|owner| {
                [OwnerReference {
                    api_version: owner.api_version,
                    kind: owner.kind,
                    name: &owner.name,
                    uid: &owner.uid,
                    controller: true,
                    block_owner_deletion: owner.kind != "Node",
                }]
            }),
            managed_fields,
        }
    }
}

fn pairs(labels: &[(String, String)]) -> Pairs<'_> {
    Pairs(
        labels
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_parts_are_json() {
        assert!(raw(CREATED_FIELDS).is_some() && raw(STATUS_FIELDS).is_some());
    }
}
