//! Names, owners and containers of the pods of each kind of life.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::container::SimulatedContainer;
use super::image::{self, ContainerImage};
use super::life::{APP, PodManifest, READINESS_GATE, SCHEDULING_GATE};
use super::node::{self, CURRENT};
use super::profile::LifeKind;
use super::rng::Rng;

/// Every namespace that there is, those of clusters without pods included.
pub(super) const ALL_NAMESPACES: &[&str] = &[
    "batch",
    "data",
    "default",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "media",
    "ml",
    "ops",
    "payments",
    "search",
    "shop",
];
const NAMESPACES: &[&str] = &["shop", "payments", "search", "media"];
const APPS: &[&str] = &[
    "checkout",
    "catalog",
    "gateway",
    "checkpoint",
    "indexer",
    "thumbnails",
    "sessions",
    "mailer",
];
const MIGRATE: SimulatedContainer = container("migrate", image::MIGRATE);
const FETCH: SimulatedContainer = container("fetch-config", image::GIT_SYNC);
const PROXY: SimulatedContainer =
    SimulatedContainer { restartable: true, ..container("mesh-proxy", image::PROXY) };
/// Stands beside the main container of some applications.
const METRICS_PROXY: SimulatedContainer = container("metrics-proxy", image::METRICS_PROXY);

const fn container(name: &'static str, image: ContainerImage) -> SimulatedContainer {
    SimulatedContainer { name, image, restartable: false }
}

/// The main container, with this image.
fn main(image: ContainerImage) -> Vec<SimulatedContainer> {
    vec![SimulatedContainer { image, ..APP }]
}

/// A new pod of `kind`.
pub(crate) fn draw(kind: LifeKind, rng: &mut Rng) -> PodManifest {
    let mut manifest = match kind {
        LifeKind::QuickJob | LifeKind::Job => job("", 29_370_000, rng),
        // Each is a workload of its own: a CronJob that always fails would be a problem.
        LifeKind::FailingJob => job("-once", 0, rng),
        LifeKind::ReusedName => bare(rng, "nightly-backup"),
        LifeKind::ImagePullStuck | LifeKind::SandboxStuck => deployment(rng),
        LifeKind::StatefulSet => stateful(rng),
        LifeKind::HostNetwork => daemon(rng),
        LifeKind::Static => mirror(rng),
        LifeKind::PresetNode => bare(rng, "node-debugger"),
        LifeKind::BadRelease => deployment_of("checkout", "shop", rng),
        LifeKind::Rejected => deployment_of("embeddings", "ml", rng),
        LifeKind::Gated => queued(deployment_of("transcoder", "batch", rng)),
        LifeKind::ReadinessGate => deployment_of("web", "shop", rng),
        LifeKind::ModelServer => deployment_of("inference", "ml", rng),
        LifeKind::BadTag => PodManifest {
            containers: main(image::WRONG_TAG),
            ..deployment_of("checkout", "shop", rng)
        },
        _ => deployment(rng),
    };
    manifest.uid = rng.uuid();
    manifest.init_containers = match kind {
        LifeKind::InitContainers => vec![FETCH, MIGRATE],
        LifeKind::SandboxRecreated => vec![MIGRATE],
        LifeKind::Sidecar => vec![MIGRATE, PROXY],
        LifeKind::DeletedEarly if rng.chance(0.3) => vec![MIGRATE],
        _ => Vec::new(),
    };
    // Where nothing of the kind's hazard depends on the only container.
    if kind == LifeKind::Plain && rng.chance(0.25) {
        manifest.containers.push(METRICS_PROXY);
    }
    // Such jobs are scheduled as a whole.
    if matches!(kind, LifeKind::Job | LifeKind::FailingJob) {
        manifest.pod_group = manifest.owner.as_ref().map(|job| job.name.clone());
    }
    match kind {
        LifeKind::Gated => manifest.scheduling_gates.push(SCHEDULING_GATE),
        LifeKind::ReadinessGate => manifest.readiness_gates.push(READINESS_GATE),
        _ => {}
    }
    manifest.runs_once |= kind == LifeKind::ReusedName;
    manifest.readiness_probe = !manifest.runs_once && kind != LifeKind::Coalesced;
    if kind == LifeKind::PresetNode {
        manifest.preset_node = Some(CURRENT);
    }
    manifest
}

fn labels(labels: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    labels.iter().map(owned).collect()
}

/// A number that is the same whenever the name is (FNV-1a).
pub(crate) fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The UID of an owner, the same whenever its name is.
fn owner_uid(name: &str) -> String {
    Rng::new(name_hash(name)).uuid()
}

fn owned(api_version: &str, kind: &str, name: &str) -> Option<OwnerReference> {
    Some(OwnerReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        uid: owner_uid(name),
        controller: Some(true),
        block_owner_deletion: (kind != "Node").then_some(true),
    })
}

/// A pod of `owner`, with a name that Kubernetes makes.
fn generated(namespace: &str, owner: &str, image: ContainerImage, rng: &mut Rng) -> PodManifest {
    PodManifest {
        namespace: namespace.to_owned(),
        name: format!("{owner}-{}", rng.suffix(5)),
        generate_name: Some(format!("{owner}-")),
        containers: main(image),
        ..PodManifest::default()
    }
}

fn deployment(rng: &mut Rng) -> PodManifest {
    let app = *rng.pick(APPS);
    let namespace = *rng.pick(NAMESPACES);
    deployment_of(app, namespace, rng)
}

fn deployment_of(app: &str, namespace: &str, rng: &mut Rng) -> PodManifest {
    let template = Rng::new(owner_uid(app).len() as u64 ^ app.len() as u64).suffix(10);
    let replica_set = format!("{app}-{template}");
    PodManifest {
        labels: application_labels(app, Some(&template)),
        owner: owned("apps/v1", "ReplicaSet", &replica_set),
        ..generated(namespace, &replica_set, image::of_app(app), rng)
    }
}

/// A pod of the ReplicaSet with this name, UID and hash, which is of the Deployment `app`.
pub(crate) fn of_replica_set(
    namespace: &str,
    app: &str,
    (name, uid, hash): (&str, &str, &str),
    image: ContainerImage,
    rng: &mut Rng,
) -> PodManifest {
    let owner = owned("apps/v1", "ReplicaSet", name);
    PodManifest {
        labels: application_labels(app, Some(hash)),
        owner: owner.map(|owner| OwnerReference { uid: uid.to_owned(), ..owner }),
        uid: rng.uuid(),
        readiness_probe: true,
        ..generated(namespace, name, image, rng)
    }
}

/// The labels of a Deployment, and those of its pods, which also have the hash of their template.
pub(crate) fn application_labels(app: &str, hash: Option<&str>) -> Vec<(String, String)> {
    let own = [("app.kubernetes.io/instance", "prod"), ("app.kubernetes.io/name", app)];
    let own = own.into_iter().chain(hash.map(|hash| ("pod-template-hash", hash)));
    labels(&own.collect::<Vec<_>>())
}

/// The same pod with the labels by which Kueue manages it.
fn queued(mut pod: PodManifest) -> PodManifest {
    let queue = [("kueue.x-k8s.io/managed", "true"), ("kueue.x-k8s.io/queue-name", "spare")];
    pod.labels.extend(labels(&queue));
    pod.labels.sort();
    pod
}

/// A pod of a Job: of a CronJob, if the first number is that of a minute since 1970.
fn job(kind: &str, first: u64, rng: &mut Rng) -> PodManifest {
    let prefix = rng.pick(&["report", "reindex", "resize"]);
    let job = format!("{prefix}{kind}-{}", first + rng.below(10_000));
    PodManifest {
        labels: labels(&[("batch.kubernetes.io/job-name", &job), ("job-name", &job)]),
        owner: owned("batch/v1", "Job", &job),
        runs_once: true,
        ..generated("batch", &job, image::BATCH, rng)
    }
}

fn stateful(rng: &mut Rng) -> PodManifest {
    let set = *rng.pick(&["postgres", "kafka", "redis"]);
    let ordinal = rng.below(1000);
    let name = format!("{set}-{ordinal}");
    PodManifest {
        namespace: "data".to_owned(),
        labels: labels(&[
            ("app.kubernetes.io/name", set),
            ("apps.kubernetes.io/pod-index", &ordinal.to_string()),
            ("statefulset.kubernetes.io/pod-name", &name),
        ]),
        generate_name: Some(format!("{set}-")),
        containers: main(image::of_app(set)),
        claim: Some(format!("data-{name}")),
        name,
        owner: owned("apps/v1", "StatefulSet", set),
        ..PodManifest::default()
    }
}

fn daemon(rng: &mut Rng) -> PodManifest {
    let set = *rng.pick(&["node-agent", "cni-plugin"]);
    PodManifest {
        labels: labels(&[("app.kubernetes.io/name", set), ("pod-template-generation", "1")]),
        owner: owned("apps/v1", "DaemonSet", set),
        host_network: true,
        ..generated("kube-system", set, image::AGENT, rng)
    }
}

fn mirror(rng: &mut Rng) -> PodManifest {
    let node = node::choose(rng);
    let component = *rng.pick(&["kube-apiserver", "etcd", "kube-scheduler"]);
    PodManifest {
        namespace: "kube-system".to_owned(),
        name: format!("{component}-{}-{}", rng.suffix(5), node.name),
        labels: labels(&[("component", component), ("tier", "control-plane")]),
        owner: owned("v1", "Node", node.name),
        containers: main(image::CONTROL_PLANE),
        host_network: true,
        preset_node: Some(node),
        mirror: true,
        ..PodManifest::default()
    }
}

fn bare(rng: &mut Rng, prefix: &str) -> PodManifest {
    PodManifest {
        namespace: "ops".to_owned(),
        name: format!("{prefix}-{}", rng.suffix(4)),
        labels: labels(&[("app.kubernetes.io/name", prefix)]),
        containers: main(image::DEBUGGER),
        ..PodManifest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_names_owners_and_sorted_labels() {
        let mut rng = Rng::new(5);
        for kind in LifeKind::all() {
            let manifest = draw(kind, &mut rng);
            assert!(!manifest.name.is_empty() && !manifest.uid.is_empty(), "{kind:?}");
            assert!(manifest.labels.is_sorted(), "{kind:?}");
            assert!(manifest.name.len() <= 63);
        }
    }

    #[test]
    fn an_owner_keeps_its_uid() {
        assert_eq!(owner_uid("web"), owner_uid("web"));
        assert_ne!(owner_uid("web"), owner_uid("web2"));
    }
}
