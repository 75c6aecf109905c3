//! From what a kubelet sees to the conditions and the phase that it writes, by the rules of the
//! kubelet (`pkg/kubelet/status/generate.go`).

use super::container::{App, Report};
use super::life::PodManifest;
use super::node::Kubelet;

/// `status.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `Pending`
    Pending,
    /// `Running`
    Running,
    /// `Succeeded`
    Succeeded,
    /// `Failed`
    Failed,
}

impl Phase {
    /// As Kubernetes spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
        }
    }

    /// Whether it is the last one.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }

    /// The phase after `report`: a pod that has run is never pending again.
    pub fn after(self, report: &Report, init_containers: usize) -> Self {
        match report.app {
            App::Completed => Self::Succeeded,
            App::Failed => Self::Failed,
            App::Running { .. } if report.init_done >= init_containers => Self::Running,
            App::Waiting(_) if report.restarts > 0 => Self::Running,
            _ if self == Self::Running => Self::Running,
            _ => Self::Pending,
        }
    }
}

/// What a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// `status`: True or False
    pub holds: bool,
    /// `reason`
    pub reason: Option<&'static str>,
    /// `message`
    pub message: Option<String>,
}

impl Verdict {
    /// It holds, which needs no reason.
    pub const HOLDS: Self = Self { holds: true, reason: None, message: None };

    /// It does not hold, without a reason.
    pub const FAILS: Self = Self { holds: false, ..Self::HOLDS };

    /// It holds, for this reason.
    pub fn holds(reason: &'static str, message: impl Into<String>) -> Self {
        Self { holds: true, ..Self::fails(reason, message) }
    }

    /// It does not hold, for this reason.
    pub fn fails(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            holds: false,
            reason: Some(reason),
            message: Some(message.into()).filter(|message: &String| !message.is_empty()),
        }
    }
}

/// `PodReadyToStartContainers`, by a kubelet of this version. `existed` says whether the status has
/// shown a sandbox before.
pub fn network_ready(kubelet: Kubelet, report: &Report, existed: bool) -> Verdict {
    if report.sandbox {
        return Verdict::HOLDS;
    }
    if !kubelet.explains_missing_sandbox() {
        return Verdict::FAILS;
    }
    let message = match existed {
        true => "pod sandbox is not ready",
        false => "no pod sandbox exists",
    };
    Verdict::fails("PodSandboxNotReady", message)
}

/// `Initialized`: True from the first sync on for a pod without init containers.
pub fn initialized(manifest: &PodManifest, report: &Report, phase: Phase) -> Verdict {
    if phase == Phase::Succeeded {
        return Verdict::holds("PodCompleted", "");
    }
    let undone: Vec<&str> = (manifest.init_containers.iter())
        .skip(report.init_done)
        .map(|container| container.name)
        .collect();
    if undone.is_empty() {
        return Verdict::HOLDS;
    }
    let message = format!("containers with incomplete status: [{}]", undone.join(" "));
    Verdict::fails("ContainersNotInitialized", message)
}

/// `ContainersReady`.
pub fn containers_ready(manifest: &PodManifest, report: &Report, phase: Phase) -> Verdict {
    match (phase, report.app) {
        (Phase::Succeeded, _) => Verdict::fails("PodCompleted", ""),
        (Phase::Failed, _) => Verdict::fails("PodFailed", ""),
        (_, App::Running { ready: true }) => Verdict::HOLDS,
        (_, app) => {
            // A main container that crashes or is probed leaves those beside it running.
            let unready = match app {
                App::Running { .. } => 1,
                _ if report.restarts > 0 => 1,
                _ => manifest.containers.len(),
            };
            let waiting = (manifest.init_containers.iter())
                .skip(report.init_done)
                .filter(|container| container.restartable)
                .chain(manifest.containers.iter().take(unready))
                .map(|container| container.name);
            let names: Vec<&str> = waiting.collect();
            let message = format!("containers with unready status: [{}]", names.join(" "));
            Verdict::fails("ContainersNotReady", message)
        }
    }
}

/// `Ready`: the containers, and every readiness gate. `status` is that of the condition of this type, if it is set.
pub fn ready(
    manifest: &PodManifest,
    containers: Verdict,
    status: impl Fn(&str) -> Option<bool>,
) -> Verdict {
    if !containers.holds {
        return containers;
    }
    let unmet = |gate: &&str| {
        let gated = format!("pod readiness gate \"{gate}\"");
        match status(gate) {
            Some(true) => None,
            Some(false) => Some(format!("the status of {gated} is not \"True\", but False")),
            None => Some(format!("corresponding condition of {gated} does not exist.")),
        }
    };
    let unmet: Vec<String> = manifest.readiness_gates.iter().filter_map(unmet).collect();
    match unmet.is_empty() {
        true => containers,
        false => Verdict::fails("ReadinessGatesNotReady", unmet.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::container::Container;
    use super::super::life;
    use super::*;

    fn report(init_done: usize, app: App) -> Report {
        Report { sandbox: false, init_done, app, restarts: 0 }
    }

    #[test]
    fn without_init_containers_the_first_sync_is_initialized() {
        let manifest = PodManifest::default();
        let waiting = report(0, App::Waiting("ContainerCreating"));
        assert!(initialized(&manifest, &waiting, Phase::Pending).holds);
        assert_eq!(network_ready(Kubelet::V1_36, &waiting, false).reason, None);
        let explained = network_ready(Kubelet::V1_37, &waiting, false);
        assert!(!explained.holds);
        assert_eq!(explained.message.as_deref(), Some("no pod sandbox exists"));
    }

    #[test]
    fn init_containers_that_are_not_done_are_named() {
        let manifest = PodManifest {
            init_containers: vec![
                Container { name: "migrate", ..life::APP },
                Container { name: "proxy", restartable: true, ..life::APP },
            ],
            ..PodManifest::default()
        };
        let waiting = report(1, App::Waiting("PodInitializing"));
        let verdict = initialized(&manifest, &waiting, Phase::Pending);
        assert_eq!(verdict.reason, Some("ContainersNotInitialized"));
        assert_eq!(verdict.message.as_deref(), Some("containers with incomplete status: [proxy]"),);
        let verdict = containers_ready(&manifest, &waiting, Phase::Pending);
        assert_eq!(verdict.message.as_deref(), Some("containers with unready status: [proxy app]"),);
    }

    #[test]
    fn a_readiness_gate_holds_back_only_ready() {
        let manifest =
            PodManifest { readiness_gates: vec!["lb/web", "mesh/up"], ..PodManifest::default() };
        let running = report(0, App::Running { ready: true });
        let containers = containers_ready(&manifest, &running, Phase::Running);
        assert!(containers.holds);
        let ready = |lb, mesh| {
            let status = |kind: &str| if kind == "lb/web" { lb } else { mesh };
            ready(&manifest, containers.clone(), status)
        };
        let waits = ready(Some(false), None);
        assert_eq!((waits.holds, waits.reason), (false, Some("ReadinessGatesNotReady")));
        assert_eq!(
            waits.message.as_deref(),
            Some(
                "the status of pod readiness gate \"lb/web\" is not \"True\", but False, corresponding condition of \
                 pod readiness gate \"mesh/up\" does not exist."
            )
        );
        assert!(!ready(Some(true), Some(false)).holds);
        assert!(ready(Some(true), Some(true)).holds);
    }

    #[test]
    fn finished_pods_say_so() {
        let manifest = PodManifest::default();
        let done = report(0, App::Completed);
        let phase = Phase::Running.after(&done, 0);
        assert_eq!(phase, Phase::Succeeded);
        let verdict = containers_ready(&manifest, &done, phase);
        assert_eq!((verdict.holds, verdict.reason), (false, Some("PodCompleted")));
        let verdict = initialized(&manifest, &done, phase);
        assert_eq!((verdict.holds, verdict.reason), (true, Some("PodCompleted")));
    }
}
