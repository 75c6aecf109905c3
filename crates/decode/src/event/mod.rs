//! The decoder of `v1` Events about pods ([§9.5](crate::specification#s9-5)). Like that of pods it reads only
//! the fields that podinit needs, and is lenient: a field of another type than it should have counts as
//! absent, so every object of kind Event is an Event, if need be one that says nothing.
//!
//! `fields` holds the fields, `message` the texts that kubelets write, with `go_duration`, and
//! `watch` what a list-watch receives.

pub(crate) mod fields;
pub mod go_duration;
pub mod message;
pub mod watch;

use std::sync::Arc;

use super::pod::DecodeContext;
use super::pod::metadata::MetadataFields;
use super::pod::object::ObjectFields;
use fields::InvolvedObject;
use message::PullMessage;
use podinit_core::image_registry;
use podinit_core::kube_event::{
    CapacityState, ClaimWord, EventContainer, EventOccurrence, EventReason, Hint, InvolvedPod,
    KubeEvent, LONGEST_REPORTER, ProbeKind, PulledMessage, SandboxWarning, VolumeClaim,
};
use podinit_core::label_value::LabelValue;
use podinit_core::pod::PodUid;
use podinit_core::pod::text::cut;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Names the component of which Events are evidence.
const KUBELET: &str = "kubelet";

/// Stands before the message of an Event that a client has made of several: it says nothing of the pod.
const COMBINED: &str = "(combined from similar events): ";

/// Name the components whose `FailedScheduling` is about nodes to come; that of a scheduler is about those there are.
/// The second is Karpenter in the Auto Mode of EKS.
const KARPENTER: [&str; 2] = ["karpenter", "eks-auto-mode/compute"];

/// The Event that `object` is.
pub fn of_object(object: ObjectFields<'_>, context: &mut DecodeContext) -> KubeEvent {
    let ObjectFields { metadata, event, reason, message, .. } = object;
    let involved = event.involved.unwrap_or_default();
    let reporter = event.reporter.filter(|name| !name.is_empty());
    let reporter = reporter.or(event.source_component);
    let message = message.as_deref().unwrap_or_default();
    let reason = reason.as_deref().unwrap_or_default();
    let claim = claim_of(&involved, &metadata, context);
    let of_claim = claim.map(|claim| {
        let said = ClaimWord::of_event(reason, event.kind.as_deref());
        said.map_or(EventReason::Other, |said| EventReason::OfClaim { claim, said })
    });
    let reason = match (of_claim, capacity_state(reason, reporter.as_deref())) {
        (Some(of_claim), _) => of_claim,
        (None, Some(state)) => EventReason::Capacity {
            state,
            by: context.text(cut(reporter.as_deref().unwrap_or_default(), LONGEST_REPORTER)),
        },
        (None, None) if reason == "Scheduled" => {
            event.event_time.map_or(EventReason::Other, EventReason::Scheduled)
        }
        (None, None) => reason_of(reason, message, context),
    };
    let tells_why = matches!(
        reason,
        EventReason::Warning(_)
            | EventReason::Capacity { .. }
            | EventReason::Hint(_)
            | EventReason::PullFailed { .. }
            | EventReason::OfClaim { .. }
    );
    let gives_cause = reason == EventReason::FailedScheduling;
    let is_kept = gives_cause || context.options.messages && tells_why;
    KubeEvent {
        pod: pod_of(&involved, metadata.namespace, context),
        from_kubelet: reporter.as_deref() == Some(KUBELET),
        container: involved.field_path.and_then(|path| container(&path, context)),
        first: event.first,
        named: instant_in_name(&metadata.name),
        occurred: EventOccurrence {
            first: event.first.or(event.event_time),
            last: event.last.or(event.last_of_series).or(event.event_time),
        },
        reason,
        message: is_kept.then(|| message.strip_prefix(COMBINED).unwrap_or(message).into()),
    }
}

/// Whether the Event `object` is about a pod of another shard.
fn is_of_other_shard(object: &ObjectFields<'_>, context: &DecodeContext) -> bool {
    let pod = object.event.involved.as_ref().and_then(uid_of_pod);
    pod.is_some_and(|uid| context.is_of_other_shard(uid))
}

/// The UID of the pod that an Event is about. Events of nodes have a `uid` as well, which is a name.
fn uid_of_pod(involved: &InvolvedObject<'_>) -> Option<PodUid> {
    let is_pod = involved.kind.as_deref().is_none_or(|kind| kind == "Pod");
    let uid = involved.uid.as_deref().filter(|uid| !uid.is_empty());
    uid.filter(|_| is_pod).map(PodUid::from_text)
}

/// The pod that an Event in `namespace` is about ([§9.5](crate::specification#s9-5)). An API server takes an Event
/// without `involvedObject.namespace` in the namespace `default`.
fn pod_of(
    involved: &InvolvedObject<'_>,
    namespace: Option<Arc<str>>,
    context: &mut DecodeContext,
) -> Option<InvolvedPod> {
    let uid = uid_of_pod(involved)?;
    let of_pod = involved.namespace.as_deref().unwrap_or_default();
    let namespace = match namespace.filter(|namespace| !namespace.is_empty()) {
        Some(own) if of_pod.is_empty() || *own == *of_pod => own,
        Some(_) => return None,
        None => context.text(of_pod),
    };
    let name = involved.name.as_deref().unwrap_or_default();
    Some(InvolvedPod::new(uid, namespace, name))
}

/// The claim that an Event is about, where that is wanted: one of the namespace that the Event itself is in.
fn claim_of(
    involved: &InvolvedObject<'_>,
    metadata: &MetadataFields<'_>,
    context: &mut DecodeContext,
) -> Option<VolumeClaim> {
    let is_claim = involved.kind.as_deref() == Some("PersistentVolumeClaim");
    let name = involved.name.as_deref().filter(|_| is_claim && context.options.claims)?;
    let namespace = metadata.namespace.as_ref();
    let namespace = namespace.filter(|own| involved.namespace.as_deref() == Some(&***own))?;
    Some(VolumeClaim { namespace: Arc::clone(namespace), name: context.text(name) })
}

/// The container that a `fieldPath` names: `spec.containers{NAME}` or `spec.initContainers{NAME}`.
fn container(path: &str, context: &mut DecodeContext) -> Option<EventContainer> {
    let (init, rest) = match path.strip_prefix("spec.initContainers{") {
        Some(rest) => (true, rest),
        None => (false, path.strip_prefix("spec.containers{")?),
    };
    let name = rest.strip_suffix('}').filter(|name| !name.is_empty())?;
    Some(EventContainer { name: context.text(name), init })
}

/// The instant in the name of an Event: what follows the last dot, as hexadecimal Unix nanoseconds.
/// `None` where that is no such number, or lies in 1970 or before ([§4.6](crate::specification#s4-6)).
pub fn instant_in_name(name: &str) -> Option<Timestamp> {
    /// 1971-01-01T00:00:00Z
    const FIRST: i64 = 31_536_000 * NANOS_PER_SECOND;
    let (_, digits) = name.rsplit_once('.')?;
    // The parser would take a sign.
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let nanos = i64::from_str_radix(digits, 16).ok()?;
    (hexadecimal && nanos >= FIRST).then(|| Timestamp::from_nanos(nanos))
}

fn reason_of(reason: &str, message: &str, context: &mut DecodeContext) -> EventReason {
    let mut registry =
        |image: &str| -> Arc<str> { context.text(image_registry::registry_of(image)) };
    match reason {
        "Pulling" => EventReason::Pulling,
        "Created" => EventReason::Created,
        "Started" => EventReason::Started,
        "FailedScheduling" => EventReason::FailedScheduling,
        "SuccessfulAttachVolume" => EventReason::VolumeAttached,
        "Pulled" => EventReason::Pulled(match message::pulled(message) {
            Some(PullMessage::Present { image }) => {
                Some(PulledMessage::Present { registry: registry(image) })
            }
            Some(PullMessage::Pulled { image, pull }) => {
                Some(PulledMessage::Pulled(pull.of_registry(registry(image))))
            }
            None => None,
        }),
        "Failed" => match message::failed_pull(message) {
            Some(image) => EventReason::PullFailed { registry: registry(image) },
            None if message.starts_with("error making pod data directories") => {
                EventReason::Warning(SandboxWarning::FailedPodDirectories)
            }
            None => EventReason::Hint(Hint::Start),
        },
        _ => match (warning(reason, message), hint(reason, message)) {
            (Some(warning), _) => EventReason::Warning(warning),
            (None, Some(hint)) => EventReason::Hint(hint),
            (None, None) => EventReason::Other,
        },
    }
}

/// What an Event of an autoscaler says ([§10.4](crate::specification#s10-4)).
fn capacity_state(reason: &str, reporter: Option<&str>) -> Option<CapacityState> {
    match reason {
        "TriggeredScaleUp" => Some(CapacityState::ScalingUp),
        "NotTriggerScaleUp" => Some(CapacityState::NoScaleUp),
        "FailedScheduling" if reporter.is_some_and(|name| KARPENTER.contains(&name)) => {
            Some(CapacityState::NoScaleUp)
        }
        "FailedScaleUp" => Some(CapacityState::ScaleUpFailed),
        "Nominated" => Some(CapacityState::Nominated),
        _ => None,
    }
}

/// The warning about a pod's sandbox that an Event is ([§10.1](crate::specification#s10-1)).
fn warning(reason: &str, message: &str) -> Option<SandboxWarning> {
    Some(match reason {
        "FailedPrepareDynamicResources" => SandboxWarning::FailedPrepareDynamicResources,
        "FailedMount" => SandboxWarning::FailedMount,
        "FailedAttachVolume" => SandboxWarning::FailedAttachVolume,
        "FailedMapVolume" => SandboxWarning::FailedMapVolume,
        "NetworkNotReady" => SandboxWarning::NetworkNotReady,
        "FailedCreatePodSandBox" if is_about_network(message) => {
            SandboxWarning::FailedSandboxNetwork
        }
        "FailedCreatePodSandBox" => SandboxWarning::FailedSandbox,
        "FailedCreatePodContainer" => SandboxWarning::FailedPodContainer,
        "VolumePermissionChangeInProgress" => SandboxWarning::VolumePermissionChange,
        _ => return None,
    })
}

/// What an Event tells beside the cause of its pod ([§10.1](crate::specification#s10-1)).
fn hint(reason: &str, message: &str) -> Option<Hint> {
    let kind = |text: &str| ProbeKind::from_text(&text.to_ascii_lowercase());
    match reason {
        "FailedToRetrieveImagePullSecret" => Some(Hint::PullSecret),
        "FailedSync" => Some(Hint::Sync),
        // `Startup probe failed: …`, `Startup probe errored and resulted in … state: …`
        "Unhealthy" => kind(message.split(" probe ").next()?).map(Hint::Unhealthy),
        // `Container web failed startup probe, will be restarted`; up to 1.15 `Container web failed liveness probe, …`
        "Killing" => {
            let (_, after) = message.split_once(" failed ")?;
            kind(after.split(" probe").next()?).map(Hint::Killed)
        }
        _ => None,
    }
}

/// Whether the message of a `FailedCreatePodSandBox` is about the network, and not about a sandbox or a pause
/// image whose name only contains such words.
fn is_about_network(message: &str) -> bool {
    const NETWORK: [&str; 7] = [
        "setup network",
        "networkplugin cni",
        "cni network",
        "plugin type=",
        "pod network sandbox",
        "network is not ready",
        "cni plugin not initialized",
    ];
    const OTHER: [&str; 2] = ["failed to reserve sandbox name", "failed to pull image"];
    let message = message.to_ascii_lowercase();
    let contains_any = |words: &[&str]| words.iter().any(|word| message.contains(word));
    contains_any(&NETWORK) && !contains_any(&OTHER)
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
