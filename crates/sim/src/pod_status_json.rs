//! `status` of a pod.

use serde::Serialize;

use super::container_json::ContainerStatus;
use super::json::time;
use super::pod::{Pod, PodCondition};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_generation: Option<u32>,
    phase: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Condition>,
    #[serde(rename = "hostIP", skip_serializing_if = "Option::is_none")]
    host_ip: Option<String>,
    #[serde(rename = "hostIPs", skip_serializing_if = "Option::is_none")]
    host_ips: Option<[Address; 1]>,
    #[serde(rename = "podIP", skip_serializing_if = "Option::is_none")]
    pod_ip: Option<String>,
    #[serde(rename = "podIPs", skip_serializing_if = "Option::is_none")]
    pod_ips: Option<[Address; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    init_container_statuses: Vec<ContainerStatus<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    container_statuses: Vec<ContainerStatus<'a>>,
    qos_class: &'static str,
}

#[derive(Clone, Serialize)]
struct Address {
    ip: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Condition {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_generation: Option<u32>,
    status: &'static str,
    last_probe_time: (),
    last_transition_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Condition {
    fn of(condition: &PodCondition) -> Self {
        Self {
            r#type: condition.kind,
            observed_generation: condition.observed_generation,
            status: if condition.verdict.holds {
                "True"
            } else {
                "False"
            },
            last_probe_time: (),
            last_transition_time: time(condition.since),
            reason: condition.verdict.reason,
            message: condition.verdict.message.clone(),
        }
    }
}

impl<'a> Status<'a> {
    pub(super) fn of(pod: &'a Pod) -> Self {
        let host = pod.node.filter(|_| pod.report.is_some());
        let host_ip = host.map(|node| format!("10.0.0.{}", node.host));
        let has_address = pod.report.is_some_and(|(report, _)| report.sandbox);
        let pod_ip = if pod.manifest.host_network {
            host_ip.clone()
        } else {
            host.filter(|_| has_address).map(|node| {
                let letter = |at: usize| pod.manifest.uid.as_bytes().get(at).copied().unwrap_or(1);
                format!("10.{}.{}.{}", node.host, letter(0), letter(1))
            })
        };
        let list = |ip: &Option<String>| ip.clone().map(|ip| [Address { ip }]);
        Self {
            observed_generation: (pod.report)
                .filter(|_| pod.kubelet.observes_generation())
                .map(|_| pod.generation),
            phase: pod.phase.as_str(),
            conditions: pod.conditions.iter().map(Condition::of).collect(),
            host_ips: list(&host_ip),
            pod_ips: list(&pod_ip),
            host_ip,
            pod_ip,
            start_time: pod.started.map(time),
            init_container_statuses: ContainerStatus::of_init_containers(pod),
            container_statuses: ContainerStatus::of_containers(pod),
            qos_class: "Burstable",
        }
    }
}
