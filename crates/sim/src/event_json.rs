//! An Event as its recorder sends it: the object of the Kubernetes API (`core/v1`).

use std::sync::LazyLock;

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta, Time};
use serde_json::Value;

use super::container::ContainerRef;
use super::event_correlator::{CorrelatedEvent, EventDraft, EventReporter};
use super::pod::SimulatedPod;
use super::rng::Rng;
use super::sim_clock::meta_time;
use podinit_core::timestamp::Timestamp;

/// The first kubelet whose recorder fills `reportingComponent`.
const REPORTING_COMPONENT_SINCE: u8 = 27;

static TEMPLATE: LazyLock<Event> = LazyLock::new(|| {
    // A test reads it.
    serde_json::from_str(include_str!("event_template.json")).unwrap_or_default()
});

/// The Event that is sent of `draft`. Its name is that of the pod, and the instant in hexadecimal
/// nanoseconds.
pub(super) fn object(draft: EventDraft, correlated: CorrelatedEvent, pod: &SimulatedPod) -> Event {
    let manifest = &pod.manifest;
    let named = correlated.named.as_nanos();
    let field_path = draft.container.and_then(|container| {
        let name = manifest.container(container)?.name;
        Some(match container {
            ContainerRef::Init(_) => format!("spec.initContainers{{{name}}}"),
            ContainerRef::Regular(_) => format!("spec.containers{{{name}}}"),
        })
    });
    let reporter = &draft.reporter;
    let text = |text: &str| Some(text.to_owned());
    let (component, host) = (text(reporter.component()), text(reporter.instance()));
    let stated = match reporter {
        EventReporter::Kubelet(_, kubelet) => kubelet.minor >= REPORTING_COMPONENT_SINCE,
        EventReporter::Scheduler
        | EventReporter::VolumeController
        | EventReporter::Autoscaler(_) => true,
    };
    let names_instance = stated
        && !matches!(reporter, EventReporter::VolumeController | EventReporter::Autoscaler(_));
    // The scheduler's recorder writes another version of the API, which states other times.
    let by_new_api = *reporter == EventReporter::Scheduler;
    let legacy = |at| (!by_new_api).then(|| meta_time(at));
    let mut metadata = TEMPLATE.metadata.clone();
    for fields in metadata.managed_fields.iter_mut().flatten() {
        fields.manager.clone_from(&component);
        fields.api_version = text(if by_new_api { "events.k8s.io/v1" } else { "v1" });
    }
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{}.{named:x}", manifest.name)),
            namespace: text(&manifest.namespace),
            uid: Some(Rng::new(named.unsigned_abs()).uuid()),
            ..metadata
        },
        involved_object: ObjectReference {
            namespace: text(&manifest.namespace),
            name: text(&manifest.name),
            uid: text(&manifest.uid),
            field_path,
            ..TEMPLATE.involved_object.clone()
        },
        reason: text(draft.reason),
        message: Some(correlated.message),
        first_timestamp: legacy(correlated.first),
        last_timestamp: legacy(correlated.last),
        event_time: by_new_api.then(|| MicroTime(meta_time(correlated.first).0)),
        count: i32::try_from(correlated.count).ok().filter(|_| !by_new_api),
        type_: text(if draft.warning { "Warning" } else { "Normal" }),
        action: by_new_api.then(|| action(draft.reason).to_owned()),
        reporting_component: component.clone().filter(|_| stated).or_else(|| text("")),
        reporting_instance: host.clone().filter(|_| names_instance).or_else(|| text("")),
        source: Some(EventSource {
            component: component.filter(|_| !by_new_api),
            host: host.filter(|_| matches!(reporter, EventReporter::Kubelet(..))),
        }),
        ..Event::default()
    }
}

/// What a scheduler says that it does.
fn action(reason: &str) -> &'static str {
    match reason {
        "Scheduled" => "Binding",
        _ => "Scheduling",
    }
}

/// `event` as it is written at `now`. `created` is the creation time of the one that it replaces.
pub(super) fn written(mut event: Event, created: Option<Time>, now: Timestamp) -> Value {
    let now = meta_time(now);
    for fields in event.metadata.managed_fields.iter_mut().flatten() {
        fields.time = Some(now.clone());
    }
    event.metadata.creation_timestamp = created.or(Some(now));
    // Strings and numbers: cannot fail.
    let mut object = serde_json::to_value(&event).unwrap_or_default();
    // API servers write these as null, which the type leaves out.
    if let Some(fields) = object.as_object_mut() {
        for time in ["firstTimestamp", "lastTimestamp", "eventTime"] {
            fields.entry(time).or_insert(Value::Null);
        }
    }
    object
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_template_is_an_event() {
        assert_eq!(TEMPLATE.involved_object.kind.as_deref(), Some("Pod"));
        assert!(TEMPLATE.metadata.managed_fields.is_some());
    }
}
