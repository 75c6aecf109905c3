//! The fields of a pod that are kept.

use serde_json::{Map, Value, json};

use super::keyed_hash::Anonymizer;
use super::rule::{
    API_VERSION, Fields, KIND, MESSAGE, NAME, REASON, RESOURCE_VERSION, Rule, TIME, UID,
};
use super::vocabulary::{API_VERSIONS, CONDITION_TYPES, KINDS, VOLUME_SOURCES};

/// The annotation that makes a pod a static one.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The annotation that says where the kubelet has a pod from.
const SOURCE: &str = "kubernetes.io/config.source";
/// The annotation of the bookmark that ends a streamed list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";
/// The label that a ReplicaSet's pods carry; the ReplicaSet's name ends in its value.
const TEMPLATE_HASH: &str = "pod-template-hash";

pub(super) const FIELDS: Fields = &[
    ("apiVersion", API_VERSION),
    ("kind", KIND),
    ("metadata", Rule::Object(METADATA)),
    ("spec", Rule::Object(SPEC)),
    ("status", Rule::Object(STATUS)),
];

const METADATA: Fields = &[
    ("name", NAME),
    ("namespace", NAME),
    ("uid", UID),
    ("resourceVersion", RESOURCE_VERSION),
    ("creationTimestamp", TIME),
    ("deletionTimestamp", TIME),
    ("labels", Rule::Within(labels)),
    (
        "annotations",
        Rule::Object(&[
            (MIRROR, Rule::Within(|_, _, _| Some("mirror".into()))),
            (SOURCE, Rule::Word("api file http")),
            (INITIAL_EVENTS_END, Rule::Word("true")),
        ]),
    ),
    ("ownerReferences", Rule::Each(&Rule::Within(owner))),
];

const SPEC: Fields = &[
    ("hostNetwork", Rule::Flag),
    ("restartPolicy", RESTART_POLICY),
    ("nodeName", NAME),
    ("initContainers", CONTAINERS),
    ("containers", CONTAINERS),
    (
        "schedulingGates",
        Rule::Each(&Rule::Object(&[("name", NAME)])),
    ),
    (
        "readinessGates",
        Rule::Each(&Rule::Object(&[("conditionType", CONDITION_TYPE)])),
    ),
    ("schedulingGroup", Rule::Object(&[])),
    ("volumes", Rule::Each(&Rule::Within(volume))),
];

const CONTAINERS: Rule = Rule::Each(&Rule::Object(&[
    ("name", NAME),
    ("image", IMAGE),
    ("restartPolicy", RESTART_POLICY),
    ("startupProbe", PROBE),
    ("readinessProbe", PROBE),
    ("livenessProbe", PROBE),
]));

const PROBE: Rule = Rule::Object(&[
    ("initialDelaySeconds", Rule::Number),
    ("periodSeconds", Rule::Number),
    ("timeoutSeconds", Rule::Number),
    ("successThreshold", Rule::Number),
    ("failureThreshold", Rule::Number),
]);

const STATUS: Fields = &[
    (
        "phase",
        Rule::Word("Pending Running Succeeded Failed Unknown"),
    ),
    ("reason", REASON),
    ("message", MESSAGE),
    ("startTime", TIME),
    ("nominatedNodeName", NAME),
    (
        "conditions",
        Rule::Each(&Rule::Object(&[
            ("type", CONDITION_TYPE),
            ("status", Rule::Word("True False Unknown")),
            ("reason", REASON),
            ("message", MESSAGE),
            ("lastTransitionTime", TIME),
        ])),
    ),
    ("initContainerStatuses", CONTAINER_STATUSES),
    ("containerStatuses", CONTAINER_STATUSES),
];

const CONTAINER_STATUSES: Rule = Rule::Each(&Rule::Object(&[
    ("name", NAME),
    ("image", IMAGE),
    ("ready", Rule::Flag),
    ("started", Rule::Flag),
    ("restartCount", Rule::Number),
    ("state", STATE),
    ("lastState", STATE),
]));

const STATE: Rule = Rule::Object(&[
    ("waiting", STATE_DETAILS),
    ("running", STATE_DETAILS),
    ("terminated", STATE_DETAILS),
]);

const STATE_DETAILS: Rule = Rule::Object(&[
    ("startedAt", TIME),
    ("finishedAt", TIME),
    ("exitCode", Rule::Number),
    ("signal", Rule::Number),
    ("reason", REASON),
    ("message", MESSAGE),
]);

const CONDITION_TYPE: Rule = Rule::Word(CONDITION_TYPES);
const RESTART_POLICY: Rule = Rule::Word("Always OnFailure Never");
const IMAGE: Rule = Rule::Text(Anonymizer::image);

/// Labels with hashed keys and values. The key that shows a Deployment stays.
fn labels(anonymizer: &Anonymizer, labels: &Value, _: &Map<String, Value>) -> Option<Value> {
    let hashed = labels.as_object()?.iter().filter_map(|(key, value)| {
        let key = anonymizer.word_of(TEMPLATE_HASH, key);
        Some((key, anonymizer.name(value.as_str()?).into()))
    });
    Some(Value::Object(hashed.collect()))
}

/// An owner. A ReplicaSet keeps the form NAME-HASH, by which its Deployment is known.
fn owner(anonymizer: &Anonymizer, owner: &Value, metadata: &Map<String, Value>) -> Option<Value> {
    const FIELDS: Fields = &[
        ("apiVersion", Rule::Word(API_VERSIONS)),
        ("kind", Rule::Word(KINDS)),
        ("name", NAME),
        ("uid", UID),
        ("controller", Rule::Flag),
    ];
    let template_hash = metadata
        .get("labels")
        .and_then(|labels| labels.get(TEMPLATE_HASH));
    let deployment = template_hash
        .and_then(Value::as_str)
        .filter(|hash| !hash.is_empty())
        .zip(owner.get("name").and_then(Value::as_str))
        .and_then(|(hash, name)| Some((name.strip_suffix(hash)?.strip_suffix('-')?, hash)));
    let mut kept = anonymizer.fields(owner.is_object().then_some(owner)?, FIELDS);
    if let Some((deployment, hash)) = deployment {
        kept["name"] = format!("{}-{}", anonymizer.name(deployment), anonymizer.name(hash)).into();
    }
    Some(kept)
}

/// A volume keeps its kind, and nothing of what it mounts.
fn volume(anonymizer: &Anonymizer, volume: &Value, _: &Map<String, Value>) -> Option<Value> {
    let kept = volume.as_object()?.iter().map(|(key, value)| match &**key {
        "name" => (
            key.clone(),
            anonymizer.name(value.as_str().unwrap_or_default()).into(),
        ),
        source => (anonymizer.word_of(VOLUME_SOURCES, source), json!({})),
    });
    Some(Value::Object(kept.collect()))
}
