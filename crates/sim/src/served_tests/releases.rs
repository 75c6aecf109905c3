//! What the demonstration deploys: releases, those that are taken back, and one that nobody can pull.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::object::{ObjectKey, ServedKind};
use crate::scene::Scene;
use crate::{ClusterConfig, SimulatedCluster};
use k8s_openapi::api::apps::v1::Deployment;

async fn demo(scene: Option<Scene>, seed: u64) -> SimulatedCluster {
    let scene = scene.map(|scene| (scene, Duration::from_secs(60)));
    let config = ClusterConfig { rate: 5.0, deploys: true, scene, seed, ..ClusterConfig::manual() };
    SimulatedCluster::start(config).await.unwrap()
}

fn deployment(cluster: &SimulatedCluster, namespace: &str, name: &str) -> Deployment {
    let store = cluster.workloads(ServedKind::Deployments).unwrap().0;
    let object = store.get(&ObjectKey::new(namespace, name)).unwrap();
    serde_json::from_slice(&object.json).unwrap()
}

/// The reason of the condition Progressing.
fn progress(deployment: &Deployment) -> String {
    let conditions = deployment.status.as_ref().unwrap().conditions.iter().flatten();
    let mut progress = conditions.filter(|one| one.type_.as_deref() == Some("Progressing"));
    progress.next().and_then(|one| one.reason.clone()).unwrap()
}

fn image(deployment: &Deployment) -> String {
    let template = deployment.spec.template.spec.as_ref().unwrap();
    template.containers[0].image.clone().unwrap()
}

#[tokio::test]
async fn all_is_rolled_out_at_first_and_within_three_minutes_releases_are_complete_and_taken_back()
{
    for seed in 1..4 {
        let cluster = demo(None, seed).await;
        let applications =
            [("shop", "cart"), ("search", "ranker"), ("payments", "ledger"), ("media", "player")];
        let mut images: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for second in 0..180 {
            for (namespace, name) in applications {
                let one = deployment(&cluster, namespace, name);
                let complete = progress(&one) == "NewReplicaSetAvailable";
                assert!(second > 0 || complete, "{name}: {one:?}");
                let seen = images.entry(name).or_default();
                if seen.last() != Some(&image(&one)) {
                    seen.push(image(&one));
                }
            }
            cluster.step(Duration::from_secs(1));
        }
        assert!(images.values().all(|images| images.len() > 1), "{images:?}");
        let is_taken_back =
            |images: &Vec<String>| images.windows(3).any(|three| three[0] == three[2]);
        assert!(images.values().any(is_taken_back), "{images:?}");
    }
}

#[tokio::test]
async fn a_bad_rollout_leaves_the_old_pods_and_is_late_at_its_deadline() {
    let cluster = demo(Some(Scene::BadRollout), 1).await;
    for second in 1..=600 {
        cluster.step(Duration::from_secs(1));
        let ledger = deployment(&cluster, "payments", "ledger");
        let status = ledger.status.as_ref().unwrap();
        assert!(status.ready_replicas >= Some(7), "{second}: {status:?}");
        assert!(status.replicas <= Some(12), "{second}: {status:?}");
        let is_late = progress(&ledger) == "ProgressDeadlineExceeded";
        // Its last progress is at the beginning, when the new pods are created and two old ones go.
        assert!(second > 360 || !is_late, "{second}: {status:?}");
        assert!(second < 365 || is_late, "{second}: {status:?}");
        assert_eq!(image(&ledger).ends_with(":2.5.0"), second >= 60, "{second}");
    }
    let ledger = deployment(&cluster, "payments", "ledger").status.unwrap();
    assert_eq!((ledger.updated_replicas, ledger.ready_replicas), (Some(5), Some(7)));
}
