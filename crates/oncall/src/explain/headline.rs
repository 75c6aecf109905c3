//! A sentence on what a pod in flight waits for, and for how long.

use podinit_core::lifecycle::{
    Cause, GateKind, Outcome, Progress, Record, RecordedContainer, Stage, WaitReason,
    names_several_faults,
};
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::{seconds, since};

use podinit_problems::reason;

/// The state of a startup, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartupHealth {
    /// It became ready, and its pod has not crashed since
    Ready,
    /// It may still become ready, or it ended as nobody's fault
    Open,
    Stuck,
    /// It was rejected or failed, or its pod crashes again
    Failed,
}

impl StartupHealth {
    /// The state of the startup of `record`.
    pub(super) fn from_record(record: &Record) -> Self {
        match record.progress {
            _ if record.relapse.is_some() => Self::Failed,
            Progress::InFlight { is_stuck: true, .. } => Self::Stuck,
            Progress::InFlight { .. } => Self::Open,
            Progress::Ended { outcome: Outcome::Ready, .. } => Self::Ready,
            Progress::Ended { outcome, .. } if outcome.is_failure() => Self::Failed,
            Progress::Ended { .. } => Self::Open,
        }
    }
}

/// What the pod of `record` has waited for in its stage until `now`, and why: `Has waited 12m0s for image web:2: not
/// found`. `None` of an ended startup, and of a pod that can never be Ready.
pub(super) fn headline(record: &Record, now: Timestamp) -> Option<String> {
    let Progress::InFlight { waiting, entered, is_never_ready: false, .. } = record.progress else {
        return None;
    };
    let took = seconds(since(entered, now).floor());
    if waiting.cause() == Cause::Terminating {
        return Some(format!("Is being deleted, after {took} in {}", waiting.stage().as_str()));
    }
    let said = record.message.as_deref();
    let reason = said.and_then(|message| reason(waiting.cause(), message));
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    Some(format!("Has waited {took} for {}{reason}", awaited(record, waiting)))
}

/// What the pod of `record` waits for, as a noun with its name.
fn awaited(record: &Record, waiting: WaitReason) -> String {
    let container = container(record, waiting);
    let kind = container.map_or("container", |one| match (one.init, one.is_sidecar) {
        (_, true) => "sidecar",
        (true, false) => "init container",
        (false, false) => "container",
    });
    let called = match container {
        Some(container) => format!("{kind} {}", container.name),
        None => format!("a {kind}"),
    };
    let image = container.and_then(RecordedContainer::failing_image).or(record.image.as_ref());
    let image = image.map_or_else(|| "an image".to_owned(), |image| format!("image {image}"));
    let gate = |kind: GateKind| {
        let gate = record.gate_of(waiting.cause()).map(|gate| format!(" {}", gate.gate));
        format!("the {} gate{}", kind.as_str(), gate.unwrap_or_default())
    };
    let fixed = match waiting.cause() {
        Cause::Taint | Cause::Affinity
            if record.message.as_deref().is_some_and(names_several_faults) =>
        {
            "a node that it fits on"
        }
        Cause::Terminating => "its deletion",
        Cause::Gate => return gate(GateKind::Scheduling),
        Cause::ReadinessGate => return gate(GateKind::Readiness),
        Cause::Binding => "the scheduler to bind it to its node",
        Cause::Queue => "the scheduler to try it",
        Cause::Gang => "its pod group",
        Cause::Preempting => "pods of lower priority to go",
        Cause::SchedulerError => "the scheduler, which fails",
        Cause::Quota => "room in a queue or quota",
        Cause::Resources => "a node with enough resources",
        Cause::Taint => "a node whose taints it tolerates",
        Cause::Topology => "a node that fits its topology spread constraints",
        Cause::Volume => "a volume",
        Cause::Claim => "a resource claim",
        Cause::Affinity => "a node that fits its node selector or affinity",
        Cause::Other => "a node that it fits on",
        Cause::Acknowledge => "the kubelet of its node to accept it",
        Cause::Cni => "a network",
        Cause::Sandbox | Cause::NoSandbox => "a sandbox",
        Cause::NoIp => "an address",
        Cause::Unknown if waiting.stage() == Stage::Readiness => {
            "the condition Ready, although its containers are ready"
        }
        Cause::Unknown => "its network",
        Cause::Image => return image,
        Cause::Pull => return format!("{image} to be pulled"),
        Cause::Config => return format!("{called}, which cannot be created"),
        Cause::Crash => return format!("{called}, which crashes"),
        Cause::Exited => return format!("{called}, which has exited with code 0"),
        Cause::Create => return format!("{called} to be created"),
        Cause::Run if kind == "sidecar" => return format!("the startup probe of {called}"),
        Cause::Run => return format!("{called} to end"),
        Cause::Probe => return format!("{called} to be ready"),
        // No pod in flight waits for these.
        Cause::Clock => "the clock of its node",
        Cause::NodeStartup => "a node to start",
        Cause::Rejected => "the kubelet, which has rejected it",
    };
    fixed.to_owned()
}

/// The container that gives the pod its cause; `None` if none does.
fn container(record: &Record, waiting: WaitReason) -> Option<&RecordedContainer> {
    record.container_of(record.last_cause().filter(|last| last.waiting == waiting)?)
}
