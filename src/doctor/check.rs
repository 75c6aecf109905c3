//! The names of the checks.

use serde::{Serialize, Serializer};

/// A check. Every run reports on every one, if only as skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Whether the address to listen on is free
    Listen,
    /// Whether the SLO file is valid
    SloFile,
    /// Whether the web configuration is valid
    WebConfig,
    /// Whether the state directory can be used
    StateDir,
    /// Whether a kubeconfig or a service account names a cluster
    Cluster,
    /// Whether the API server answers
    ApiServer,
    /// Which user our credentials belong to
    Identity,
    /// Whether pods may be listed and watched
    Permissions,
    /// Whether there are pods
    Pods,
    /// Whether a watch opens
    Watch,
    /// Whether, and under which name, the network condition is reported
    NetworkCondition,
    /// Which kubelets report that condition late
    Kubelets,
    /// The offset between the clocks
    Clock,
    /// How many series the labels lead to
    Labels,
}

impl Check {
    /// Every check, in the order in which they are made.
    pub const ALL: [Self; 14] = [
        Self::Listen,
        Self::SloFile,
        Self::WebConfig,
        Self::StateDir,
        Self::Cluster,
        Self::ApiServer,
        Self::Identity,
        Self::Permissions,
        Self::Pods,
        Self::Watch,
        Self::NetworkCondition,
        Self::Kubelets,
        Self::Clock,
        Self::Labels,
    ];

    /// The name in the text and JSON reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Listen => "listen",
            Self::SloFile => "slo-file",
            Self::WebConfig => "web-config",
            Self::StateDir => "state-dir",
            Self::Cluster => "cluster",
            Self::ApiServer => "api-server",
            Self::Identity => "identity",
            Self::Permissions => "permissions",
            Self::Pods => "pods",
            Self::Watch => "watch",
            Self::NetworkCondition => "network-condition",
            Self::Kubelets => "kubelets",
            Self::Clock => "clock",
            Self::Labels => "labels",
        }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
