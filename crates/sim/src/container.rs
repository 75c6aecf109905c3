//! The containers of a pod: what its spec declares, and what its kubelet has seen of each.

use super::image::ContainerImage;
use podinit_core::timestamp::Timestamp;

/// One container of a pod's spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedContainer {
    /// `name`
    pub name: &'static str,
    /// `image`
    pub image: ContainerImage,
    /// Of an init container: a sidecar (`restartPolicy: Always`)
    pub(super) restartable: bool,
}

/// Which container of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerRef {
    /// The one of `spec.initContainers` at this index
    Init(usize),
    /// The one of `spec.containers` at this index
    Regular(usize),
}

impl ContainerRef {
    /// The container whose restarts and probe a [`KubeletReport`] tells of.
    pub const MAIN: Self = Self::Regular(0);
}

/// What the kubelet sees of a pod when it writes the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubeletReport {
    /// The sandbox is ready and has a network
    pub sandbox: bool,
    /// How many init containers are done (restartable ones: started)
    pub init_done: usize,
    /// The containers of the spec; ready or not, and restarted, is only the first of them
    pub app: AppState,
    /// How often the main container has been restarted
    pub restarts: u32,
}

impl KubeletReport {
    /// The first one: no sandbox and no container exists yet.
    pub(super) fn first(has_init_containers: bool) -> Self {
        let reason = match has_init_containers {
            false => "ContainerCreating",
            true => "PodInitializing",
        };
        Self { sandbox: false, init_done: 0, app: AppState::Waiting(reason), restarts: 0 }
    }
}

/// The state of the containers of the spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppState {
    /// Waiting for this reason
    Waiting(&'static str),
    /// Running, and ready or not
    Running {
        /// The readiness probe has succeeded, or there is none
        ready: bool,
    },
    /// The main one has ended with an error, and is restarted at once: a kubelet backs off from the second end on
    Restarting,
    /// Ended without an error, not to be restarted
    Completed,
    /// Ended with an error, not to be restarted
    Failed,
}

/// A run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedRun {
    /// `startedAt`, not yet truncated
    pub since: Timestamp,
    /// `finishedAt`, not yet truncated
    pub until: Timestamp,
    /// `exitCode`
    pub exit_code: i32,
}

/// `state` of a container's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// `waiting`
    Waiting,
    /// `running`, since this instant of the kubelet's clock
    Running(Timestamp),
    /// `terminated`
    Ended(EndedRun),
}

/// Why a container waits, if it is not simply being created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerWaiting {
    /// `reason`
    pub reason: &'static str,
    /// `message`
    pub message: String,
}

/// What the kubelet has seen of one container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRun {
    /// `state`
    pub(crate) state: RunState,
    /// `lastState.terminated`
    pub last: Option<EndedRun>,
    /// `restartCount`
    pub restarts: u32,
    /// Set while its image cannot be pulled
    pub waiting: Option<ContainerWaiting>,
    /// It has started at this instant, which the status does not show yet
    pub(super) unreported: Option<Timestamp>,
}

impl ContainerRun {
    /// Not started yet.
    const NEW: Self =
        Self { state: RunState::Waiting, last: None, restarts: 0, waiting: None, unreported: None };

    /// The earliest start that the status states.
    pub fn start(&self) -> Option<Timestamp> {
        let current = match self.state {
            RunState::Waiting => None,
            RunState::Running(since) | RunState::Ended(EndedRun { since, .. }) => Some(since),
        };
        let last = self.last.map(|last| last.since);
        [current, last].into_iter().flatten().min()
    }

    /// A status written at `at` shows it running.
    fn shows_running(&mut self, at: Timestamp) {
        if !matches!(self.state, RunState::Running(_)) || self.unreported.is_some() {
            self.stop(at, 1);
            self.state = RunState::Running(self.unreported.take().unwrap_or(at));
            self.waiting = None;
        }
    }

    /// A status written at `at` shows that it has ended and is not restarted.
    fn shows_end(&mut self, at: Timestamp, exit_code: i32) {
        let since = match self.state {
            RunState::Ended(_) => return,
            RunState::Running(since) => since,
            RunState::Waiting => self.unreported.take().unwrap_or(at),
        };
        self.waiting = None;
        self.state = RunState::Ended(EndedRun { since, until: at, exit_code });
    }

    /// A status written at `at` shows that it waits to be started (again).
    fn stop(&mut self, at: Timestamp, exit_code: i32) {
        match self.state {
            RunState::Waiting => return,
            RunState::Ended(ended) => self.last = Some(ended),
            RunState::Running(since) => {
                self.last = Some(EndedRun { since, until: at, exit_code });
            }
        }
        self.state = RunState::Waiting;
    }
}

/// What the kubelet has seen of all containers of a pod, in the order of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodContainerRuns {
    /// `spec.initContainers`
    pub init: Vec<ContainerRun>,
    /// `spec.containers`
    pub regular: Vec<ContainerRun>,
}

/// The exit code of a container that is killed with its sandbox.
const KILLED: i32 = 137;

impl PodContainerRuns {
    /// As many as these, none of which has started.
    pub fn new(init: usize, regular: usize) -> Self {
        Self { init: vec![ContainerRun::NEW; init], regular: vec![ContainerRun::NEW; regular] }
    }

    /// The run of one container, if there is such a container.
    pub fn get_mut(&mut self, container: ContainerRef) -> Option<&mut ContainerRun> {
        match container {
            ContainerRef::Init(index) => self.init.get_mut(index),
            ContainerRef::Regular(index) => self.regular.get_mut(index),
        }
    }

    /// The status that the kubelet writes at `at` shows `report`. `init` are the init containers of
    /// the spec.
    pub fn show(&mut self, init: &[SimulatedContainer], report: &KubeletReport, at: Timestamp) {
        for (index, (run, container)) in self.init.iter_mut().zip(init).enumerate() {
            match index < report.init_done {
                true if container.restartable => run.shows_running(at),
                true => run.shows_end(at, 0),
                false if run.unreported.is_some() => run.shows_running(at),
                false if matches!(run.state, RunState::Ended(_)) || !report.sandbox => {
                    run.stop(at, KILLED);
                }
                false => {}
            }
        }
        for (index, run) in self.regular.iter_mut().enumerate() {
            let is_main = index == 0;
            match report.app {
                AppState::Running { .. } => run.shows_running(at),
                AppState::Waiting(_) if is_main && report.restarts > 0 => run.stop(at, 1),
                // Another one of the pod is held up.
                AppState::Waiting(_) if run.unreported.is_some() => run.shows_running(at),
                AppState::Waiting(_) if !report.sandbox => run.stop(at, KILLED),
                AppState::Restarting if is_main => run.shows_end(at, 1),
                AppState::Waiting(_) | AppState::Restarting => {}
                AppState::Completed => run.shows_end(at, 0),
                AppState::Failed => run.shows_end(at, if is_main { 42 } else { 0 }),
            }
            if is_main {
                run.restarts = report.restarts;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(second)
    }

    fn report(app: AppState, restarts: u32) -> KubeletReport {
        KubeletReport { sandbox: true, init_done: 0, app, restarts }
    }

    #[test]
    fn a_start_is_stated_when_the_status_is_written_and_kept_over_a_crash() {
        let mut runs = PodContainerRuns::new(0, 2);
        for run in &mut runs.regular {
            run.unreported = Some(at(3));
        }
        assert_eq!(runs.regular[0].start(), None);
        runs.show(&[], &report(AppState::Running { ready: false }, 0), at(5));
        assert_eq!(runs.regular[0].state, RunState::Running(at(3)));
        runs.show(&[], &report(AppState::Waiting("CrashLoopBackOff"), 1), at(7));
        let (main, other) = (&runs.regular[0], &runs.regular[1]);
        assert_eq!(main.state, RunState::Waiting);
        assert_eq!((main.start(), main.restarts), (Some(at(3)), 1));
        assert_eq!(other.state, RunState::Running(at(3)));
        runs.show(&[], &report(AppState::Running { ready: true }, 1), at(9));
        assert_eq!(runs.regular[0].state, RunState::Running(at(9)));
        assert_eq!(runs.regular[0].start(), Some(at(3)));
    }
}
