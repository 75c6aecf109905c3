//! What the next commands of the demo's scenes ask for besides pods, Events and nodes.

use std::time::Duration;

use super::client::Http;
use crate::scene::Scene;
use crate::sim_clock::SECOND;
use crate::{ClusterConfig, SimulatedCluster};
use podinit_core::timestamp::Timestamp;
use serde_json::Value;

async fn in_scene(scene: Scene) -> SimulatedCluster {
    let scene = Some((scene, Duration::from_secs(30)));
    let config = ClusterConfig { rate: 5.0, scene, ..ClusterConfig::manual() };
    let cluster = SimulatedCluster::start(config).await.unwrap();
    for _ in 0..120 {
        cluster.step(Duration::from_secs(1));
    }
    cluster
}

#[tokio::test]
async fn a_lease_shows_the_clock_of_its_node() {
    let cluster = in_scene(Scene::WrongClocks).await;
    let http = Http::to(&cluster);
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    for (node, from, to) in [("node-a0", -10, 1), ("node-a1", 110, 121), ("node-b1", -100, -89)] {
        let lease = http.get(&format!("{leases}/{node}")).await.json;
        assert_eq!(lease["kind"], "Lease");
        let renewed: jiff::Timestamp =
            lease["spec"]["renewTime"].as_str().unwrap().parse().unwrap();
        let renewed = Timestamp::from_nanos(renewed.as_nanosecond() as i64);
        let ahead = renewed.nanos_since(cluster.clock().now()) / SECOND;
        assert!((from..=to).contains(&ahead), "{node}: {ahead}");
    }
    let table = http.get_table(leases).await.json;
    assert_eq!(table["columnDefinitions"][1]["name"], "Holder");
    assert!(table["rows"].as_array().unwrap().len() >= 10);
}

#[tokio::test]
async fn pods_that_a_queue_holds_have_workloads() {
    let cluster = in_scene(Scene::GateForgotten).await;
    let http = Http::to(&cluster);
    let workloads = "/apis/kueue.x-k8s.io/v1beta1/namespaces/batch/workloads";
    let list = http.get(workloads).await.json;
    let items = list["items"].as_array().unwrap();
    assert!(!items.is_empty(), "{list}");
    let held = |pod: &Value| pod["spec"]["schedulingGates"].is_array();
    let pods = http.list("limit=0").await;
    let pods = pods["items"].as_array().unwrap().iter();
    assert_eq!(pods.filter(|pod| held(pod)).count(), items.len());
    let row = http.get_table(workloads).await.json["rows"][0]["cells"].clone();
    assert_eq!(row[1], "spare");
    let nobody = http.get("/apis/kueue.x-k8s.io/v1beta1/namespaces/shop/workloads").await.json;
    assert_eq!(nobody["items"], serde_json::json!([]));
}

#[tokio::test]
async fn an_object_that_is_missing_is_said_to_be() {
    let cluster = in_scene(Scene::SecretMissing).await;
    let http = Http::to(&cluster);
    let answer = http.get_table("/api/v1/namespaces/payments/secrets/database").await;
    assert_eq!((answer.code, &answer.json["reason"]), (404, &"NotFound".into()));
    assert_eq!(answer.json["message"], "secrets \"database\" not found");
    let claims = http.get("/api/v1/namespaces/payments/persistentvolumeclaims").await;
    assert_eq!((claims.code, &claims.json["kind"]), (200, &"PersistentVolumeClaimList".into()));
    assert_eq!(http.get("/apis/kueue.x-k8s.io/v1beta1/queues").await.code, 404);
}
