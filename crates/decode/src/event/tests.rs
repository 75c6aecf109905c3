//! Which fields of an Event are read, and what becomes of those that are not what they should be.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::pod::lenient::LenientSeed;
use crate::pod::object::ObjectReader;
use podinit_core::kube_event::SuccessfulPull;
use podinit_core::rfc3339;
use podinit_testing::random::whole_event;
use serde::de::DeserializeSeed;

pub(super) fn event(object: &Value) -> KubeEvent {
    let text = object.to_string();
    let mut context = DecodeContext::default();
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let object = LenientSeed(ObjectReader(&mut context)).deserialize(&mut deserializer);
    of_object(object.unwrap().unwrap(), &mut context)
}

/// The full Event with `value` at `place`.
fn with(place: &str, value: Value) -> KubeEvent {
    let mut object = whole_event();
    *object.pointer_mut(place).unwrap() = value;
    event(&object)
}

fn saying(reason: &str, message: &str) -> EventReason {
    let mut object = whole_event();
    object["reason"] = reason.into();
    object["message"] = message.into();
    event(&object).reason
}

#[test]
fn everything_that_is_read_is_found() {
    assert_eq!(
        event(&whole_event()),
        KubeEvent {
            pod: Some(InvolvedPod::new(
                PodUid::from_text("00000000-0000-0001-0000-000000000002"),
                "shop",
                "web.v2-7c9d",
            )),
            from_kubelet: true,
            container: Some(EventContainer { name: "web".into(), init: false }),
            first: rfc3339::parse("2026-01-02T03:04:05Z"),
            named: Some(Timestamp::from_nanos(0x18a3_f0c2_b5e4_d600)),
            occurred: EventOccurrence {
                first: rfc3339::parse("2026-01-02T03:04:05Z"),
                last: rfc3339::parse("2026-01-02T03:05:05Z"),
            },
            reason: EventReason::Pulled(Some(PulledMessage::Pulled(SuccessfulPull {
                registry: "ghcr.io".into(),
                duration: Duration::from_millis(1_500),
                with_wait: Some(Duration::from_secs(2)),
                bytes: Some(77),
            }))),
            message: None,
        }
    );
}

#[test]
fn an_event_of_either_interface_says_when_it_happened() {
    let time = |second: u32| format!("2026-01-02T03:04:{second:02}Z");
    let occurred = |times: &[(&str, u32)]| {
        let mut object = json!({"kind": "Event"});
        for (field, second) in times {
            match *field {
                "series" => {
                    object["series"] = json!({"count": 3, "lastObservedTime": time(*second)})
                }
                field => object[field] = time(*second).into(),
            }
        }
        let EventOccurrence { first, last } = event(&object).occurred;
        [first, last].map(|at| at.map(|at| at.as_nanos() / NANOS_PER_SECOND % 60))
    };
    let (first, last, series, once) = ("firstTimestamp", "lastTimestamp", "series", "eventTime");
    assert_eq!(occurred(&[]), [None, None]);
    assert_eq!(occurred(&[(first, 1)]), [Some(1), None]);
    assert_eq!(occurred(&[(once, 2)]), [Some(2), Some(2)]);
    assert_eq!(occurred(&[(once, 2), (series, 3)]), [Some(2), Some(3)]);
    let all = [(first, 1), (once, 2), (series, 3), (last, 4)];
    assert_eq!(occurred(&all), [Some(1), Some(4)]);
}

#[test]
fn only_an_event_about_a_pod_names_one() {
    assert_eq!(with("/involvedObject/kind", json!("Node")).pod, None);
    assert_eq!(with("/involvedObject/uid", json!("")).pod, None);
    let uid = PodUid::from_text("00000000-0000-0001-0000-000000000002");
    assert_eq!(with("/involvedObject/kind", Value::Null).uid(), Some(uid));
}

#[test]
fn the_reporting_component_wins_where_it_is_not_empty() {
    let from = |reporter: Value, source: Value| {
        let mut object = whole_event();
        object["reportingComponent"] = reporter;
        object["source"] = json!({"component": source});
        event(&object).from_kubelet
    };
    assert!(from(json!("kubelet"), json!("")));
    assert!(from(json!("kubelet"), json!("scheduler")));
    assert!(from(json!(""), json!("kubelet")));
    assert!(from(Value::Null, json!("kubelet")));
    assert!(!from(json!("scheduler"), json!("kubelet")));
    assert!(!from(json!(""), json!("kubelet-x")));
    assert!(!from(json!(""), Value::Null));
}

#[test]
fn a_field_path_names_a_container_of_the_spec() {
    let container = |path: &str| {
        let container = with("/involvedObject/fieldPath", json!(path)).container;
        container.map(|container| (container.name.to_string(), container.init))
    };
    assert_eq!(container("spec.containers{web}"), Some(("web".into(), false)));
    assert_eq!(container("spec.initContainers{set-up}"), Some(("set-up".into(), true)));
    for other in [
        "",
        "spec.containers[2]",
        "spec.containers{}",
        "spec.containers{web",
        "spec.ephemeralContainers{debug}",
        "implicitly required container POD",
        " spec.containers{web}",
    ] {
        assert_eq!(container(other), None, "{other}");
    }
}

#[test]
fn the_instant_in_a_name_is_hexadecimal_after_the_last_dot_and_not_absurd() {
    let named = |name: &str| with("/metadata/name", json!(name)).named;
    let at = |nanos| Some(Timestamp::from_nanos(nanos));
    assert_eq!(named("web.18a3f0c2b5e4d600"), at(0x18a3_f0c2_b5e4_d600));
    assert_eq!(named("web.18A3F0C2B5E4D600"), at(0x18a3_f0c2_b5e4_d600));
    assert_eq!(named("a.b.18a3f0c2b5e4d600"), at(0x18a3_f0c2_b5e4_d600));
    // 1971-01-01T00:00:00Z, and the nanosecond before it.
    assert_eq!(named("web.7009d32da30000"), at(31_536_000_000_000_000));
    for absurd in [
        "web.7009d32da2ffff",
        "web.0",
        "web.",
        "web",
        "18a3f0c2b5e4d600",
        "web.+8a3f0c2b5e4d600",
        "web.-18a3f0c2b5e4d600",
        "web.0x18a3f0c2b5e4d600",
        "web.98a3f0c2b5e4d600",
        "web.18a3f0c2b5e4d6000",
        "3b1d0c4e-8f57-4a3c-9d21-6f0e5b7a9c11",
    ] {
        assert_eq!(named(absurd), None, "{absurd}");
    }
}

#[test]
fn an_event_time_is_not_the_first_occurrence() {
    let mut object = whole_event();
    object["firstTimestamp"] = Value::Null;
    object["eventTime"] = "2026-01-02T03:04:05.123456Z".into();
    assert_eq!(event(&object).first, None);
    assert_eq!(with("/firstTimestamp", json!("1970-01-01T00:00:00Z")).first, None);
}

#[test]
fn a_binding_has_the_time_that_the_scheduler_states_in_either_version_of_the_api() {
    let core = json!({
        "kind": "Event", "apiVersion": "v1",
        "metadata": {"name": "web.18a3f0c2b5e4d600", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web", "uid": "u"},
        "reason": "Scheduled", "message": "Successfully assigned shop/web to node-1",
        "source": {}, "firstTimestamp": null, "lastTimestamp": null, "type": "Normal",
        "eventTime": "2026-01-02T03:04:05.123456Z", "action": "Binding",
        "series": {"count": 2, "lastObservedTime": "2026-01-02T03:09:05.123456Z"},
        "reportingComponent": "default-scheduler", "reportingInstance": "default-scheduler-0",
    });
    let new = json!({
        "kind": "Event", "apiVersion": "events.k8s.io/v1",
        "metadata": {"name": "web.18a3f0c2b5e4d600", "namespace": "shop"},
        "regarding": {"kind": "Pod", "namespace": "shop", "name": "web", "uid": "u"},
        "reason": "Scheduled", "note": "Successfully assigned shop/web to node-1",
        "deprecatedSource": {}, "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null,
        "eventTime": "2026-01-02T03:04:05.123456Z", "action": "Binding", "type": "Normal",
        "series": {"count": 2, "lastObservedTime": "2026-01-02T03:09:05.123456Z"},
        "reportingController": "default-scheduler", "reportingInstance": "default-scheduler-0",
    });
    let at = rfc3339::parse("2026-01-02T03:04:05.123456Z").unwrap();
    let read = event(&core);
    assert_eq!(read.reason, EventReason::Scheduled(at));
    assert_eq!(read.pod, Some(InvolvedPod::new(PodUid::from_text("u"), "shop", "web")));
    assert!(!read.from_kubelet && read.first.is_none());
    assert_eq!(event(&new), read);
    let frame = podinit_sim::protobuf::event(
        json!({"type": "ADDED", "object": core}).to_string().as_bytes(),
    );
    let of_frame = crate::event::watch::EventDecoder::default().frame(&frame.unwrap()).unwrap();
    let mut of_line = crate::event::watch::EventDecoder::default();
    let line = json!({"type": "ADDED", "object": core}).to_string();
    assert_eq!(Ok(of_frame), of_line.line(line.as_bytes()));
    for without in [Value::Null, json!("soon"), json!("1970-01-01T00:00:00Z")] {
        let mut core = core.clone();
        core["eventTime"] = without;
        assert_eq!(event(&core).reason, EventReason::Other);
    }
}

#[test]
fn reasons_are_those_of_the_specification() {
    for (reason, event_reason) in [
        ("Pulling", EventReason::Pulling),
        ("Pulled", EventReason::Pulled(None)),
        ("Created", EventReason::Created),
        ("Started", EventReason::Started),
        ("Failed", EventReason::Hint(Hint::Start)),
        ("BackOff", EventReason::Other),
        ("Scheduled", EventReason::Other),
        ("FailedScheduling", EventReason::FailedScheduling),
        ("started", EventReason::Other),
        ("", EventReason::Other),
    ] {
        assert_eq!(saying(reason, "whatever"), event_reason, "{reason}");
    }
    let registry = "quay.io".into();
    assert_eq!(
        saying("Failed", "Failed to pull image \"quay.io/a:b\": not found"),
        EventReason::PullFailed { registry }
    );
    let registry = "docker.io".into();
    assert_eq!(
        saying("Pulled", "Container image \"nginx\" already present on machine"),
        EventReason::Pulled(Some(PulledMessage::Present { registry }))
    );
}

#[test]
fn warnings_say_what_a_sandbox_waits_for() {
    use SandboxWarning as W;
    for (reason, message, warning) in [
        ("FailedPrepareDynamicResources", "", W::FailedPrepareDynamicResources),
        ("FailedMount", "network", W::FailedMount),
        ("FailedCreatePodContainer", "", W::FailedPodContainer),
        (
            "Failed",
            "error making pod data directories: mkdir /var/lib/kubelet/pods/1: no space left on device",
            W::FailedPodDirectories,
        ),
        (
            "VolumePermissionChangeInProgress",
            "Setting volume ownership for 1/volumes/x is taking longer than expected",
            W::VolumePermissionChange,
        ),
        ("FailedAttachVolume", "", W::FailedAttachVolume),
        ("FailedMapVolume", "", W::FailedMapVolume),
        ("NetworkNotReady", "", W::NetworkNotReady),
        ("FailedCreatePodSandBox", "Plugin Type=\"CNI\" failed", W::FailedSandboxNetwork),
        ("FailedCreatePodSandBox", "setup NetWork for sandbox", W::FailedSandboxNetwork),
        (
            "FailedCreatePodSandBox",
            "NetworkPlugin cni failed to set up pod",
            W::FailedSandboxNetwork,
        ),
        (
            "FailedCreatePodSandBox",
            "error adding pod to CNI network \"x\"",
            W::FailedSandboxNetwork,
        ),
        (
            "FailedCreatePodSandBox",
            "failed to create pod network sandbox x",
            W::FailedSandboxNetwork,
        ),
        (
            "FailedCreatePodSandBox",
            "container runtime Network is not ready",
            W::FailedSandboxNetwork,
        ),
        ("FailedCreatePodSandBox", "cni plugin not initialized", W::FailedSandboxNetwork),
        (
            "FailedCreatePodSandBox",
            "Failed to reserve sandbox name \"network-check_x\": plugin type= is reserved",
            W::FailedSandbox,
        ),
        (
            "FailedCreatePodSandBox",
            "failed to get sandbox image: Failed to pull image \"cni network\"",
            W::FailedSandbox,
        ),
        ("FailedCreatePodSandBox", "network-check, cni-0", W::FailedSandbox),
        ("FailedCreatePodSandBox", "no space left on device", W::FailedSandbox),
    ] {
        assert_eq!(saying(reason, message), EventReason::Warning(warning), "{message}");
    }
    let attached = saying("SuccessfulAttachVolume", "AttachVolume.Attach succeeded");
    assert_eq!(attached, EventReason::VolumeAttached);
}

/// The texts are those of the kubelets of 1.18 to 1.37.
#[test]
fn hints_tell_of_pulls_starts_and_probes() {
    use ProbeKind::{Liveness, Readiness, Startup};
    for (reason, message, hint) in [
        ("Failed", "Error: secret \"db\" not found", Some(Hint::Start)),
        ("Failed", "Error: ImagePullBackOff", Some(Hint::Start)),
        ("FailedToRetrieveImagePullSecret", "", Some(Hint::PullSecret)),
        ("FailedSync", "error determining status", Some(Hint::Sync)),
        (
            "Unhealthy",
            "Startup probe failed: HTTP probe failed with statuscode: 404",
            Some(Hint::Unhealthy(Startup)),
        ),
        (
            "Unhealthy",
            "Liveness probe errored and resulted in unknown state: rpc error",
            Some(Hint::Unhealthy(Liveness)),
        ),
        ("Unhealthy", "Readiness probe failed: EOF", Some(Hint::Unhealthy(Readiness))),
        ("Unhealthy", "Other probe failed: EOF", None),
        ("Unhealthy", "", None),
        (
            "Killing",
            "Container web failed liveness probe, will be restarted",
            Some(Hint::Killed(Liveness)),
        ),
        ("Killing", "Init container failed-web failed startup probe", Some(Hint::Killed(Startup))),
        ("Killing", "Stopping container web", None),
    ] {
        let expected = hint.map_or(EventReason::Other, EventReason::Hint);
        assert_eq!(saying(reason, message), expected, "{reason} {message}");
    }
}

#[test]
fn an_event_about_a_claim_is_read_where_it_is_wanted() {
    use podinit_core::kube_event::{ClaimWord, VolumeClaim};
    let read = |claims: bool, kind: &str, reason: &str, namespace: &str| {
        let text = json!({
            "metadata": {"name": "data.1", "namespace": "shop"}, "type": kind, "reason": reason, "message": "m",
            "involvedObject": {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": "data", "uid": "c"},
        });
        let options = crate::DecodeOptions { messages: true, claims, ..Default::default() };
        let mut context = DecodeContext::new(options);
        let text = text.to_string();
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let object = LenientSeed(ObjectReader(&mut context)).deserialize(&mut deserializer);
        let event = of_object(object.unwrap().unwrap(), &mut context);
        assert_eq!(event.pod, None);
        match event.reason {
            EventReason::OfClaim { claim, said } => {
                assert_eq!(claim, VolumeClaim { namespace: "shop".into(), name: "data".into() });
                assert_eq!(event.message.as_deref(), Some("m"));
                Some(said)
            }
            _ => None,
        }
    };
    for (kind, reason, said) in [
        ("Warning", "ProvisioningFailed", Some(ClaimWord::Fails)),
        ("Warning", "Anything", Some(ClaimWord::Fails)),
        ("Normal", "FailedBinding", Some(ClaimWord::Fails)),
        ("Normal", "ExternalProvisioning", Some(ClaimWord::Waits)),
        ("Normal", "ProvisioningSucceeded", Some(ClaimWord::Succeeds)),
        ("Normal", "WaitForFirstConsumer", None),
    ] {
        assert_eq!(read(true, kind, reason, "shop"), said, "{reason}");
        assert_eq!(read(false, kind, reason, "shop"), None, "{reason}");
        assert_eq!(read(true, kind, reason, "other"), None, "{reason}");
    }
}
