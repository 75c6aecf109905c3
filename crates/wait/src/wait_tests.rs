//! The wait for one target, on a clock of its own: what it says of an object and of pods, second by second.

#![allow(clippy::unwrap_used)]

use podinit_core::lifecycle::{Delivery, PodEvent, SourceId};
use podinit_core::rfc3339;
use podinit_core::timestamp::Timestamp;
use podinit_decode::PodDecoder;
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;
use crate::answer::TargetOutcome;
use crate::look::Look;

const FAIL_AFTER: Duration = Duration::from_secs(120);

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_767_225_600 + second)
}

fn stated(second: i64) -> String {
    rfc3339::format(at(second))
}

/// What a test sees.
struct World {
    wait: Wait,
}

impl World {
    fn new(target: &str) -> Self {
        Self::of(target.parse().unwrap())
    }

    fn of(target: WaitTarget) -> Self {
        Self { wait: Wait::new(target, "shop", Some(FAIL_AFTER), at(0)) }
    }

    fn object(&mut self, object: &Value) -> &mut Self {
        let news = ObjectNews::Applied(to_raw_value(object).unwrap());
        self.wait.take_object(&news).unwrap();
        self
    }

    fn revisions(&mut self, objects: &[Value]) -> &mut Self {
        let objects = objects.iter().map(|one| to_raw_value(one).unwrap()).collect();
        self.wait.take_revisions(ObjectNews::Listed(objects));
        self
    }

    fn list(&mut self, second: i64, pods: &[Value]) -> &mut Self {
        let list = json!({"kind": "PodList", "items": pods}).to_string();
        let pods = PodDecoder::new(decode_options()).list_page(list.as_bytes()).unwrap().pods;
        self.deliver(second, PodEvent::Listed { pods: pods.into(), began: at(second) }, None)
    }

    fn pod(&mut self, second: i64, pod: &Value) -> &mut Self {
        let pod = decoded(pod);
        self.deliver(second, PodEvent::Applied(pod), Some(at(second)))
    }

    fn gone(&mut self, second: i64, pod: &Value) -> &mut Self {
        let pod = decoded(pod);
        self.deliver(second, PodEvent::Deleted(pod), Some(at(second)))
    }

    fn deliver(&mut self, second: i64, event: PodEvent, observed: Option<Timestamp>) -> &mut Self {
        let source = SourceId(0);
        self.wait.take_pods(Delivery { source, event, now: at(second), observed, version: None });
        self
    }

    fn event(&mut self, second: i64, event: &Value) -> &mut Self {
        self.wait.take_event(&to_raw_value(event).unwrap(), at(second));
        self
    }

    fn look(&mut self, second: i64) -> Look {
        self.wait.look(at(second))
    }

    fn outcome(&mut self, second: i64) -> TargetOutcome {
        self.look(second).answer.outcome
    }

    /// Whether it is still waited in each seventh second of these.
    fn goes_on(&mut self, seconds: std::ops::Range<i64>) -> bool {
        seconds.step_by(7).all(|second| self.outcome(second) == TargetOutcome::Waiting)
    }

    /// The first second of these, one after the other, in which it is not waited any more, and what is said then.
    fn ends(&mut self, seconds: std::ops::Range<i64>) -> Option<(i64, TargetOutcome, String)> {
        seconds.into_iter().find_map(|second| {
            let answer = self.look(second).answer;
            (answer.outcome != TargetOutcome::Waiting).then_some((
                second,
                answer.outcome,
                answer.sentence,
            ))
        })
    }
}

fn decoded(pod: &Value) -> PodSnapshot {
    let list = json!({"kind": "PodList", "items": [pod]}).to_string();
    let mut page = PodDecoder::new(decode_options()).list_page(list.as_bytes()).unwrap();
    page.pods.remove(0)
}

/// A Deployment whose spec and status are these besides.
fn deployment(generation: i64, spec: Value, status: Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "d", "generation": generation,
            "annotations": {"deployment.kubernetes.io/revision": "2"}},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {}, "spec": {"containers": []}}},
        "status": {"observedGeneration": generation},
    });
    merge(&mut object["spec"], spec);
    merge(&mut object["status"], status);
    object
}

fn merge(object: &mut Value, more: Value) {
    let Value::Object(more) = more else {
        return;
    };
    for (key, value) in more {
        object[key] = value;
    }
}

fn replica_set(hash: &str, revision: &str) -> Value {
    json!({"metadata": {"name": format!("web-{hash}"), "uid": hash, "labels": {"pod-template-hash": hash},
        "annotations": {"deployment.kubernetes.io/revision": revision},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d",
            "controller": true}]}})
}

fn both() -> [Value; 2] {
    [replica_set("old1", "1"), replica_set("new2", "2")]
}

/// A pod of the owner `kind`/`name` and of the revision that `labels` name, created in `second`.
fn pod_of((kind, owner): (&str, &str), labels: Value, name: &str, second: i64) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": labels,
            "creationTimestamp": stated(second),
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner,
                "controller": true}]},
        "spec": {"nodeName": "node-1", "containers": [{"name": "app", "image": "r.io/web:2"}]},
        "status": {"phase": "Pending", "startTime": stated(second), "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": stated(second)},
            {"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": stated(second)},
        ]},
    })
}

fn pod(hash: &str, number: u32, second: i64) -> Value {
    let name = format!("web-{hash}-{number}");
    pod_of(
        ("ReplicaSet", &format!("web-{hash}")),
        json!({"pod-template-hash": hash}),
        &name,
        second,
    )
}

/// The pod as ready since `second`.
fn ready(mut pod: Value, second: i64) -> Value {
    let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
    for kind in ["Initialized", "ContainersReady", "Ready"] {
        conditions
            .push(json!({"type": kind, "status": "True", "lastTransitionTime": stated(second)}));
    }
    pod["status"]["phase"] = json!("Running");
    pod["status"]["containerStatuses"] = json!([{"name": "app", "ready": true, "started": true, "restartCount": 0,
        "image": "r.io/web:2", "imageID": "", "state": {"running": {"startedAt": stated(second)}}}]);
    pod
}

/// The pod as its container waits.
fn waits(mut pod: Value, reason: &str, restarts: i32) -> Value {
    pod["status"]["containerStatuses"] = json!([{"name": "app", "ready": false, "restartCount": restarts,
        "image": "r.io/web:2", "imageID": "", "state": {"waiting": {"reason": reason,
            "message": "back-off: not found"}}}]);
    pod
}

/// The pod as its container has ended with exit code 1.
fn crashed(pod: Value, restarts: i32) -> Value {
    let mut pod = waits(pod, "", restarts);
    pod["status"]["containerStatuses"][0]["state"] = json!({"terminated": {"exitCode": 1}});
    pod
}

/// The pod as ready since `second`, after so many restarts.
fn restarted(pod: Value, second: i64, restarts: i32) -> Value {
    let mut pod = ready(pod, second);
    pod["status"]["containerStatuses"][0]["restartCount"] = json!(restarts);
    pod
}

fn unschedulable(mut pod: Value, second: i64) -> Value {
    pod["spec"].as_object_mut().unwrap().remove("nodeName");
    pod["status"] = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu.",
        "lastTransitionTime": stated(second)}]});
    pod
}

fn ending(mut pod: Value, second: i64) -> Value {
    pod["metadata"]["deletionTimestamp"] = json!(stated(second));
    pod
}

fn said_of_pod(name: &str, reporter: &str, reason: &str, message: &str, second: i64) -> Value {
    json!({"metadata": {"name": format!("{name}.{reason}"), "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": name, "uid": name},
        "reason": reason, "message": message, "type": "Warning", "reportingComponent": reporter,
        "firstTimestamp": stated(second), "lastTimestamp": stated(second), "count": 1})
}

fn failed_create(about: &str, number: u32, second: i64, count: i32) -> Value {
    json!({"metadata": {"name": format!("{about}.{number}"), "namespace": "shop"},
        "involvedObject": {"kind": "ReplicaSet", "namespace": "shop", "name": about, "uid": about},
        "reason": "FailedCreate", "message": "Error creating: pods \"web-x\" is forbidden: exceeded quota: small",
        "type": "Warning", "firstTimestamp": stated(second), "lastTimestamp": stated(second), "count": count})
}

/// One that rolls out: one pod of the old revision, and those of the new one.
fn rolling(second: i64, new: &[Value]) -> World {
    let mut world = World::new("deploy/web");
    let status = json!({"replicas": 2, "updatedReplicas": 1, "availableReplicas": 1});
    let old = ready(pod("old1", 1, -9_000), -8_000);
    let pods: Vec<Value> = [old].into_iter().chain(new.iter().cloned()).collect();
    world.object(&deployment(4, json!({}), status)).revisions(&both()).list(second, &pods);
    world
}

#[test]
fn a_deployment_is_done_with_its_slowest_pod() {
    let mut world = rolling(1, &[pod("new2", 1, 0)]);
    let look = world.look(2);
    assert_eq!(look.answer.outcome, TargetOutcome::Waiting);
    assert!(
        look.answer
            .line()
            .starts_with("deployment/web: 0 of 2 pods of the new revision ready, 1 old one left; "),
        "{}",
        look.answer.line()
    );
    let slow = ready(pod("new2", 2, 3), 33);
    world.pod(12, &ready(pod("new2", 1, 0), 12)).pod(33, &slow).gone(34, &pod("old1", 1, -9_000));
    let done =
        json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2});
    world.object(&deployment(4, json!({}), done));
    let (second, outcome, sentence) = world.ends(34..40).unwrap();
    assert_eq!((second, outcome), (34, TargetOutcome::Done));
    assert_eq!(
        sentence,
        "deployment/web is rolled out after 34s: 2 of 2 pods of the new revision ready; the slowest, web-new2-2, took \
         30s, of which 30s in containers."
    );
}

#[test]
fn the_end_waits_a_moment_for_the_watch_of_pods() {
    let mut world = rolling(1, &[]);
    let done = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
    world.object(&deployment(4, json!({}), done));
    assert_eq!(world.outcome(10), TargetOutcome::Waiting);
    assert_eq!(world.outcome(11), TargetOutcome::Done);
}

#[test]
fn nothing_is_done_or_failed_before_the_spec_is_observed() {
    let passed = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
        "message": "has timed out", "lastUpdateTime": stated(-50)}]);
    let status = json!({"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2,
        "conditions": passed});
    let mut world = rolling(1, &[waits(pod("new2", 1, 0), "ImagePullBackOff", 0)]);
    world.object(&deployment(4, json!({}), status.clone()));
    assert!(world.goes_on(1..600));
    // What the controller said of an earlier generation stands until it has looked.
    let mut seen = status;
    seen["observedGeneration"] = json!(4);
    seen["updatedReplicas"] = json!(1);
    world.object(&deployment(4, json!({}), seen.clone()));
    assert_eq!(world.outcome(601), TargetOutcome::Waiting);
    seen["conditions"][0]["lastUpdateTime"] = json!(stated(610));
    world.object(&deployment(4, json!({}), seen));
    let (second, outcome, sentence) = world.ends(611..700).unwrap();
    assert_eq!((second, outcome), (611, TargetOutcome::Failed));
    assert!(sentence.contains("has failed after 10m11s: has timed out; 0 of 2"), "{sentence}");
}

#[test]
fn an_image_that_cannot_be_pulled_fails_after_a_while() {
    let mut world = rolling(1, &[pod("new2", 1, 0)]);
    world.pod(4, &waits(pod("new2", 1, 0), "ErrImagePull", 0));
    let (second, outcome, sentence) = world.ends(4..600).unwrap();
    assert_eq!((second, outcome), (124, TargetOutcome::Failed));
    assert!(
        sentence.contains("deployment/web has failed after 2m4s: no pod of the new revision got ready for 2m0s; 0 of 2"),
        "{sentence}"
    );
    assert!(
        sentence
            .starts_with("1 pod cannot pull image r.io/web:2: back-off: not found. Since 00:00, "),
        "{sentence}"
    );
    let answer = world.look(124).answer;
    assert_eq!(answer.next_command, "kubectl -n shop events --for pod/web-new2-1");
    assert_eq!(answer.problems[0].cause, "image");
}

#[test]
fn a_pod_that_gets_ready_gives_the_others_more_time() {
    let mut world = rolling(1, &[waits(pod("new2", 1, 0), "ImagePullBackOff", 0)]);
    assert!(world.goes_on(1..100));
    world.pod(100, &ready(pod("new2", 2, 5), 100));
    assert_eq!(world.ends(100..600).unwrap().0, 220);
}

#[test]
fn a_crash_counts_after_three_restarts_and_not_for_a_job() {
    let crashing = waits(pod("new2", 1, 0), "CrashLoopBackOff", 5);
    let mut world = rolling(1, &[crashing]);
    assert!(world.goes_on(1..300));
    assert_eq!(world.look(300).crashing[0].name, "web-new2-1");
    let uid = PodUid::from_text("web-new2-1");
    world.wait.restarts.insert(uid, 2);
    assert_eq!(world.outcome(301), TargetOutcome::Waiting);
    world.wait.restarts.insert(uid, 3);
    let (_, outcome, sentence) = world.ends(302..400).unwrap();
    assert_eq!(outcome, TargetOutcome::Failed);
    assert!(sentence.contains("crash"), "{sentence}");

    let owner = ("Job", "migrate");
    let mut world = World::new("job/migrate");
    let crashing = pod_of(owner, json!({}), "migrate-a", 0);
    world.object(&job(json!({}), json!({"active": 1})));
    world.list(1, &[waits(crashing, "CrashLoopBackOff", 5)]);
    world.wait.restarts.insert(PodUid::from_text("migrate-a"), 9);
    assert!(world.goes_on(1..2_000));
    // It says itself when it has failed.
    let failed = json!([{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
        "message": "Job has reached the specified backoff limit"}]);
    world.object(&job(json!({}), json!({"conditions": failed})));
    let (second, outcome, sentence) = world.ends(2_000..2_010).unwrap();
    assert_eq!((second, outcome), (2_000, TargetOutcome::Failed));
    assert!(
        sentence.contains("job/migrate has failed after 33m20s: Job has reached"),
        "{sentence}"
    );
}

/// A Deployment of which its controller says that all pods are available.
fn available() -> Value {
    let status = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
    deployment(4, json!({}), status)
}

#[test]
fn a_container_that_crashed_is_up_once_it_has_run_for_a_while() {
    let mut world = rolling(1, &[ready(pod("new2", 2, 0), 1)]);
    world.pod(5, &crashed(pod("new2", 1, 0), 0)).object(&available());
    // The Deployment does not know yet.
    assert!(world.goes_on(5..20));
    world.pod(20, &restarted(pod("new2", 1, 0), 20, 1));
    let line = world.look(21).answer.line();
    assert!(line.contains("1 of 2 pods of the new revision ready"), "{line}");
    assert!(line.contains("1 pod has not run for 10s since it crashed"), "{line}");
    // A list after a gap makes it no other pod.
    let pods = [ready(pod("new2", 2, 0), 1), restarted(pod("new2", 1, 0), 20, 1)];
    world.list(24, &pods);
    let (second, outcome, _) = world.ends(21..60).unwrap();
    assert_eq!((second, outcome), (30, TargetOutcome::Done));
    // So is one that has run for as long when the wait begins, and none that has not.
    for (since, done) in [(-9, 1), (-3, 7)] {
        let mut world = rolling(1, &[]);
        let pods = [ready(pod("new2", 2, -90), -80), restarted(pod("new2", 1, -90), since, 7)];
        world.list(1, &pods).object(&available());
        assert_eq!(world.ends(1..60).unwrap().0, done, "{since}");
    }
    let alone = || WaitTarget::Pod("web-new2-1".to_owned());
    let mut world = World::of(alone());
    world.list(1, &[restarted(pod("new2", 1, -90), -3, 7)]);
    assert_eq!(world.ends(1..60).unwrap().0, 7);
}

#[test]
fn a_crash_loop_without_a_readiness_probe_fails() {
    let mut world = rolling(1, &[ready(pod("new2", 2, 0), 1), ready(pod("new2", 1, 0), 2)]);
    let uid = PodUid::from_text("web-new2-1");
    let (mut second, mut back_off) = (3, 10);
    let ended = (0..6).find_map(|restarts| {
        // It runs for two seconds, in which the Deployment is available, and waits for the next run.
        let crashes = waits(pod("new2", 1, 0), "CrashLoopBackOff", restarts);
        let going = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1});
        world.pod(second, &crashes).object(&deployment(4, json!({}), going));
        world.wait.restarts.insert(uid, restarts);
        let waits = world.ends(second..second + back_off);
        second += back_off;
        back_off *= 2;
        let runs = restarted(pod("new2", 1, 0), second, restarts + 1);
        world.pod(second, &runs).object(&available());
        let ended = waits.or_else(|| world.ends(second..second + 2));
        second += 2;
        ended
    });
    let (second, outcome, sentence) = ended.unwrap();
    // It fails since the third restart, but for all the time before too.
    assert_eq!((second, outcome), (123, TargetOutcome::Failed), "{sentence}");
    assert!(sentence.contains("no pod of the new revision got ready for 2m0s"), "{sentence}");
}

fn job(spec: Value, status: Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "migrate", "namespace": "shop", "uid": "j"},
        "spec": {"completions": 1, "selector": {"matchLabels": {"job": "migrate"}},
            "template": {"metadata": {}, "spec": {"containers": []}}},
        "status": {},
    });
    merge(&mut object["spec"], spec);
    merge(&mut object["status"], status);
    object
}

#[test]
fn a_job_is_done_when_it_is_complete_and_waits_while_it_is_suspended() {
    let mut world = World::new("job/migrate");
    world.object(&job(json!({"suspend": true}), json!({}))).list(1, &[]);
    assert!(world.goes_on(1..500));
    let line = world.look(500).answer.line();
    assert!(line.starts_with("job/migrate: 0 of 1 pod ready; is suspended"), "{line}");
    let mut succeeded = pod_of(("Job", "migrate"), json!({}), "migrate-a", 501);
    succeeded["status"]["phase"] = json!("Succeeded");
    let complete = json!({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]});
    world.pod(510, &succeeded).object(&job(json!({}), complete));
    let (second, outcome, sentence) = world.ends(510..520).unwrap();
    assert_eq!((second, outcome), (510, TargetOutcome::Done));
    assert_eq!(sentence, "job/migrate is complete after 8m30s: 1 of 1 pod ready.");
}

#[test]
fn an_unschedulable_pod_needs_the_no_of_an_autoscaler_or_five_times_as_long() {
    let pending = || unschedulable(pod("new2", 1, 0), 0);
    let no =
        said_of_pod("web-new2-1", "cluster-autoscaler", "NotTriggerScaleUp", "max size reached", 5);
    let up = said_of_pod("web-new2-1", "cluster-autoscaler", "TriggeredScaleUp", "1->2", 5);
    let mut world = rolling(1, &[pending()]);
    assert_eq!(world.ends(1..1_000).unwrap().0, 601);
    let mut world = rolling(1, &[pending()]);
    world.event(5, &no);
    let (second, _, sentence) = world.ends(5..1_000).unwrap();
    assert_eq!(second, 125);
    assert!(sentence.contains("Insufficient cpu") || sentence.contains("cpu"), "{sentence}");
    // A node is on its way.
    let mut world = rolling(1, &[pending()]);
    world.event(5, &up);
    assert!(world.goes_on(5..1_500));
    // An old pod that ends makes room.
    let mut world = rolling(1, &[pending()]);
    world.event(5, &no).pod(6, &ending(ready(pod("old1", 1, -9_000), -8_000), 36));
    assert!(world.goes_on(6..1_500));
}

#[test]
fn a_controller_that_cannot_create_pods_fails() {
    let mut world = rolling(1, &[]);
    world.event(3, &failed_create("web-new2", 1, 3, 1));
    assert!(world.goes_on(3..300));
    world.event(300, &failed_create("web-new2", 2, 300, 1));
    let (second, outcome, sentence) = world.ends(300..900).unwrap();
    assert_eq!((second, outcome), (300, TargetOutcome::Failed));
    assert!(
        sentence.starts_with(
            "ReplicaSet web-new2 cannot create pods: pods \"web-x\" is forbidden: exceeded quota: small. Since "
        ),
        "{sentence}"
    );
    assert_eq!(world.look(301).answer.next_command, "kubectl -n shop describe replicaset/web-new2");
    // That of an old ReplicaSet is no fault of the new revision.
    let mut world = rolling(1, &[]);
    world.event(3, &failed_create("web-old1", 1, 3, 9));
    assert!(world.goes_on(3..900));
    // The Deployment says so too.
    let mut world = rolling(1, &[]);
    let failure = json!({"replicas": 1, "conditions": [{"type": "ReplicaFailure", "status": "True",
        "reason": "FailedCreate", "message": "admission webhook denied", "lastTransitionTime": stated(9)}]});
    world.object(&deployment(4, json!({}), failure));
    let (second, _, sentence) = world.ends(9..900).unwrap();
    assert_eq!(second, 129);
    assert!(
        sentence.starts_with("ReplicaSet web-new2 cannot create pods: admission webhook denied"),
        "{sentence}"
    );
}

#[test]
fn a_paused_deployment_is_said_and_waited_for() {
    let mut world = rolling(1, &[]);
    world.object(&deployment(4, json!({"paused": true}), json!({"replicas": 2})));
    assert!(world.goes_on(1..2_000));
    let answer = world.look(2_000).answer;
    assert!(
        answer.line().contains("is paused, and goes on with `kubectl rollout resume`"),
        "{}",
        answer.line()
    );
    assert!(
        answer.sentence.starts_with("deployment/web is not done after 33m20s: 0 of 2"),
        "{}",
        answer.sentence
    );
}

#[test]
fn a_revision_that_changes_is_said_and_followed() {
    let mut world = rolling(1, &[waits(pod("new2", 1, 0), "ImagePullBackOff", 0)]);
    assert!(world.goes_on(1..110));
    // It is rolled back: the ReplicaSet of before has the newest number now.
    let mut back = deployment(
        5,
        json!({}),
        json!({"replicas": 2, "updatedReplicas": 1, "availableReplicas": 1}),
    );
    back["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!("3");
    let revisions = [replica_set("old1", "3"), replica_set("new2", "2")];
    world.object(&back).revisions(&revisions);
    assert!(world.goes_on(110..400));
    let answer = world.look(400).answer;
    assert!(
        answer.line().contains("revision old1 has taken the place of new2"),
        "{}",
        answer.line()
    );
    assert_eq!(answer.problems, []);
    back["status"] = json!({"observedGeneration": 5, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
    let new = ready(pod("old1", 2, 390), 399);
    world.gone(401, &pod("new2", 1, 0)).pod(401, &new).object(&back);
    let (second, outcome, sentence) = world.ends(401..410).unwrap();
    assert_eq!((second, outcome), (401, TargetOutcome::Done));
    assert!(sentence.contains("revision old1 took the place of new2 meanwhile"), "{sentence}");
}

#[test]
fn an_object_that_is_deleted_fails_and_one_that_was_never_there_is_absent() {
    let mut world = rolling(1, &[]);
    let object = to_raw_value(&deployment(4, json!({}), json!({}))).unwrap();
    world.wait.take_object(&ObjectNews::Deleted(object)).unwrap();
    let (_, outcome, sentence) = world.ends(2..3).unwrap();
    assert_eq!(outcome, TargetOutcome::Failed);
    assert!(sentence.contains("deployment/web has failed after 2s: it was deleted"), "{sentence}");
    // So does one that a list after a gap does not have, or that has another UID.
    let mut world = rolling(1, &[]);
    world.wait.take_object(&ObjectNews::Listed(Vec::new())).unwrap();
    assert_eq!(world.outcome(2), TargetOutcome::Failed);
    let mut world = rolling(1, &[]);
    let mut other = deployment(1, json!({}), json!({}));
    other["metadata"]["uid"] = json!("other");
    world.object(&other);
    assert_eq!(world.outcome(2), TargetOutcome::Failed);

    let mut world = World::new("deploy/web");
    assert!(!world.look(1).is_absent);
    world.wait.take_object(&ObjectNews::Listed(Vec::new())).unwrap();
    let look = world.look(1);
    assert!(look.is_absent && look.answer.outcome == TargetOutcome::Waiting);
    world.object(&deployment(1, json!({}), json!({})));
    assert!(!world.look(2).is_absent);
}

#[test]
fn without_the_right_to_read_revisions_the_youngest_is_the_new_one() {
    let refused = || ObjectNews::Unread(ApiError::new(ApiErrorKind::Forbidden, "HTTP 403: no"));
    let mut world = rolling(1, &[waits(pod("new2", 1, 0), "ImagePullBackOff", 0)]);
    world.wait.take_revisions(ObjectNews::Listed(Vec::new()));
    world.wait.take_revisions(refused());
    let answer = world.look(2).answer;
    assert_eq!((answer.pods.ready, answer.pods.old), (0, 1));
    assert!(
        answer.notes[0].starts_with("the ReplicaSets cannot be read, so the youngest revision"),
        "{answer:?}"
    );
    assert_eq!(world.ends(2..900).unwrap().0, 121);
}

fn stateful_set(spec: Value, status: Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "db", "namespace": "shop", "uid": "s", "generation": 2},
        "spec": {"replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "template": {"metadata": {}, "spec": {"containers": []}}},
        "status": {"observedGeneration": 2, "replicas": 3, "readyReplicas": 3, "currentRevision": "db-1",
            "updateRevision": "db-2"},
    });
    merge(&mut object["spec"], spec);
    merge(&mut object["status"], status);
    object
}

#[test]
fn a_stateful_set_is_done_as_its_strategy_says() {
    let progress = |spec, status| {
        let object = stateful_set(spec, status).to_string();
        let object = WorkloadObject::parse(WorkloadKind::StatefulSet, &object).unwrap();
        let standing = object.standing;
        (standing.progress, standing.note.unwrap_or_default())
    };
    let rolled = |partition| json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}});
    let going = |text: &str| (RolloutProgress::Going(text.to_owned()), String::new());
    assert_eq!(
        progress(json!({}), json!({"updatedReplicas": 2})),
        going("2 of 3 pods of the new revision are there")
    );
    assert_eq!(progress(json!({}), json!({"readyReplicas": 2})), going("2 of 3 pods are ready"));
    assert_eq!(
        progress(json!({}), json!({"updatedReplicas": 3})),
        (RolloutProgress::Done, String::new())
    );
    // The pods behind the partition are those with a number at least as great.
    assert_eq!(
        progress(rolled(2), json!({"updatedReplicas": 1})),
        (RolloutProgress::Done, "2 pods are of an older revision (partition 2)".to_owned())
    );
    assert_eq!(
        progress(rolled(2), json!({"updatedReplicas": 0})),
        going("0 of 1 pod of the new revision are there")
    );
    let on_delete = || json!({"updateStrategy": {"type": "OnDelete"}});
    assert_eq!(
        progress(on_delete(), json!({"updatedReplicas": 1})),
        (
            RolloutProgress::Done,
            "2 pods are of an older revision, until somebody deletes them (OnDelete)".to_owned()
        )
    );
    assert_eq!(progress(on_delete(), json!({"readyReplicas": 1})), going("1 of 3 pods are ready"));
    assert_eq!(
        progress(json!({"replicas": 0}), json!({"readyReplicas": 0})),
        (RolloutProgress::Done, String::new())
    );
    assert_eq!(
        progress(json!({}), json!({"observedGeneration": 1})).0,
        RolloutProgress::Unobserved
    );
    assert_eq!(
        progress(json!({}), json!({"observedGeneration": 0})).0,
        RolloutProgress::Unobserved
    );
}

#[test]
fn the_new_pods_of_a_stateful_set_are_those_of_its_update_revision() {
    let of = |hash: &str, number: u32, second| {
        let labels = json!({"controller-revision-hash": hash, "app": "db"});
        pod_of(("StatefulSet", "db"), labels, &format!("db-{number}"), second)
    };
    let mut world = World::new("sts/db");
    world.object(&stateful_set(json!({}), json!({"updatedReplicas": 1, "readyReplicas": 2})));
    let old = ready(of("db-1", 0, -100), -90);
    world.list(
        1,
        &[
            old.clone(),
            ready(of("db-1", 1, -100), -90),
            waits(of("db-2", 2, 0), "ImagePullBackOff", 0),
        ],
    );
    let answer = world.look(2).answer;
    assert_eq!((answer.pods.wanted, answer.pods.ready, answer.pods.old), (3, 0, 2));
    assert_eq!(answer.revision.as_deref(), Some("db-2"));
    assert_eq!(world.ends(2..900).unwrap().0, 121);
}

#[test]
fn a_daemon_set_is_done_where_no_node_wants_it_and_follows_its_newest_revision() {
    let object = |strategy: &str, status: Value| {
        let mut object = json!({
            "metadata": {"name": "log", "namespace": "shop", "uid": "l", "generation": 2},
            "spec": {"selector": {"matchLabels": {"app": "log"}}, "updateStrategy": {"type": strategy},
                "template": {"metadata": {}, "spec": {"containers": []}}},
            "status": {"observedGeneration": 2, "currentNumberScheduled": 2, "desiredNumberScheduled": 2,
                "numberMisscheduled": 0, "numberReady": 2, "numberAvailable": 2, "updatedNumberScheduled": 1},
        });
        merge(&mut object["status"], status);
        object
    };
    let revision = |name: &str, number: i64| {
        json!({"revision": number, "metadata": {"name": name,
        "labels": {"controller-revision-hash": name},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "log", "uid": "l", "controller": true}]}})
    };
    let of = |hash: &str, number: u32, second| {
        let labels = json!({"controller-revision-hash": hash});
        pod_of(("DaemonSet", "log"), labels, &format!("log-{number}"), second)
    };
    let mut world = World::new("ds/log");
    world.object(&object("RollingUpdate", json!({})));
    world.revisions(&[revision("a", 1), revision("b", 2)]);
    world.list(1, &[ready(of("a", 1, -100), -90), waits(of("b", 2, 0), "ImagePullBackOff", 0)]);
    let answer = world.look(2).answer;
    assert_eq!((answer.pods.ready, answer.pods.old), (0, 1));
    assert_eq!(world.ends(2..900).unwrap().0, 121);

    let mut world = World::new("ds/log");
    world.object(&object("OnDelete", json!({}))).list(1, &[]);
    let (_, outcome, sentence) = world.ends(1..10).unwrap();
    assert_eq!(outcome, TargetOutcome::Done);
    assert!(
        sentence.contains("1 pod is of an older revision, until somebody deletes them (OnDelete)"),
        "{sentence}"
    );

    let mut world = World::new("ds/log");
    let none = json!({"desiredNumberScheduled": 0, "currentNumberScheduled": 0, "numberReady": 0, "numberAvailable": 0,
        "updatedNumberScheduled": 0});
    world.object(&object("RollingUpdate", none)).list(1, &[]);
    let (_, outcome, sentence) = world.ends(1..10).unwrap();
    assert_eq!(outcome, TargetOutcome::Done);
    assert_eq!(sentence, "daemonset/log is rolled out after 1s: it wants no pods.");
}

#[test]
fn a_pod_is_followed_by_name() {
    let of = |uid: &str, second| {
        let mut pod = pod_of(
            ("StatefulSet", "db"),
            json!({"controller-revision-hash": "db-1"}),
            "db-0",
            second,
        );
        pod["metadata"]["uid"] = json!(uid);
        pod
    };
    let mut world = World::new("pod/db-0");
    assert!(!world.look(0).is_absent);
    world.list(1, &[of("a", 0)]);
    assert_eq!(world.outcome(2), TargetOutcome::Waiting);
    // Another one takes its place.
    world.gone(3, &of("a", 0));
    let look = world.look(4);
    assert_eq!((look.answer.outcome, look.is_absent), (TargetOutcome::Waiting, false));
    world.pod(5, &of("b", 5)).pod(9, &ready(of("b", 5), 9));
    let (second, _, sentence) = world.ends(9..20).unwrap();
    assert_eq!(
        (second, &*sentence),
        (
            9,
            "pod/db-0 is ready after 9s: 1 of 1 pod ready; the slowest, db-0, took 4s, of which 4s in containers."
        )
    );

    let mut failed = of("c", 0);
    failed["status"]["phase"] = json!("Failed");
    let mut world = World::new("pod/db-0");
    world.list(1, &[failed]);
    assert_eq!(world.outcome(2), TargetOutcome::Failed);
    // Nobody makes another one.
    let mut bare = of("d", 0);
    bare["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    let mut world = World::new("pod/db-0");
    world.list(1, &[bare.clone()]).gone(2, &bare);
    let (_, outcome, sentence) = world.ends(2..3).unwrap();
    assert_eq!(outcome, TargetOutcome::Failed);
    assert!(sentence.contains("it was deleted"), "{sentence}");
    let mut world = World::new("pod/db-0");
    world.list(1, &[]);
    assert!(world.look(2).is_absent);
}

#[test]
fn with_a_selector_so_many_pods_of_one_revision_each_are_done() {
    let target = WaitTarget::Selected { selector: "app=web".to_owned(), pods: 2 };
    let mut world = World::of(target);
    let old = ready(pod("old1", 1, -100), -90);
    world.list(1, &[old.clone(), ready(pod("new2", 1, 0), 5)]);
    assert_eq!(world.outcome(5), TargetOutcome::Waiting);
    assert!(world.look(5).answer.line().contains("pods of an older revision are left"));
    world.pod(6, &ending(old, 36));
    assert_eq!(world.outcome(6), TargetOutcome::Waiting);
    world.pod(7, &ready(pod("new2", 2, 0), 7));
    let (second, outcome, sentence) = world.ends(7..10).unwrap();
    assert_eq!((second, outcome), (7, TargetOutcome::Done));
    assert!(
        sentence.starts_with("2 pods with app=web are ready after 7s: 2 of 2 pods ready"),
        "{sentence}"
    );
    // Those of another workload may be of another revision.
    let other =
        pod_of(("StatefulSet", "db"), json!({"controller-revision-hash": "db-1"}), "db-0", 0);
    world.pod(8, &ready(other, 8));
    assert_eq!(world.outcome(8), TargetOutcome::Done);
}

#[test]
fn pods_of_others_that_the_selector_matches_do_not_count() {
    let mut world = rolling(1, &[]);
    let other =
        pod_of(("ReplicaSet", "shop-new2"), json!({"pod-template-hash": "new2"}), "shop-new2-1", 0);
    world.pod(2, &ready(other, 2));
    let answer = world.look(3).answer;
    assert_eq!((answer.pods.ready, answer.pods.old), (0, 1));
}

#[test]
fn a_replica_set_has_one_revision() {
    let object = |available: i32| {
        json!({
            "metadata": {"name": "web-new2", "namespace": "shop", "uid": "r", "generation": 1},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"pod-template-hash": "new2"}},
                "template": {"metadata": {}, "spec": {"containers": []}}},
            "status": {"observedGeneration": 1, "replicas": 1, "availableReplicas": available},
        })
    };
    let mut world = World::new("rs/web-new2");
    world.object(&object(0)).list(1, &[pod("new2", 1, 0)]);
    assert_eq!(world.outcome(2), TargetOutcome::Waiting);
    world.pod(9, &ready(pod("new2", 1, 0), 9)).object(&object(1));
    let (second, outcome, _) = world.ends(9..20).unwrap();
    assert_eq!((second, outcome), (9, TargetOutcome::Done));
}
