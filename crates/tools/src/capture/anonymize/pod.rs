//! The fields of a pod that are kept.

use serde_json::{Map, Value, json};

use super::keyed_hash::Anonymizer;
use super::rule::{
    API_VERSION, Fields, KIND, MESSAGE, NAME, REASON, RESOURCE_VERSION, Rule, TIME, UID,
};
use super::vocabulary::{
    API_VERSIONS, COMPONENTS, CONDITION_TYPES, KINDS, PRIORITY_CLASSES, VOLUME_SOURCES,
};
use podinit_core::pod::{HashedBy, LastingName, TemplateHash, generated_word};

/// The annotation that makes a pod a static one.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The annotation that says where the kubelet has a pod from.
const SOURCE: &str = "kubernetes.io/config.source";
/// The annotation of the bookmark that ends a streamed list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

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
    ("runtimeClassName", NAME),
    ("priorityClassName", Rule::Word(PRIORITY_CLASSES)),
    ("schedulerName", Rule::Word(COMPONENTS)),
    ("initContainers", CONTAINERS),
    ("containers", CONTAINERS),
    ("schedulingGates", Rule::Each(&Rule::Object(&[("name", NAME)]))),
    ("readinessGates", Rule::Each(&Rule::Object(&[("conditionType", CONDITION_TYPE)]))),
    ("resourceClaims", Rule::Each(&Rule::Object(&[("name", NAME)]))),
    ("schedulingGroup", Rule::Object(&[])),
    ("volumes", Rule::Each(&Rule::Within(volume))),
];

const CONTAINERS: Rule = Rule::Each(&Rule::Object(&[
    ("name", NAME),
    ("image", IMAGE),
    ("restartPolicy", RESTART_POLICY),
    ("restartPolicyRules", Rule::Each(&Rule::Object(RESTART_RULE))),
    ("startupProbe", PROBE),
    ("readinessProbe", PROBE),
    ("livenessProbe", PROBE),
]));

const RESTART_RULE: Fields = &[
    ("action", Rule::Word("Restart RestartAllContainers")),
    (
        "exitCodes",
        Rule::Object(&[
            ("operator", Rule::Word("In NotIn")),
            ("values", Rule::Each(&Rule::Number)),
        ]),
    ),
];

const PROBE: Rule = Rule::Object(&[
    ("initialDelaySeconds", Rule::Number),
    ("periodSeconds", Rule::Number),
    ("timeoutSeconds", Rule::Number),
    ("successThreshold", Rule::Number),
    ("failureThreshold", Rule::Number),
]);

const STATUS: Fields = &[
    ("phase", Rule::Word("Pending Running Succeeded Failed Unknown")),
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

/// Labels with hashed keys and values. Of the keys that show what made a ReplicaSet, those words stay that do.
fn labels(anonymizer: &Anonymizer, labels: &Value, _: &Map<String, Value>) -> Option<Value> {
    let hashed = labels.as_object()?.iter().filter_map(|(key, value)| {
        let hashed = || anonymizer.name(key);
        let key = match HashedBy::of_label(key) {
            None => hashed(),
            Some(HashedBy::Deployment) => "pod-template-hash".to_owned(),
            Some(HashedBy::Rollout) => "rollouts-pod-template-hash".to_owned(),
            Some(HashedBy::Other) => hashed() + "-pod-template-hash",
        };
        Some((key, anonymizer.name(value.as_str()?).into()))
    });
    Some(Value::Object(hashed.collect()))
}

/// An owner. Its name keeps the form by which its workload is known: `NAME-HASH` of a ReplicaSet, the time of a
/// schedule, and a word that was generated.
fn owner(anonymizer: &Anonymizer, owner: &Value, metadata: &Map<String, Value>) -> Option<Value> {
    const FIELDS: Fields = &[
        ("apiVersion", Rule::Word(API_VERSIONS)),
        ("kind", Rule::Word(KINDS)),
        ("name", NAME),
        ("uid", UID),
        ("controller", Rule::Flag),
    ];
    let mut kept = anonymizer.fields(owner.is_object().then_some(owner)?, FIELDS);
    let text = |key: &str| owner.get(key).and_then(Value::as_str);
    let (Some(kind), Some(name)) = (text("kind"), text("name")) else {
        return Some(kept);
    };
    let labels = metadata.get("labels").and_then(Value::as_object);
    let hashes = labels.into_iter().flatten();
    let hashes: Vec<TemplateHash<'_>> = hashes
        .filter_map(|(key, value)| Some((HashedBy::of_label(key)?, value.as_str()?)))
        .collect();
    let lasting = LastingName::of(kind, name, &hashes);
    if lasting.name != name {
        let rest = name.strip_prefix(&*lasting.name);
        let rest = rest.and_then(|rest| rest.strip_prefix('-'));
        let made = match rest {
            Some(hash) if kind == "ReplicaSet" => anonymizer.name(hash),
            Some(time) if kind != lasting.kind => time.to_owned(),
            _ => generated_word(anonymizer.hash(name)),
        };
        kept["name"] = format!("{}-{made}", anonymizer.name(&lasting.name)).into();
    }
    Some(kept)
}

/// A volume keeps its kind, and nothing of what it mounts.
fn volume(anonymizer: &Anonymizer, volume: &Value, _: &Map<String, Value>) -> Option<Value> {
    let kept = volume.as_object()?.iter().map(|(key, value)| match &**key {
        "name" => (key.clone(), anonymizer.name(value.as_str().unwrap_or_default()).into()),
        source => (anonymizer.word_of(VOLUME_SOURCES, source), json!({})),
    });
    Some(Value::Object(kept.collect()))
}
