//! The Events of a kubelet. The messages are those of `pkg/kubelet/images/image_manager.go`,
//! `pkg/kubelet/kuberuntime/kuberuntime_container.go` and `kuberuntime_manager.go` of 1.24 to 1.37.

use super::container::{Container, ContainerRef, RunState};
use super::event_draft::{EventDraft, Reporter};
use super::go_duration::go_duration;
use super::life::Change;
use super::node::Node;
use super::pod::Pod;
use super::report::{App, Report};
use super::sim_clock::MILLI;
use podinit_core::timestamp::Timestamp;

/// Between the creation of a container and its start.
const CREATION: i64 = 25 * MILLI;

/// The Events of `change`, which the kubelet of `node` has just seen of `pod` at `now` of the API server's
/// clock.
pub(super) fn drafts(change: &Change, pod: &Pod, node: Node, now: Timestamp) -> Vec<EventDraft> {
    let view = KubeletView { pod, node, now };
    match change {
        Change::FailMount => vec![view.warning(
            "FailedMount",
            "MountVolume.SetUp failed for volume \"data\" : rpc error: code = Internal desc = the \
             volume is not attached yet"
                .to_owned(),
            None,
        )],
        Change::FailSandbox(fault) => {
            vec![view.warning(
                "FailedCreatePodSandBox",
                fault.message(&view.pod.manifest.uid, view.pod.sandbox_attempts),
                None,
            )]
        }
        Change::Pull { container, .. }
        | Change::Pulled(container)
        | Change::FindImage(container)
        | Change::FailPull(container, _)
        | Change::BackOffPull(container, _) => match view.pod.manifest.container(*container) {
            Some(declared) => view.of_image(change, *container, declared),
            None => Vec::new(),
        },
        Change::Start(container) => match view.pod.manifest.container(*container) {
            Some(declared) => view.start(*container, declared),
            None => Vec::new(),
        },
        Change::Report(report) => view.report(report),
        Change::Terminate { .. } => view.kill(),
        _ => Vec::new(),
    }
}

/// A kubelet that looks at a pod of its node.
struct KubeletView<'a> {
    pod: &'a Pod,
    node: Node,
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
            reporter: Reporter::Kubelet(self.node, self.pod.kubelet),
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
        EventDraft {
            warning: true,
            ..self.normal(reason, message, container)
        }
    }

    fn of_image(
        &self,
        change: &Change,
        container: ContainerRef,
        declared: &Container,
    ) -> Vec<EventDraft> {
        let image = declared.image;
        let minor = self.pod.kubelet.minor;
        let of = Some(container);
        match change {
            Change::Pull { .. } => {
                let message = format!("Pulling image \"{}\"", image.name);
                vec![self.normal("Pulling", message, of)]
            }
            Change::Pulled(_) => {
                let message = self.pulled(declared);
                vec![self.normal("Pulled", message, of)]
            }
            Change::FailPull(_, fault) => {
                let message = format!(
                    "Failed to pull image \"{}\": {}",
                    image.name,
                    fault.message(&image)
                );
                let error = "Error: ErrImagePull".to_owned();
                vec![
                    self.warning("Failed", message, of),
                    self.warning("Failed", error, of),
                ]
            }
            Change::BackOffPull(..) => {
                let message = format!("Back-off pulling image \"{}\"", image.name);
                let error = "Error: ImagePullBackOff".to_owned();
                vec![
                    self.normal("BackOff", message, of),
                    self.warning("Failed", error, of),
                ]
            }
            _ => {
                let present = format!(
                    "Container image \"{}\" already present on machine",
                    image.name
                );
                let message = match minor {
                    0..=34 => present,
                    _ => format!("{present} and can be accessed by the pod"),
                };
                vec![self.normal("Pulled", message, of)]
            }
        }
    }

    /// The message of a pull that has succeeded just now.
    fn pulled(&self, declared: &Container) -> String {
        let image = declared.image;
        let (took, waited) = match self.pod.pull {
            Some(pull) => (pull.takes, self.now.nanos_since(pull.since)),
            None => (0, 0),
        };
        let head = format!("Successfully pulled image \"{}\" in", image.name);
        // Before 1.27 the message states what the metric does, not cut to the millisecond.
        match self.pod.kubelet.minor {
            0..=26 => format!("{head} {}", go_duration(waited)),
            27..=29 => format!(
                "{head} {} ({} including waiting)",
                go_duration(in_millis(took)),
                go_duration(in_millis(waited))
            ),
            _ => format!(
                "{head} {} ({} including waiting). Image size: {} bytes.",
                go_duration(in_millis(took)),
                go_duration(in_millis(waited)),
                image.bytes
            ),
        }
    }

    fn start(&self, container: ContainerRef, declared: &Container) -> Vec<EventDraft> {
        let name = declared.name;
        let (created, started) = match self.pod.kubelet.minor {
            0..=31 => (
                format!("Created container {name}"),
                format!("Started container {name}"),
            ),
            32..=34 => (
                format!("Created container: {name}"),
                format!("Started container {name}"),
            ),
            _ => (
                "Container created".to_owned(),
                "Container started".to_owned(),
            ),
        };
        let created = self.normal("Created", created, Some(container));
        vec![
            EventDraft {
                at: created.at.plus_nanos(-CREATION),
                ..created
            },
            self.normal("Started", started, Some(container)),
        ]
    }

    fn report(&self, report: &Report) -> Vec<EventDraft> {
        let manifest = &self.pod.manifest;
        let main = Some(ContainerRef::MAIN);
        match report.app {
            App::Waiting("CrashLoopBackOff") => {
                let message = format!(
                    "Back-off restarting failed container {} in pod {}_{}({})",
                    manifest.containers.first().map_or("", |of| of.name),
                    manifest.name,
                    manifest.namespace,
                    manifest.uid
                );
                vec![self.warning("BackOff", message, main)]
            }
            App::Running { ready: false } if manifest.readiness_probe => {
                let message = "Readiness probe failed: HTTP probe failed with statuscode: 503";
                vec![self.warning("Unhealthy", message.to_owned(), main)]
            }
            _ => Vec::new(),
        }
    }

    fn kill(&self) -> Vec<EventDraft> {
        let runs = self
            .pod
            .runs
            .regular
            .iter()
            .zip(&self.pod.manifest.containers);
        runs.enumerate()
            .filter(|(_, (run, _))| matches!(run.state, RunState::Running(_)))
            .map(|(index, (_, container))| {
                let message = format!("Stopping container {}", container.name);
                self.normal("Killing", message, Some(ContainerRef::Regular(index)))
            })
            .collect()
    }
}

fn in_millis(nanos: i64) -> i64 {
    nanos / MILLI * MILLI
}
