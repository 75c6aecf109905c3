//! The probes of a pod's containers, as its spec declares them.

use std::sync::Arc;

/// When a probe runs, in seconds, with the defaults of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerProbe {
    /// `initialDelaySeconds`: the first run is not earlier after the start of the container
    pub initial_delay: u32,
    /// `periodSeconds`: from one run to the next
    pub period: u32,
    /// `successThreshold`: so many successes in a row are a success
    pub success_threshold: u32,
    /// `failureThreshold`: so many failures in a row are a failure
    pub failure_threshold: u32,
}

impl Default for ContainerProbe {
    fn default() -> Self {
        Self { initial_delay: 0, period: 10, success_threshold: 1, failure_threshold: 3 }
    }
}

/// The probes of one of `spec.containers` that has any.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerProbes {
    /// The name of the container
    pub container: Arc<str>,
    /// `startupProbe`: until it succeeds, the others do not run
    pub startup: Option<ContainerProbe>,
    /// `readinessProbe`: whether the container is ready
    pub readiness: Option<ContainerProbe>,
    /// `livenessProbe`: when it fails, the container is restarted
    pub liveness: Option<ContainerProbe>,
}
