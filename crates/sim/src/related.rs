//! What commands about pods ask for besides pods, Events, nodes and namespaces: leases of kubelets, workloads of Kueue,
//! target groups, and objects of which there is none. It is read only, and made when it is asked for.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use serde_json::{Value, json};

use super::infrastructure::uid;
use super::life::SCHEDULING_GATE;
use super::node::nodes;
use super::object::{KindNames, ServedKind};
use super::scene::Scene;
use super::sim_clock::{SECOND, meta_time, time};
use super::status::StatusFailure;
use super::store::ObjectStore;
use super::table;
use podinit_core::timestamp::Timestamp;

/// The namespace of the leases of kubelets.
const OF_LEASES: &str = "kube-node-lease";
/// A kubelet renews its lease so often.
const RENEWAL: i64 = 10 * SECOND;
/// How the readiness gates of the controller of AWS load balancers begin, before the name of a TargetGroupBinding.
const TARGET_HEALTH: &str = "target-health.elbv2.k8s.aws/";

/// A resource whose objects are made when they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelatedKind {
    ConfigMaps,
    Leases,
    PersistentVolumeClaims,
    Secrets,
    TargetGroupBindings,
    Workloads,
}

/// What a list is made of.
pub(super) struct ClusterView<'a> {
    pub(super) pods: &'a ObjectStore,
    /// What is broken, and since when
    pub(super) scene: Option<(Scene, Timestamp)>,
    pub(super) now: Timestamp,
}

impl RelatedKind {
    const ALL: [Self; 6] = [
        Self::ConfigMaps,
        Self::Leases,
        Self::PersistentVolumeClaims,
        Self::Secrets,
        Self::TargetGroupBindings,
        Self::Workloads,
    ];

    const fn names(self) -> KindNames {
        let (group, version, plural, singular, kind, short): (_, _, _, _, _, &[&str]) = match self {
            Self::ConfigMaps => ("", "v1", "configmaps", "configmap", "ConfigMap", &["cm"]),
            Self::Leases => ("coordination.k8s.io", "v1", "leases", "lease", "Lease", &[]),
            Self::PersistentVolumeClaims => (
                "",
                "v1",
                "persistentvolumeclaims",
                "persistentvolumeclaim",
                "PersistentVolumeClaim",
                &["pvc"],
            ),
            Self::Secrets => ("", "v1", "secrets", "secret", "Secret", &[]),
            Self::TargetGroupBindings => (
                "elbv2.k8s.aws",
                "v1beta1",
                "targetgroupbindings",
                "targetgroupbinding",
                "TargetGroupBinding",
                &[],
            ),
            Self::Workloads => {
                ("kueue.x-k8s.io", "v1beta1", "workloads", "workload", "Workload", &["wl"])
            }
        };
        KindNames { group, version, plural, singular, kind, short }
    }

    /// The resource of that group, version and name.
    pub(super) fn served(group: &str, version: &str, plural: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| {
            let names = kind.names();
            (names.group, names.version, names.plural) == (group, version, plural)
        })
    }

    /// Answers a list, or a request for one object by name: the objects, or a table of them.
    pub(super) fn answer(
        self,
        view: &ClusterView<'_>,
        namespace: Option<&str>,
        name: Option<&str>,
        as_table: bool,
    ) -> Result<Value, StatusFailure> {
        let names = self.names();
        let mut objects = self.objects(view);
        objects.retain(|object| {
            let metadata = &object["metadata"];
            namespace.is_none_or(|namespace| metadata["namespace"] == namespace)
                && name.is_none_or(|name| metadata["name"] == name)
        });
        if let Some(name) = name.filter(|_| objects.is_empty()) {
            return Err(StatusFailure::no_object_of(names.group, names.plural, name));
        }
        let api_version = names.api_version();
        let metadata = json!({"resourceVersion": view.pods.version().to_string()});
        if as_table {
            return Ok(table::of_related(self.columns(), &metadata, &objects, view.now));
        }
        for object in &mut objects {
            object["apiVersion"] = json!(api_version);
            object["kind"] = json!(names.kind);
        }
        Ok(match (name, objects.pop()) {
            (Some(_), Some(object)) => object,
            (_, last) => {
                objects.extend(last);
                let kind = format!("{}List", names.kind);
                json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "items": objects})
            }
        })
    }

    /// The columns besides name and age, and where their cells stand.
    const fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Leases => &[("Holder", "/spec/holderIdentity")],
            Self::Workloads => {
                &[("Queue", "/spec/queueName"), ("Admitted", "/status/conditions/0/status")]
            }
            Self::TargetGroupBindings => {
                &[("Service-Name", "/spec/serviceRef/name"), ("Target-Type", "/spec/targetType")]
            }
            Self::ConfigMaps | Self::PersistentVolumeClaims | Self::Secrets => &[],
        }
    }

    /// All objects of the resource.
    fn objects(self, view: &ClusterView<'_>) -> Vec<Value> {
        match self {
            Self::Leases => nodes().map(|node| lease(node.name, node.skew, view)).collect(),
            Self::Workloads => pods(view.pods).iter().filter_map(workload).collect(),
            Self::TargetGroupBindings => target_groups(&pods(view.pods)),
            Self::ConfigMaps | Self::PersistentVolumeClaims | Self::Secrets => Vec::new(),
        }
    }
}

/// The entries of a group for the discovery.
pub(super) fn resources_of(group: &str) -> Vec<Value> {
    let stored = ServedKind::ALL.into_iter().map(|kind| {
        let verbs = &["get", "list", "watch"][..];
        (kind.names(), !kind.is_of_cluster(), verbs)
    });
    let related =
        RelatedKind::ALL.into_iter().map(|kind| (kind.names(), true, &["get", "list"][..]));
    let of_group = stored.chain(related).filter(|(names, ..)| names.group == group);
    of_group.map(|(names, namespaced, verbs)| names.discovered(namespaced, verbs)).collect()
}

/// The documents of the discovery besides that of the core group, by path.
pub(super) fn discovery() -> Vec<(String, Value)> {
    let stored = ServedKind::ALL.into_iter().map(ServedKind::names);
    let groups: BTreeMap<&str, &str> = stored
        .chain(RelatedKind::ALL.into_iter().map(RelatedKind::names))
        .filter(|names| !names.group.is_empty())
        .map(|names| (names.group, names.version))
        .collect();
    let listed = groups.iter().map(|(group, version)| {
        let version = json!({"groupVersion": format!("{group}/{version}"), "version": version});
        json!({"name": group, "versions": [version], "preferredVersion": version})
    });
    let list =
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": listed.collect::<Vec<_>>()});
    let each = groups.iter().map(|(group, version)| {
        let document = json!({
            "kind": "APIResourceList", "apiVersion": "v1",
            "groupVersion": format!("{group}/{version}"), "resources": resources_of(group),
        });
        (format!("/apis/{group}/{version}"), document)
    });
    [("/apis".to_owned(), list)].into_iter().chain(each).collect()
}

fn pods(store: &ObjectStore) -> Vec<Value> {
    // The present version is never too old.
    let objects = store.page(None, None, None, false, |_| true).map(|page| page.objects);
    let objects = objects.unwrap_or_default().into_iter();
    objects.filter_map(|object| serde_json::from_slice(&object.json).ok()).collect()
}

/// The lease of a kubelet: renewed by the clock of its node, `skew` ahead, at its own moment of each interval.
fn lease(node: &str, skew: i64, view: &ClusterView<'_>) -> Value {
    let scene = view.scene.filter(|(_, since)| *since <= view.now);
    let skew = scene.and_then(|(scene, _)| scene.clock_of(node)).unwrap_or(skew);
    let phase = node.bytes().fold(0, |sum, byte| (sum * 31 + i64::from(byte)) % 10) * SECOND;
    let now = view.now.as_nanos();
    let renewed = now - (now - phase).rem_euclid(RENEWAL) + skew;
    let renewed = MicroTime(meta_time(Timestamp::from_nanos(renewed)).0);
    json!({
        "metadata": {
            "name": node, "namespace": OF_LEASES, "uid": uid(&format!("lease-{node}")),
            "creationTimestamp": time(view.now.plus_nanos(-40 * 24 * 3_600 * SECOND)),
        },
        "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": renewed},
    })
}

/// Kueue's object for a pod that it holds.
fn workload(pod: &Value) -> Option<Value> {
    let mut gates = pod["spec"]["schedulingGates"].as_array()?.iter();
    gates.find(|gate| gate["name"] == SCHEDULING_GATE)?;
    let metadata = &pod["metadata"];
    let name = metadata["name"].as_str()?;
    let uid = uid(&format!("workload-{name}"));
    Some(json!({
        "metadata": {
            "name": format!("pod-{name}-{}", uid.get(..5)?), "namespace": metadata["namespace"], "uid": uid,
            "creationTimestamp": metadata["creationTimestamp"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": metadata["uid"]}],
        },
        "spec": {"queueName": metadata["labels"]["kueue.x-k8s.io/queue-name"], "active": true},
        "status": {"conditions": [{
            "type": "Admitted", "status": "False", "reason": "Pending",
            "message": "The workload waits for its queue",
            "lastTransitionTime": metadata["creationTimestamp"],
        }]},
    }))
}

/// The target groups that readiness gates name.
fn target_groups(pods: &[Value]) -> Vec<Value> {
    let gates = pods.iter().flat_map(|pod| {
        let gates = pod["spec"]["readinessGates"].as_array().into_iter().flatten();
        gates.filter_map(|gate| {
            let group = gate["conditionType"].as_str()?.strip_prefix(TARGET_HEALTH)?;
            Some((pod["metadata"]["namespace"].as_str()?, group))
        })
    });
    let named: BTreeSet<(&str, &str)> = gates.collect();
    let objects = named.into_iter().map(|(namespace, name)| {
        let service = name.rsplit('-').next().unwrap_or(name);
        json!({
            "metadata": {"name": name, "namespace": namespace, "uid": uid(name)},
            "spec": {"serviceRef": {"name": service, "port": 80}, "targetType": "ip"},
        })
    });
    objects.collect()
}
