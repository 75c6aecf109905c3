//! What a kubelet sees of a pod when it writes the pod's status.

/// What the kubelet sees of a pod when it writes the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The sandbox is ready and has a network
    pub sandbox: bool,
    /// How many init containers are done (restartable ones: started)
    pub init_done: usize,
    /// The containers of the spec; ready or not, and restarted, is only the first of them
    pub app: App,
    /// How often the main container has been restarted
    pub restarts: u32,
}

impl Report {
    /// The first one: no sandbox and no container exists yet.
    pub(super) fn first(has_init_containers: bool) -> Self {
        let reason = match has_init_containers {
            false => "ContainerCreating",
            true => "PodInitializing",
        };
        Self {
            sandbox: false,
            init_done: 0,
            app: App::Waiting(reason),
            restarts: 0,
        }
    }
}

/// The state of the containers of the spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App {
    /// Waiting for this reason
    Waiting(&'static str),
    /// Running, and ready or not
    Running {
        /// The readiness probe has succeeded, or there is none
        ready: bool,
    },
    /// Ended without an error, not to be restarted
    Completed,
    /// Ended with an error, not to be restarted
    Failed,
}
