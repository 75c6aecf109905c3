#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;

fn anonymizer() -> Anonymizer {
    Anonymizer::with_key([7; 32])
}

fn anonymous(document: Value) -> Value {
    anonymizer().document(&document)
}

#[test]
fn a_message_keeps_the_words_of_kubernetes_and_its_numbers() {
    let message = |text: &str| anonymizer().message(text);
    let kept = [
        "0/12 nodes are available: 3 Insufficient cpu, 9 node(s) had untolerated taint \
         {node.kubernetes.io/unreachable: }. preemption: 0/12 nodes are available: 12 Preemption is \
         not helpful for scheduling.",
        "back-off 5m0s restarting failed container",
    ];
    assert_eq!(message(kept[1]), kept[1]);
    assert!(message(kept[0]).starts_with(
        "0/12 nodes are available: 3 Insufficient cpu, 9 node(s) had untolerated taint \
         {node.kubernetes.io/unreachable: }. preemption:"
    ));
    let hidden = message("persistentvolumeclaim \"payroll-data\" not found at 10.1.2.3:443");
    assert!(hidden.starts_with("persistentvolumeclaim \"x"), "{hidden}");
    for secret in ["payroll", "10.1.2.3"] {
        assert!(!hidden.contains(secret), "{hidden}");
    }
}

#[test]
fn the_messages_of_pulls_keep_their_form() {
    let text = "Successfully pulled image \"registry.acme.example:5000/pay/roll:v7\" in 1.5s \
                (2.25s including waiting). Image size: 1234 bytes.";
    let hidden = anonymizer().message(text);
    assert!(
        hidden.starts_with("Successfully pulled image \"x"),
        "{hidden}"
    );
    assert!(hidden.ends_with("\" in 1.5s (2.25s including waiting). Image size: 1234 bytes."));
    assert!(
        !hidden.contains("acme") && !hidden.contains("roll"),
        "{hidden}"
    );
}

#[test]
fn an_image_keeps_its_form_and_a_public_registry_its_name() {
    let image = |text: &str| anonymizer().image(text);
    assert!(image("quay.io/acme/app:v1").starts_with("quay.io/x"));
    assert!(image("acme/app").starts_with('x'));
    let private = image("registry.acme.corp/app@sha256:abcd");
    assert!(
        private.contains(".example/x") && private.contains("@sha256:"),
        "{private}"
    );
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

#[test]
fn a_replica_set_keeps_the_form_that_shows_its_deployment() {
    let pod = |deployment: &str| {
        let pod = json!({"kind": "Pod", "metadata": {
            "name": "p", "uid": "u",
            "labels": {"pod-template-hash": "5d4f", "team": "billing"},
            "ownerReferences": [{
                "kind": "ReplicaSet", "name": format!("{deployment}-5d4f"), "controller": true,
            }],
        }});
        let pod = anonymous(pod);
        let hash = pod["metadata"]["labels"]["pod-template-hash"]
            .as_str()
            .unwrap()
            .to_owned();
        let owner = pod["metadata"]["ownerReferences"][0]["name"]
            .as_str()
            .unwrap();
        let deployment = owner
            .strip_suffix(&hash)
            .unwrap()
            .strip_suffix('-')
            .unwrap();
        deployment.to_owned()
    };
    assert_eq!(pod("web"), anonymizer().name("web"));
    assert_ne!(pod("web"), pod("shop"));
}

/// Whatever is not known to be needed is left out: annotations, environments, commands, addresses.
#[test]
fn only_what_podinit_reads_is_kept() {
    const SECRET: &str = "hunter2";
    let secrets = json!({"a": SECRET, SECRET: [SECRET]});
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1", "secret": secrets,
        "metadata": {
            "name": SECRET, "namespace": SECRET, "uid": SECRET, "labels": {SECRET: SECRET},
            "annotations": {"kubernetes.io/config.mirror": SECRET, SECRET: SECRET},
            "generateName": SECRET, "managedFields": [secrets], "finalizers": [SECRET],
            "ownerReferences": [{"kind": "Job", "name": SECRET, "uid": SECRET}],
        },
        "spec": {
            "nodeName": SECRET, "serviceAccountName": SECRET, "nodeSelector": {SECRET: SECRET},
            "schedulingGates": [{"name": SECRET}], "readinessGates": [{"conditionType": "a.b/hunter2"}],
            "schedulingGroup": {"podGroupName": SECRET},
            "containers": [{
                "name": SECRET, "image": SECRET, "env": [{"name": SECRET, "value": SECRET}],
                "command": [SECRET], "args": [SECRET],
                "readinessProbe": {"periodSeconds": 5, "httpGet": {"path": SECRET}},
            }],
            "volumes": [{"name": SECRET, "secret": {"secretName": SECRET}}],
        },
        "status": {
            "podIP": SECRET, "hostIP": SECRET, "message": SECRET, "nominatedNodeName": SECRET,
            "conditions": [{"type": "Ready", "status": "False", "message": SECRET}],
            "containerStatuses": [{
                "name": SECRET, "image": SECRET, "imageID": SECRET, "containerID": SECRET,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": SECRET}},
            }],
        },
    });
    let event = json!({
        "kind": "Event", "metadata": {"name": "hunter2.17f", "namespace": SECRET, "uid": SECRET},
        "involvedObject": {"kind": "Pod", "name": SECRET, "fieldPath": "spec.containers{hunter2}"},
        "message": SECRET, "note": SECRET, "related": secrets, "reason": "Pulled",
        "source": {"component": "kubelet", "host": SECRET}, "reportingInstance": SECRET,
    });
    for object in [pod, event] {
        let list = json!({"kind": "List", "metadata": {}, "items": [object], "secret": secrets});
        let watched = json!({"type": "ADDED", "object": object, "secret": secrets});
        for document in [object.clone(), list, watched] {
            let text = anonymous(document).to_string();
            assert!(!text.contains(SECRET), "{text}");
        }
    }
}

#[test]
fn an_event_stays_that_of_its_pod_and_container() {
    let event = anonymous(json!({
        "kind": "Event", "metadata": {"name": "web-0.18a2b3c4d5e6f708"},
        "involvedObject": {"kind": "Pod", "uid": "u", "fieldPath": "spec.containers{app}"},
        "reason": "Pulling",
    }));
    let anonymizer = anonymizer();
    let name = format!("{}.18a2b3c4d5e6f708", anonymizer.name("web-0"));
    assert_eq!(event["metadata"]["name"], name);
    assert_eq!(event["involvedObject"]["uid"], anonymizer.uid("u"));
    let path = format!("spec.containers{{{}}}", anonymizer.name("app"));
    assert_eq!(event["involvedObject"]["fieldPath"], path);
}
