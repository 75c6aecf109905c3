//! Which texts are one, and which is shown.
#![allow(clippy::unwrap_used)]

use crate::problems;
use crate::tests::{at, cause, on, pod, waits};
use podinit_core::lifecycle::{Cause, Record, Stage};

/// A pod in a namespace and on a node that cannot get a network, and is told `text` of it.
fn told(names: [&str; 3], since: i64, text: &str) -> Record {
    let [namespace, name, node] = names;
    let cni = cause(Stage::Network, Cause::Cni, since);
    let mut record = on(waits(pod(name, "x"), since, &[cni]), node);
    record.pod.namespace = namespace.into();
    record.message = Some(text.replace("UID", &record.uid.to_string()).into());
    record
}

/// What is shown of these pods.
fn shown(pods: Vec<Record>) -> String {
    let mut found = problems(pods, &[], at(10_000));
    assert_eq!(found.len(), 1, "{found:?}");
    let found = found.remove(0);
    found.message.unwrap().to_string()
}

#[test]
fn the_fault_of_most_pods_is_shown_where_each_has_ids_of_its_own() {
    let of_sandbox = |number: usize| {
        let id = ["45a8830f0155", "deadbeefabcd", "0a0b0c0d0e0f", "abcdefabcdef"][number];
        format!("network for sandbox \"{id}\": no address")
    };
    let mut pods: Vec<Record> = (0..4)
        .map(|number| {
            let name = format!("a{number}");
            told(["shop", &name, "n1"], 10 + number as i64, &of_sandbox(number))
        })
        .collect();
    let not_initialized = "cni plugin not initialized";
    pods.extend(
        (0..3).map(|number| told(["shop", &format!("b{number}"), "n2"], 90, not_initialized)),
    );
    // The newest of them, whole.
    assert_eq!(shown(pods), of_sandbox(3));
}

#[test]
fn the_names_of_a_pod_are_no_difference() {
    let text = |[namespace, name, node]: [&str; 3]| {
        format!("add {namespace}_{name}(UID) on {node}: no address")
    };
    let all =
        [["shop", "web-a", "node-a"], ["batch", "sync-b", "node-b"], ["users", "api-c", "node-c"]];
    let mut pods: Vec<Record> = all.iter().map(|names| told(*names, 10, &text(*names))).collect();
    pods.extend((0..2).map(|number| told(["shop", &format!("x{number}"), "n"], 90, "timeout")));
    assert!(shown(pods).ends_with(": no address"));
}

#[test]
fn the_image_of_a_pod_is_no_difference() {
    let told = |name: &str, image: &str, text: &str| {
        let lacks = cause(Stage::Containers, Cause::Image, 10);
        let mut record = on(waits(pod(name, image), 10, &[lacks]), "n");
        record.message = Some(text.into());
        record
    };
    let text = |image: &str, path: &str| {
        format!(
            "failed to pull \"docker.io/{image}\": Head \"https://registry-1.docker.io/v2/{path}\": EOF"
        )
    };
    let all = [
        ("nginx:stable", "library/nginx:stable", "library/nginx/manifests/stable"),
        ("team/web:1.2", "team/web:1.2", "team/web/manifests/1.2"),
        ("docker.io/org/api", "org/api:latest", "org/api/manifests/latest"),
    ];
    let named = all.iter().enumerate();
    let mut pods: Vec<Record> = named
        .map(|(number, (image, named, path))| {
            told(&format!("a{number}"), image, &text(named, path))
        })
        .collect();
    pods.extend((0..2).map(|number| told(&format!("t{number}"), "t", "not found")));
    assert!(shown(pods).ends_with(": EOF"));
}

#[test]
fn a_word_that_is_the_name_of_some_pods_is_still_the_same_word() {
    // For two of them `network` is the namespace, for one it is the name.
    let text = "the network is unreachable";
    let mut pods = vec![
        told(["network", "a", "n"], 10, text),
        told(["network", "b", "n"], 10, text),
        told(["shop", "network", "n"], 10, text),
        told(["shop", "c", "n"], 10, text),
    ];
    pods.extend((0..3).map(|number| told(["shop", &format!("x{number}"), "n"], 90, "timeout")));
    assert_eq!(shown(pods), text);
    // Beside a name of its own in each.
    let text = |name: &str| format!("the network of {name} is unreachable");
    let one = |namespace, name| told([namespace, name, "n"], 10, &text(name));
    let mut pods = vec![one("network", "a"), one("shop", "b"), one("batch", "c")];
    pods.extend((0..2).map(|number| told(["shop", &format!("x{number}"), "n"], 90, "timeout")));
    assert!(shown(pods).ends_with("is unreachable"));
}

#[test]
fn other_words_are_another_fault() {
    let mut pods = vec![
        told(["shop", "a", "n"], 10, "secret \"database\" not found"),
        told(["shop", "b", "n"], 20, "secret \"sessions\" not found"),
    ];
    pods.extend((0..2).map(|number| told(["shop", &format!("x{number}"), "n"], 5, "timeout")));
    assert_eq!(shown(pods), "timeout");
}

#[test]
fn on_a_tie_what_was_said_last_is_shown() {
    let pods = vec![
        told(["shop", "a", "n"], 20, "later 1"),
        told(["shop", "b", "n"], 10, "sooner 1"),
        told(["shop", "c", "n"], 15, "sooner 2"),
        told(["shop", "d", "n"], 12, "later 2"),
    ];
    assert_eq!(shown(pods), "later 1");
}

#[test]
fn what_was_asked_for_is_no_difference() {
    let text = |path: &str| {
        format!(
            "unexpected status from HEAD request to https://r.io/{path}: 503 Service Unavailable"
        )
    };
    let paths = ["v2/library/redis/manifests/8.2", "…", "v2/team/web/manifests/x"];
    let named = paths.iter().enumerate();
    let mut pods: Vec<Record> = named
        .map(|(number, path)| told(["shop", &format!("a{number}"), "n"], 10, &text(path)))
        .collect();
    pods.push(told(["shop", "x", "n"], 90, &text("x").replace("503", "404")));
    let found = problems(pods, &[], at(10_000));
    let counts = found.iter().map(|one| (one.pods, one.message_pods, one.told));
    assert_eq!(counts.collect::<Vec<_>>(), [(4, 3, 4)]);
}
