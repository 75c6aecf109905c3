//! Deployments are rolled out as the controllers of Kubernetes do it, and are served as it serves them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::client::{Http, brief};
use crate::deployment::{DeploymentSpec, PodTemplate};
use crate::image::{self, ContainerImage};
use crate::object::ServedKind;
use crate::profile::LifeKind;
use crate::rng::Rng;
use crate::sim_clock::SECOND;
use crate::store::ObjectStore;
use crate::{ClusterConfig, SimulatedCluster};
use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Pod};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::de::DeserializeOwned;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/shop/deployments";
const REVISION: &str = "deployment.kubernetes.io/revision";
/// Longer than any rollout of these tests without faults.
const LONG: u64 = 300;

const fn release(name: &'static str) -> ContainerImage {
    ContainerImage { name, bytes: 90_000_000 }
}

const SECOND_RELEASE: ContainerImage = release("registry.example.com/shop/cart:2.0.0");
const THIRD_RELEASE: ContainerImage = release("registry.example.com/shop/cart:3.0.0");

fn cart(replicas: i32) -> DeploymentSpec {
    DeploymentSpec::new("shop", "cart", replicas, image::of_app("catalog"))
}

fn with_image(spec: &DeploymentSpec, image: ContainerImage) -> DeploymentSpec {
    DeploymentSpec { template: PodTemplate { image, ..spec.template.clone() }, ..spec.clone() }
}

async fn cluster(seed: u64) -> SimulatedCluster {
    SimulatedCluster::start(ClusterConfig { seed, ..ClusterConfig::manual() }).await.unwrap()
}

/// What the API serves of the Deployment `cart`, and all ReplicaSets and pods.
struct Seen {
    deployment: Deployment,
    sets: Vec<ReplicaSet>,
    pods: Vec<Pod>,
}

impl Seen {
    fn of(cluster: &SimulatedCluster) -> Self {
        let mut deployments = objects(cluster.workloads(ServedKind::Deployments).unwrap().0);
        Self {
            deployment: deployments.remove(0),
            sets: objects(cluster.workloads(ServedKind::ReplicaSets).unwrap().0),
            pods: objects(cluster.store()),
        }
    }

    /// The pods that are not ending, and how many of them are ready.
    fn live(&self) -> (i32, i32) {
        let live = |pod: &&Pod| pod.metadata.deletion_timestamp.is_none();
        let live: Vec<&Pod> = self.pods.iter().filter(live).collect();
        let conditions = |pod: &&&Pod| pod.status.clone().unwrap_or_default().conditions;
        let is_ready = |pod: &&&Pod| {
            let mut conditions = conditions(pod).into_iter().flatten();
            conditions.any(|one| one.type_ == "Ready" && one.status == "True")
        };
        (live.len() as i32, live.iter().filter(is_ready).count() as i32)
    }

    fn condition(&self, kind: &str) -> Option<DeploymentCondition> {
        let conditions = self.deployment.status.clone().unwrap().conditions;
        conditions.into_iter().flatten().find(|condition| condition.type_.as_deref() == Some(kind))
    }

    /// What kubectl takes for the end of a rollout.
    fn is_rolled_out(&self) -> bool {
        let (metadata, status) =
            (&self.deployment.metadata, self.deployment.status.as_ref().unwrap());
        let replicas = self.deployment.spec.replicas.unwrap();
        let counts = [status.updated_replicas, status.replicas, status.available_replicas];
        status.observed_generation == metadata.generation
            && counts.map(Option::unwrap_or_default) == [replicas; 3]
    }

    fn revision(&self) -> u64 {
        revision(self.deployment.metadata.annotations.as_ref())
    }

    /// The ReplicaSet of the present revision.
    fn new_set(&self) -> &ReplicaSet {
        let mut sets = self.sets.iter();
        sets.find(|set| revision(set.metadata.annotations.as_ref()) == self.revision()).unwrap()
    }
}

fn revision(annotations: Option<&BTreeMap<String, String>>) -> u64 {
    annotations.and_then(|all| all.get(REVISION)).map_or(0, |revision| revision.parse().unwrap())
}

fn objects<T: DeserializeOwned>(store: &ObjectStore) -> Vec<T> {
    let page = store.page(None, None, None, false, |_| true).unwrap();
    page.objects.iter().map(|object| serde_json::from_slice(&object.json).unwrap()).collect()
}

/// Goes on until the rollout is complete, and looks each fifth of a second.
fn roll_out(cluster: &SimulatedCluster, mut look: impl FnMut(&Seen)) {
    for _ in 0..5 * LONG {
        cluster.step(Duration::from_millis(200));
        let seen = Seen::of(cluster);
        look(&seen);
        if seen.is_rolled_out() {
            return;
        }
    }
    panic!("the rollout never ends: {:?}", Seen::of(cluster).deployment.status);
}

fn drawn_spec(rng: &mut Rng) -> DeploymentSpec {
    let share = |rng: &mut Rng| match rng.chance(0.5) {
        true => IntOrString::Int(rng.between(0, 4) as i32),
        false => IntOrString::String(format!("{}%", rng.between(0, 101))),
    };
    DeploymentSpec {
        max_surge: share(rng),
        max_unavailable: share(rng),
        ..cart(rng.between(1, 11) as i32)
    }
}

#[tokio::test]
async fn a_rollout_keeps_its_bounds_and_ends_and_a_rollback_takes_the_old_replica_set() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let spec = drawn_spec(&mut rng);
        let (most, least) =
            (spec.replicas + spec.max_surge(), spec.replicas - spec.max_unavailable());
        let cluster = cluster(seed).await;
        cluster.deploy(spec.clone());
        roll_out(&cluster, |seen| assert!(seen.live().0 <= spec.replicas, "{spec:?}"));
        let first = Seen::of(&cluster).new_set().metadata.uid.clone();
        let mut last = 1;
        let mut check = |seen: &Seen| {
            let (live, ready) = seen.live();
            assert!(live <= most && ready >= least, "{seed}: {live} {ready} {spec:?}");
            assert!(seen.revision() >= last, "{seed}: {} after {last}", seen.revision());
            last = seen.revision();
        };
        cluster.deploy(with_image(&spec, SECOND_RELEASE));
        roll_out(&cluster, &mut check);
        let seen = Seen::of(&cluster);
        assert_eq!((seen.revision(), seen.sets.len()), (2, 2));
        assert_ne!(seen.new_set().metadata.uid, first);
        // Another one is taken back in its middle.
        cluster.deploy(with_image(&spec, THIRD_RELEASE));
        for _ in 0..rng.below(40) {
            cluster.step(Duration::from_millis(200));
            check(&Seen::of(&cluster));
        }
        cluster.step(Duration::from_millis(100));
        let second = seen.new_set().metadata.uid.clone();
        assert!(cluster.undo("shop", "cart"));
        roll_out(&cluster, &mut check);
        let seen = Seen::of(&cluster);
        assert_eq!(seen.new_set().metadata.uid, second, "{seed}");
        assert_eq!((seen.revision(), seen.sets.len()), (4, 3));
        let progress = seen.condition("Progressing").unwrap();
        assert_eq!(progress.reason.as_deref(), Some("NewReplicaSetAvailable"));
    }
}

#[tokio::test]
async fn pods_belong_to_their_revision_and_go_with_a_grace_period() {
    let cluster = cluster(3).await;
    let spec = cart(4);
    cluster.deploy(spec.clone());
    roll_out(&cluster, |_| {});
    cluster.deploy(with_image(&spec, SECOND_RELEASE));
    let mut ended = 0;
    roll_out(&cluster, |seen| {
        let uids: BTreeMap<_, _> = seen.sets.iter().map(|set| (&set.metadata.uid, set)).collect();
        for pod in &seen.pods {
            let metadata = &pod.metadata;
            let owner = &metadata.owner_references.as_ref().unwrap()[0];
            let set = uids[&Some(owner.uid.clone())];
            let of_set = set.spec.template.as_ref().unwrap();
            let labels = &of_set.metadata.as_ref().unwrap().labels;
            assert_eq!((&metadata.labels, &set.metadata.name), (labels, &Some(owner.name.clone())));
            let image = &of_set.spec.as_ref().unwrap().containers[0].image;
            assert_eq!(pod.spec.as_ref().unwrap().containers[0].image, *image);
            if metadata.deletion_timestamp.is_some() {
                assert_eq!(metadata.deletion_grace_period_seconds, Some(30));
                ended += 1;
            }
        }
    });
    assert!(ended > 0);
    for _ in 0..15 {
        cluster.step(Duration::from_secs(1));
    }
    assert_eq!(Seen::of(&cluster).pods.len(), 4);
}

#[tokio::test]
async fn a_rollout_that_cannot_go_on_says_so_at_its_deadline_and_not_before() {
    let cluster = cluster(1).await;
    let spec = DeploymentSpec { progress_deadline_seconds: 60, ..cart(8) };
    cluster.deploy(spec.clone());
    roll_out(&cluster, |_| {});
    let template = PodTemplate { image: image::WRONG_TAG, life: LifeKind::BadTag };
    cluster.deploy(DeploymentSpec { template, ..spec });
    let mut progress = None;
    for _ in 0..300 {
        let now = cluster.step(Duration::from_secs(1)).as_nanos() / SECOND;
        let seen = Seen::of(&cluster);
        assert!(seen.live().1 >= 6);
        let condition = seen.condition("Progressing").unwrap();
        if condition.reason.as_deref() == Some("ProgressDeadlineExceeded") {
            let since: i64 = progress.expect("it has progressed before");
            assert!((60..=62).contains(&(now - since)), "{now} {since}");
            assert_eq!(condition.status.as_deref(), Some("False"));
            let message = condition.message.unwrap();
            assert!(message.ends_with("\" has timed out progressing."), "{message}");
            // The old pods serve for good.
            assert_eq!(seen.live(), (10, 6));
            return;
        }
        progress = condition.last_update_time.map(|time| time.0.as_second());
    }
    panic!("the deadline never passes");
}

#[tokio::test]
async fn a_deployment_that_is_scaled_while_it_rolls_out_grows() {
    let cluster = cluster(7).await;
    let spec = cart(8);
    cluster.deploy(spec.clone());
    roll_out(&cluster, |_| {});
    let new = with_image(&spec, SECOND_RELEASE);
    cluster.deploy(new.clone());
    cluster.step(Duration::from_millis(500));
    assert_eq!(Seen::of(&cluster).live(), (10, 6));
    cluster.deploy(DeploymentSpec { replicas: 16, ..new });
    roll_out(&cluster, |seen| assert!(seen.live().0 <= 20 && seen.live().1 >= 6));
    assert_eq!(Seen::of(&cluster).live(), (16, 16));
}

#[tokio::test]
async fn pods_that_are_refused_are_a_failure_of_the_replica_set() {
    let cluster = cluster(2).await;
    let reason = "exceeded quota: pods, requested: pods=1, used: pods=4, limited: pods=4";
    let spec = cart(4);
    cluster.deploy(spec.clone());
    roll_out(&cluster, |_| {});
    cluster.refuse_pods("shop", Some(reason));
    cluster.deploy(with_image(&spec, SECOND_RELEASE));
    cluster.step(Duration::from_secs(40));
    let seen = Seen::of(&cluster);
    assert_eq!(seen.live(), (3, 3));
    let failure = seen.condition("ReplicaFailure").unwrap();
    assert_eq!(
        (failure.status.as_deref(), failure.reason.as_deref()),
        (Some("True"), Some("FailedCreate"))
    );
    assert!(failure.message.unwrap().ends_with(reason));
    let events: Vec<Event> = objects(cluster.events());
    let said = |reason: &str| {
        let all = events.iter().filter(|event| event.reason.as_deref() == Some(reason));
        all.map(|event| event.count.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(said("FailedCreate"), [4]);
    assert!(said("ScalingReplicaSet").len() >= 3);
    cluster.refuse_pods("shop", None);
    roll_out(&cluster, |_| {});
    assert_eq!(Seen::of(&cluster).condition("ReplicaFailure"), None);
}

#[tokio::test]
async fn a_deployment_goes_with_all_that_it_has() {
    let cluster = cluster(4).await;
    let spec = cart(2);
    for image in [image::APP, SECOND_RELEASE, THIRD_RELEASE] {
        cluster.deploy(with_image(&spec, image));
        roll_out(&cluster, |_| {});
    }
    assert!(cluster.undeploy("shop", "cart") && !cluster.undeploy("shop", "cart"));
    cluster.step(Duration::from_secs(60));
    let left = [ServedKind::Deployments, ServedKind::ReplicaSets];
    assert!(left.iter().all(|kind| cluster.workloads(*kind).unwrap().0.is_empty()));
    assert!(cluster.store().is_empty());
}

#[tokio::test]
async fn one_seed_gives_one_rollout() {
    let story = |seed| async move {
        let cluster = cluster(seed).await;
        cluster.deploy(cart(5));
        cluster.step(Duration::from_secs(60));
        cluster.deploy(with_image(&cart(5), SECOND_RELEASE));
        cluster.step(Duration::from_secs(12));
        let page = cluster.store().page(None, None, None, false, |_| true).unwrap();
        page.objects.iter().map(|object| object.json.clone()).collect::<Vec<_>>()
    };
    assert_eq!(story(1).await, story(1).await);
    assert_ne!(story(1).await, story(2).await);
}

#[tokio::test]
async fn deployments_are_served_by_name_by_label_and_as_they_change() {
    let cluster = cluster(1).await;
    cluster.deploy(cart(2));
    let other = DeploymentSpec::new("payments", "ledger", 1, image::APP);
    cluster.deploy(other);
    roll_out(&cluster, |_| {});
    let http = Http::to(&cluster);
    let one = http.get(&format!("{DEPLOYMENTS}/cart")).await.json;
    assert_eq!((&one["kind"], &one["apiVersion"]), (&"Deployment".into(), &"apps/v1".into()));
    let all = http.get("/apis/apps/v1/deployments").await.json;
    assert_eq!((&all["kind"], &all["apiVersion"]), (&"DeploymentList".into(), &"apps/v1".into()));
    assert_eq!(super::client::names(&all), ["ledger", "cart"]);
    let of_label = "/apis/apps/v1/replicasets?labelSelector=app.kubernetes.io%2Fname%3Dledger";
    assert_eq!(http.get(of_label).await.json["items"].as_array().unwrap().len(), 1);
    let row = http.get_table(DEPLOYMENTS).await.json["rows"][0]["cells"].clone();
    assert_eq!([&row[0], &row[1], &row[2], &row[3]], ["cart", "2/2", "2", "2"]);
    // A watch of this one alone.
    let from = all["metadata"]["resourceVersion"].as_str().unwrap();
    let query = format!("watch=true&fieldSelector=metadata.name%3Dcart&resourceVersion={from}");
    let mut watch = http.watch_path(&format!("{DEPLOYMENTS}?{query}")).await;
    cluster.deploy(with_image(&cart(2), SECOND_RELEASE));
    let event = watch.next_event().await;
    assert!(brief(&event).starts_with("MODIFIED cart@"), "{event}");
    assert_eq!(event["object"]["metadata"]["generation"], 2);
    assert_eq!(event["object"]["status"]["observedGeneration"], 1);
    for (plural, kind, group) in [
        ("statefulsets", "StatefulSetList", "apps/v1"),
        ("daemonsets", "DaemonSetList", "apps/v1"),
        ("controllerrevisions", "ControllerRevisionList", "apps/v1"),
        ("jobs", "JobList", "batch/v1"),
    ] {
        let path = format!("/apis/{group}/namespaces/shop/{plural}");
        let list = http.get(&path).await.json;
        assert_eq!((&list["kind"], &list["items"]), (&kind.into(), &serde_json::json!([])));
        let missing = http.get(&format!("{path}/x")).await;
        assert_eq!((missing.code, &missing.json["reason"]), (404, &"NotFound".into()));
    }
    let missing = http.get(&format!("{DEPLOYMENTS}/none")).await.json;
    assert_eq!(missing["message"], "deployments.apps \"none\" not found");
    let discovery = http.get("/apis/apps/v1").await.json;
    assert!(discovery["resources"].as_array().unwrap().iter().any(|one| {
        one["name"] == "deployments" && one["verbs"] == serde_json::json!(["get", "list", "watch"])
    }));
}
