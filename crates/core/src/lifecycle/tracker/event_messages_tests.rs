//! What Events say of why a pod waits is in its record, whichever comes first: the Event or the snapshot that makes it
//! the pod's cause.

use super::fixtures::{at, delivery};
use super::*;
use crate::kube_event::{EventOccurrence, EventReason, InvolvedPod, KubeEvent, SandboxWarning};
use crate::lifecycle::cause::Cause;
use crate::lifecycle::observation::Observation;
use crate::lifecycle::record::Progress;
use crate::pod::{ConditionStatus, ConditionType, StatusCondition};

enum Step {
    Pod(Box<PodSnapshot>),
    Warning(SandboxWarning, Option<&'static str>),
    Attached,
}

/// The cause of the one pod, and what is said of it.
fn waits(steps: Vec<Step>) -> Option<(Cause, Option<String>)> {
    let mut tracker = Tracker::new(TrackerConfig { events: true, ..TrackerConfig::default() });
    let mut sink = |_, _: Observation<'_>| {};
    for (second, step) in (1..).zip(steps) {
        let event = |reason, message: Option<&str>| {
            PodEvent::Event(KubeEvent {
                pod: Some(InvolvedPod::new(PodUid::from_text("a"), "ns", "pod")),
                from_kubelet: false,
                container: None,
                first: None,
                named: None,
                occurred: EventOccurrence::default(),
                reason,
                message: message.map(Box::from),
            })
        };
        let event = match step {
            Step::Pod(pod) => PodEvent::Applied(*pod),
            Step::Warning(warning, message) => event(EventReason::Warning(warning), message),
            Step::Attached => event(EventReason::VolumeAttached, None),
        };
        tracker.apply(delivery(SourceId(0), second, event), &mut sink);
    }
    let record = tracker.in_flight(PodUid::from_text("a"))?.record();
    let Progress::InFlight { waiting, .. } = record.progress else {
        return None;
    };
    Some((waiting.cause(), record.message.map(|said| said.to_string())))
}

fn snapshot() -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "pod");
    pod.created = Some(at(0));
    let condition = StatusCondition { status: ConditionStatus::True, last_transition: Some(at(1)) };
    pod.conditions.insert(ConditionType::PodScheduled, condition);
    pod
}

fn bound() -> Box<PodSnapshot> {
    Box::new(snapshot())
}

fn accepted() -> Box<PodSnapshot> {
    Box::new(PodSnapshot { started: Some(at(1)), ..snapshot() })
}

#[test]
fn a_warning_speaks_whether_it_comes_before_its_snapshot_or_after() {
    use SandboxWarning::{FailedAttachVolume, FailedMount, FailedSandbox};
    use Step::{Attached, Pod, Warning};
    let said = |text: &str| Some(text.to_owned());
    let mount = || Warning(FailedMount, Some("no such volume"));
    for (steps, expected) in [
        (vec![Pod(accepted()), mount()], (Cause::Volume, said("no such volume"))),
        (vec![Pod(bound()), mount(), Pod(accepted())], (Cause::Volume, said("no such volume"))),
        (vec![Pod(bound()), mount()], (Cause::Acknowledge, None)),
        (vec![Pod(accepted()), mount(), Pod(accepted())], (Cause::Volume, said("no such volume"))),
        (
            vec![Pod(accepted()), mount(), Warning(FailedSandbox, Some("disk"))],
            (Cause::Sandbox, said("disk")),
        ),
        // Nothing is said of the new cause.
        (vec![Pod(accepted()), mount(), Warning(FailedSandbox, None)], (Cause::Sandbox, None)),
        (
            vec![Pod(bound()), mount(), Warning(FailedSandbox, None), Pod(accepted())],
            (Cause::Sandbox, None),
        ),
        (
            vec![Pod(accepted()), Warning(FailedAttachVolume, Some("busy")), Attached],
            (Cause::Unknown, None),
        ),
        (
            vec![
                Pod(bound()),
                Warning(FailedAttachVolume, Some("busy")),
                Attached,
                Pod(accepted()),
            ],
            (Cause::Unknown, None),
        ),
    ] {
        assert_eq!(waits(steps), Some(expected));
    }
}

#[test]
fn what_tells_more_of_a_cause_stays() {
    use SandboxWarning::{FailedAttachVolume, FailedMount};
    use Step::{Attached, Pod, Warning};
    let attach = "Multi-Attach error for volume \"pvc-1\"";
    let waits = |steps: Vec<Step>| {
        let first = vec![Pod(accepted())];
        waits(first.into_iter().chain(steps).collect())
    };
    let late = || {
        let text = "Unable to attach or mount volumes: timed out waiting for the condition";
        Warning(FailedMount, Some(text))
    };
    let attach_failed = || Warning(FailedAttachVolume, Some(attach));
    let said = |text: &str| Some((Cause::Volume, Some(text.to_owned())));
    assert_eq!(waits(vec![attach_failed(), late()]), said(attach));
    assert_eq!(waits(vec![late(), attach_failed(), late()]), said(attach));
    let other = "MountVolume.SetUp failed: secret \"tls\" not found";
    assert_eq!(waits(vec![attach_failed(), Warning(FailedMount, Some(other))]), said(other));
    // The volume is attached: its text is gone, and the last warning still gives the cause.
    assert_eq!(waits(vec![attach_failed(), late(), Attached]), Some((Cause::Volume, None)));
    assert_eq!(waits(vec![Warning(FailedMount, Some(other)), Attached]), said(other));
}
