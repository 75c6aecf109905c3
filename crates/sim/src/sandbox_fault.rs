//! Why a sandbox cannot be made, in the words of a container runtime.

/// Why a sandbox cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SandboxFault {
    /// The network plugin does not answer
    Network,
    /// The network plugin is not set up, so that the kubelet does not even try
    NetworkNotReady,
    /// The node's disk is full
    Disk,
}

impl SandboxFault {
    /// `reason` of the Event that reports it.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NetworkNotReady => "NetworkNotReady",
            Self::Network | Self::Disk => "FailedCreatePodSandBox",
        }
    }

    /// `message` of the Event that reports it. Each attempt has a sandbox of its own, so that
    /// no two messages of a pod are the same.
    /// `uid` is the pod's, `attempt` the number of its attempts so far.
    pub fn message(self, uid: &str, attempt: u32) -> String {
        match self {
            Self::Network => {
                let id = uid.replace('-', "");
                format!(
                    "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup \
                     network for sandbox \"{id}{:08x}\": plugin type=\"example-cni\" failed (add): \
                     dial unix /run/example-cni/agent.sock: connect: connection refused",
                    attempt
                )
            }
            Self::NetworkNotReady => "network is not ready: container runtime network not ready: \
                                      NetworkReady=false reason:NetworkPluginNotReady message:Network \
                                      plugin returns error: cni plugin not initialized"
                .to_owned(),
            Self::Disk => format!(
                "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to start \
                 sandbox: mkdir /run/containerd/task/{:08x}: no space left on device",
                attempt
            ),
        }
    }
}
