//! The fields of an Event that are kept.

use serde_json::{Map, Value};

use super::keyed_hash::Anonymizer;
use super::rule::{
    API_VERSION, AnonymizeRule, KIND, KeptFields, MESSAGE, NAME, REASON, RESOURCE_VERSION, TIME,
    UID,
};
use super::vocabulary::COMPONENTS;
use podinit_core::timestamp::NANOS_PER_SECOND;
use podinit_decode::event::instant_in_name;
use podinit_decode::rfc3339;

pub(super) const FIELDS: KeptFields = &[
    ("apiVersion", API_VERSION),
    ("kind", KIND),
    ("metadata", AnonymizeRule::Within(metadata)),
    (
        "involvedObject",
        AnonymizeRule::Object(&[
            ("apiVersion", API_VERSION),
            ("kind", KIND),
            ("name", NAME),
            ("namespace", NAME),
            ("uid", UID),
            ("resourceVersion", RESOURCE_VERSION),
            ("fieldPath", AnonymizeRule::Text(field_path)),
        ]),
    ),
    ("type", AnonymizeRule::Word("Normal Warning")),
    ("reason", REASON),
    ("message", MESSAGE),
    ("count", AnonymizeRule::Number),
    ("firstTimestamp", TIME),
    ("lastTimestamp", TIME),
    ("eventTime", TIME),
    (
        "series",
        AnonymizeRule::Object(&[("count", AnonymizeRule::Number), ("lastObservedTime", TIME)]),
    ),
    ("reportingComponent", COMPONENT),
    ("source", AnonymizeRule::Object(&[("component", COMPONENT), ("host", NAME)])),
];

const COMPONENT: AnonymizeRule = AnonymizeRule::Word(COMPONENTS);

const METADATA: KeptFields = &[
    ("name", NAME),
    ("namespace", NAME),
    ("uid", UID),
    ("resourceVersion", RESOURCE_VERSION),
    ("creationTimestamp", TIME),
];

/// The metadata, with the instant in the name of the Event where podinit reads it: if it lies in the
/// second of `firstTimestamp` ([§9.2](crate::specification#s9-2)).
fn metadata(
    anonymizer: &Anonymizer,
    metadata: &Value,
    event: &Map<String, Value>,
) -> Option<Value> {
    let mut kept = anonymizer.fields(metadata.is_object().then_some(metadata)?, METADATA);
    let text = |value: Option<&'_ Value>| value.and_then(Value::as_str).map(str::to_owned);
    if let Some(name) = text(metadata.get("name"))
        && let Some((object, instant)) = name.rsplit_once('.')
        && let Some(first) = text(event.get("firstTimestamp")).and_then(|at| rfc3339::parse(&at))
        && let Some(at) = instant_in_name(&name)
        && (0..NANOS_PER_SECOND).contains(&at.nanos_since(first))
    {
        kept["name"] = format!("{}.{instant}", anonymizer.name(object)).into();
    }
    Some(kept)
}

/// `spec.containers{NAME}`, with the name hashed.
fn field_path(anonymizer: &Anonymizer, path: &str) -> String {
    const CONTAINERS: &str = "spec.containers spec.initContainers spec.ephemeralContainers";
    match path.strip_suffix('}').and_then(|path| path.split_once('{')) {
        Some((field, name)) => {
            let field = anonymizer.word_of(CONTAINERS, field);
            format!("{field}{{{}}}", anonymizer.name(name))
        }
        None => anonymizer.name(path),
    }
}
