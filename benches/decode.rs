//! How fast pods are decoded: watch events, list pages and recordings, from JSON bytes to
//! snapshots.
//!
//! Run with `cargo bench --bench decode`. The events are made here, in the size and shape that an
//! API server sends (about 7 kB, half of it `managedFields`). To measure on a stream of your own,
//! set `PODINIT_BENCH_EVENTS` to a file with one watch event per line.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::hint::black_box;
use std::io::Cursor;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use podinit::recording::Recording;
use podinit::watch::decode::{DecodeOptions, PodDecoder};
use serde_json::{Value, json};

/// Events of as many pods, so that no two lines are alike.
const EVENTS: usize = 512;

fn decode(c: &mut Criterion) {
    let generated: Vec<String> = (0..EVENTS).map(|n| event(n).to_string()).collect();
    watch_events(c, "generated", &generated);
    if let Ok(path) = std::env::var("PODINIT_BENCH_EVENTS") {
        let text = std::fs::read_to_string(&path).expect("PODINIT_BENCH_EVENTS is a text file");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        watch_events(c, "file", &lines);
    }
    list_page(c);
    recording(c, &generated);
}

fn watch_events(c: &mut Criterion, source: &str, lines: &[String]) {
    let mut group = c.benchmark_group(format!("decode/watch_event/{source}"));
    let bytes: usize = lines.iter().map(String::len).sum();
    println!(
        "{source}: {} events of {} bytes on average",
        lines.len(),
        bytes / lines.len().max(1)
    );
    let all = DecodeOptions {
        pod_labels: vec!["app.kubernetes.io/name".to_owned()],
        node: true,
        workload: true,
    };
    for (name, options) in [("plain", DecodeOptions::default()), ("all_labels", all)] {
        let mut decoder = PodDecoder::new(options);
        group.throughput(Throughput::Elements(lines.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                for line in lines {
                    black_box(decoder.watch_event(line.as_bytes()).unwrap());
                }
            });
        });
    }
    group.finish();
}

fn list_page(c: &mut Criterion) {
    let items: Vec<Value> = (0..EVENTS).map(pod).collect();
    let page = json!({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": items});
    let body = page.to_string();
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let mut group = c.benchmark_group("decode/list_page");
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("512_pods", |b| {
        b.iter(|| black_box(decoder.list_page(body.as_bytes()).unwrap()));
    });
    group.finish();
}

fn recording(c: &mut Criterion, lines: &[String]) {
    let text = lines.join("\n").into_bytes();
    let mut group = c.benchmark_group("decode/recording");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("events", |b| {
        b.iter(|| {
            let input = Cursor::new(text.clone());
            let recording = Recording::from_reader("bench", input, DecodeOptions::default());
            assert_eq!(recording.filter(Result::is_ok).count(), lines.len());
        });
    });
    group.finish();
}

fn event(number: usize) -> Value {
    json!({"type": "MODIFIED", "object": pod(number)})
}

fn pod(number: usize) -> Value {
    let second = number % 60;
    let time = format!("2026-11-21T07:56:{second:02}Z");
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": time,
            "observedGeneration": 1})
    };
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": format!("app-{:04}-7c9d8f6b5d-{number:05}", number % 50),
            "generateName": format!("app-{:04}-7c9d8f6b5d-", number % 50),
            "namespace": format!("team-{}", number % 8),
            "uid": format!("6d14ca8c-7af5-46a4-8768-{number:012x}"),
            "resourceVersion": (1_000 + number).to_string(),
            "creationTimestamp": time,
            "labels": {
                "app.kubernetes.io/instance": "prod",
                "app.kubernetes.io/name": format!("app-{:04}", number % 50),
                "app.kubernetes.io/version": "1.42.0",
                "pod-template-hash": "7c9d8f6b5d",
            },
            "annotations": {"prometheus.io/port": "8080", "prometheus.io/scrape": "true"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                "name": format!("app-{:04}-7c9d8f6b5d", number % 50),
                "uid": "00000000-0000-4000-8000-000000000001",
                "controller": true, "blockOwnerDeletion": true}],
            "managedFields": [managed_by("kube-controller-manager", &time), managed_by("kubelet", &time)],
        },
        "spec": spec(number),
        "status": {
            "phase": "Running",
            "conditions": [condition("PodReadyToStartContainers"), condition("Initialized"),
                condition("Ready"), condition("ContainersReady"), condition("PodScheduled")],
            "hostIP": "10.0.0.7",
            "podIP": "10.244.1.17",
            "podIPs": [{"ip": "10.244.1.17"}],
            "startTime": time,
            "containerStatuses": [{"name": "app", "state": {"running": {"startedAt": time}},
                "lastState": {}, "ready": true, "restartCount": 0, "started": true,
                "image": "registry.example.com/team/app:1.42.0",
                "imageID": "registry.example.com/team/app@sha256:5f2d1c9c3b6f7f1d0a4b0fbb8e2a61f3",
                "containerID": "containerd://5f2d1c9c3b6f7f1d0a4b0fbb8e2a61f3a9d3a7d5c0c6de1f"}],
            "qosClass": "Burstable",
        },
    })
}

fn spec(number: usize) -> Value {
    let env: Vec<Value> = (0..8)
        .map(|n| json!({"name": format!("SETTING_{n:02}"), "value": format!("value-{n}-of-app")}))
        .collect();
    let probe = json!({"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3});
    json!({
        "volumes": [{"name": "kube-api-access", "projected": {"sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        ], "defaultMode": 420}}],
        "initContainers": [{"name": "migrate", "image": "registry.example.com/team/migrate:1.42.0",
            "resources": {}, "terminationMessagePath": "/dev/termination-log"}],
        "containers": [{"name": "app", "image": "registry.example.com/team/app:1.42.0",
            "args": ["--config", "/etc/app/config.yaml", "--listen", ":8080"], "env": env,
            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
            "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "livenessProbe": probe, "readinessProbe": probe,
            "volumeMounts": [{"name": "kube-api-access", "readOnly": true,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
            "imagePullPolicy": "IfNotPresent"}],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "nodeName": format!("node-{:03}", number % 20),
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists",
            "effect": "NoExecute", "tolerationSeconds": 300}],
        "enableServiceLinks": true,
    })
}

fn managed_by(manager: &str, time: &str) -> Value {
    let env: serde_json::Map<String, Value> = (0..8)
        .map(|n| {
            let key = format!("k:{{\"name\":\"SETTING_{n:02}\"}}");
            (key, json!({".": {}, "f:name": {}, "f:value": {}}))
        })
        .collect();
    let conditions: serde_json::Map<String, Value> = ["ContainersReady", "Initialized", "Ready"]
        .iter()
        .map(|kind| {
            let fields = json!({".": {}, "f:lastProbeTime": {}, "f:lastTransitionTime": {},
                "f:status": {}, "f:type": {}});
            (format!("k:{{\"type\":\"{kind}\"}}"), fields)
        })
        .collect();
    let probe = json!({".": {}, "f:failureThreshold": {}, "f:httpGet": {".": {}, "f:path": {},
        "f:port": {}, "f:scheme": {}}, "f:periodSeconds": {}, "f:timeoutSeconds": {}});
    json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": time,
    "fieldsType": "FieldsV1", "fieldsV1": {
        "f:metadata": {"f:generateName": {}, "f:labels": {".": {},
            "f:app.kubernetes.io/instance": {}, "f:app.kubernetes.io/name": {},
            "f:pod-template-hash": {}}},
        "f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:env": env,
            "f:image": {}, "f:livenessProbe": probe, "f:readinessProbe": probe,
            "f:resources": {".": {}, "f:limits": {".": {}, "f:memory": {}}}}},
            "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {}},
        "f:status": {"f:conditions": conditions, "f:hostIP": {}, "f:phase": {}, "f:podIP": {}},
    }})
}

criterion_group!(benches, decode);
criterion_main!(benches);
