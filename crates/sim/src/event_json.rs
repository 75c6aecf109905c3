//! Renders an Event as the JSON of the Kubernetes API (`core/v1`).

use serde::Serialize;

use super::container::ContainerRef;
use super::event_correlator::Correlated;
use super::event_draft::{EventDraft, Reporter};
use super::json::{micro_time, raw, time};
use super::managed_fields::ManagedFields;
use super::object::ObjectKey;
use super::pod::Pod;
use super::rng::Rng;
use podinit_core::timestamp::Timestamp;

/// The first kubelet whose recorder fills `reportingComponent`.
const REPORTING_COMPONENT_SINCE: u8 = 27;

/// An Event that is on its way to the API server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecordedEvent {
    draft: EventDraft,
    correlated: Correlated,
    pod: ObjectKey,
    uid: String,
    field_path: Option<String>,
}

impl RecordedEvent {
    pub(super) fn new(draft: EventDraft, correlated: Correlated, pod: &Pod) -> Self {
        let manifest = &pod.manifest;
        let field_path = draft.container.and_then(|container| {
            let name = manifest.container(container)?.name;
            Some(match container {
                ContainerRef::Init(_) => format!("spec.initContainers{{{name}}}"),
                ContainerRef::Regular(_) => format!("spec.containers{{{name}}}"),
            })
        });
        Self {
            draft,
            correlated,
            pod: ObjectKey::new(&manifest.namespace, &manifest.name),
            uid: manifest.uid.clone(),
            field_path,
        }
    }

    /// Its namespace and name: that of the pod, and the instant in hexadecimal nanoseconds.
    pub(super) fn key(&self) -> ObjectKey {
        let named = self.correlated.named.as_nanos();
        ObjectKey::new(&self.pod.namespace, format!("{}.{named:x}", self.pod.name))
    }

    /// What field selectors match.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let draft = &self.draft;
        vec![
            ("involvedObject.kind", "Pod".to_owned()),
            ("involvedObject.namespace", self.pod.namespace.clone()),
            ("involvedObject.name", self.pod.name.clone()),
            ("involvedObject.uid", self.uid.clone()),
            ("involvedObject.apiVersion", "v1".to_owned()),
            (
                "involvedObject.fieldPath",
                self.field_path.clone().unwrap_or_default(),
            ),
            ("reason", draft.reason.to_owned()),
            ("type", type_of(draft).to_owned()),
            ("reportingComponent", draft.reporter.component().to_owned()),
        ]
    }
}

/// The Event as it is written at `now`, without `kind` and `apiVersion`. `created` is the creation time
/// of the one that it replaces.
pub(super) fn render(
    event: &RecordedEvent,
    created: Option<String>,
    now: Timestamp,
    version: u64,
) -> Vec<u8> {
    let key = event.key();
    let (draft, correlated) = (&event.draft, &event.correlated);
    // The scheduler's recorder writes another version of the API, which states other times.
    let by_new_api = draft.reporter == Reporter::Scheduler;
    let legacy = |at| (!by_new_api).then(|| time(at));
    let reporter = &draft.reporter;
    let states_reporter = match reporter {
        Reporter::Kubelet(_, kubelet) => kubelet.minor >= REPORTING_COMPONENT_SINCE,
        Reporter::Scheduler | Reporter::VolumeController => true,
    };
    let stated = |text| if states_reporter { text } else { "" };
    let object = Object {
        metadata: Metadata {
            name: &key.name,
            namespace: &key.namespace,
            uid: Rng::new(correlated.named.as_nanos().unsigned_abs()).uuid(),
            resource_version: version.to_string(),
            creation_timestamp: created.unwrap_or_else(|| time(now)),
            managed_fields: [ManagedFields::update(
                reporter.component(),
                if by_new_api { "events.k8s.io/v1" } else { "v1" },
                time(now),
                raw(FIELDS),
            )],
        },
        involved_object: InvolvedObject {
            kind: "Pod",
            namespace: &event.pod.namespace,
            name: &event.pod.name,
            uid: &event.uid,
            api_version: "v1",
            field_path: event.field_path.as_deref(),
        },
        reason: draft.reason,
        message: &correlated.message,
        source: Source {
            component: (!by_new_api).then(|| reporter.component()),
            host: match reporter {
                Reporter::Kubelet(node, _) => Some(node.name),
                Reporter::Scheduler | Reporter::VolumeController => None,
            },
        },
        first_timestamp: legacy(correlated.first),
        last_timestamp: legacy(correlated.last),
        count: (!by_new_api).then_some(correlated.count),
        r#type: type_of(draft),
        event_time: by_new_api.then(|| micro_time(correlated.first)),
        action: by_new_api.then_some("Scheduling"),
        reporting_component: stated(reporter.component()),
        reporting_instance: match reporter {
            Reporter::VolumeController => "",
            _ => stated(reporter.instance()),
        },
    };
    // Strings and numbers: cannot fail.
    serde_json::to_vec(&object).unwrap_or_else(|_| b"{}".to_vec())
}

const fn type_of(draft: &EventDraft) -> &'static str {
    match draft.warning {
        true => "Warning",
        false => "Normal",
    }
}

const FIELDS: &str = r#"{"f:count":{},"f:firstTimestamp":{},"f:involvedObject":{},"f:lastTimestamp":{},"f:message":{},"f:reason":{},"f:reportingComponent":{},"f:reportingInstance":{},"f:source":{"f:component":{},"f:host":{}},"f:type":{}}"#;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Object<'a> {
    metadata: Metadata<'a>,
    involved_object: InvolvedObject<'a>,
    reason: &'static str,
    message: &'a str,
    source: Source,
    first_timestamp: Option<String>,
    last_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    r#type: &'static str,
    event_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    reporting_component: &'static str,
    reporting_instance: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
    uid: String,
    resource_version: String,
    creation_timestamp: String,
    managed_fields: [ManagedFields; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InvolvedObject<'a> {
    kind: &'static str,
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    api_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field_path: Option<&'a str>,
}

#[derive(Serialize)]
struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_part_is_json() {
        assert!(raw(FIELDS).is_some());
    }
}
