//! The Events that kubelets, the scheduler, autoscalers and the volume controller report of what happens to a pod. A
//! kubelet's messages are those of `pkg/kubelet/images/image_manager.go`,
//! `pkg/kubelet/kuberuntime/kuberuntime_container.go` and `kuberuntime_manager.go` of 1.24 to 1.37.

use super::component_fault::{NO_DEVICES, REJECTED, SECRET_MISSING, ScaleUp};
use super::container::{AppState, ContainerRef, KubeletReport, RunState, SimulatedContainer};
use super::event_correlator::{EventDraft, EventReporter};
use super::life::PodChange;
use super::node::SimulatedNode;
use super::pod::{SCHEDULER_SKEW, SimulatedPod};
use super::sim_clock::MILLI;
use podinit_core::timestamp::Timestamp;

/// Between the creation of a container and its start.
const CREATION: i64 = 25 * MILLI;

/// The Events of `change`, which has just happened to `pod` at `now` of the API server's clock.
pub fn drafts(change: &PodChange, pod: &SimulatedPod, now: Timestamp) -> Vec<EventDraft> {
    let manifest = &pod.manifest;
    match change {
        PodChange::Unschedulable(why) => {
            let draft = scheduler("FailedScheduling", why.message(), now);
            vec![EventDraft { warning: true, ..draft }]
        }
        PodChange::Autoscale(scale_up) => vec![EventDraft {
            reporter: EventReporter::Autoscaler(*scale_up),
            warning: *scale_up == ScaleUp::OverLimit,
            reason: scale_up.reason(),
            message: scale_up.message(),
            container: None,
            at: now,
        }],
        PodChange::Bind { node, .. } => {
            let (namespace, name) = (&manifest.namespace, &manifest.name);
            let message = format!("Successfully assigned {namespace}/{name} to {}", node.name);
            vec![scheduler("Scheduled", message, now)]
        }
        PodChange::Mount => vec![EventDraft {
            reporter: EventReporter::VolumeController,
            warning: false,
            reason: "SuccessfulAttachVolume",
            message: format!("AttachVolume.Attach succeeded for volume \"pvc-{}\" ", manifest.uid),
            container: None,
            at: now,
        }],
        _ => match pod.node {
            Some(node) => of_kubelet(change, pod, node, now),
            None => Vec::new(),
        },
    }
}

fn scheduler(reason: &'static str, message: String, now: Timestamp) -> EventDraft {
    EventDraft {
        reporter: EventReporter::Scheduler,
        warning: false,
        reason,
        message,
        container: None,
        at: now.plus_nanos(SCHEDULER_SKEW),
    }
}

/// The Events of `change`, which the kubelet of `node` has just seen of `pod` at `now` of the API server's
/// clock.
fn of_kubelet(
    change: &PodChange,
    pod: &SimulatedPod,
    node: SimulatedNode,
    now: Timestamp,
) -> Vec<EventDraft> {
    let view = KubeletView { pod, node, now };
    match change {
        PodChange::FailMount => vec![view.warning(
            "FailedMount",
            "MountVolume.SetUp failed for volume \"data\" : rpc error: code = Internal desc = the \
             volume is not attached yet"
                .to_owned(),
            None,
        )],
        PodChange::FailSandbox(fault) => {
            let message = fault.message(&pod.manifest.uid, pod.sandbox_attempts);
            vec![view.warning("FailedCreatePodSandBox", message, None)]
        }
        PodChange::Reject => vec![view.warning(REJECTED, NO_DEVICES.to_owned(), None)],
        PodChange::FailCreate(container) => {
            vec![view.warning("Failed", format!("Error: {SECRET_MISSING}"), Some(*container))]
        }
        PodChange::Pull { container, .. }
        | PodChange::Pulled(container)
        | PodChange::FindImage(container)
        | PodChange::FailPull(container, _)
        | PodChange::BackOffPull(container, _)
        | PodChange::Start(container) => match (pod.manifest.container(*container), change) {
            (Some(declared), PodChange::Start(_)) => view.start(*container, declared),
            (Some(declared), _) => view.of_image(change, *container, declared),
            (None, _) => Vec::new(),
        },
        PodChange::Report(report) => view.report(report),
        PodChange::Terminate { .. } => view.kill(),
        _ => Vec::new(),
    }
}

/// A kubelet that looks at a pod of its node.
struct KubeletView<'a> {
    pod: &'a SimulatedPod,
    node: SimulatedNode,
    now: Timestamp,
}

impl KubeletView<'_> {
    fn normal(
        &self,
        reason: &'static str,
        message: String,
        container: Option<ContainerRef>,
    ) -> EventDraft {
        EventDraft {
            reporter: EventReporter::Kubelet(self.node, self.pod.kubelet),
            warning: false,
            reason,
            message,
            container,
            at: self.now.plus_nanos(self.node.skew),
        }
    }

    fn warning(
        &self,
        reason: &'static str,
        message: String,
        container: Option<ContainerRef>,
    ) -> EventDraft {
        EventDraft { warning: true, ..self.normal(reason, message, container) }
    }

    fn of_image(
        &self,
        change: &PodChange,
        container: ContainerRef,
        declared: &SimulatedContainer,
    ) -> Vec<EventDraft> {
        let name = declared.image.name;
        let normal = |reason, message| self.normal(reason, message, Some(container));
        let failed = |message| self.warning("Failed", message, Some(container));
        match change {
            PodChange::Pull { .. } => vec![normal("Pulling", format!("Pulling image \"{name}\""))],
            PodChange::Pulled(_) => vec![normal("Pulled", self.pulled(declared))],
            PodChange::FailPull(_, fault) => {
                let fault = fault.message(&declared.image);
                vec![
                    failed(format!("Failed to pull image \"{name}\": {fault}")),
                    failed("Error: ErrImagePull".to_owned()),
                ]
            }
            PodChange::BackOffPull(..) => vec![
                normal("BackOff", format!("Back-off pulling image \"{name}\"")),
                failed("Error: ImagePullBackOff".to_owned()),
            ],
            _ => {
                let present = format!("Container image \"{name}\" already present on machine");
                let message = match self.pod.kubelet.minor {
                    0..=34 => present,
                    _ => format!("{present} and can be accessed by the pod"),
                };
                vec![normal("Pulled", message)]
            }
        }
    }

    /// The message of a pull that has succeeded just now.
    fn pulled(&self, declared: &SimulatedContainer) -> String {
        let image = declared.image;
        let (took, waited) = match self.pod.pull {
            Some(pull) => (pull.takes, self.now.nanos_since(pull.since)),
            None => (0, 0),
        };
        let head = format!("Successfully pulled image \"{}\" in", image.name);
        let in_millis = |nanos| go_duration(nanos / MILLI * MILLI);
        let times = format!("{} ({} including waiting)", in_millis(took), in_millis(waited));
        // Before 1.27 the message states what the metric does, not cut to the millisecond.
        match self.pod.kubelet.minor {
            0..=26 => format!("{head} {}", go_duration(waited)),
            27..=29 => format!("{head} {times}"),
            _ => format!("{head} {times}. Image size: {} bytes.", image.bytes),
        }
    }

    fn start(&self, container: ContainerRef, declared: &SimulatedContainer) -> Vec<EventDraft> {
        let name = declared.name;
        let minor = self.pod.kubelet.minor;
        let created = match minor {
            0..=31 => format!("Created container {name}"),
            32..=34 => format!("Created container: {name}"),
            _ => "Container created".to_owned(),
        };
        let started = match minor {
            0..=34 => format!("Started container {name}"),
            _ => "Container started".to_owned(),
        };
        let created = self.normal("Created", created, Some(container));
        vec![
            EventDraft { at: created.at.plus_nanos(-CREATION), ..created },
            self.normal("Started", started, Some(container)),
        ]
    }

    fn report(&self, report: &KubeletReport) -> Vec<EventDraft> {
        let manifest = &self.pod.manifest;
        let main = Some(ContainerRef::MAIN);
        match report.app {
            AppState::Waiting("CrashLoopBackOff") => {
                let message = format!(
                    "Back-off restarting failed container {} in pod {}_{}({})",
                    manifest.containers.first().map_or("", |of| of.name),
                    manifest.name,
                    manifest.namespace,
                    manifest.uid
                );
                vec![self.warning("BackOff", message, main)]
            }
            AppState::Running { ready: false } if manifest.readiness_probe => {
                let message = "Readiness probe failed: HTTP probe failed with statuscode: 503";
                vec![self.warning("Unhealthy", message.to_owned(), main)]
            }
            _ => Vec::new(),
        }
    }

    fn kill(&self) -> Vec<EventDraft> {
        let pod = self.pod;
        let runs = pod.runs.regular.iter().zip(&pod.manifest.containers);
        runs.enumerate()
            .filter(|(_, (run, _))| matches!(run.state, RunState::Running(_)))
            .map(|(index, (_, container))| {
                let message = format!("Stopping container {}", container.name);
                self.normal("Killing", message, Some(ContainerRef::Regular(index)))
            })
            .collect()
    }
}

/// As Go's `time.Duration` prints it.
pub(super) fn go_duration(nanos: i64) -> String {
    let nanos = nanos.max(0);
    if nanos == 0 {
        return "0s".to_owned();
    }
    let fraction = |value: i64, unit: i64, name: &str| {
        let digits = format!("{:09}", value % unit * (1_000_000_000 / unit));
        let digits = digits.trim_end_matches('0');
        match digits.is_empty() {
            true => format!("{}{name}", value / unit),
            false => format!("{}.{digits}{name}", value / unit),
        }
    };
    match nanos {
        0..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => fraction(nanos, 1_000, "µs"),
        1_000_000..1_000_000_000 => fraction(nanos, 1_000_000, "ms"),
        _ => {
            let (minutes, rest) = (nanos / 60_000_000_000, nanos % 60_000_000_000);
            let seconds = fraction(rest, 1_000_000_000, "s");
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_as_go_does() {
        for (nanos, text) in [
            (0, "0s"),
            (7, "7ns"),
            (1_500, "1.5µs"),
            (345_000_000, "345ms"),
            (2_512_345_678, "2.512345678s"),
            (4_070_000_000, "4.07s"),
            (60_000_000_000, "1m0s"),
            (3_723_100_000_000, "1h2m3.1s"),
        ] {
            assert_eq!(go_duration(nanos), text);
        }
    }
}
