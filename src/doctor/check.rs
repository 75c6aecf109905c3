//! What a doctor looks at, by name.

use serde::{Serialize, Serializer};

/// What is looked at. Every one is told of in every run, if only as skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Whether the address to listen on can be had
    Listen,
    /// Whether the SLO file is sound
    SloFile,
    /// Whether the web configuration is sound
    WebConfig,
    /// Whether the state directory can be used
    StateDir,
    /// Whether there is a configuration that leads to a cluster
    Cluster,
    /// Whether the API server answers
    ApiServer,
    /// As whom it knows us
    Identity,
    /// Whether pods may be listed and watched
    Permissions,
    /// Whether there are pods to see
    Pods,
    /// Whether a watch opens
    Watch,
    /// Whether, and under which name, the network condition is reported
    NetworkCondition,
    /// Which kubelets report it late
    Kubelets,
    /// How far the clocks are apart
    Clock,
    /// How many series the labels make
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

    /// The name in every form of the report.
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
