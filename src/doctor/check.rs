//! The names of the checks.

use podinit_core::label_values;

label_values! {
    /// A check. Every run reports on every one, if only as skipped.
    pub enum Check {
        /// Whether the address to listen on is free
        Listen => "listen",
        /// Whether the SLO file is valid
        SloFile => "slo-file",
        /// Whether the web configuration is valid
        WebConfig => "web-config",
        /// Whether the state directory can be used
        StateDir => "state-dir",
        /// Whether the collector of traces takes them
        Traces => "traces",
        /// Whether a kubeconfig or a service account names a cluster
        Cluster => "cluster",
        /// Whether the API server answers
        ApiServer => "api-server",
        /// Which user our credentials belong to
        Identity => "identity",
        /// Whether pods may be listed and watched
        Permissions => "permissions",
        /// Whether there are pods
        Pods => "pods",
        /// Whether the API server shards, and how many shards the pods need
        Sharding => "sharding",
        /// Whether a watch opens
        Watch => "watch",
        /// Whether, and under which name, the network condition is reported
        NetworkCondition => "network-condition",
        /// Which kubelets report that condition late
        Kubelets => "kubelets",
        /// The offset between the clocks
        Clock => "clock",
        /// How many series the labels lead to
        Labels => "labels",
    }
}
