//! From what a kubelet sees to the conditions and the phase that it writes, by the rules of the
//! kubelet (`pkg/kubelet/status/generate.go`).

use super::container::{AppState, KubeletReport};
use super::life::PodManifest;
use super::node::KubeletMinor;

/// `status.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatedPhase {
    /// `Pending`
    Pending,
    /// `Running`
    Running,
    /// `Succeeded`
    Succeeded,
    /// `Failed`
    Failed,
}

impl SimulatedPhase {
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
    pub fn after(self, report: &KubeletReport, init_containers: usize) -> Self {
        match report.app {
            AppState::Completed => Self::Succeeded,
            AppState::Failed => Self::Failed,
            AppState::Running { .. } if report.init_done >= init_containers => Self::Running,
            AppState::Restarting => Self::Running,
            AppState::Waiting(_) if report.restarts > 0 => Self::Running,
            _ if self == Self::Running => Self::Running,
            _ => Self::Pending,
        }
    }
}

/// What a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionVerdict {
    /// `status`: True or False
    pub holds: bool,
    /// `reason`
    pub reason: Option<&'static str>,
    /// `message`
    pub message: Option<String>,
}

impl ConditionVerdict {
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
pub fn network_ready(
    kubelet: KubeletMinor,
    report: &KubeletReport,
    existed: bool,
) -> ConditionVerdict {
    if report.sandbox {
        return ConditionVerdict::HOLDS;
    }
    if !kubelet.explains_missing_sandbox() {
        return ConditionVerdict::FAILS;
    }
    let message = match existed {
        true => "pod sandbox is not ready",
        false => "no pod sandbox exists",
    };
    ConditionVerdict::fails("PodSandboxNotReady", message)
}

/// `Initialized`: True from the first sync on for a pod without init containers.
pub fn initialized(
    manifest: &PodManifest,
    report: &KubeletReport,
    phase: SimulatedPhase,
) -> ConditionVerdict {
    if phase == SimulatedPhase::Succeeded {
        return ConditionVerdict::holds("PodCompleted", "");
    }
    let undone: Vec<&str> = (manifest.init_containers.iter())
        .skip(report.init_done)
        .map(|container| container.name)
        .collect();
    if undone.is_empty() {
        return ConditionVerdict::HOLDS;
    }
    let message = format!("containers with incomplete status: [{}]", undone.join(" "));
    ConditionVerdict::fails("ContainersNotInitialized", message)
}

/// `ContainersReady`.
pub fn containers_ready(
    manifest: &PodManifest,
    report: &KubeletReport,
    phase: SimulatedPhase,
) -> ConditionVerdict {
    match (phase, report.app) {
        (SimulatedPhase::Succeeded, _) => ConditionVerdict::fails("PodCompleted", ""),
        (SimulatedPhase::Failed, _) => ConditionVerdict::fails("PodFailed", ""),
        (_, AppState::Running { ready: true }) => ConditionVerdict::HOLDS,
        (_, app) => {
            // A main container that crashes or is probed leaves those beside it running.
            let unready = match app {
                AppState::Running { .. } | AppState::Restarting => 1,
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
            ConditionVerdict::fails("ContainersNotReady", message)
        }
    }
}

/// `Ready`: the containers, and every readiness gate. `status` is that of the condition of this type, if it is set.
pub fn ready(
    manifest: &PodManifest,
    containers: ConditionVerdict,
    status: impl Fn(&str) -> Option<bool>,
) -> ConditionVerdict {
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
        false => ConditionVerdict::fails("ReadinessGatesNotReady", unmet.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::container::SimulatedContainer;
    use super::super::life;
    use super::*;

    fn report(init_done: usize, app: AppState) -> KubeletReport {
        KubeletReport { sandbox: false, init_done, app, restarts: 0 }
    }

    #[test]
    fn without_init_containers_the_first_sync_is_initialized() {
        let manifest = PodManifest::default();
        let waiting = report(0, AppState::Waiting("ContainerCreating"));
        assert!(initialized(&manifest, &waiting, SimulatedPhase::Pending).holds);
        assert_eq!(network_ready(KubeletMinor::V1_36, &waiting, false).reason, None);
        let explained = network_ready(KubeletMinor::V1_37, &waiting, false);
        assert!(!explained.holds);
        assert_eq!(explained.message.as_deref(), Some("no pod sandbox exists"));
    }

    #[test]
    fn init_containers_that_are_not_done_are_named() {
        let manifest = PodManifest {
            init_containers: vec![
                SimulatedContainer { name: "migrate", ..life::APP },
                SimulatedContainer { name: "proxy", restartable: true, ..life::APP },
            ],
            ..PodManifest::default()
        };
        let waiting = report(1, AppState::Waiting("PodInitializing"));
        let verdict = initialized(&manifest, &waiting, SimulatedPhase::Pending);
        assert_eq!(verdict.reason, Some("ContainersNotInitialized"));
        assert_eq!(verdict.message.as_deref(), Some("containers with incomplete status: [proxy]"),);
        let verdict = containers_ready(&manifest, &waiting, SimulatedPhase::Pending);
        assert_eq!(verdict.message.as_deref(), Some("containers with unready status: [proxy app]"),);
    }

    #[test]
    fn a_readiness_gate_holds_back_only_ready() {
        let manifest =
            PodManifest { readiness_gates: vec!["lb/web", "mesh/up"], ..PodManifest::default() };
        let running = report(0, AppState::Running { ready: true });
        let containers = containers_ready(&manifest, &running, SimulatedPhase::Running);
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
        let done = report(0, AppState::Completed);
        let phase = SimulatedPhase::Running.after(&done, 0);
        assert_eq!(phase, SimulatedPhase::Succeeded);
        let verdict = containers_ready(&manifest, &done, phase);
        assert_eq!((verdict.holds, verdict.reason), (false, Some("PodCompleted")));
        let verdict = initialized(&manifest, &done, phase);
        assert_eq!((verdict.holds, verdict.reason), (true, Some("PodCompleted")));
    }
}
