//! The Events of a kubelet. The messages are those of `pkg/kubelet/images/image_manager.go`,
//! `pkg/kubelet/kuberuntime/kuberuntime_container.go` and `kuberuntime_manager.go` of 1.24 to 1.37.

use super::container::{Container, ContainerRef, RunState};
use super::event::{EventDraft, Reporter};
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
