//! Pods and watch events as an API server sends them: about 7 kB each, half of it
//! `managedFields`.

#![allow(dead_code)] // each benchmark uses a part of it

use serde_json::{Value, json};

/// How many pods start at the same time in [`lives`].
pub const AT_ONCE: usize = 64;

/// The events of an ordinary pod's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Created,
    Scheduled,
    Accepted,
    NetworkReady,
    Initialized,
    Ready,
    Stopping,
    Deleted,
}

impl Step {
    pub const ALL: [Self; 8] = [
        Self::Created,
        Self::Scheduled,
        Self::Accepted,
        Self::NetworkReady,
        Self::Initialized,
        Self::Ready,
        Self::Stopping,
        Self::Deleted,
    ];

    fn event_type(self) -> &'static str {
        match self {
            Self::Created => "ADDED",
            Self::Deleted => "DELETED",
            _ => "MODIFIED",
        }
    }

    /// The conditions in the order in which a kubelet writes them.
    fn conditions(self) -> Vec<(&'static str, bool)> {
        let stopping = matches!(self, Self::Stopping | Self::Deleted);
        let since = |step: Self| self as usize >= step as usize;
        let all = [
            ("PodReadyToStartContainers", since(Self::NetworkReady) && !stopping),
            ("Initialized", since(Self::Initialized)),
            ("Ready", self == Self::Ready),
            ("ContainersReady", self == Self::Ready),
            ("PodScheduled", true),
        ];
        match self {
            Self::Created => Vec::new(),
            Self::Scheduled => vec![("PodScheduled", true)],
            _ => all.to_vec(),
        }
    }
}

/// The watch event for `step` of pod `number`.
pub fn watch_event(number: usize, step: Step) -> Value {
    json!({"type": step.event_type(), "object": pod(number, step)})
}

/// The watch events of the lives of `pods` pods, one per line and in the order of an API server: some
/// pods at a time, step by step.
pub fn lives(pods: usize) -> Vec<String> {
    let numbers: Vec<usize> = (0..pods).collect();
    let together = numbers.chunks(AT_ONCE).flat_map(|pods| {
        let steps = Step::ALL.into_iter();
        steps.flat_map(move |step| pods.iter().map(move |number| (*number, step)))
    });
    together.map(|(number, step)| watch_event(number, step).to_string()).collect()
}

/// The same lives with their Events: for each step of some pods, the lines of the watch of pods, and
/// those of the watch of Events.
pub fn lives_with_events(pods: usize) -> Vec<(String, String)> {
    let numbers: Vec<usize> = (0..pods).collect();
    let together = numbers.chunks(AT_ONCE).flat_map(|pods| {
        let steps = Step::ALL.into_iter();
        steps.map(move |step| (pods, step))
    });
    let lines = |objects: Vec<Value>| -> String {
        let lines = objects.into_iter().map(|object| object.to_string() + "\n");
        lines.collect()
    };
    together
        .map(|(pods, step)| {
            let changed = pods.iter().map(|number| watch_event(*number, step));
            let reported = pods.iter().flat_map(|number| kube_events(*number, step));
            (lines(changed.collect()), lines(reported.collect()))
        })
        .collect()
}

/// What a scheduler and a kubelet report of `step`: ten Events in the life of a pod.
fn kube_events(number: usize, step: Step) -> Vec<Value> {
    let of_container = |field: &str, image: &str| {
        let pulled = format!(
            "Successfully pulled image \"{image}\" in 1.234s (1.5s including waiting). Image size: \
             72080558 bytes."
        );
        [
            ("Pulling", format!("Pulling image \"{image}\"")),
            ("Pulled", pulled),
            ("Created", "Container created".to_owned()),
            ("Started", "Container started".to_owned()),
        ]
        .map(|(reason, message)| kube_event(number, "kubelet", reason, &message, field))
        .to_vec()
    };
    match step {
        Step::Scheduled => {
            let message = format!("Successfully assigned team/app to node-{:03}", number % 20);
            vec![kube_event(number, "default-scheduler", "Scheduled", &message, "")]
        }
        Step::NetworkReady => {
            of_container("spec.initContainers{migrate}", "registry.example.com/team/migrate:1.42.0")
        }
        Step::Initialized => {
            of_container("spec.containers{app}", "registry.example.com/team/app:1.42.0")
        }
        Step::Stopping => {
            let message = "Stopping container app";
            vec![kube_event(number, "kubelet", "Killing", message, "spec.containers{app}")]
        }
        _ => Vec::new(),
    }
}

/// A line of a watch of Events, as client-go writes an Event.
fn kube_event(number: usize, reporter: &str, reason: &str, message: &str, field: &str) -> Value {
    let time = format!("2026-11-21T07:56:{:02}Z", number % 60);
    let name = format!("app-{:04}-7c9d8f6b5d-{number:05}", number % 50);
    let involved = json!({
        "kind": "Pod", "namespace": format!("team-{}", number % 8), "name": name,
        "uid": format!("6d14ca8c-7af5-46a4-8768-{number:012x}"), "apiVersion": "v1",
        "resourceVersion": (1_000 + number * 10).to_string(), "fieldPath": field,
    });
    json!({"type": "ADDED", "object": {
        "kind": "Event", "apiVersion": "v1",
        "metadata": {
            "name": format!("{name}.187a1f0e5c2d3b4a"), "namespace": format!("team-{}", number % 8),
            "uid": format!("7e14ca8c-7af5-46a4-8768-{number:012x}"),
            "resourceVersion": (9_000 + number * 10).to_string(), "creationTimestamp": time,
            "managedFields": [{"manager": reporter, "operation": "Update", "apiVersion": "v1",
                "time": time, "fieldsType": "FieldsV1", "fieldsV1": {
                    "f:count": {}, "f:firstTimestamp": {}, "f:involvedObject": {},
                    "f:lastTimestamp": {}, "f:message": {}, "f:reason": {},
                    "f:reportingComponent": {}, "f:reportingInstance": {},
                    "f:source": {"f:component": {}, "f:host": {}}, "f:type": {}}}],
        },
        "involvedObject": involved, "reason": reason, "message": message,
        "source": {"component": reporter, "host": format!("node-{:03}", number % 20)},
        "firstTimestamp": time, "lastTimestamp": time, "count": 1, "type": "Normal",
        "eventTime": null, "reportingComponent": reporter,
        "reportingInstance": format!("node-{:03}", number % 20),
    }})
}

/// The lines of the file in `PODINIT_BENCH_EVENTS`, if that is set: one watch event each.
pub fn captured_events() -> Option<Vec<String>> {
    let path = std::env::var_os("PODINIT_BENCH_EVENTS")?;
    let text = std::fs::read_to_string(path).expect("PODINIT_BENCH_EVENTS is a text file");
    Some(text.lines().map(str::to_owned).collect())
}

/// Pod `number` after `step`.
pub fn pod(number: usize, step: Step) -> Value {
    let second = number % 60;
    let time = format!("2026-11-21T07:56:{second:02}Z");
    let condition = |(kind, holds): (&str, bool)| {
        json!({"type": kind, "status": if holds { "True" } else { "False" },
            "lastProbeTime": null, "lastTransitionTime": time, "observedGeneration": 1})
    };
    let conditions: Vec<Value> = step.conditions().into_iter().map(condition).collect();
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": format!("app-{:04}-7c9d8f6b5d-{number:05}", number % 50),
            "generateName": format!("app-{:04}-7c9d8f6b5d-", number % 50),
            "namespace": format!("team-{}", number % 8),
            "uid": format!("6d14ca8c-7af5-46a4-8768-{number:012x}"),
            "resourceVersion": (1_000 + number * 10 + step as usize).to_string(),
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
            "conditions": conditions,
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
