//! What `podinit explain` says by the status of a pod alone: of pods that had ended when they were first seen,
//! of static pods, and of what a pod is compared with.

use serde_json::{Value, json};

use crate::explain::recordings::{explained, pod, podinit};

/// Pods of a real cluster.
const FINISHED: &str = "tests/fixtures/finished.yaml";

fn at(second: u32) -> String {
    format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60)
}

fn json_of(name: &str, input: &str) -> Value {
    serde_json::from_str(&explained(&["-o", "json", name], input)).unwrap()
}

fn list(pods: &[Value]) -> String {
    json!({"kind": "PodList", "items": pods}).to_string()
}

/// A pod that had ended, with statuses of its containers. Another one moves the time of the list two hours on.
fn ended(phase: &str, status: Value) -> String {
    let mut one = pod("web-1", &[("PodScheduled", 0)], json!({}));
    one["status"] = status;
    one["status"]["phase"] = json!(phase);
    one["status"]["startTime"] = json!(at(1));
    one["status"]["conditions"] = json!([
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(0)},
        {"type": "PodReadyToStartContainers", "status": "False", "lastTransitionTime": at(8)},
        {"type": "Ready", "status": "False", "lastTransitionTime": at(8), "reason": "PodFailed"},
    ]);
    let mut late = pod("late", &[], json!({}));
    late["metadata"]["creationTimestamp"] = json!("2026-03-01T12:00:00Z");
    list(&[one, late])
}

fn terminated(container: &str, code: i32, reason: &str, from: u32, to: u32) -> Value {
    json!({"name": container, "state": {"terminated": {
        "exitCode": code, "reason": reason, "startedAt": at(from), "finishedAt": at(to),
    }}})
}

#[test]
fn a_pod_that_had_ended_says_what_its_status_says() {
    let killed = terminated("app", 137, "OOMKilled", 2, 8);
    let explanation = json_of("web-1", &ended("Failed", json!({"containerStatuses": [killed]})));
    assert_eq!(
        explanation["verdict"],
        "Ended as failed after 8s: container app exited with code 137 after 6s (OOMKilled)."
    );
    assert_eq!(explanation["causes"], json!([]));
    let doubt = explanation["doubts"][0].as_str().unwrap();
    assert!(doubt.contains("had ended before it was first seen"), "{doubt}");
    assert_eq!(
        explanation["containers"][0]["ended"],
        json!({"exit_code": 137, "signal": null, "reason": "OOMKilled", "message": null, "restarts": 0})
    );
    let parts: Vec<_> = (explanation["parts"].as_array().unwrap().iter())
        .map(|part| (part["part"].as_str().unwrap(), part["seconds"].as_f64().unwrap()))
        .collect();
    assert_eq!(parts, [("running", 6.0), ("network or image pull", 2.0)]);
    let rows: Vec<_> = (explanation["rows"].as_array().unwrap().iter())
        .map(|row| (row["label"].as_str().unwrap(), row["is_open"].as_bool().unwrap()))
        .collect();
    assert_eq!(
        rows,
        [("before binding", false), ("run app", false)],
        "nothing is open of a pod that has ended: {explanation:#}"
    );
}

#[test]
fn an_init_container_that_failed_is_named_with_its_signal_and_message() {
    let mut migrate = terminated("migrate", 139, "Error", 2, 8);
    migrate["state"]["terminated"]["signal"] = json!(11);
    migrate["restartCount"] = json!(2);
    migrate["state"]["terminated"]["message"] = json!("no such \u{1b}[31mtable\n");
    let waiting = json!({"name": "app", "state": {"waiting": {"reason": "PodInitializing"}}});
    let status = json!({"initContainerStatuses": [migrate], "containerStatuses": [waiting]});
    let mut documents: Value = serde_json::from_str(&ended("Failed", status)).unwrap();
    documents["items"][0]["spec"]["initContainers"] = json!([{"name": "migrate"}]);
    let text = explained(&["web-1"], &documents.to_string());
    assert!(!text.contains('\u{1b}'), "{text}");
    let sentence = text.lines().nth(1).unwrap();
    assert!(
        sentence.starts_with(
            "Ended as failed after 8s: init container migrate exited with code 139 by signal 11 after 6s after 2 restarts: no such "
        ),
        "{sentence}"
    );
}

#[test]
fn the_pod_itself_may_say_why_it_ended() {
    let evicted = json!({
        "reason": "Evicted",
        "message": "The node was low on resource: memory. ",
        "containerStatuses": [terminated("app", 137, "Error", 2, 62)],
    });
    assert_eq!(
        json_of("web-1", &ended("Failed", evicted))["verdict"],
        "Ended as disrupted after 62s: Evicted (The node was low on resource: memory.); \
         container app exited with code 137 after 60s."
    );
    let message = "Pod was rejected: Node didn't have enough resource: cpu";
    let rejected = json!({"reason": "OutOfcpu", "message": message});
    let explanation = json_of("web-1", &ended("Failed", rejected));
    assert_eq!(
        explanation["verdict"],
        format!(
            "Rejected by the kubelet after 8s, at 2026-03-01 10:00:08.000 UTC: OutOfcpu ({message})."
        )
    );
}

/// A pod whose container ran for 6 s and failed, watched from its beginning.
pub fn failed() -> Vec<Value> {
    let bound = [("PodScheduled", 0), ("PodReadyToStartContainers", 2)];
    let waits = json!({"waiting": {"reason": "ContainerCreating"}});
    let mut state = terminated("app", 1, "Error", 3, 9)["state"].clone();
    state["terminated"]["message"] = json!("no such table");
    let mut last = pod("web-1", &bound, state);
    last["status"]["phase"] = json!("Failed");
    vec![
        json!({"kind": "PodList", "items": []}),
        json!({"type": "ADDED", "object": pod("web-1", &bound, waits)}),
        json!({"type": "MODIFIED", "object": last}),
    ]
}

/// What was seen of its waits stays.
#[test]
fn a_pod_that_was_watched_to_its_end_has_both() {
    let explanation = json_of("web-1", &crate::explain::recordings::recording(&failed()));
    let verdict = explanation["verdict"].as_str().unwrap();
    let waited = "Ended as failed after 9s, without becoming ready, last in containers, cause ";
    let ended = ": container app exited with code 1 after 6s: no such table.";
    assert!(verdict.starts_with(waited) && verdict.ends_with(ended), "{verdict}");
    assert_eq!(explanation["doubts"], json!([]));
}

#[test]
fn pods_of_a_real_cluster() {
    let input = std::fs::read_to_string(FINISHED).unwrap();
    let verdict = |name: &str| json_of(name, &input)["verdict"].clone();
    assert_eq!(
        verdict("e2e-failjob-49k44"),
        "Ended as failed after 5s: container main exited with code 42 after 5s."
    );
    assert_eq!(
        verdict("e2e-cronjob-29371395-rwx6j"),
        "Ended as completed after 20s: container compute-pi-digits exited with code 0 after 20s."
    );
    let output = podinit(&["etcd-datagen-1-31"], &input);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("is a static pod, not measured"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
}

#[test]
fn the_next_command_asks_for_what_the_message_misses() {
    let message = r#"secret "database" not found"#;
    let problem = json!({"waiting": {"reason": "CreateContainerConfigError", "message": message}});
    let bound = [("PodScheduled", 0), ("PodReadyToStartContainers", 2)];
    let regular = pod("web-1", &bound, problem.clone());
    let mut init = pod("web-1", &bound, json!({"waiting": {"reason": "PodInitializing"}}));
    init["spec"]["initContainers"] = json!([{"name": "migrate"}]);
    init["status"]["initContainerStatuses"] = json!([{"name": "migrate", "state": problem}]);
    for pod in [regular, init] {
        let next = json_of("web-1", &list(&[pod]))["next"].clone();
        assert!(next.as_str().unwrap().ends_with(" get secret database"), "{next}");
    }
}

/// A ready pod whose network was ready at second 2 and whose container started at another.
fn ready(name: &str, started: u32, ready: u32) -> Value {
    let conditions = [
        ("PodScheduled", 0),
        ("PodReadyToStartContainers", 2),
        ("ContainersReady", ready),
        ("Ready", ready),
    ];
    pod(name, &conditions, json!({"running": {"startedAt": at(started)}}))
}

#[test]
fn a_pod_is_compared_with_the_other_ready_pods() {
    let alone = list(&[ready("web-1", 10, 40)]);
    let explanation = json_of("web-1", &alone);
    assert_eq!(explanation["fleet"], 0);
    assert_eq!(explanation["rows"][0]["p50_seconds"], Value::Null);
    // One that is in flight has been scheduled, and one has completed.
    let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
    let in_flight = pod("web-3", &[("PodScheduled", 50)], waiting.clone());
    let mut completed = pod("web-4", &[("PodScheduled", 50)], waiting);
    completed["status"]["phase"] = json!("Succeeded");
    let others = list(&[ready("web-1", 10, 40), ready("web-2", 10, 20), in_flight, completed]);
    let explanation = json_of("web-1", &others);
    assert_eq!(explanation["fleet"], 1);
    let rows = explanation["rows"].as_array().unwrap();
    let median = |label: &str| {
        let row = rows.iter().find(|row| row["label"] == label);
        row.unwrap()["p50_seconds"].as_f64().unwrap()
    };
    assert_eq!(median("before binding"), 0.0);
    assert!((17.9..18.1).contains(&median("containers")), "{rows:#?}");
}

/// A kubelet up to 1.35 says so late that the network was ready that the pull of the image lies in it.
#[test]
fn a_condition_that_cannot_tell_network_from_pulls_does_not() {
    let explanation = json_of("web-1", &list(&[ready("web-1", 2, 4)]));
    assert_eq!(
        explanation["verdict"],
        "Ready after 4s: half network or image pull, half application."
    );
    let explanation = json_of("web-1", &list(&[ready("web-1", 3, 4)]));
    let verdict = explanation["verdict"].as_str().unwrap();
    assert!(verdict.contains("half network,"), "{verdict}");
}

/// A new UID under an old name is a new pod.
#[test]
fn a_pod_that_was_created_anew_does_not_inherit_a_lost_startup() {
    let mut restarted = ready("db-0", 10, 20);
    restarted["status"]["containerStatuses"][0]["restartCount"] = json!(2);
    let mut anew = ready("db-0", 10, 20);
    anew["metadata"]["uid"] = json!("another");
    let documents = [
        json!({"kind": "PodList", "items": [restarted]}),
        json!({"type": "DELETED", "object": restarted}),
        json!({"type": "ADDED", "object": anew}),
    ];
    let explanation = json_of("db-0", &crate::explain::recordings::recording(&documents));
    assert_eq!(explanation["doubts"], json!([]));
    assert_eq!(explanation["state"], "ready");
}

/// What is restarted after podinit saw it start up has lost nothing.
#[test]
fn a_restart_that_a_later_list_shows_is_no_doubt() {
    let mut restarted = ready("db-0", 10, 20);
    restarted["status"]["containerStatuses"][0]["restartCount"] = json!(2);
    let documents = [
        json!({"kind": "PodList", "items": []}),
        json!({"type": "ADDED", "object": ready("db-0", 10, 20)}),
        json!({"kind": "PodList", "items": [restarted]}),
    ];
    let explanation = json_of("db-0", &crate::explain::recordings::recording(&documents));
    assert_eq!(explanation["doubts"], json!([]));
}

/// The kubelet's clock is three seconds behind that of the API server.
#[test]
fn no_step_is_shown_longer_than_its_stage() {
    let mut skewed = ready("web-1", 10, 40);
    skewed["metadata"]["creationTimestamp"] = json!(at(1));
    skewed["status"]["startTime"] = json!(at(1));
    skewed["status"]["conditions"][0]["lastTransitionTime"] = json!(at(4));
    skewed["status"]["conditions"][1]["lastTransitionTime"] = json!(at(5));
    let explanation = json_of("web-1", &list(&[skewed]));
    let rows = explanation["rows"].as_array().unwrap();
    let row = |label: &str| rows.iter().find(|row| row["label"] == label).unwrap();
    let (stage, step) = (row("network"), row("sandbox"));
    assert_eq!(stage["seconds"], json!(1.0));
    assert_eq!(step["seconds"], json!(1.0), "{step:#}");
    for bound in ["from_seconds", "to_seconds"] {
        assert_eq!(step[bound], stage[bound], "{bound}");
    }
    let said = step["uncertain"].as_str().unwrap();
    assert!(said.starts_with("cut to its stage"), "{said}");
}

/// Half a period of 20 s is more than a tenth of 20 s, and twice 20 s are less than a minute.
#[test]
fn five_startups_say_which_probes_to_change() {
    let pods = |count| {
        let pods = (0..count).map(|number| ready(&format!("web-{number}"), 10, 30));
        list(&pods.collect::<Vec<_>>())
    };
    assert_eq!(json_of("web-0", &pods(4))["probes"], json!([]));
    let explanation = json_of("web-0", &pods(5));
    let advice = &explanation["probes"][0];
    assert_eq!(
        advice["set"],
        json!({"startupProbe.failureThreshold": 60, "startupProbe.periodSeconds": 1})
    );
    let sentence = advice["findings"][0][1].as_str().unwrap();
    assert!(sentence.contains("5 startups"), "{sentence}");
}

/// A container that crashes: what its status says is in the verdict, and in the message.
#[test]
fn a_crash_says_its_exit_code_its_restarts_and_its_last_line() {
    let mut crashing = pod(
        "web-1",
        &[("PodScheduled", 0), ("PodReadyToStartContainers", 2), ("Initialized", 2)],
        json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed"}}),
    );
    let status = &mut crashing["status"]["containerStatuses"][0];
    status["restartCount"] = json!(3);
    status["lastState"] = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled",
        "message": "loading\nfatal: no memory\n", "startedAt": at(2), "finishedAt": at(8)}});
    let explanation = json_of("web-1", &list(&[crashing]));
    let verdict = explanation["verdict"].as_str().unwrap();
    let said = "cause crash: OOMKilled, exit code 137, 3 restarts: fatal: no memory.";
    assert!(verdict.ends_with(said), "{verdict}");
    let message = explanation["message"].as_str().unwrap();
    assert!(message.starts_with("back-off 40s"), "{message}");
}

#[test]
fn without_a_pod_the_worst_startups_are_listed() {
    let mut pods: Vec<_> = (0..12).map(|n| ready(&format!("quick-{n:02}"), 1, 2 + n)).collect();
    let waiting = json!({"waiting": {"reason": "ErrImagePull", "message": "connection refused"}});
    pods.push(pod("waits", &[("PodScheduled", 0)], waiting));
    let crowd = list(&pods);
    let found: Value = serde_json::from_str(&explained(&["--output", "json"], &crowd)).unwrap();
    let worst = found["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 10);
    let seconds: Vec<f64> = worst.iter().map(|one| one["seconds"].as_f64().unwrap()).collect();
    assert!(seconds.is_sorted_by(|one, next| one >= next), "{seconds:?}");
    let names: Vec<_> = worst.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"quick-11") && !names.contains(&"quick-00"), "{names:?}");
    let text = explained(&[], &crowd);
    assert_eq!(text.lines().count(), 13, "{text}");
    let only = explained(&["-n", "no-such"], &crowd);
    assert_eq!(only, "No startup is known.\n\nAs of 2026-03-01T10:00:13Z\n");
    let real = std::fs::read_to_string(FINISHED).unwrap();
    let text = explained(&[], &real);
    let failed = text.lines().find(|line| line.contains("e2e-failjob")).unwrap();
    assert!(failed.ends_with("container main exited with code 42 after 5s."), "{text}");
}
