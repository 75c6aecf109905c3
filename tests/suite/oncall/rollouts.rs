//! `podinit rollouts`: what holds a rollout of a recording, and how those before ended.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use podinit_core::lifecycle::{Delivery, PodEvent, SourceId, Tracker, TrackerConfig};
use podinit_core::pod::{
    ConditionStatus, ConditionType, PodSnapshot, PodUid, Revision, StatusCondition, Workload,
};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::ProblemPods;
use podinit_http::ServerLimits;
use podinit_oncall::api::SCHEMA;
use podinit_oncall::problems::{self, ProblemFinder};
use podinit_oncall::{records, rollouts};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::freshness::freshness;
use crate::support::json_schema;
use crate::support::process::run_with;
use crate::support::server::{Source, start_routes};
use crate::support::sinks::Kept;

/// An instant so many seconds after 09:00.
fn at(second: i64) -> String {
    let second = 9 * 3_600 + second;
    format!("2026-03-01T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

/// A pod of the Deployment `web` and the revision `hash`.
fn pod(hash: &str, number: u32, created: i64, status: &Value) -> Value {
    let name = format!("web-{hash}-{number}");
    json!({
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
            "creationTimestamp": at(created), "labels": {"pod-template-hash": hash},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                "name": format!("web-{hash}"), "uid": format!("uid-{hash}"), "controller": true}]},
        "spec": {"nodeName": "node-a0", "containers": [{"name": "app", "image": format!("r.io/web:{hash}")}]},
        "status": status,
    })
}

fn condition(kind: &str, status: &str, second: i64) -> Value {
    json!({"type": kind, "status": status, "lastTransitionTime": at(second)})
}

fn ready(hash: &str, number: u32, created: i64, ready: i64) -> Value {
    let kinds =
        ["PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];
    let status = json!({"phase": "Running", "conditions": kinds.map(|kind| condition(kind, "True", ready)),
        "containerStatuses": [{"name": "app", "image": "r.io/web", "ready": true, "restartCount": 0,
            "state": {"running": {"startedAt": at(ready)}}}]});
    pod(hash, number, created, &status)
}

/// A pod whose image cannot be pulled.
fn without_image(hash: &str, number: u32, created: i64) -> Value {
    let holds = ["PodScheduled", "PodReadyToStartContainers", "Initialized"];
    let mut conditions = holds.map(|kind| condition(kind, "True", created)).to_vec();
    conditions.extend(["ContainersReady", "Ready"].map(|kind| condition(kind, "False", created)));
    let waiting = json!({"reason": "ImagePullBackOff",
        "message": format!("Back-off pulling image \"r.io/web:{hash}\": ErrImagePull: r.io/web:{hash}: not found")});
    let status = json!({"phase": "Pending", "conditions": conditions,
        "containerStatuses": [{"name": "app", "image": "r.io/web", "ready": false, "restartCount": 0,
            "state": {"waiting": waiting}}]});
    pod(hash, number, created, &status)
}

/// A watch that begins with three ready pods of the revision `a1` at 09:00, with what happens at these seconds.
fn watch(events: &[(i64, &str, Value)]) -> String {
    let items: Vec<Value> = (1..4).map(|number| ready("a1", number, -3_600, -3_590)).collect();
    let list = json!({"kind": "PodList", "items": items, "observedAt": at(0)});
    let event = |(second, kind, pod): &(i64, &str, Value)| {
        json!({"type": kind, "object": pod, "observedAt": at(*second)}).to_string()
    };
    let events = events.iter().map(event);
    [list.to_string()].into_iter().chain(events).collect::<Vec<_>>().join("\n")
}

/// The revision `b2` takes the place of `a1`, a pod a minute.
fn rolled_out() -> Vec<(i64, &'static str, Value)> {
    let pods = (1..4_u32).flat_map(|number| {
        let begins = 60 * i64::from(number);
        [
            (begins, "ADDED", pod("b2", number, begins, &json!({"phase": "Pending"}))),
            (begins + 30, "MODIFIED", ready("b2", number, begins, begins + 30)),
            (begins + 40, "DELETED", ready("a1", number, -3_600, -3_590)),
        ]
    });
    pods.collect()
}

#[track_caller]
fn told(input: &str, format: &str) -> String {
    let output = run_with(&["rollouts", "--file", "-", "-o", format], input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_rollout_in_progress_is_told_with_the_problem_of_its_pods() {
    let mut events = rolled_out();
    events.push((1_200, "ADDED", without_image("c3", 1, 1_200)));
    events.push((2_100, "MODIFIED", without_image("c3", 1, 1_200)));
    let input = watch(&events);
    let table = told(&input, "table");
    let expected = "\
shop/web: 0 of 3 of the new revision are ready, and none got ready for 15m; 1 cannot pull image r.io/web:c3: not found.

NAMESPACE   WORKLOAD         HELD BY    READY   STARTING   DOWN   OTHERS   SINCE
shop        Deployment/web   starting   0/3     1          0      3        15m

Ended lately:
shop/web rolled out in 2m40s, until 09:03; held by starting pods for 90s, by the controller for 70s.

As of 2026-03-01T09:35:00Z
";
    assert_eq!(table, expected);
    let wide = told(&input, "wide");
    assert!(
        wide.contains("\n  says       ") && wide.contains("\n  next       kubectl -n shop "),
        "{wide}"
    );
    let document: Value = serde_json::from_str(&told(&input, "json")).unwrap();
    let rollouts = document["rollouts"].as_array().unwrap();
    assert_eq!(rollouts.len(), 2);
    let (now, before) = (&rollouts[0], &rollouts[1]);
    assert_eq!(now["workload"], json!({"kind": "Deployment", "name": "web"}));
    assert_eq!(now["in_progress"]["held_by"], "starting");
    assert_eq!(now["in_progress"]["cause"], "image");
    assert_eq!(now["in_progress"]["stuck"], true);
    assert_eq!(now["held_seconds"]["starting"], 900.0);
    assert_eq!(before["end"]["outcome"], "completed");
    assert_eq!(before["end"]["seconds"], 160.0);
    assert!(now.get("end").is_none() && before.get("in_progress").is_none());
}

#[test]
fn a_rollout_is_not_stuck_before_ten_minutes_and_not_while_its_pods_only_start() {
    let stuck = |events: &[(i64, &str, Value)]| {
        let document: Value = serde_json::from_str(&told(&watch(events), "json")).unwrap();
        document["rollouts"][0]["in_progress"]["stuck"].clone()
    };
    let image = |end| {
        [
            (600, "ADDED", without_image("b2", 1, 600)),
            (end, "MODIFIED", without_image("b2", 1, 600)),
        ]
    };
    assert_eq!(stuck(&image(1_199)), false);
    assert_eq!(stuck(&image(1_200)), true);
    let other = |second| (second, "MODIFIED", ready("a1", 1, -3_600, -3_590));
    let starting = pod("b2", 1, 600, &json!({"phase": "Pending"}));
    assert_eq!(stuck(&[(600, "ADDED", starting), other(650)]), false);
}

#[test]
fn without_a_rollout_it_says_so() {
    let nothing = told(&watch(&[]), "table");
    assert!(nothing.starts_with("No rollout is in progress.\n"), "{nothing}");
    let lone = json!({"kind": "PodList", "observedAt": at(0),
        "items": [ready("a1", 1, -3_600, -3_590), without_image("b2", 1, -600)]});
    let found = told(&lone.to_string(), "table");
    let begins =
        "shop/web: 0 of 2 of the new revision are ready; 1 cannot pull image r.io/web:b2: ";
    assert!(found.starts_with(begins), "{found}");
    assert!(found.contains("; found in progress; when it began is a guess."), "{found}");
}

#[test]
fn a_stranger_cannot_act_on_the_terminal() {
    let hostile = |text: &str| text.replace("\"shop\"", "\"sh\\u001b[31mop\"");
    let input = hostile(&watch(&[(600, "ADDED", without_image("b2", 1, 600))]));
    for format in ["table", "wide", "json"] {
        assert!(!told(&input, format).contains('\u{1b}'));
    }
}

/// Two workloads of two pods each. `pay/web` has rolled out, and rolls out again; `shop/web` does for the first time.
fn world() -> (Tracker, Kept) {
    let mut tracker = Tracker::new(TrackerConfig { slos: [].into(), ..TrackerConfig::default() });
    let mut kept = Kept::default();
    let at = |second: i64| Timestamp::from_seconds(1_700_000_000 + second);
    let mut deliver = |event, second| {
        let delivery =
            Delivery { source: SourceId(0), event, now: at(second), observed: None, version: None };
        tracker.apply(delivery, &mut kept);
    };
    let pod = |namespace: &str, revision: u32, created, is_ready| {
        let name = format!("web-{revision}");
        let mut pod =
            PodSnapshot::bare(PodUid::from_text(&format!("{namespace}/{name}")), namespace, &*name);
        pod.created = Some(at(created));
        pod.revision = Some(Revision::from(revision));
        pod.info.workload =
            Some(Arc::new(Workload { kind: "Deployment".into(), name: "web".into() }));
        let status = if is_ready { ConditionStatus::True } else { ConditionStatus::False };
        pod.conditions.insert(
            ConditionType::Ready,
            StatusCondition { status, last_transition: Some(at(created)) },
        );
        pod
    };
    let listed = ["pay", "shop"].map(|namespace| pod(namespace, 1, -900, true));
    deliver(PodEvent::Listed { pods: listed.to_vec().into(), began: at(-300) }, -300);
    deliver(PodEvent::Applied(pod("pay", 2, -200, false)), -200);
    deliver(PodEvent::Applied(pod("pay", 2, -200, true)), -150);
    deliver(PodEvent::Deleted(pod("pay", 1, -900, true)), -140);
    deliver(PodEvent::Applied(pod("shop", 2, 0, false)), 0);
    deliver(PodEvent::Applied(pod("pay", 3, 100, false)), 100);
    tracker.advance(at(400), &mut kept);
    (tracker, kept)
}

#[tokio::test]
async fn the_api_answers_by_its_schema_and_by_what_is_asked() {
    let (client, mut queries) = records::channel();
    queries.begin();
    tokio::spawn(async move {
        let (tracker, kept) = world();
        loop {
            queries.waiting().await;
            queries.step(&tracker, &kept.0);
        }
    });
    let (publisher, found) = problems::channel();
    let finder = ProblemFinder::new(client, publisher, Arc::new(ProblemPods::default()));
    tokio::spawn(finder.run(CancellationToken::new()));
    while found.newest().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let routes = rollouts::router(found, freshness(true));
    let server = start_routes(Source::default(), ServerLimits::default(), routes, None);
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let told = async |parameters: &str| {
        let reply = server.get(&format!("/api/v1/rollouts{parameters}")).await;
        assert_eq!(reply.status, 200, "{parameters}");
        let value: Value = serde_json::from_slice(&reply.body).unwrap();
        json_schema::check(&schema, "rollouts", &value);
        let rollouts = value["rollouts"].as_array().unwrap().iter();
        let names = rollouts.map(|one| {
            let how = one["end"]["outcome"].as_str().or(one["in_progress"]["held_by"].as_str());
            format!("{} {}", one["namespace"].as_str().unwrap(), how.unwrap())
        });
        (names.collect::<Vec<_>>(), value["more"].clone())
    };
    let all = ["shop starting", "pay starting", "pay completed"];
    assert_eq!(told("").await, (all.map(str::to_owned).to_vec(), Value::Null));
    assert_eq!(told("?limit=1").await, (vec![all[0].to_owned()], json!(2)));
    let of_pay = all[1..].iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    assert_eq!(told("?namespace=pay&workload=web").await, (of_pay.clone(), Value::Null));
    assert_eq!(told("?workload=deployment/web&namespace=pay").await.0, of_pay);
    assert_eq!(told("?workload=StatefulSet/web").await.0, Vec::<String>::new());
    for (parameters, why) in [("?limit=0", "limit: "), ("?node=a", "there is no such parameter")] {
        let reply = server.get(&format!("/api/v1/rollouts{parameters}")).await;
        assert_eq!(reply.status, 400);
        assert!(reply.text().contains(why), "{}", reply.text());
    }
}
