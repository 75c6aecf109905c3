//! The fields of a pod that are kept.

use serde_json::{Map, Value, json};

use super::keyed_hash::Anonymizer;
use super::rule::{
    API_VERSION, AnonymizeRule, KIND, KeptFields, MESSAGE, NAME, REASON, RESOURCE_VERSION, TIME,
    UID,
};
use super::vocabulary::{
    API_VERSIONS, COMPONENTS, CONDITION_TYPES, KINDS, PRIORITY_CLASSES, VOLUME_SOURCES,
};
use podinit_core::pod::{HashedBy, LastingName, Revision, TemplateHash, generated_word};

/// The annotation that makes a pod a static one.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The annotation that says where the kubelet has a pod from.
const SOURCE: &str = "kubernetes.io/config.source";
/// The annotation of the bookmark that ends a streamed list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

pub(super) const FIELDS: KeptFields = &[
    ("apiVersion", API_VERSION),
    ("kind", KIND),
    ("metadata", AnonymizeRule::Object(METADATA)),
    ("spec", AnonymizeRule::Object(SPEC)),
    ("status", AnonymizeRule::Object(STATUS)),
];

const METADATA: KeptFields = &[
    ("name", NAME),
    ("namespace", NAME),
    ("uid", UID),
    ("resourceVersion", RESOURCE_VERSION),
    ("creationTimestamp", TIME),
    ("deletionTimestamp", TIME),
    ("labels", AnonymizeRule::Within(labels)),
    (
        "annotations",
        AnonymizeRule::Object(&[
            (MIRROR, AnonymizeRule::Within(|_, _, _| Some("mirror".into()))),
            (SOURCE, AnonymizeRule::Word("api file http")),
            (INITIAL_EVENTS_END, AnonymizeRule::Word("true")),
        ]),
    ),
    ("ownerReferences", AnonymizeRule::Each(&AnonymizeRule::Within(owner))),
];

const SPEC: KeptFields = &[
    ("hostNetwork", AnonymizeRule::Flag),
    ("restartPolicy", RESTART_POLICY),
    ("nodeName", NAME),
    ("runtimeClassName", NAME),
    ("priorityClassName", AnonymizeRule::Word(PRIORITY_CLASSES)),
    ("schedulerName", AnonymizeRule::Word(COMPONENTS)),
    ("initContainers", CONTAINERS),
    ("containers", CONTAINERS),
    ("schedulingGates", AnonymizeRule::Each(&AnonymizeRule::Object(&[("name", NAME)]))),
    (
        "readinessGates",
        AnonymizeRule::Each(&AnonymizeRule::Object(&[("conditionType", CONDITION_TYPE)])),
    ),
    ("resourceClaims", AnonymizeRule::Each(&AnonymizeRule::Object(&[("name", NAME)]))),
    ("schedulingGroup", AnonymizeRule::Object(&[])),
    ("volumes", AnonymizeRule::Each(&AnonymizeRule::Within(volume))),
];

const CONTAINERS: AnonymizeRule = AnonymizeRule::Each(&AnonymizeRule::Object(&[
    ("name", NAME),
    ("image", IMAGE),
    ("restartPolicy", RESTART_POLICY),
    ("restartPolicyRules", AnonymizeRule::Each(&AnonymizeRule::Object(RESTART_RULE))),
    ("startupProbe", PROBE),
    ("readinessProbe", PROBE),
    ("livenessProbe", PROBE),
]));

const RESTART_RULE: KeptFields = &[
    ("action", AnonymizeRule::Word("Restart RestartAllContainers")),
    (
        "exitCodes",
        AnonymizeRule::Object(&[
            ("operator", AnonymizeRule::Word("In NotIn")),
            ("values", AnonymizeRule::Each(&AnonymizeRule::Number)),
        ]),
    ),
];

const PROBE: AnonymizeRule = AnonymizeRule::Object(&[
    ("initialDelaySeconds", AnonymizeRule::Number),
    ("periodSeconds", AnonymizeRule::Number),
    ("timeoutSeconds", AnonymizeRule::Number),
    ("successThreshold", AnonymizeRule::Number),
    ("failureThreshold", AnonymizeRule::Number),
]);

const STATUS: KeptFields = &[
    ("phase", AnonymizeRule::Word("Pending Running Succeeded Failed Unknown")),
    ("reason", REASON),
    ("message", MESSAGE),
    ("startTime", TIME),
    ("nominatedNodeName", NAME),
    (
        "conditions",
        AnonymizeRule::Each(&AnonymizeRule::Object(&[
            ("type", CONDITION_TYPE),
            ("status", AnonymizeRule::Word("True False Unknown")),
            ("reason", REASON),
            ("message", MESSAGE),
            ("lastTransitionTime", TIME),
        ])),
    ),
    ("initContainerStatuses", CONTAINER_STATUSES),
    ("containerStatuses", CONTAINER_STATUSES),
];

const CONTAINER_STATUSES: AnonymizeRule = AnonymizeRule::Each(&AnonymizeRule::Object(&[
    ("name", NAME),
    ("image", IMAGE),
    ("ready", AnonymizeRule::Flag),
    ("started", AnonymizeRule::Flag),
    ("restartCount", AnonymizeRule::Number),
    ("state", STATE),
    ("lastState", STATE),
]));

const STATE: AnonymizeRule = AnonymizeRule::Object(&[
    ("waiting", STATE_DETAILS),
    ("running", STATE_DETAILS),
    ("terminated", STATE_DETAILS),
]);

const STATE_DETAILS: AnonymizeRule = AnonymizeRule::Object(&[
    ("startedAt", TIME),
    ("finishedAt", TIME),
    ("exitCode", AnonymizeRule::Number),
    ("signal", AnonymizeRule::Number),
    ("reason", REASON),
    ("message", MESSAGE),
]);

const CONDITION_TYPE: AnonymizeRule = AnonymizeRule::Word(CONDITION_TYPES);
const RESTART_POLICY: AnonymizeRule = AnonymizeRule::Word("Always OnFailure Never");
const IMAGE: AnonymizeRule = AnonymizeRule::Text(Anonymizer::image);

/// Labels with hashed keys and values. Of the keys that show what made a ReplicaSet, or name a revision, those words stay
/// that do.
fn labels(anonymizer: &Anonymizer, labels: &Value, _: &Map<String, Value>) -> Option<Value> {
    let hashed = labels.as_object()?.iter().filter_map(|(key, value)| {
        let hashed = || anonymizer.name(key);
        let key = match HashedBy::of_label(key) {
            None if key == Revision::LABEL => key.clone(),
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
    const FIELDS: KeptFields = &[
        ("apiVersion", AnonymizeRule::Word(API_VERSIONS)),
        ("kind", AnonymizeRule::Word(KINDS)),
        ("name", NAME),
        ("uid", UID),
        ("controller", AnonymizeRule::Flag),
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
    let lasting = LastingName::new(kind, name, &hashes);
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
