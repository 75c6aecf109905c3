//! The simulated API server speaks the list/watch protocol.

use std::time::Duration;

use http_body_util::BodyExt;

use super::client::{Http, PODS, bind, brief, create, names, report, version};
use crate::container::{AppState, KubeletReport};
use crate::life::PodChange;
use crate::object::{EventKind, ObjectKey};
use crate::{ClusterConfig, SimulatedCluster};
use serde_json::json;

async fn cluster() -> (SimulatedCluster, Http) {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    let http = Http::to(&cluster);
    (cluster, http)
}

#[tokio::test]
async fn pages_of_one_list_show_one_moment() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["b", "d", "f", "h", "j"]);
    let first = http.list("limit=2").await;
    assert_eq!(names(&first), ["b", "d"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    // Between the pages a pod comes, one goes, and one changes.
    create(&cluster, &["g"]);
    cluster.apply("h", &PodChange::Remove);
    cluster.apply("f", &bind());
    let mut query = first["metadata"]["continue"].as_str().unwrap().to_owned();
    let second = http.list(&format!("limit=2&continue={query}")).await;
    assert_eq!(names(&second), ["f", "h"]);
    assert_eq!(version(&second), version(&first));
    assert!(second["items"][0]["spec"]["nodeName"].is_null());
    second["metadata"]["continue"].as_str().unwrap().clone_into(&mut query);
    let third = http.list(&format!("limit=2&continue={query}")).await;
    assert_eq!(names(&third), ["j"]);
    assert!(third["metadata"]["continue"].is_null());
    assert_eq!(names(&http.list("").await), ["b", "d", "f", "g", "j"]);
    cluster.shutdown().await;
}

#[tokio::test]
async fn a_watch_tells_exactly_what_follows_its_version() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a", "b"]);
    let from = cluster.store().version();
    cluster.apply("a", &bind());
    cluster.apply("b", &PodChange::Remove);
    let mut watch = http.watch(&format!("resourceVersion={from}")).await;
    assert_eq!(brief(&watch.next_event().await), format!("MODIFIED a@{}", from + 1));
    assert_eq!(brief(&watch.next_event().await), format!("DELETED b@{}", from + 2));
    create(&cluster, &["c"]);
    let event = watch.next_event().await;
    assert_eq!(brief(&event), format!("ADDED c@{}", from + 3));
    assert_eq!(event["object"]["kind"], "Pod");
    assert_eq!(event["object"]["apiVersion"], "v1");
    cluster.shutdown().await;
    watch.assert_ended().await;
}

#[tokio::test]
async fn a_watch_ends_at_its_timeout_with_a_last_bookmark() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a"]);
    cluster.store().skip_versions(10);
    let query = "resourceVersion=1001&allowWatchBookmarks=true&timeoutSeconds=1";
    let mut watch = http.watch(query).await;
    assert_eq!(brief(&watch.next_event().await), "BOOKMARK -@1011");
    watch.assert_ended().await;
}

#[tokio::test]
async fn bookmarks_tell_the_version_while_nothing_happens_to_pods() {
    let config =
        ClusterConfig { bookmark_interval: Duration::from_millis(1), ..ClusterConfig::manual() };
    let cluster = SimulatedCluster::start(config).await.unwrap();
    let http = Http::to(&cluster);
    cluster.store().skip_versions(5);
    let mut watch = http.watch("resourceVersion=1000&allowWatchBookmarks=true").await;
    let bookmark = watch.next_event().await;
    assert_eq!(brief(&bookmark), "BOOKMARK -@1005");
    assert!(bookmark["object"]["metadata"]["annotations"].is_null());
    cluster.faults().set_modes(|modes| modes.no_bookmarks = true);
    create(&cluster, &["a"]);
    loop {
        let event = watch.next_event().await;
        if event["type"] == "ADDED" {
            break;
        }
    }
    cluster.shutdown().await;
    watch.assert_ended().await;
}

#[tokio::test]
async fn a_version_older_than_the_history_is_gone() {
    let config = ClusterConfig { history: 3, ..ClusterConfig::manual() };
    let cluster = SimulatedCluster::start(config).await.unwrap();
    let http = Http::to(&cluster);
    create(&cluster, &["a", "b", "c", "d"]);
    let token = http.list("limit=1").await["metadata"]["continue"].as_str().unwrap().to_owned();
    let mut watch = http.watch("resourceVersion=1000").await;
    let event = watch.next_event().await;
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(event["object"]["reason"], "Expired");
    watch.assert_ended().await;
    // The oldest version that the history still reaches back to.
    let mut watch = http.watch("resourceVersion=1001").await;
    assert_eq!(brief(&watch.next_event().await), "ADDED b@1002");

    cluster.store().compact();
    let query = "resourceVersion=1002&resourceVersionMatch=Exact";
    assert_eq!(http.get(&format!("/api/v1/pods?{query}")).await.code, 410);
    create(&cluster, &["e"]);
    let answer = http.get(&format!("/api/v1/pods?limit=1&continue={token}")).await;
    assert_eq!(answer.code, 200, "still reached by the history");
    cluster.store().compact();
    let answer = http.get(&format!("/api/v1/pods?limit=1&continue={token}")).await;
    assert_eq!((answer.code, &answer.json["reason"]), (410, &json!("Expired")));
    let resume = answer.json["metadata"]["continue"].as_str().unwrap();
    let rest = http.list(&format!("continue={resume}")).await;
    assert_eq!(names(&rest), ["b", "c", "d", "e"]);
}

#[tokio::test]
async fn a_streamed_list_is_closed_by_its_bookmark() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a", "b"]);
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = http.watch(query).await;
    assert_eq!(brief(&watch.next_event().await), "ADDED a@1001");
    assert_eq!(brief(&watch.next_event().await), "ADDED b@1002");
    let end = watch.next_event().await;
    assert_eq!(brief(&end), "BOOKMARK -@1002");
    let annotations = &end["object"]["metadata"]["annotations"];
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
    cluster.apply("a", &bind());
    assert_eq!(brief(&watch.next_event().await), "MODIFIED a@1003");
    let refused = http.get(&format!("/api/v1/pods?watch=true&resourceVersion=5000&{query}")).await;
    assert_eq!(refused.code, 504);
}

#[tokio::test]
async fn a_watch_without_a_version_begins_with_what_stands() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a"]);
    for query in ["", "resourceVersion=0"] {
        let mut watch = http.watch(query).await;
        assert_eq!(brief(&watch.next_event().await), "ADDED a@1001");
    }
}

#[tokio::test]
async fn objects_enter_and_leave_a_selection() {
    let (cluster, http) = cluster().await;
    let query = "resourceVersion=1000&fieldSelector=status.phase%3DRunning";
    let mut watch = http.watch(query).await;
    create(&cluster, &["a"]);
    cluster.apply("a", &bind());
    cluster.apply("a", &report(true, AppState::Running { ready: false }));
    cluster.apply("a", &report(true, AppState::Running { ready: true }));
    cluster.apply("a", &report(false, AppState::Completed));
    assert_eq!(brief(&watch.next_event().await), "ADDED a@1003");
    assert_eq!(brief(&watch.next_event().await), "MODIFIED a@1004");
    let left = watch.next_event().await;
    assert_eq!(brief(&left), "DELETED a@1005");
    assert_eq!(left["object"]["status"]["phase"], "Running");

    create(&cluster, &["b"]);
    assert_eq!(names(&http.list("fieldSelector=spec.nodeName%3D").await), ["b"]);
    assert_eq!(names(&http.list("labelSelector=app+in+(web)").await), ["a", "b"]);
    assert!(names(&http.list("labelSelector=app%21%3Dweb").await).is_empty());
    let other = http.get("/api/v1/namespaces/other/pods").await.json;
    assert!(names(&other).is_empty());
    let shop = http.get("/api/v1/namespaces/shop/pods?limit=1").await.json;
    assert_eq!(names(&shop), ["a"]);
    assert_eq!(shop["metadata"]["remainingItemCount"], 1);
}

#[tokio::test]
async fn versions_are_chosen_as_they_match() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a", "b", "c"]);
    let exact = "resourceVersion=1002&resourceVersionMatch=Exact";
    assert_eq!(names(&http.list(exact).await), ["a", "b"]);
    assert_eq!(names(&http.list("resourceVersion=1001&limit=5").await), ["a"]);
    assert_eq!(names(&http.list("resourceVersion=1001").await), ["a", "b", "c"]);
    assert_eq!(names(&http.list("resourceVersion=0&limit=1").await), ["a", "b", "c"]);
    cluster.faults().set_modes(|modes| modes.list_lag = 2);
    assert_eq!(names(&http.list("resourceVersion=0").await), ["a"]);
    assert_eq!(
        names(&http.list("resourceVersion=1002&resourceVersionMatch=NotOlderThan").await),
        ["a", "b"]
    );
    assert_eq!(names(&http.list("").await), ["a", "b", "c"]);
    let future = http.get("/api/v1/pods?resourceVersion=2000").await;
    assert_eq!(future.code, 504);
    let cause = &future.json["details"]["causes"][0]["reason"];
    assert_eq!(cause, "ResourceVersionTooLarge");
}

#[tokio::test]
async fn a_restored_backup_brings_back_what_was() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a", "b"]);
    cluster.apply("a", &bind());
    cluster.apply("b", &PodChange::Remove);
    cluster.store().roll_back(1002).unwrap();
    let list = http.list("").await;
    assert_eq!((names(&list), version(&list)), (vec!["a".into(), "b".into()], 1002));
    assert!(list["items"][0]["spec"]["nodeName"].is_null());
}

#[tokio::test]
async fn a_removal_can_be_kept_from_all_watches() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a", "b"]);
    let mut watch = http.watch("resourceVersion=1002").await;
    assert!(cluster.remove_unseen("shop", "a"));
    let event = watch.next_event().await;
    assert_eq!(event["object"]["code"], 410);
    assert_eq!(names(&http.list("").await), ["b"]);
    assert!(cluster.truth().pod("a").unwrap().unseen);
}

#[tokio::test]
async fn pods_can_be_written_as_json() {
    let (cluster, http) = cluster().await;
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "odd", "namespace": "shop", "labels": {"app": "odd"}},
        "status": {"phase": "Sideways", "conditions": 7},
    });
    assert_eq!(cluster.put_json(pod), Some(1001));
    assert_eq!(cluster.put_json(json!({"metadata": {}})), None);
    let mut watch = http.watch("labelSelector=app%3Dodd").await;
    let event = watch.next_event().await;
    assert_eq!(brief(&event), "ADDED odd@1001");
    assert_eq!(event["object"]["status"]["conditions"], 7);
    assert_eq!(cluster.delete_json("shop", "odd"), Some(1002));
    assert_eq!(brief(&watch.next_event().await), "DELETED odd@1002");
    assert!(cluster.store().get(&ObjectKey::new("shop", "odd")).is_none());
    let events = cluster.store().events_after(1000, 9).unwrap().events;
    assert_eq!(events[1].kind, EventKind::Deleted);
}

#[tokio::test]
async fn whatever_else_is_asked_for_gets_a_status() {
    let (cluster, http) = cluster().await;
    let missing = http.get("/api/v1/serviceaccounts").await;
    assert_eq!((missing.code, &missing.json["kind"]), (404, &json!("Status")));
    let wrong = http.get("/api/v1/pods?watch=true&resourceVersion=x").await;
    assert_eq!((wrong.code, &wrong.json["reason"]), (400, &json!("BadRequest")));
    assert_eq!(http.get("/version").await.json["major"], "1");
    assert_eq!(http.send("/readyz").await.status(), 200);
    cluster.shutdown().await;
}

#[tokio::test]
async fn kubectl_finds_out_what_there_is_and_gets_tables() {
    let (cluster, http) = cluster().await;
    assert_eq!(http.get("/api").await.json["versions"][0], "v1");
    assert_eq!(http.get("/apis").await.json["kind"], "APIGroupList");
    assert_eq!(http.get("/api/v1").await.json["resources"][0]["name"], "pods");
    create(&cluster, &["a", "b"]);
    let table = http.get_table("/api/v1/pods?limit=1").await.json;
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["rows"][0]["cells"][0], "a");
    assert_eq!(table["rows"][0]["cells"][2], "Pending");
    assert!(table["metadata"]["continue"].is_string());
    let from = cluster.store().version();
    let mut watch = http.watch_tables(&format!("{PODS}?watch=true&resourceVersion={from}")).await;
    cluster.apply("b", &PodChange::Remove);
    let event = watch.next_event().await;
    assert_eq!(event["type"], "DELETED");
    assert_eq!(event["object"]["rows"][0]["cells"][0], "b");
    cluster.shutdown().await;
}

#[tokio::test]
async fn one_object_is_answered_by_name() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a"]);
    let listed = http.list("").await;
    let namespace = listed["items"][0]["metadata"]["namespace"].as_str().unwrap();
    let path = |name: &str| format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let pod = http.get(&path("a")).await.json;
    assert_eq!(pod["kind"], "Pod");
    assert_eq!(pod["metadata"], listed["items"][0]["metadata"]);
    let table = http.get_table(&path("a")).await.json;
    assert_eq!(table["rows"][0]["cells"][0], "a");
    let missing = http.get(&path("b")).await;
    assert_eq!(missing.code, 404);
    assert_eq!(missing.json["message"], "pods \"b\" not found");
    assert_eq!(missing.json["details"], json!({"name": "b", "kind": "pods"}));
    let unknown = http.get(&format!("/api/v1/namespaces/{namespace}/serviceaccounts")).await;
    assert_eq!(unknown.code, 404);
    cluster.shutdown().await;
}

#[tokio::test]
async fn kubectl_gets_the_nodes_and_namespaces_that_pods_name() {
    let (cluster, http) = cluster().await;
    let discovered = http.get("/api/v1").await.json;
    let resources = discovered["resources"].as_array().unwrap();
    for (plural, kind, name, namespaced) in
        [("nodes", "Node", "node-a0", false), ("namespaces", "Namespace", "shop", false)]
    {
        let mut all = resources.iter();
        let resource = all.find(|one| one["name"] == plural).unwrap();
        assert_eq!(resource["namespaced"], namespaced);
        let list = http.get(&format!("/api/v1/{plural}")).await.json;
        assert_eq!(list["kind"], format!("{kind}List"));
        assert!(list["items"].as_array().unwrap().len() >= 10);
        // kubectl describes what it takes as protobuf where there is one, and else as JSON.
        let accept = "application/vnd.kubernetes.protobuf,application/json";
        let path = format!("/api/v1/{plural}/{name}");
        let answer = http.send_accepting(accept, &path).await;
        assert_eq!(answer.headers()["content-type"], "application/json");
        assert_eq!(http.get(&path).await.json["kind"], kind);
        let table = http.get_table(&path).await.json;
        assert_eq!(table["rows"][0]["cells"][0], name);
    }
    let node = http.get_table("/api/v1/nodes/node-a0").await.json;
    assert_eq!(node["rows"][0]["cells"][1], "Ready");
    assert_eq!(http.get("/api/v1/nodes/no").await.code, 404);
    let wrong = http.get("/api/v1/namespaces/shop/nodes").await;
    assert_eq!(wrong.code, 404, "nodes are in no namespace");
    // What describes a node asks for its pods like this.
    create(&cluster, &["a", "b"]);
    cluster.apply("a", &bind());
    let of_node = "fieldSelector=spec.nodeName%3Dnode-a0,status.phase!%3DSucceeded";
    assert_eq!(names(&http.list(of_node).await), ["a"]);
    cluster.shutdown().await;
}

#[tokio::test]
async fn a_log_fits_what_became_of_its_container() {
    let (cluster, http) = cluster().await;
    create(&cluster, &["a", "b"]);
    cluster.apply("a", &bind());
    cluster.apply("a", &report(true, AppState::Running { ready: true }));
    let crashed = KubeletReport {
        sandbox: true,
        init_done: 0,
        app: AppState::Waiting("CrashLoopBackOff"),
        restarts: 1,
    };
    cluster.apply("a", &PodChange::Report(crashed));
    let listed = http.list("").await;
    let pod = &listed["items"][0];
    let container = pod["spec"]["containers"][0]["name"].as_str().unwrap();
    let namespace = pod["metadata"]["namespace"].as_str().unwrap();
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let of_run = format!("{path}/a/log?previous=true&container={container}");
    let log = http.send(&of_run).await.into_body().collect().await.unwrap().to_bytes();
    let log = String::from_utf8_lossy(&log).into_owned();
    let said = &pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["message"];
    assert!(log.contains(said.as_str().unwrap()), "{log}");
    assert_eq!(http.send(&format!("{path}/b/log")).await.status(), 200);
    assert_eq!(http.get(&format!("{path}/c/log")).await.code, 404);
    cluster.shutdown().await;
}
