#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;

fn anonymizer() -> Anonymizer {
    Anonymizer::with_key([7; 32])
}

fn anonymous(object: Value) -> Value {
    anonymizer().object(&object)
}

#[test]
fn an_image_keeps_its_form_and_a_public_registry_its_name() {
    let image = |text: &str| anonymizer().image(text);
    assert!(image("quay.io/acme/app:v1").starts_with("quay.io/x"));
    assert!(image("acme/app").starts_with('x'));
    let private = image("registry.acme.corp/app@sha256:abcd");
    assert!(private.contains(".example/x") && private.contains("@sha256:"), "{private}");
    assert!(!private.contains("acme"));
    let same = [image("registry.acme.corp/a"), image("registry.acme.corp/b")];
    let registries = same.each_ref().map(|image| image.split('/').next());
    assert_eq!(registries[0], registries[1]);
}

#[test]
fn the_same_name_becomes_the_same_hash_and_another_key_gives_others() {
    let one = anonymizer();
    assert_eq!(one.name("web"), one.name("web"));
    assert_ne!(one.name("web"), one.name("shop"));
    assert_ne!(one.name("web"), Anonymizer::with_key([8; 32]).name("web"));
    assert_eq!(one.name(""), "");
    assert_eq!(one.uid("u").len(), 36);
}

/// What a pod's controller is called by the decoder, of the recording as it was and without names.
fn workloads(label: &str, kind: &str, name: &str) -> [String; 2] {
    let pod = json!({"kind": "Pod", "metadata": {
        "name": "p", "uid": "u", "labels": {label: "5d4f", "team": "billing"},
        "ownerReferences": [{"kind": kind, "name": name, "controller": true}],
    }});
    [pod.clone(), anonymous(pod)].map(|pod| {
        let options = podinit_decode::DecodeOptions { workload: true, ..Default::default() };
        let list = json!({"kind": "PodList", "items": [pod]}).to_string();
        let mut decoder = podinit_decode::PodDecoder::new(options);
        let pods = decoder.list_page(list.as_bytes()).unwrap().pods;
        pods[0].info.workload.as_ref().unwrap().to_string()
    })
}

#[test]
fn an_owner_keeps_the_form_that_shows_its_workload() {
    for (label, kind, name, lasting, prefix) in [
        ("pod-template-hash", "ReplicaSet", "web-5d4f", "web", "Deployment/"),
        ("acme.io/pod-template-hash", "ReplicaSet", "web-5d4f", "web", "Deployment/"),
        ("rollouts-pod-template-hash", "ReplicaSet", "web-5d4f", "web", "Rollout/"),
        ("acme-pod-template-hash", "ReplicaSet", "web-5d4f", "web", "ReplicaSet/"),
        ("app", "ReplicaSet", "web-5d4f", "web-5d4f", "ReplicaSet/"),
        ("app", "Job", "sync-29919480", "sync", "CronJob/"),
        ("app", "Workflow", "sync-1795168800", "sync", "CronWorkflow/"),
        ("app", "Job", "train-x7k2p-workers-0", "train-workers-0", "Job/"),
        ("app", "Job", "sync", "sync", "Job/"),
        ("app", "StatefulSet", "app-mssql", "app-mssql", "StatefulSet/"),
    ] {
        let [known, anonymous] = workloads(label, kind, name);
        assert_eq!(known, format!("{prefix}{lasting}"));
        assert_eq!(anonymous, format!("{prefix}{}", anonymizer().name(lasting)), "{name}");
    }
}

#[test]
fn pods_of_one_revision_are_of_one_without_names_too() {
    let revision = |label: &str, kind: &str, value: &str| {
        let pod = json!({"kind": "Pod", "metadata": {
            "name": "p", "namespace": "shop", "uid": "u", "labels": {label: value},
            "ownerReferences": [{"kind": kind, "name": "web-5d4f", "controller": true}],
        }});
        let list = json!({"kind": "PodList", "items": [anonymous(pod)]}).to_string();
        let mut decoder = podinit_decode::PodDecoder::new(podinit_decode::DecodeOptions::default());
        decoder.list_page(list.as_bytes()).unwrap().pods[0].revision
    };
    for (label, kind) in [
        ("pod-template-hash", "ReplicaSet"),
        ("rollouts-pod-template-hash", "ReplicaSet"),
        ("controller-revision-hash", "DaemonSet"),
    ] {
        assert!(revision(label, kind, "5d4f").is_some());
        assert_eq!(revision(label, kind, "5d4f"), revision(label, kind, "5d4f"));
        assert_ne!(revision(label, kind, "5d4f"), revision(label, kind, "5d40"));
    }
    assert_eq!(revision("app", "DaemonSet", "5d4f"), None);
}

#[test]
fn an_event_stays_that_of_its_pod_and_container() {
    let event = |name: &str, first: &str| {
        anonymous(json!({
            "kind": "Event", "metadata": {"name": name}, "firstTimestamp": first,
            "involvedObject": {"kind": "Pod", "uid": "u", "fieldPath": "spec.containers{app}"},
            "reason": "Pulling", "reportingComponent": "kubelet", "source": {"component": "acme"},
        }))
    };
    let anonymizer = anonymizer();
    // 0x18a2b3c4d5e6f708 ns lie in this second.
    let first = "2026-04-03T01:14:21Z";
    let kept = event("web-0.18a2b3c4d5e6f708", first);
    let name = format!("{}.18a2b3c4d5e6f708", anonymizer.name("web-0"));
    assert_eq!(kept["metadata"]["name"], name);
    assert_eq!(kept["involvedObject"]["uid"], anonymizer.uid("u"));
    let path = format!("spec.containers{{{}}}", anonymizer.name("app"));
    assert_eq!(kept["involvedObject"]["fieldPath"], path);
    assert_eq!(kept["reportingComponent"], "kubelet");
    assert_eq!(kept["source"]["component"], anonymizer.name("acme"));
    for (name, first) in [
        ("web-0.18a2b3c4d5e6f708", "2026-04-03T01:14:22Z"),
        ("web-0.deadbeefcafe", first),
        ("web-0.deadbeefcafe", ""),
        ("deadbeefcafe", first),
    ] {
        assert_eq!(event(name, first)["metadata"]["name"], anonymizer.name(name));
    }
}

#[test]
fn a_list_that_continues_still_says_so() {
    let list = |metadata: Value| {
        let shell = json!({"kind": "PodList", "apiVersion": "v1", "metadata": metadata});
        anonymizer().shell(&shell)["metadata"].clone()
    };
    let page = list(json!({"continue": "eyJ2IjoibWV0YSJ9", "resourceVersion": "17"}));
    assert_eq!(page["resourceVersion"], "17");
    assert_eq!(page["continue"], anonymizer().name("eyJ2IjoibWV0YSJ9"));
    assert_eq!(list(json!({"continue": ""})), json!({"continue": ""}));
    assert_eq!(
        list(json!({"resourceVersion": "web"}))["resourceVersion"],
        anonymizer().name("web")
    );
}

/// What is not of Kubernetes is the name of somebody's software.
#[test]
fn the_words_of_others_are_hashed() {
    let hashed = |word: &str| Value::from(anonymizer().name(word));
    let pod = anonymous(json!({
        "metadata": {"ownerReferences": [
            {"apiVersion": "pay.acme.io/v1", "kind": "Payroll", "name": "p"},
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": true},
        ]},
        "spec": {
            "readinessGates": [{"conditionType": "AcmeReady"}], "volumes": [{"acme": {}}, 7],
            "runtimeClassName": "acme", "priorityClassName": "system-node-critical",
            "schedulerName": "default-scheduler",
        },
        "status": {
            "phase": "Acme", "reason": "Evicted",
            "conditions": [
                {"type": "AcmeReady", "status": "False", "reason": "AcmeDown"},
                {"type": "Ready", "status": "True", "reason": "PodCompleted"},
            ],
        },
    }));
    let owners = &pod["metadata"]["ownerReferences"];
    assert_eq!(owners[0]["apiVersion"], hashed("pay.acme.io/v1"));
    assert_eq!(owners[0]["kind"], hashed("Payroll"));
    assert_eq!(
        (&owners[1]["apiVersion"], &owners[1]["kind"], &owners[1]["controller"]),
        (&json!("apps/v1"), &json!("ReplicaSet"), &json!(true))
    );
    let conditions = &pod["status"]["conditions"];
    assert_eq!(conditions[0]["type"], hashed("AcmeReady"));
    assert_eq!(conditions[0]["type"], pod["spec"]["readinessGates"][0]["conditionType"]);
    assert_eq!(conditions[0]["reason"], hashed("AcmeDown"));
    assert_eq!(
        (&conditions[1]["type"], &conditions[1]["reason"]),
        (&json!("Ready"), &json!("PodCompleted"))
    );
    assert_eq!(pod["status"]["phase"], hashed("Acme"));
    assert_eq!(pod["status"]["reason"], "Evicted");
    let source = anonymizer().name("acme");
    assert_eq!(pod["spec"]["volumes"], json!([{source: {}}, null]));
    assert_eq!(pod["spec"]["runtimeClassName"], hashed("acme"));
    assert_eq!(pod["spec"]["priorityClassName"], "system-node-critical");
    assert_eq!(pod["spec"]["schedulerName"], "default-scheduler");
    let of_others = json!({"priorityClassName": "acme", "schedulerName": "acme"});
    let spec = &anonymous(json!({"kind": "Pod", "spec": of_others}))["spec"];
    assert_eq!([&spec["priorityClassName"], &spec["schedulerName"]], [&hashed("acme"); 2]);
}

#[test]
fn a_value_of_another_type_than_its_field_has_is_left_out() {
    let pod = anonymous(json!({
        "metadata": {"name": {"a": "b"}, "uid": 7, "labels": ["a"], "ownerReferences": {"a": "b"}},
        "spec": {"hostNetwork": "yes", "containers": ["a", {"name": ["b"]}], "schedulingGates": [7]},
        "status": "fine",
    }));
    let kept = json!({
        "metadata": {},
        "spec": {"containers": [null, {}], "schedulingGates": [null]},
    });
    assert_eq!(pod, kept);
}
