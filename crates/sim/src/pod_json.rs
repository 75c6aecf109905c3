//! Renders a pod as the JSON of the Kubernetes API: the fields of `core/v1` in the order in which
//! the API server writes them, times cut to the second.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::container_json::Container;
use super::json::{Empty, raw};
use super::life::{READINESS_GATE, SCHEDULING_GATE};
use super::pod::Pod;
use super::pod_metadata_json::Metadata;
use super::pod_status_json::Status;

/// The object of `pod` at `resource_version`, without `kind` and `apiVersion`, which a list
/// leaves out and a watch event puts in front.
pub fn render(pod: &Pod, resource_version: u64) -> Vec<u8> {
    let object = Object {
        metadata: Metadata::of(pod, resource_version),
        spec: Spec::of(pod),
        status: Status::of(pod),
    };
    // Serializing structs of strings and numbers into memory cannot fail; if it ever did, an
    // empty object is what a broken API server would send.
    serde_json::to_vec(&object).unwrap_or_else(|_| b"{}".to_vec())
}

#[derive(Serialize)]
struct Object<'a> {
    metadata: Metadata<'a>,
    spec: Spec<'a>,
    status: Status<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    volumes: Volumes<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    init_containers: Vec<Container>,
    containers: Vec<Container>,
    restart_policy: &'static str,
    termination_grace_period_seconds: i64,
    dns_policy: &'static str,
    service_account_name: &'static str,
    service_account: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    host_network: bool,
    security_context: Empty,
    scheduler_name: &'static str,
    tolerations: Option<&'static RawValue>,
    priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    readiness_gates: Option<[ReadinessGate; 1]>,
    enable_service_links: bool,
    preemption_policy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduling_gates: Option<[SchedulingGate; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduling_group: Option<SchedulingGroup<'a>>,
}

/// The volumes that every pod has, and its claim.
struct Volumes<'a> {
    claim: Option<&'a str>,
}

impl Serialize for Volumes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut volumes = serializer.serialize_seq(None)?;
        for volume in VOLUMES {
            volumes.serialize_element(&raw(volume))?;
        }
        if let Some(claim_name) = self.claim {
            volumes.serialize_element(&ClaimVolume {
                name: "data",
                persistent_volume_claim: Claim { claim_name },
            })?;
        }
        volumes.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaimVolume<'a> {
    name: &'static str,
    persistent_volume_claim: Claim<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Claim<'a> {
    claim_name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SchedulingGroup<'a> {
    pod_group_name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadinessGate {
    condition_type: &'static str,
}

#[derive(Serialize)]
struct SchedulingGate {
    name: &'static str,
}

const VOLUMES: [&str; 3] = [
    r#"{"name":"config","configMap":{"name":"app-config","defaultMode":420}}"#,
    r#"{"name":"tmp","emptyDir":{}}"#,
    r#"{"name":"kube-api-access-7slsg","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}"#,
];
const TOLERATIONS: &str = r#"[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]"#;

impl<'a> Spec<'a> {
    fn of(pod: &'a Pod) -> Self {
        let manifest = &pod.manifest;
        Self {
            volumes: Volumes {
                claim: manifest.claim.as_deref(),
            },
            init_containers: manifest
                .init_containers
                .iter()
                .map(Container::init)
                .collect(),
            containers: (manifest.containers.iter().enumerate())
                .map(|(index, container)| {
                    Container::regular(container, index == 0 && manifest.readiness_probe)
                })
                .collect(),
            restart_policy: if manifest.runs_once {
                "Never"
            } else {
                "Always"
            },
            termination_grace_period_seconds: 30,
            dns_policy: "ClusterFirst",
            service_account_name: "default",
            service_account: "default",
            node_name: pod.node.map(|node| node.name),
            host_network: manifest.host_network,
            security_context: Empty {},
            scheduler_name: "default-scheduler",
            tolerations: raw(TOLERATIONS),
            priority: 0,
            readiness_gates: manifest.readiness_gated.then_some([ReadinessGate {
                condition_type: READINESS_GATE,
            }]),
            enable_service_links: true,
            preemption_policy: "PreemptLowerPriority",
            scheduling_gates: pod.gated.then_some([SchedulingGate {
                name: SCHEDULING_GATE,
            }]),
            scheduling_group: (manifest.pod_group.as_deref())
                .map(|pod_group_name| SchedulingGroup { pod_group_name }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::life::{Change, PodManifest};
    use super::super::node::CURRENT;
    use super::super::report::{App, Report};
    use super::*;
    use podinit_core::timestamp::Timestamp;

    fn manifest() -> PodManifest {
        PodManifest {
            namespace: "shop".to_owned(),
            name: "web-1".to_owned(),
            uid: "6d14ca8c-7af5-46a4-8768-3d31c85d0ffb".to_owned(),
            ..PodManifest::default()
        }
    }

    #[test]
    fn the_constant_parts_are_json() {
        assert!(VOLUMES.into_iter().all(|volume| raw(volume).is_some()));
        assert!(raw(TOLERATIONS).is_some());
    }

    #[test]
    fn a_running_pod_is_the_object_that_k8s_openapi_knows() {
        let mut pod = Pod::new(manifest(), Timestamp::from_seconds(1_795_247_403));
        let at = Timestamp::from_seconds(1_795_247_405);
        let bind = Change::Bind {
            node: CURRENT,
            stamped: true,
        };
        pod.apply(&bind, at);
        let report = Report {
            sandbox: true,
            init_done: 0,
            app: App::Running { ready: true },
            restarts: 0,
        };
        pod.apply(&Change::Report(report), at);
        let json = render(&pod, 42);
        assert!((3_000..8_000).contains(&json.len()), "{}", json.len());
        let parsed: k8s_openapi::api::core::v1::Pod = serde_json::from_slice(&json).unwrap();
        assert_eq!(parsed.metadata.resource_version.as_deref(), Some("42"));
        let types: Vec<String> = (parsed.status.unwrap().conditions.unwrap().into_iter())
            .map(|condition| condition.type_)
            .collect();
        let order = [
            "PodReadyToStartContainers",
            "Initialized",
            "Ready",
            "ContainersReady",
            "PodScheduled",
        ];
        assert_eq!(types, order);
    }
}
