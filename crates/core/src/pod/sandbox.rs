//! Why a pod's sandbox is not ready, as the kubelet says since Kubernetes 1.37.

use crate::label_values;

label_values! {
    /// What the message of `PodReadyToStartContainers=False` with reason `PodSandboxNotReady` says.
    pub enum SandboxNotReady {
        /// It contains `no pod sandbox`
        NoSandbox => "no pod sandbox",
        /// It contains `no IP`
        NoIp => "no IP",
    }
}

impl SandboxNotReady {
    /// What `message` says; `None` for anything else.
    pub fn of(message: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|said| message.contains(said.as_str()))
    }
}
