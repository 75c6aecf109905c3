//! Which cluster is meant, and why that may lead to no client of it.

use std::path::PathBuf;

/// Which cluster is meant, as the command line says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterOptions {
    /// `--kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--context`
    pub context: Option<String>,
}

/// Why there is no client; one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be read
    #[error("{origin} cannot be read: {why}; name one that can with --kubeconfig or KUBECONFIG")]
    Unreadable {
        /// Which one
        origin: String,
        /// What the system says
        why: String,
    },
    /// The kubeconfig is no kubeconfig
    #[error("{origin} is not a kubeconfig: {why}")]
    Malformed {
        /// Which one
        origin: String,
        /// What the parser says
        why: String,
    },
    /// The context does not stand in the kubeconfig
    #[error("{origin} has no context {context:?}; {choice}")]
    UnknownContext {
        /// Which kubeconfig
        origin: String,
        /// Which context
        context: String,
        /// Those that there are
        choice: String,
    },
    /// The kubeconfig has no current-context and none was named
    #[error("{origin} has no current-context; {choice}")]
    NoContext {
        /// Which kubeconfig
        origin: String,
        /// Those that there are
        choice: String,
    },
    /// Neither a kubeconfig nor a service account
    #[error(
        "no cluster to watch: KUBECONFIG is not set, there is no {default}, and this is no pod \
         with a service account ({why}); name a kubeconfig with --kubeconfig"
    )]
    NoCluster {
        /// Where a kubeconfig was looked for last
        default: String,
        /// Why the service account cannot be used
        why: String,
    },
    /// What the configuration names (certificates, tokens, plugins) cannot be used
    #[error("{origin} cannot be used: {why}")]
    Unusable {
        /// Which configuration
        origin: String,
        /// What is wrong with it
        why: String,
    },
}
